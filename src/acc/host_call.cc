/*!
 * \file host_call.cc
 * \brief Copies arguments to the host, and results back.
 */
#include "acc/host_call.h"

#include <mxnet/runtime/packed_func.h>

#include <chrono>

#include "acc/copy.h"

namespace mxnet {
namespace acc {
namespace {

/*! \brief Adds bytes, and the time until its end, to a cost. */
class Timed {
 public:
  Timed(CopyCost* cost, int64_t bytes) : cost_(cost), start_(Clock::now()) {
    cost_->bytes += static_cast<uint64_t>(bytes);
  }
  ~Timed() {
    const auto taken = std::chrono::nanoseconds(Clock::now() - start_);
    cost_->nanoseconds += static_cast<uint64_t>(taken.count());
  }

 private:
  using Clock = std::chrono::steady_clock;
  CopyCost* cost_;
  Clock::time_point start_;
};

}  // namespace

HostCall::HostCall(const Call& call)
    : call_(call),
      replace_([this](const NDArray& array, bool written) {
        copies_.push_back({array, Bring(array, kHost), written});
        return copies_.back().on_host;
      }),
      args_(call, kHost, replace_) {}

NDArray HostCall::Bring(const NDArray& array, Context ctx) {
  const Timed timed(&cost_, ByteCount(array));
  return InContext(array, ctx);
}

const HostCall::Copied* HostCall::CopyOf(const void* on_host) const {
  for (const Copied& copied : copies_) {
    if (copied.on_host.get() == on_host) return &copied;
  }
  return nullptr;
}

Any HostCall::Placed(const Any& value, Context target) {
  if (value.type_code() == kMXNetNDArrayHandle) {
    const Copied* copied = CopyOf(value.raw().value.v_handle);
    // What was written to is returned as it was given, not as the copy.
    if (copied != nullptr && copied->written) return Any::Of(copied->original);
    return Any::Of(Bring(value.As<NDArray>(), target));
  }
  const MXNetAnyArray* items = ItemsOf(value.raw().value, value.type_code());
  if (items == nullptr) return value;
  std::vector<Any> placed;
  for (size_t i = 0; i < items->size; ++i) {
    placed.push_back(Placed(reinterpret_cast<const Any&>(items->data[i]), target));
  }
  const auto* object = static_cast<const MXNetObject*>(value.raw().value.v_handle);
  if (object->type_index == kMXNetObjectTuple) return Any::Of(Tuple(std::move(placed)));
  return Any::Of(Array<Any>(std::move(placed)));
}

void HostCall::Run(Context target, MXNetValue* ret, int* ret_type_code) {
  MXNetAny result{};
  int type_code = kMXNetNull;
  MXNET_CHECK_CALL(
      call_.func.Call(args_.values(), args_.type_codes(), args_.size(), &result.value, &type_code));
  result.type_code = type_code;
  const Any made = Any::Steal(result);
  for (const Copied& copied : copies_) {
    if (!copied.written) continue;
    const Timed timed(&cost_, ByteCount(copied.original));
    CopyArray(copied.original, copied.on_host);
  }
  Any placed = Placed(made, target);
  placed.MoveTo(ret, ret_type_code);
}

}  // namespace acc
}  // namespace mxnet
