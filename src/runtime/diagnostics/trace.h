/*!
 * \file trace.h
 * \brief Records of calls, made while a trace is on.
 */
#ifndef MXNET_SRC_RUNTIME_DIAGNOSTICS_TRACE_H_
#define MXNET_SRC_RUNTIME_DIAGNOSTICS_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace mxnet {
namespace runtime {

/*! \brief One call that has ended. Text is valid UTF-8. */
struct CallRecord {
  std::string name;
  std::string arguments;
  std::string outcome; /*!< the result, or the error's kind and message */
  bool failed;
  int depth;
  int64_t thread;   /*!< as the system numbers threads */
  int64_t start;    /*!< nanoseconds of the steady clock */
  int64_t duration; /*!< nanoseconds */
};

/*! \brief What one trace has recorded. Guarded by the lock of all traces. */
struct TraceLog {
  size_t max_calls;
  int64_t started;
  size_t dropped{0};
  std::deque<CallRecord> calls;
  std::map<int64_t, std::string> threads; /*!< the system's names of those that called */
};

/*! \brief The events of a log in the JSON format of Chrome and Perfetto. */
std::string TraceJson(const TraceLog& log);

}  // namespace runtime
}  // namespace mxnet

#endif  // MXNET_SRC_RUNTIME_DIAGNOSTICS_TRACE_H_
