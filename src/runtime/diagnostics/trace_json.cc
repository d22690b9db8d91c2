/*!
 * \file trace_json.cc
 * \brief Writes a trace in the JSON format of Chrome and Perfetto.
 */
#include <errno.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>

#include "runtime/diagnostics/trace.h"
#include "runtime/diagnostics/value_text.h"

namespace mxnet {
namespace runtime {
namespace {

/*! \brief Text that has no control characters, as a JSON string. */
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/*! \brief Microseconds, the unit of the format, to the nanosecond. */
std::string Micros(int64_t nanoseconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%" PRId64 ".%03d", nanoseconds / 1000,
                static_cast<int>(nanoseconds % 1000));
  return buffer;
}

std::string Where(int64_t thread) {
  return "\"pid\":" + std::to_string(getpid()) + ",\"tid\":" + std::to_string(thread);
}

std::string NameEvent(const char* kind, int64_t thread, const std::string& name) {
  return std::string("{\"ph\":\"M\",\"name\":\"") + kind + "\"," + Where(thread) +
         ",\"args\":{\"name\":" + Quoted(name) + "}}";
}

std::string CallEvent(const CallRecord& call, int64_t started) {
  return "{\"ph\":\"X\",\"name\":" + Quoted(call.name) +
         ",\"cat\":" + (call.failed ? "\"error\"," : "\"call\",") + Where(call.thread) +
         ",\"ts\":" + Micros(call.start - started) + ",\"dur\":" + Micros(call.duration) +
         ",\"args\":{\"arguments\":" + Quoted(call.arguments) +
         (call.failed ? ",\"error\":" : ",\"result\":") + Quoted(call.outcome) + "}}";
}

std::string ProcessName() {
  std::string name;
  AppendText(program_invocation_short_name, 120, &name);
  return name;
}

}  // namespace

std::string TraceJson(const TraceLog& log) {
  std::string json =
      "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":" + std::to_string(log.dropped) +
      "},\"traceEvents\":[\n" + NameEvent("process_name", getpid(), ProcessName());
  for (const auto& thread : log.threads) {
    json += ",\n" + NameEvent("thread_name", thread.first, thread.second);
  }
  for (const CallRecord& call : log.calls) json += ",\n" + CallEvent(call, log.started);
  return json + "\n]}\n";
}

}  // namespace runtime
}  // namespace mxnet
