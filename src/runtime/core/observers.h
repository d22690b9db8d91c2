/*!
 * \file observers.h
 * \brief What may observe every call: the traces, the crash report, and a library.
 */
#ifndef MXNET_SRC_RUNTIME_CORE_OBSERVERS_H_
#define MXNET_SRC_RUNTIME_CORE_OBSERVERS_H_

#include <atomic>
#include <cstdint>

#include "runtime/core/function.h"

namespace mxnet {
namespace runtime {

/*! \brief Bits of `observers`. */
enum Observer : uint32_t {
  kObserveTraces = 1,
  kObserveCrashes = 2,
  kObserveDevices = 4, /*!< there are devices beside the CPU, to which calls of operators may go */
  kObserveEnds = 8,    /*!< a library has an observer */
};

/*! \brief The observers at present. A call reads this word and, where it is 0, does nothing else.
 */
extern std::atomic<uint32_t> observers;

/*! \brief Whether there are observers. Without any, this is all that a call pays for them. */
inline bool Observed() {
  return __builtin_expect(observers.load(std::memory_order_relaxed) != 0, 0);
}

/*! \brief One call under way on this thread. */
struct ActiveCall {
  const FunctionObject* func;
  const MXNetValue* values;
  const int* type_codes;
  int num_args;
  int depth; /*!< 0 for the outermost */
  ActiveCall* caller;
};

/*! \brief The calling thread's innermost observed call; safe to read in a signal handler. */
const ActiveCall* InnermostCall();

/*! \brief FunctionObject::Call, or the call on the device that the arguments are on. */
int CallWhereItBelongs(const ActiveCall& call, MXNetValue* ret, int* ret_type_code);

/*! \brief Calls by CallWhereItBelongs, and records that for the traces that are on. */
using TracedCall = int (*)(const ActiveCall& call, MXNetValue* ret, int* ret_type_code);

/*! \brief Set by whoever makes traces, before it sets kObserveTraces. */
extern std::atomic<TracedCall> traced_call;

/*! \brief FunctionObject::Call with observers. */
[[gnu::cold]] int CallObserved(const FunctionObject* func, const MXNetValue* values,
                               const int* type_codes, int num_args, MXNetValue* ret,
                               int* ret_type_code);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_CORE_OBSERVERS_H_
