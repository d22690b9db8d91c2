#include "onednn/weight.h"

#include <mxnet/runtime/error.h>

#include <algorithm>
#include <utility>

#include "onednn/layout.h"
#include "onednn/threads.h"

namespace mxnet {
namespace onednn {

Weight::Weight(Elements elements, Dims shape, DLDataType dtype)
    : shape_(std::move(shape)), dtype_(dtype), elements_(std::move(elements)) {}

Weight::Weight(std::vector<Form> kept, Dims shape, DLDataType dtype)
    : shape_(std::move(shape)), dtype_(dtype), kept_(std::move(kept)) {}

Weight::Elements Weight::Get() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return GetLocked();
}

const Weight::Packing* Weight::Reversible() const {
  const auto is_reversible = [](const Packing& one) {
    return one.wanted.get_data_type() == one.lies.get_data_type() &&
           one.wanted.get_format_kind() == dnnl::memory::format_kind::blocked;
  };
  const auto found = std::find_if(packings_.begin(), packings_.end(), is_reversible);
  return found == packings_.end() ? nullptr : &*found;
}

Weight::Elements Weight::GetLocked() {
  if (elements_ == nullptr) {
    if (Reversible() == nullptr) {
      MXNET_THROW("ValueError") << "a weight of packed elements alone has none in that layout";
    }
    const Packing& packing = *Reversible();
    const Buffer buffer(packing.lies.get_size());
    const ThreadScope scope(NumThreads());
    Reorder(packing.wanted, packing.buffer.data(), packing.lies, buffer.data());
    elements_ = buffer.shared();
  }
  return elements_;
}

Buffer Weight::Packed(const Desc& lies, const Desc& wanted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Packing& one : packings_) {
    if (one.lies == lies && one.wanted == wanted) return one.buffer;
  }
  Buffer buffer = Kept(lies, wanted);
  if (buffer.data() == nullptr) {
    const Elements elements = GetLocked();
    buffer = Buffer(wanted.get_size());
    Reorder(lies, elements.get(), wanted, buffer.data());
  }
  packings_.push_back({lies, wanted, buffer});
  return buffer;
}

bool Weight::Release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (Reversible() != nullptr) elements_ = nullptr;
  return elements_ == nullptr;
}

Buffer Weight::Kept(const Desc& lies, const Desc& wanted) const {
  for (const Form& one : kept_) {
    if (one.bytes == wanted.get_size() && one.lies == Layout(lies, dtype_).Text() &&
        one.wanted == Layout(wanted, dtype_).Text()) {
      return Buffer(one.data, one.bytes);
    }
  }
  return Buffer(nullptr, 0);
}

std::vector<Weight::Form> Weight::Forms() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Form> forms;
  for (const Packing& one : packings_) {
    forms.push_back({Layout(one.lies, dtype_).Text(), Layout(one.wanted, dtype_).Text(),
                     one.buffer.shared(), one.buffer.bytes()});
  }
  return forms;
}

size_t Weight::num_packed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return packings_.size();
}

}  // namespace onednn
}  // namespace mxnet
