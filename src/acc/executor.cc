/*!
 * \file executor.cc
 * \brief Asking for executors, and running them.
 */
#include "acc/executor.h"

#include <mxnet/runtime/packed_func.h>

#include <algorithm>
#include <cstring>

#include "acc/accelerator.h"
#include "acc/copy.h"
#include "acc/tensors.h"

namespace mxnet {
namespace acc {
namespace {

constexpr uint32_t kRetired = 1u << 31;

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

constexpr size_t kFew = 4;

bool SameStrides(const DLTensor& a, const MXAccGeometry& b) {
  return std::equal(a.strides, a.strides + a.ndim, b.strides);
}

/*! \brief The argument, or the item of one, that is an input. */
NDArray ArrayAt(const Call& call, InputPlace place) {
  const MXNetValue* value = &call.args.values[place.argument];
  const int type_code = call.args.type_codes[place.argument];
  if (place.item != InputPlace::kNoItem) {
    value = &ItemsOf(*value, type_code)->data[place.item].value;
  } else if (const DLTensor* number = TypedNumber(*value, type_code)) {
    NDArray copy = NDArray::Empty(ShapeView(), number->dtype);
    std::memcpy(copy.data(), TensorData(*number), static_cast<size_t>(ItemSize(number->dtype)));
    return copy;
  }
  return NDArray(ObjectRef::Borrow(value->v_handle));
}

/*! \brief Whether an output may lie where an input does. */
bool IsSameView(const NDArray& a, const NDArray& b) {
  return a->data == b->data && a.dtype() == b.dtype() && a.shape() == b.shape() &&
         a.strides() == b.strides();
}

}  // namespace

/*! \brief Counts a run under way. */
class Executor::Running {
 public:
  explicit Running(Executor* executor) : executor_(executor) {
    is_retired_ = (executor_->running_.fetch_add(1) & kRetired) != 0;
  }
  ~Running() {
    if (executor_->running_.fetch_sub(1) == (kRetired | 1)) executor_->FreeState();
  }
  bool is_retired() const { return is_retired_; }

 private:
  Executor* executor_;
  bool is_retired_;
};

Executor::Executor(const Call& call, const CallKey& key, Device* device, OperatorStats* stats)
    : key_(key), stats_(stats), device_(device) {
  executor_.struct_size = sizeof(executor_);
  try {
    description_ = std::make_unique<OperatorDescription>(
        call, Context{static_cast<DLDeviceType>(device->type()), device->id()});
  } catch (const NotOffered& reason) {
    refusal_ = reason.what();
    return;
  }
  Ask(device);
}

Executor::~Executor() { Retire(); }

void Executor::Ask(Device* device) {
  if (TryAsk(device) || !description_->has_strided_inputs()) return;
  // What the library refuses of any strides it may do when the inputs are packed first.
  const std::string refusal = refusal_;
  description_->PackInputs();
  if (!TryAsk(device)) refusal_ = refusal;
}

bool Executor::TryAsk(Device* device) {
  MXAccExecutor answer{};
  answer.struct_size = sizeof(answer);
  DeviceCall lock(device);
  const MXAccStatus status = device->api().accGetExecutor(&description_->view(), &answer);
  if (status != nullptr) {
    const Error error = ErrorOf(status, device->accelerator_name(), "accGetExecutor");
    if (error.kind() != "NotImplementedError") throw error;
    refusal_ = TextOf(status->message);
    if (refusal_.empty()) refusal_ = "it gives no reason";
    return false;
  }
  if (answer.run == nullptr) {
    MXNET_THROW("RuntimeError") << device->accelerator_name() << ": accGetExecutor gave no run for "
                                << description_->name();
  }
  executor_ = answer;
  refusal_.clear();
  return true;
}

void Executor::Retire() {
  if ((running_.fetch_or(kRetired) & ~kRetired) == 0) FreeState();
}

void Executor::FreeState() {
  if (executor_.run == nullptr) return;
  executor_.run = nullptr;
  if (executor_.free == nullptr) return;
  device_->Drain();
  DeviceCall lock(device_);
  executor_.free(executor_.state);
}

NDArray Executor::Input(const Call& call, size_t index, MXTensor* tensor) const {
  NDArray array = ArrayAt(call, description_->places()[index]);
  const bool on_device = array->device.device_type == device_->type();
  *tensor = description_->inputs()[index];
  if (!on_device || !SameStrides(array.tensor(), tensor->tensor)) {
    NDArray packed = NDArray::Empty(array.shape(), array.dtype(), device_->context());
    CopyArray(packed, array);
    array = std::move(packed);
  }
  const Place elements = PlaceOf(array.get());
  tensor->tensor.data = elements.data;
  tensor->tensor.byte_offset = elements.byte_offset;
  return array;
}

NDArray Executor::Output(const Call& call, const NDArray* inputs, NDArray* result) const {
  const MXAccGeometry& geometry = description_->output().tensor;
  const int argument = description_->out_argument();
  const DLDataType dtype{geometry.dtype.code, geometry.dtype.bits, geometry.dtype.lanes};
  const ShapeView shape(geometry.shape, static_cast<size_t>(geometry.ndim));
  if (argument < 0) return *result = NDArray::Empty(shape, dtype, device_->context());
  *result = NDArray(ObjectRef::Borrow(call.args.values[argument].v_handle));
  for (size_t i = 0; i < description_->inputs().size(); ++i) {
    if (!MayShare(inputs[i], *result)) continue;
    const bool in_place = (executor_.flags & kMXAccInPlace) != 0 && IsSameView(inputs[i], *result);
    if (!in_place) return NDArray::Empty(shape, dtype, device_->context());
  }
  return *result;
}

MXAccStatus Executor::RunOnce(MXTensor* tensors) {
  const auto count = static_cast<int32_t>(description_->inputs().size());
  std::unique_lock<std::mutex> one_run(serial_, std::defer_lock);
  if ((executor_.flags & kMXAccConcurrent) == 0) one_run.lock();
  DeviceCall lock(device_);
  return executor_.run(executor_.state, tensors, count, tensors + count, 1, device_->stream());
}

Executor::Outcome Executor::Run(const Call& call, MXNetValue* ret, int* ret_type_code,
                                std::string* reason) {
  const Running running(this);
  if (running.is_retired()) return Outcome::kRetired;
  const size_t count = description_->inputs().size();
  Buffer<MXTensor, kFew> tensors(count + 1);
  Buffer<NDArray, kFew> arrays(count + 1);
  for (size_t i = 0; i < count; ++i) arrays.get()[i] = Input(call, i, &tensors.get()[i]);
  NDArray result;
  const NDArray target = Output(call, arrays.get(), &result);
  if (!SameStrides(target.tensor(), description_->output().tensor)) {
    *reason = "its out shares memory with an input";
    return Outcome::kRefused;
  }
  MXTensor& output = tensors.get()[count];
  output = description_->output();
  const Place elements = PlaceOf(target.get());
  output.tensor.data = elements.data;
  output.tensor.byte_offset = elements.byte_offset;
  MXAccStatus status = target.size() == 0 ? nullptr : RunOnce(tensors.get());
  if (__builtin_expect(status != nullptr, 0)) {
    Error error = ErrorOf(status, device_->name(), description_->view().name);
    if (error.kind() == "MemoryError") {
      device_->TrimPool();
      status = RunOnce(tensors.get());
      if (status != nullptr) error = ErrorOf(status, device_->name(), description_->view().name);
    }
    if (status != nullptr && error.kind() != "NotImplementedError") throw error;
    if (status != nullptr) {
      *reason = TextOf(status->message);
      return Outcome::kRefused;
    }
  }
  if (target.get() != result.get()) CopyArray(result, target);
  stats_->CountRun();
  Any::Of(std::move(result)).MoveTo(ret, ret_type_code);
  return Outcome::kDone;
}

}  // namespace acc
}  // namespace mxnet
