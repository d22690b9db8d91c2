/*!
 * \file backtrace.h
 * \brief The return addresses that were on the stack when an exception was thrown.
 */
#ifndef MXNET_SRC_RUNTIME_DIAGNOSTICS_BACKTRACE_H_
#define MXNET_SRC_RUNTIME_DIAGNOSTICS_BACKTRACE_H_

namespace mxnet {
namespace runtime {

/*! \brief A throw on this thread that has not become an error yet. */
struct NotedThrow {
  static constexpr int kMaxAddresses = 32;

  int count;
  const void* addresses[kMaxAddresses]; /*!< innermost first */

  static NotedThrow* ThreadLocal();
};

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_DIAGNOSTICS_BACKTRACE_H_
