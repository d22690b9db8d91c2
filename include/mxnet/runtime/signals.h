/*!
 * \file mxnet/runtime/signals.h
 * \brief CheckSignals: lets Ctrl-C end a long operation.
 */
#ifndef MXNET_RUNTIME_SIGNALS_H_
#define MXNET_RUNTIME_SIGNALS_H_

#include <mxnet/runtime/packed_func.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <chrono>

namespace mxnet {
namespace runtime {

/*!
 * \brief Throws what the front end's signal handlers raise, in Python a KeyboardInterrupt.
 *
 * Call it in loops that run for more than a tenth of a second or so, whether or not the function
 * releases the GIL. It costs a look at the clock; every 20 ms it asks the front end, which handles
 * signals on its main thread only, so that on Linux other threads than the process's first do not
 * ask. Let the Error pass: Python gets its exception back unchanged.
 *
 * From C, call the registered function "ffi.check_signals" at such intervals and return -1 where it
 * fails.
 */
MXNET_HIDDEN inline void CheckSignals() {
#if defined(__linux__)
  // Other threads would wait for Python's lock to learn nothing, for ever where the thread that
  // holds it waits for them, as for the worker of an accelerator's stream.
  static thread_local const bool is_main = syscall(SYS_gettid) == getpid();
  if (!is_main) return;
#endif
  using Clock = std::chrono::steady_clock;
  static thread_local Clock::time_point due{};
  const Clock::time_point now = Clock::now();
  if (now < due) return;
  due = now + std::chrono::milliseconds(20);
  PackedFunc::GetGlobal("ffi.check_signals")();
}

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_RUNTIME_SIGNALS_H_
