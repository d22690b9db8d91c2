/*!
 * \file executor.cc
 * \brief Asking for executors, and running them.
 */
#include "acc/dispatch/executor.h"

#include <mxnet/runtime/packed_func.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "acc/device/accelerator.h"
#include "acc/device/arrays.h"
#include "acc/device/transfers.h"
#include "acc/plugin/guard.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief A few elements on the stack, more on the heap. */
template <typename T, size_t Small>
class Buffer {
 public:
  explicit Buffer(size_t size) : large_(size > Small ? new T[size] : nullptr) {}
  T* get() { return large_ != nullptr ? large_.get() : small_; }

 private:
  T small_[Small];
  std::unique_ptr<T[]> large_;
};

bool SameStrides(const DLTensor& a, const MXAccDLTensor& b) {
  return std::equal(a.strides, a.strides + a.ndim, b.strides);
}

/*! \brief The array of an input, which is an argument or an item of one. */
NDArray ArrayAt(const Call& call, InputPosition position) {
  const MXNetValue* value = &call.args.values[position.argument];
  const int type_code = call.args.type_codes[position.argument];
  if (position.item != InputPosition::kNoItem) {
    value = &ItemsOf(*value, type_code)->data[position.item].value;
  } else if (const DLTensor* number = TypedNumber(*value, type_code)) {
    NDArray copy = NDArray::Empty(ShapeView(), number->dtype);
    std::memcpy(copy.data(), TensorData(*number), static_cast<size_t>(ItemSize(number->dtype)));
    return copy;
  }
  return NDArray(ObjectRef::Borrow(value->v_handle));
}

/*! \brief Fills in the location of an array's elements. */
void FillElements(Location elements, MXTensor* tensor) {
  tensor->tensor.data = elements.data;
  tensor->tensor.byte_offset = elements.byte_offset;
}

/*! \brief Memory of a device for one run; none where no bytes are wanted. */
class Workspace {
 public:
  Workspace(Device* device, uint64_t bytes)
      : device_(device), memory_(bytes == 0 ? nullptr : device->Alloc(bytes, false)) {}
  /*! \brief Unfinished work may still use the memory. Whoever is given it next is safe, as its work
   * comes later in the same stream. */
  ~Workspace() {
    if (memory_ != nullptr) device_->Free(memory_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /*! \brief Points a tensor to this memory, if there is any. */
  void FillIn(MXTensor* tensor) const {
    if (memory_ != nullptr) tensor->tensor.data = memory_->data;
  }

 private:
  Device* device_;
  DeviceMemory* memory_;
};

/*! \brief Whether an output may share the memory of an input. */
bool IsSameView(const NDArray& a, const NDArray& b) {
  return a->data == b->data && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

}  // namespace

Executor::Executor(const Call& call, const CallKey& key, Device* device, OperatorStats* stats)
    : key_(key), stats_(stats), device_(device) {
  executor_.struct_size = sizeof(executor_);
  try {
    description_ = std::make_unique<OperatorDescription>(
        call, Context{static_cast<DLDeviceType>(device->type()), device->id()});
  } catch (const NotOffered& reason) {
    rejection_ = reason.what();
    return;
  }
  Ask(device);
  Prepare(call);
}

Executor::~Executor() { FreeState(); }

void Executor::Prepare(const Call& call) {
  tensors_ = description_->inputs();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const InputPosition position = description_->positions()[i];
    const MXNetValue& value = call.args.values[position.argument];
    bool direct = position.item == InputPosition::kNoItem &&
                  call.args.type_codes[position.argument] == kMXNetNDArrayHandle;
    // Calls with the same key have the same devices and strides, so that this holds for all of
    // them.
    direct = direct && TensorOf(value).device == device_->context() &&
             SameStrides(TensorOf(value), tensors_[i].tensor);
    inputs_.push_back({position, direct});
  }
  tensors_.push_back(description_->output());
  AddWorkspace();
  const MXAccDLTensor& dl_tensor = output().tensor;
  dtype_ = DLDataType{dl_tensor.dtype.code, dl_tensor.dtype.bits, dl_tensor.dtype.lanes};
  bytes_ = static_cast<size_t>(ItemSize(dtype_));
  for (int i = 0; i < dl_tensor.ndim; ++i) bytes_ *= static_cast<size_t>(dl_tensor.shape[i]);
  const bool all_direct =
      std::all_of(inputs_.begin(), inputs_.end(), [](const Input& input) { return input.direct; });
  const auto arrays =
      std::count(call.args.type_codes, call.args.type_codes + call.args.size, kMXNetNDArrayHandle);
  is_direct_ = rejection_.empty() && all_direct && inputs_.size() == static_cast<size_t>(arrays) &&
               inputs_.size() <= kFew && description_->out_argument() < 0 && bytes_ != 0 &&
               bytes_ <= DevicePool::kMaxSize;
  if (is_direct_) size_ = SizeClass(bytes_);
  is_one_at_a_time_ = (executor_.flags & kMXAccConcurrent) == 0 || device_->one_thread();
}

void Executor::AddWorkspace() {
  if (executor_.workspace_bytes == 0) return;
  workspace_.emplace(nullptr, MXAccDevice{device_->type(), device_->id()}, 0,
                     executor_.workspace_bytes);
  tensors_.push_back(workspace_->tensor);
}

void Executor::Ask(Device* device) {
  if (TryAsk(device) || !description_->has_strided_inputs()) return;
  // What the library rejects because of strides it may accept once the inputs are packed.
  const std::string rejection = rejection_;
  description_->PackInputs();
  if (!TryAsk(device)) rejection_ = rejection;
}

bool Executor::TryAsk(Device* device) {
  MXAccExecutor answer{};
  answer.struct_size = sizeof(answer);
  DeviceCall lock(device);
  const MXAccStatus status =
      device->api().accGetExecutor(device->api().self, &description_->view(), &answer);
  if (!WasDone(status, device->accelerator_name(), "accGetExecutor")) {
    rejection_ = TextOf(status->message);
    if (rejection_.empty()) rejection_ = "it gives no reason";
    return false;
  }
  if (answer.run == nullptr) {
    MXNET_THROW("RuntimeError") << device->accelerator_name() << ": accGetExecutor gave no run for "
                                << description_->name();
  }
  executor_ = answer;
  rejection_.clear();
  return true;
}

void Executor::FreeState() {
  const MXAccExecutor executor = std::exchange(executor_, MXAccExecutor{});
  if (executor.run == nullptr || executor.free == nullptr) return;
  device_->Settle();
  DeviceCall lock(device_);
  try {
    executor.free(executor.state);
  } catch (...) {
    WarnOfException("free of an executor");
  }
}

MXAccStatus Executor::StatusOfRunException() const {
  if (device_->accelerator()->plugin().isolated()) throw;
  return StatusOfException();
}

NDArray Executor::Packed(const Call& call, size_t index) const {
  NDArray array = ArrayAt(call, inputs_[index].position);
  const bool on_device = array->device.device_type == device_->type();
  if (on_device && SameStrides(array.tensor(), tensors_[index].tensor)) return array;
  NDArray packed = NDArray::Empty(array.shape(), array.dtype(), device_->context());
  CopyArray(packed, array);
  return packed;
}

void Executor::FillInputs(const Call& call, MXTensor* tensors, NDArray* arrays) const {
  const bool has_out = description_->out_argument() >= 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const void* array = call.args.values[inputs_[i].position.argument].v_handle;
    if (has_out || !inputs_[i].direct) {
      arrays[i] = Packed(call, i);
      array = arrays[i].get();
    }
    FillElements(LocationOf(array), &tensors[i]);
  }
}

inline NDArray Executor::NewResult(const DeviceBlock& block) const {
  const MXAccDLTensor& dl_tensor = output().tensor;
  const ShapeView shape(dl_tensor.shape, static_cast<size_t>(dl_tensor.ndim));
  return NDArray(
      ObjectRef::Steal(NewDeviceArray(shape, dtype_, device_->context(), bytes_, block)));
}

NDArray Executor::NewResult() const { return NewResult(BlockOf(device_->Alloc(bytes_, false))); }

inline void Executor::Done(NDArray result, MXNetValue* ret, int* ret_type_code) {
  stats_->CountRun();
  Any::Of(std::move(result)).MoveTo(ret, ret_type_code);
}

NDArray Executor::TargetFor(const NDArray& out, const NDArray* inputs) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!MayShare(inputs[i], out)) continue;
    const bool in_place = (executor_.flags & kMXAccInPlace) != 0 && IsSameView(inputs[i], out);
    if (!in_place) return NewResult();
  }
  return out;
}

MXAccStatus Executor::RunInTurn(MXTensor* tensors) {
  std::unique_lock<std::mutex> one_run(serial_, std::defer_lock);
  if ((executor_.flags & kMXAccConcurrent) == 0) one_run.lock();
  DeviceCall lock(device_);
  return RunNow(tensors);
}

bool Executor::TryAgain(MXAccStatus status, MXTensor* tensors, const Access* access) {
  std::string unused;
  return TryAgain(status, tensors, access, &unused);
}

MXAccStatus Executor::Give(MXTensor* tensors, const Access& access) {
  return device_->Give(access, [&](uint64_t work) {
    tensors[inputs_.size()].work = work;
    return RunOnce(tensors);
  });
}

bool Executor::TryGiveAtOnce(const CallArguments& args, MXTensor* tensors, DeviceMemory* result) {
  Content* sources[kFew];
  size_t count = 0;
  for (int i = 0; i < args.size; ++i) {
    if (args.type_codes[i] != kMXNetNDArrayHandle) continue;
    DeviceMemory* memory = MemoryOf(static_cast<const ArrayObject*>(args.values[i].v_handle));
    if (memory != nullptr) sources[count++] = &memory->content;
  }
  const Access access{stats_->name().c_str(), &result->content, false, sources, count};
  const MXAccStatus status = Give(tensors, access);
  return __builtin_expect(status == nullptr, 1) || TryAgain(status, tensors, &access);
}

bool Executor::TryRunFor(const Call& call, MXTensor* tensors, const NDArray* arrays,
                         const NDArray& target, std::string* reason) {
  if (device_->stream() == nullptr) return TryRun(tensors, nullptr, reason);
  Buffer<Content*, kFew> sources(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const NDArray array =
        arrays[i].get() != nullptr ? arrays[i] : ArrayAt(call, inputs_[i].position);
    sources.get()[i] = &MemoryOf(array)->content;
  }
  const Written to = AllOf(target);
  const Access access{stats_->name().c_str(), &to.memory->content, to.is_partial, sources.get(),
                      inputs_.size()};
  return TryRun(tensors, &access, reason);
}

bool Executor::TryAgain(MXAccStatus status, MXTensor* tensors, const Access* access,
                        std::string* reason) {
  const std::string device = device_->name();
  const char* function = description_->view().name;
  if (ErrorOf(status, device, function).kind() == "MemoryError") {
    device_->TrimPool();
    status = access == nullptr ? RunOnce(tensors) : Give(tensors, *access);
  }
  if (WasDone(status, device, function)) return true;
  *reason = TextOf(status->message);
  return false;
}

bool Executor::TryRunAtOnce(const FunctionObject& func, const CallArguments& args, MXNetValue* ret,
                            int* ret_type_code) {
  if (!is_direct_ || is_retired_.load(std::memory_order_acquire)) return false;
  MXTensor tensors[kFew + 2];
  std::memcpy(tensors, tensors_.data(), tensors_.size() * sizeof(MXTensor));
  MXTensor* next = tensors;
  // The key has as many arrays as there are inputs, in the order of the arguments.
  const auto add_input = [&next](const ArrayObject* array) {
    FillElements(DeviceLocationOf(array), next++);
  };
  if (!key_.IsOf(func, device_, args, device_->context(), add_input)) return false;
  DeviceMemory* memory = device_->Alloc(size_);
  next->tensor.data = memory->data;
  NDArray result = NewResult(BlockOf(memory));
  const Workspace workspace(device_, executor_.workspace_bytes);
  workspace.FillIn(next + 1);
  if (device_->stream() == nullptr) {
    const MXAccStatus status = RunOnce(tensors);
    if (__builtin_expect(status != nullptr, 0) && !TryAgain(status, tensors, nullptr)) return false;
  } else if (!TryGiveAtOnce(args, tensors, memory)) {
    return false;
  }
  Done(std::move(result), ret, ret_type_code);
  return true;
}

Executor::Outcome Executor::Run(const Call& call, MXNetValue* ret, int* ret_type_code,
                                std::string* reason) {
  if (is_retired_.load(std::memory_order_acquire)) return Outcome::kRetired;
  if (bytes_ == 0) return Outcome::kEmpty;
  const size_t count = inputs_.size();
  Buffer<MXTensor, kFew> tensors(tensors_.size());
  Buffer<NDArray, kFew> arrays(count);
  std::copy(tensors_.begin(), tensors_.end(), tensors.get());
  FillInputs(call, tensors.get(), arrays.get());
  const int argument = description_->out_argument();
  NDArray result;
  if (argument < 0) {
    result = NewResult();
    const Workspace workspace(device_, executor_.workspace_bytes);
    workspace.FillIn(&tensors.get()[count + 1]);
    FillElements(LocationOf(result.get()), &tensors.get()[count]);
    if (!TryRunFor(call, tensors.get(), arrays.get(), result, reason)) return Outcome::kRejected;
  } else {
    result = NDArray(ObjectRef::Borrow(call.args.values[argument].v_handle));
    const NDArray target = TargetFor(result, arrays.get());
    if (!SameStrides(target.tensor(), output().tensor)) {
      *reason = "its out shares memory with an input";
      return Outcome::kRejected;
    }
    const Workspace workspace(device_, executor_.workspace_bytes);
    workspace.FillIn(&tensors.get()[count + 1]);
    FillElements(LocationOf(target.get()), &tensors.get()[count]);
    if (!TryRunFor(call, tensors.get(), arrays.get(), target, reason)) return Outcome::kRejected;
    if (target.get() != result.get()) CopyArray(result, target);
  }
  Done(std::move(result), ret, ret_type_code);
  return Outcome::kDone;
}

}  // namespace acc
}  // namespace mxnet
