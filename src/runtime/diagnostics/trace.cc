/*!
 * \file trace.cc
 * \brief Traces that are on, and what a call adds to them.
 */
#include "runtime/diagnostics/trace.h"

#include <mxnet/runtime/registry.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "runtime/core/error_state.h"
#include "runtime/core/fork_safe.h"
#include "runtime/core/observers.h"
#include "runtime/diagnostics/value_text.h"

namespace mxnet {
namespace runtime {
namespace {

constexpr size_t kMaxName = 120;
constexpr size_t kMaxMessage = 200;

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t ThreadNumber() { return static_cast<int64_t>(syscall(SYS_gettid)); }

std::string ThreadName() {
  char name[32] = "";
  std::string text;
  if (pthread_getname_np(pthread_self(), name, sizeof(name)) == 0) {
    AppendText(name, sizeof(name) * 4, &text);
  }
  return text;
}

/*! \brief A trace as an object of the registry's functions. */
struct TraceObject {
  MXNetObject header;
  TraceLog log;
};

int CallTraced(const ActiveCall& call, MXNetValue* ret, int* ret_type_code);

/*! \brief The traces that are on; each holds a reference. Leaked, for threads call to the end. */
class ActiveTraces {
 public:
  static ActiveTraces* Global() {
    static ActiveTraces* traces = new ActiveTraces();
    return traces;
  }

  ForkSafeMutex& mutex() { return mutex_; }

  void Start(ObjectRef trace) {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    traces_.push_back(std::move(trace));
    traced_call.store(&CallTraced, std::memory_order_relaxed);
    observers.fetch_or(kObserveTraces, std::memory_order_release);
  }

  void Stop(TraceObject* trace) {
    ObjectRef stopped;
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    auto found = std::find_if(traces_.begin(), traces_.end(),
                              [&](const ObjectRef& ref) { return ref.get() == &trace->header; });
    if (found == traces_.end()) return;
    stopped = std::move(*found);
    traces_.erase(found);
    if (traces_.empty()) observers.fetch_and(~static_cast<uint32_t>(kObserveTraces));
  }

  /*! \brief Adds a record to each trace that was on when the call began; NULL counts as dropped. */
  void Add(int64_t start, const CallRecord* record) noexcept {
    std::lock_guard<ForkSafeMutex> lock(mutex_);
    for (const ObjectRef& ref : traces_) {
      TraceLog* log = &reinterpret_cast<TraceObject*>(ref.get())->log;
      if (start < log->started) continue;
      if (record == nullptr || !Add(*record, log)) ++log->dropped;
    }
  }

 private:
  /*! \brief Adds a record; false where there is no room for it. */
  static bool Add(const CallRecord& record, TraceLog* log) noexcept {
    if (log->calls.size() >= log->max_calls) return false;
    try {
      auto named = log->threads.try_emplace(record.thread);
      if (named.second) named.first->second = ThreadName();
      log->calls.push_back(record);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  ForkSafeMutex mutex_;
  std::vector<ObjectRef> traces_;
};

/*! \brief Calls note(); false where there is no memory for it. */
template <typename Note>
bool Record(const Note& note) noexcept {
  try {
    note();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/*! \brief The text of a call's result, or of its error. */
std::string OutcomeText(int status, const MXNetValue& ret, int ret_type_code) {
  std::string text;
  if (status == 0) {
    AppendValue(ret, ret_type_code, &text);
    return text;
  }
  const MXNetErrorInfo* error = MXNetGetLastError();
  AppendText(error->kind, kMaxName, &text);
  text += ": ";
  AppendText(std::string_view(error->message.data, error->message.size), kMaxMessage, &text);
  return text;
}

uint32_t TraceIndex() {
  static const uint32_t index = [] {
    uint32_t given = 0;
    MXNET_CHECK_CALL(MXNetObjectTypeKey2Index("ffi.Trace", &given));
    return given;
  }();
  return index;
}

TraceObject* TraceOf(const MXNetArgs& args) {
  const MXNetArgValue arg = args[0];
  if (ObjectTypeOf(arg.value(), arg.type_code()) != TraceIndex()) {
    MXNET_THROW("TypeError") << arg.text() << " expected ffi.Trace, got " << arg.type_name();
  }
  return static_cast<TraceObject*>(arg.value().v_handle);
}

/*! \brief What a trace has recorded so far. */
TraceLog CopyOfLog(const MXNetArgs& args) {
  const TraceObject* trace = TraceOf(args);
  std::lock_guard<ForkSafeMutex> lock(ActiveTraces::Global()->mutex());
  return trace->log;
}

Any TupleOf(const CallRecord& call, int64_t started) {
  return details::ToAny(Tuple(std::vector<Any>{
      details::ToAny(call.name), details::ToAny(call.arguments), details::ToAny(call.outcome),
      details::ToAny(call.failed), details::ToAny(call.start - started),
      details::ToAny(call.duration), details::ToAny(call.thread), details::ToAny(call.depth)}));
}

MXNET_REGISTER_API("ffi.trace.start")
    .describe("Begins to record every call, of every thread, until ffi.trace.stop.")
    .add_argument("max_calls", "int", 100000, "Further calls are counted, but not recorded.")
    .returns("ffi.Trace")
    .set_body_typed([](int64_t max_calls) {
      if (max_calls < 0)
        MXNET_THROW("ValueError") << "ffi.trace.start: argument 0 ('max_calls') is " << max_calls
                                  << ", expected at least 0";
      auto* trace = NewObject<TraceObject>(TraceIndex());
      ObjectRef ref = ObjectRef::Steal(trace);
      trace->log.max_calls = static_cast<size_t>(max_calls);
      trace->log.started = Now();
      ActiveTraces::Global()->Start(ref);
      return ref;
    });

MXNET_REGISTER_API("ffi.trace.stop")
    .describe("Ends a trace; calls still under way are not in it. Ending it again does nothing.")
    .add_argument("trace", "ffi.Trace", "What ffi.trace.start returned.")
    .returns("None")
    .set_body([](MXNetArgs args, MXNetRetValue*) { ActiveTraces::Global()->Stop(TraceOf(args)); });

MXNET_REGISTER_API("ffi.trace.calls")
    .describe(
        "The calls recorded so far, in order of their ends. Of each: name, arguments, result or "
        "error, whether it failed, start and duration in nanoseconds, thread, depth of nesting.")
    .add_argument("trace", "ffi.Trace", "What ffi.trace.start returned.")
    .returns("tuple[tuple[str, str, str, bool, int, int, int, int], ...]")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const TraceLog log = CopyOfLog(args);
      std::vector<Any> calls;
      calls.reserve(log.calls.size());
      for (const CallRecord& call : log.calls) calls.push_back(TupleOf(call, log.started));
      *ret = Tuple(std::move(calls));
    });

MXNET_REGISTER_API("ffi.trace.dropped")
    .describe("How many calls a trace had no room for.")
    .add_argument("trace", "ffi.Trace", "What ffi.trace.start returned.")
    .returns("int")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      const TraceObject* trace = TraceOf(args);
      std::lock_guard<ForkSafeMutex> lock(ActiveTraces::Global()->mutex());
      *ret = static_cast<int64_t>(trace->log.dropped);
    });

MXNET_REGISTER_API("ffi.trace.json")
    .describe("A trace in the JSON format that Chrome's about:tracing and Perfetto read.")
    .add_argument("trace", "ffi.Trace", "What ffi.trace.start returned.")
    .add_argument("thread_names", "dict[int, str] | None", nullptr,
                  "Names of threads by number; by default those of the system.")
    .returns("str")
    .set_body([](MXNetArgs args, MXNetRetValue* ret) {
      TraceLog log = CopyOfLog(args);
      if (!args[1].is_null()) {
        const auto names = args[1].As<Map<int64_t, std::string>>();
        for (size_t i = 0; i < names.size(); ++i) {
          auto found = log.threads.find(names.key(i).As<int64_t>());
          if (found == log.threads.end()) continue;
          found->second.clear();
          AppendText(names.value(i).As<std::string>(), kMaxName, &found->second);
        }
      }
      *ret = TraceJson(log);
    });

/*! \brief The name of a function; of a callable, the name that the front end has for it. */
std::string NameOf(const FunctionObject& func) {
  std::string name = func.info->view().name;
  if (name != "function") return name;
  const PackedFunc namer = PackedFunc::GetGlobal("ffi.callable_name");
  if (!namer.defined()) return name;
  MXNetValue value{};
  value.v_handle = const_cast<FunctionObject*>(&func);
  const int code = kMXNetFuncHandle;
  Any told;
  // Not by MXNetFuncCall, which would record this call, too, and ask for its name.
  const int status = told.Receive([&](MXNetValue* ret, int* ret_code) {
    return static_cast<const FunctionObject*>(static_cast<const void*>(namer.get()))
        ->Call(&value, &code, 1, ret, ret_code);
  });
  std::string_view text;
  if (status == 0 && details::MapKey::AsText(told.raw(), &text)) name = text;
  return name;
}

/*! \brief Whether a call is one that the front end makes to show where an error came from. */
bool IsOurs(const FunctionObject& func) {
  constexpr char kPrefix[] = "ffi.backtrace.";
  return std::strncmp(func.info->view().name, kPrefix, sizeof(kPrefix) - 1) == 0;
}

/*! \brief Calls, and adds a record to every trace that is on. */
int CallTraced(const ActiveCall& call, MXNetValue* ret, int* ret_type_code) {
  if (IsOurs(*call.func)) return CallWhereItBelongs(call, ret, ret_type_code);
  CallRecord record;
  // A failure to record neither prevents the call nor changes its result.
  bool recorded = Record([&] {
    AppendText(NameOf(*call.func), kMaxName, &record.name);
    record.arguments = ArgumentsText(call.values, call.type_codes, call.num_args);
  });
  record.depth = call.depth;
  record.thread = ThreadNumber();
  record.start = Now();
  const int status = CallWhereItBelongs(call, ret, ret_type_code);
  record.duration = Now() - record.start;
  record.failed = status != 0;
  recorded &= Record([&] { record.outcome = OutcomeText(status, *ret, *ret_type_code); });
  ActiveTraces::Global()->Add(record.start, recorded ? &record : nullptr);
  return status;
}

}  // namespace
}  // namespace runtime
}  // namespace mxnet
