#include "onednn/steps.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "onednn/threads.h"

namespace mxnet {
namespace onednn {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{1} << 21;

size_t RoundUp(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void* DataOf(const DLTensor& tensor) {
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

/*! \brief What one run needs for itself. */
struct Steps::Slot {
  dnnl::stream stream{Engine()};
  std::vector<dnnl::memory> memories;  /*!< of arguments_, in order */
  std::vector<dnnl_exec_arg_t> passed; /*!< the same, for oneDNN */
};

Buffer::Buffer(size_t bytes) : bytes_(bytes) {
  void* data = nullptr;
  const bool is_large = bytes >= kHugePage;
  if (posix_memalign(&data, is_large ? kHugePage : kAlignment, RoundUp(bytes)) != 0) {
    throw std::bad_alloc();
  }
  data_.reset(data, &std::free);
  // Weights are read in whole by each run, in an order that misses many small pages.
  if (is_large) madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
}

void Reorder(const Desc& from, const void* data, const Desc& to, void* result) {
  dnnl::memory source(from, Engine(), const_cast<void*>(data));
  dnnl::memory target(to, Engine(), result);
  dnnl::stream stream(Engine());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
}

Steps::Steps(int threads) : threads_(threads) {}

Steps::~Steps() {
  delete spare_.load();
  for (const Slot* slot : more_) delete slot;
}

Location Steps::Workspace(size_t bytes) {
  const Location location{Location::Kind::kWorkspace, 0, workspace_bytes_};
  workspace_bytes_ += RoundUp(bytes);
  return location;
}

Location Steps::Constant(Buffer buffer) {
  constants_.push_back(std::move(buffer));
  return {Location::Kind::kConstant, constants_.size() - 1};
}

Location Steps::Constant(const void* data, size_t bytes) {
  Buffer buffer(bytes);
  std::memcpy(buffer.data(), data, bytes);
  return Constant(std::move(buffer));
}

Location Steps::Constant(const void* data, const Desc& lies, const Desc& wanted) {
  if (data == nullptr) {
    is_asked_ = true;
    return {Location::Kind::kConstant, 0};
  }
  Buffer buffer(wanted.get_size());
  Reorder(lies, data, wanted, buffer.data());
  packed_.push_back({data, lies, wanted, constants_.size()});
  return Constant(std::move(buffer));
}

size_t Steps::Repack(const std::function<const void*(const void*)>& now) {
  size_t count = 0;
  for (const Packed& packed : packed_) {
    const void* data = now(packed.from);
    if (data == nullptr) continue;
    Reorder(packed.lies, data, packed.wanted, constants_[packed.constant].data());
    ++count;
  }
  return count;
}

void Steps::Add(const dnnl::primitive_desc_base& desc, std::vector<Argument> arguments) {
  if (is_asked_) return;
  const Desc scratchpad = desc.scratchpad_desc();
  if (scratchpad.get_size() != 0) {
    arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad, Workspace(scratchpad.get_size())});
  }
  steps_.push_back({dnnl::primitive(desc.get()), arguments.size()});
  for (Argument& argument : arguments) arguments_.push_back(std::move(argument));
}

void Steps::Begin(size_t input, size_t output, size_t bytes) {
  copies_.push_back({input, output, bytes});
}

std::vector<op::KernelConstant> Steps::constants() const {
  std::vector<op::KernelConstant> all;
  for (const Buffer& one : constants_) all.push_back({one.data(), one.bytes()});
  return all;
}

void Steps::Expect(int num_in, int num_out) {
  num_in_ = num_in;
  num_out_ = num_out;
}

Steps::Slot* Steps::MakeSlot() const {
  auto slot = std::make_unique<Slot>();
  slot->memories.reserve(arguments_.size());
  for (const Argument& argument : arguments_) {
    void* data = argument.location.kind == Location::Kind::kConstant
                     ? static_cast<char*>(constants_[argument.location.index].data()) +
                           argument.location.offset
                     : nullptr;
    const dnnl::memory& memory = slot->memories.emplace_back(argument.desc, Engine(), data);
    slot->passed.push_back({argument.name, memory.get()});
  }
  return slot.release();
}

Steps::Slot* Steps::TakeSlot() const {
  if (Slot* slot = spare_.exchange(nullptr, std::memory_order_acquire)) return slot;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!more_.empty()) {
      Slot* slot = more_.back();
      more_.pop_back();
      return slot;
    }
  }
  return MakeSlot();
}

void Steps::ReturnSlot(Slot* slot) const {
  Slot* none = nullptr;
  if (spare_.compare_exchange_strong(none, slot, std::memory_order_release,
                                     std::memory_order_relaxed)) {
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  more_.push_back(slot);
}

void Steps::Run(const DLTensor* in, int num_in, DLTensor* out, int num_out, void* workspace) const {
  if (num_in != num_in_ || num_out != num_out_) {
    MXNET_THROW("ValueError") << "a kernel of oneDNN: expected " << num_in_ << " inputs and "
                              << num_out_ << " outputs, got " << num_in << " and " << num_out;
  }
  for (const Copy& copy : copies_) {
    void* to = DataOf(out[copy.output]);
    const void* from = DataOf(in[copy.input]);
    if (from != to) std::memcpy(to, from, copy.bytes);
  }
  const auto give_back = [this](Slot* slot) { ReturnSlot(slot); };
  const std::unique_ptr<Slot, decltype(give_back)> slot(TakeSlot(), give_back);
  const ThreadScope scope(threads_);
  size_t next = 0;
  for (const Step& step : steps_) {
    for (size_t i = next; i < next + step.num_arguments; ++i) {
      const Location& location = arguments_[i].location;
      void* data = workspace;
      if (location.kind == Location::Kind::kConstant) continue;
      if (location.kind == Location::Kind::kInput) data = DataOf(in[location.index]);
      if (location.kind == Location::Kind::kOutput) data = DataOf(out[location.index]);
      dnnl_memory_set_data_handle(slot->passed[i].memory,
                                  static_cast<char*>(data) + location.offset);
    }
    const dnnl_status_t status =
        dnnl_primitive_execute(step.primitive.get(), slot->stream.get(),
                               static_cast<int>(step.num_arguments), &slot->passed[next]);
    if (status != dnnl_success) {
      MXNET_THROW("RuntimeError") << "oneDNN: a primitive failed with the status "
                                  << static_cast<int>(status);
    }
    next += step.num_arguments;
  }
  // No wait for the stream: on the CPU all is done when a primitive returns.
}

}  // namespace onednn
}  // namespace mxnet
