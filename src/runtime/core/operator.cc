/*!
 * \file operator.cc
 * \brief Hands calls of operators to whoever executes them.
 */
#include "runtime/core/operator.h"

#include <mxnet/runtime/error.h>

#include <atomic>

#include "runtime/core/c_api_guard.h"
#include "runtime/core/function.h"
#include "runtime/core/observers.h"

namespace {

using mxnet::runtime::FunctionObject;
using mxnet::runtime::details::SetLastError;

std::atomic<const MXNetOperatorAdapter*> adapter_of_process{nullptr};

/*! \brief The adapter; NULL, and an error, where there is none. */
const MXNetOperatorAdapter* Adapter() {
  const auto* adapter = adapter_of_process.load(std::memory_order_acquire);
  if (__builtin_expect(adapter == nullptr, 0)) {
    SetLastError("ImportError", "operators are executed by the package 'mx', which is not loaded");
  }
  return adapter;
}

/*! \brief The operator that a function is; NULL, and an error, for any other. */
const MXNetOperator* OperatorOf(MXNetFunctionHandle func) {
  const MXNetOperator* op = nullptr;
  mxnet::runtime::Guard([&] {
    mxnet::runtime::RequireNotNull(func, "an operator", "func");
    const auto* function = static_cast<const FunctionObject*>(func);
    op = function->info->op();
    if (op != nullptr) return;
    MXNET_THROW("NotImplementedError") << function->info->view().name << ": it is no operator that "
                                       << "tells what it gives without being called";
  });
  return op;
}

/*!
 * \brief The status of a call, which is another than 0 and -1 only for whoever knows devices: where
 * the function itself is being called, by whom it reaches that.
 */
int StatusFor(const FunctionObject* function, int status) {
  if (__builtin_expect(status != kElementsElsewhere, 1)) return status;
  const mxnet::runtime::ActiveCall* call = mxnet::runtime::InnermostCall();
  return call != nullptr && call->func == function ? status : -1;
}

}  // namespace

void MXNetOperatorSetAdapter(const MXNetOperatorAdapter* adapter) {
  adapter_of_process.store(adapter, std::memory_order_release);
}

int MXNetOperatorCall(MXNetFunctionHandle func, const MXNetValue* values, const int* type_codes,
                      int num_args, MXNetValue* ret, int* ret_type_code) {
  const MXNetOperatorAdapter* adapter = Adapter();
  if (__builtin_expect(adapter == nullptr, 0)) return -1;
  const auto* function = static_cast<const FunctionObject*>(func);
  const MXNetOperator* op = function == nullptr ? nullptr : function->info->op();
  if (__builtin_expect(op == nullptr, 0)) {
    OperatorOf(func);
    return -1;
  }
  // The function has completed the arguments, unless somebody else calls this.
  const auto& params = function->info->body_params();
  if (__builtin_expect(static_cast<size_t>(num_args) != params.size(), 0)) {
    return MXNetFuncRejectCount(func, static_cast<int>(params.size()), 0, num_args);
  }
  return StatusFor(function,
                   adapter->call(op, func, values, type_codes, num_args, ret, ret_type_code));
}

int MXNetOperatorInfer(MXNetFunctionHandle func, const MXNetValue* values, const int* type_codes,
                       int num_args, MXNetTensorSpec* outputs, int* num_out) {
  const MXNetOperatorAdapter* adapter = Adapter();
  const MXNetOperator* op = adapter == nullptr ? nullptr : OperatorOf(func);
  if (op == nullptr) return -1;
  const int status = mxnet::runtime::Guard([&] {
    mxnet::runtime::RequireNotNull(num_out, "MXNetOperatorInfer", "num_out");
    if (*num_out > 0) mxnet::runtime::RequireNotNull(outputs, "MXNetOperatorInfer", "outputs");
    if (num_args == 0) return;
    mxnet::runtime::RequireNotNull(values, "MXNetOperatorInfer", "values");
    mxnet::runtime::RequireNotNull(type_codes, "MXNetOperatorInfer", "type_codes");
  });
  if (status != 0) return status;
  const auto* function = static_cast<const FunctionObject*>(func);
  const auto num_params = static_cast<int>(function->info->body_params().size());
  if (num_args < 0 || num_args > num_params) return function->RejectCount(num_args);
  MXNetValue filled[mxnet::runtime::kMaxParams];
  int filled_codes[mxnet::runtime::kMaxParams];
  if (function->Fill(values, type_codes, num_args, filled, filled_codes) != 0) return -1;
  return StatusFor(function,
                   adapter->infer(op, func, filled, filled_codes, num_params, outputs, num_out));
}

int MXNetOperatorReadInts(const MXNetValue* value, int type_code, MXNetFunctionHandle func,
                          int index, int64_t* out, int64_t room, int64_t* count, int32_t* single) {
  const MXNetOperatorAdapter* adapter = Adapter();
  if (adapter == nullptr) return -1;
  return adapter->read_ints(value, type_code, func, index, out, room, count, single);
}
