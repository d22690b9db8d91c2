/*!
 * \file runtime.h
 * \brief The functions of MXNet's runtime, found in the process: the operators of the CPU are
 * behind them. Only this accelerator, which tests MXNet, does such a thing.
 */
#ifndef REFACC_RUNTIME_H_
#define REFACC_RUNTIME_H_

#include <mxnet/runtime/c_runtime_api.h>

#include <memory>
#include <string>

namespace refacc {

struct Runtime {
  decltype(&MXNetFuncGetGlobal) get_global;
  decltype(&MXNetFuncGetInfo) get_info;
  decltype(&MXNetFuncCall) call;
  decltype(&MXNetFuncFree) free_function;
  decltype(&MXNetObjectFree) free_object;
  decltype(&MXNetGetLastError) last_error;
};

/*!
 * \brief The runtime that the process has loaded, or that of the path in REFACC_RUNTIME; Failure,
 * kMXAccUnsupported, where there is none.
 */
Runtime FindRuntime();

/*! \brief "ValueError" of the calling thread, and what it says. */
std::string LastErrorKind(const Runtime& runtime);
std::string LastErrorMessage(const Runtime& runtime);
inline std::string LastErrorText(const Runtime& runtime) {
  return LastErrorKind(runtime) + ": " + LastErrorMessage(runtime);
}

}  // namespace refacc

#endif  // REFACC_RUNTIME_H_
