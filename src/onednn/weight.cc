#include "onednn/weight.h"

#include <algorithm>
#include <utility>

#include "onednn/threads.h"

namespace mxnet {
namespace onednn {

Weight::Weight(Elements elements, Dims shape, DLDataType dtype)
    : shape_(std::move(shape)), dtype_(dtype), elements_(std::move(elements)) {}

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
  const Buffer buffer(wanted.get_size());
  Reorder(lies, GetLocked().get(), wanted, buffer.data());
  packings_.push_back({lies, wanted, buffer});
  return buffer;
}

bool Weight::Release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (Reversible() != nullptr) elements_ = nullptr;
  return elements_ == nullptr;
}

size_t Weight::num_packed() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return packings_.size();
}

}  // namespace onednn
}  // namespace mxnet
