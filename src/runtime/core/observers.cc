/*!
 * \file observers.cc
 * \brief Calls while there are observers.
 */
#include "runtime/core/observers.h"

#include "runtime/core/call_observer.h"
#include "runtime/core/devices.h"
#include "runtime/core/operator.h"
#include "runtime/core/pool.h"

namespace mxnet {
namespace runtime {

std::atomic<uint32_t> observers{0};
std::atomic<TracedCall> traced_call{nullptr};

namespace {

std::atomic<MXNetCallObserver> end_observer{nullptr};

// Plain memory of the thread: a signal handler may read it.
__thread ActiveCall* innermost MXNET_TLS_INITIAL_EXEC = nullptr;

/*! \brief Makes a call the innermost one until its end, which may be the end of the thread. */
class Entered {
 public:
  explicit Entered(ActiveCall* call) : call_(call) { innermost = call; }
  ~Entered() { innermost = call_->caller; }

 private:
  ActiveCall* call_;
};

}  // namespace

const ActiveCall* InnermostCall() { return innermost; }

int CallWhereItBelongs(const ActiveCall& call, MXNetValue* ret, int* ret_type_code) {
  DeviceProvider* provider = device_provider.load(std::memory_order_acquire);
  if (provider != nullptr && (call.func->info->view().flags & kMXNetFuncOperator) != 0) {
    const CallArguments args{call.values, call.type_codes, call.num_args};
    int status = 0;
    if (provider->TryCall(*call.func, args, ret, ret_type_code, &status)) return status;
  }
  const int status =
      call.func->Call(call.values, call.type_codes, call.num_args, ret, ret_type_code);
  return status == kElementsElsewhere ? -1 : status;
}

int CallObserved(const FunctionObject* func, const MXNetValue* values, const int* type_codes,
                 int num_args, MXNetValue* ret, int* ret_type_code) {
  const int depth = innermost == nullptr ? 0 : innermost->depth + 1;
  ActiveCall call{func, values, type_codes, num_args, depth, innermost};
  const Entered entered(&call);
  const uint32_t on = observers.load(std::memory_order_acquire);
  const int status = (on & kObserveTraces) == 0
                         ? CallWhereItBelongs(call, ret, ret_type_code)
                         : traced_call.load(std::memory_order_relaxed)(call, ret, ret_type_code);
  if ((on & kObserveEnds) == 0) return status;
  const MXNetCallObserver observer = end_observer.load(std::memory_order_acquire);
  if (observer != nullptr) {
    auto* handle = const_cast<FunctionObject*>(func);
    observer(handle, values, type_codes, num_args, status, ret, *ret_type_code);
  }
  return status;
}

}  // namespace runtime
}  // namespace mxnet

const uint32_t* MXNetCallObservers(void) {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "read as a plain word");
  return reinterpret_cast<const uint32_t*>(&mxnet::runtime::observers);
}

void MXNetFuncSetObserver(MXNetCallObserver observer) {
  using mxnet::runtime::kObserveEnds;
  using mxnet::runtime::observers;
  mxnet::runtime::end_observer.store(observer, std::memory_order_release);
  if (observer != nullptr) {
    observers.fetch_or(kObserveEnds, std::memory_order_release);
  } else {
    observers.fetch_and(~static_cast<uint32_t>(kObserveEnds));
  }
}
