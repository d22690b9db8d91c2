/*!
 * \file fallback_call.cc
 * \brief Copies arguments to the host, and results back.
 */
#include "acc/dispatch/fallback_call.h"

#include <mxnet/runtime/packed_func.h>

#include "acc/device/arrays.h"
#include "acc/device/transfers.h"

namespace mxnet {
namespace acc {
FallbackCall::FallbackCall(const Call& call)
    : call_(call),
      replace_([this](const MXNetValue& value, int type_code, const MXNetParamInfo* param) {
        const bool is_array = type_code == kMXNetNDArrayHandle;
        if (!is_array || TensorOf(value).device.device_type == kDLCPU) return NDArray();
        const bool mutated = param != nullptr && (param->flags & kMXNetParamMutated) != 0;
        return Copy(NDArray(ObjectRef::Borrow(value.v_handle)), mutated);
      }),
      args_(call, replace_) {
  args_.SetContext(kHost);
}

NDArray FallbackCall::Copy(const NDArray& array, bool mutated) {
  if (Device* device = DeviceOf(reinterpret_cast<const ArrayObject*>(array.get()))) {
    const Timed timed(&cost_.waiting);
    device->Settle();
  }
  copies_.push_back({array, Bring(array, kHost), mutated});
  if (mutated && array.read_only()) {
    // So that the body rejects it.
    auto* copy = reinterpret_cast<MXNetNDArrayObject*>(copies_.back().on_host.get());
    copy->flags |= kMXNetNDArrayReadOnly;
  }
  return copies_.back().on_host;
}

NDArray FallbackCall::Bring(const NDArray& array, Context ctx) {
  if (array.ctx() == ctx) return array;
  const Timed timed(&cost_.copying);
  cost_.bytes += static_cast<uint64_t>(ByteCount(array));
  return InContext(array, ctx);
}

const FallbackCall::Copied* FallbackCall::CopyOf(const void* on_host) const {
  for (const Copied& copied : copies_) {
    if (copied.on_host.get() == on_host) return &copied;
  }
  return nullptr;
}

Any FallbackCall::MovedTo(const Any& value, Context target) {
  if (value.type_code() == kMXNetNDArrayHandle) {
    const Copied* copied = CopyOf(value.raw().value.v_handle);
    // A mutated argument is returned itself, not its copy.
    if (copied != nullptr && copied->mutated) return Any::Of(copied->original);
    return Any::Of(Bring(value.As<NDArray>(), target));
  }
  const MXNetAnyArray* items = ItemsOf(value.raw().value, value.type_code());
  if (items == nullptr) return value;
  std::vector<Any> moved;
  for (size_t i = 0; i < items->size; ++i) {
    moved.push_back(MovedTo(reinterpret_cast<const Any&>(items->data[i]), target));
  }
  const auto* object = static_cast<const MXNetObject*>(value.raw().value.v_handle);
  if (object->type_index == kMXNetObjectTuple) return Any::Of(Tuple(std::move(moved)));
  return Any::Of(Array<Any>(std::move(moved)));
}

void FallbackCall::Run(Context target, MXNetValue* ret, int* ret_type_code) {
  MXNetAny result{};
  int type_code = kMXNetNull;
  {
    const Timed timed(&cost_.computing);
    MXNET_CHECK_CALL(call_.func.Call(args_.values(), args_.type_codes(), args_.size(),
                                     &result.value, &type_code));
  }
  result.type_code = type_code;
  const Any made = Any::Steal(result);
  for (const Copied& copied : copies_) {
    if (!copied.mutated) continue;
    const Timed timed(&cost_.copying);
    cost_.bytes += static_cast<uint64_t>(ByteCount(copied.original));
    CopyArray(copied.original, copied.on_host);
  }
  Any moved = MovedTo(made, target);
  moved.MoveTo(ret, ret_type_code);
}

}  // namespace acc
}  // namespace mxnet
