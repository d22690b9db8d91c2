// What fails for want of memory fails with an error: the operator new of this program rejects on
// request.
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include "./support.h"

using mxnet::tests::LastError;
using namespace mxnet::runtime;  // NOLINT: the subject of the test

namespace {

constexpr int64_t kUnlimited = INT64_MAX;
thread_local int64_t allocations_left = kUnlimited;
thread_local bool rejected = false;

/*! \brief Limits the allocations of the calling thread as long as it lives. */
class Allocations {
 public:
  explicit Allocations(int64_t limit) {
    rejected = false;
    allocations_left = limit;
  }
  ~Allocations() { allocations_left = kUnlimited; }
};

}  // namespace

void* operator new(size_t size) {
  if (allocations_left == 0) rejected = true;
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left != kUnlimited) --allocations_left;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Of the sanitizers there is one otherwise, and what it gives must not come to the delete below.
void* operator new(size_t size, const std::nothrow_t&) noexcept try {
  return operator new(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

const std::string kLong(100, 'x');

Registry Described(const char* name) { return Registry(name, __FILE__, __LINE__); }

struct Outcome {
  int status;
  int type_code;
  int64_t value;
};

Outcome Call(const PackedFunc& func, int num_args) {
  const MXNetValue values[8] = {};
  const int codes[8] = {};
  MXNetValue ret{};
  int type_code = kMXNetNull;
  const int status = MXNetFuncCall(func.get(), values, codes, num_args, &ret, &type_code);
  return {status, type_code, ret.v_int64};
}

/*! \brief Calls with memory for no allocation, for one, and so on, until none is rejected. */
template <typename Check>
int64_t ForEachLimit(const PackedFunc& func, int num_args, const Check& check) {
  for (int64_t limit = 0;; ++limit) {
    Outcome outcome;
    {
      const Allocations allocations(limit);
      outcome = Call(func, num_args);
    }
    check(outcome);
    if (!rejected) return limit;
  }
}

}  // namespace

TEST_CASE("a call that fails where there is no memory says so, or what it would have said") {
  const std::string name = "tests.no_memory." + kLong;
  struct Case {
    const char* what;
    std::string error;
    int num_args;
    void (*body)(MXNetArgs, MXNetRetValue*);
  };
  const Case cases[] = {
      {"too many arguments", "TypeError: " + name + ": expected 1 arguments, got 2", 2,
       [](MXNetArgs, MXNetRetValue*) {}},
      {"a missing argument", "TypeError: " + name + ": missing argument 0 ('count')", 0,
       [](MXNetArgs, MXNetRetValue*) {}},
      {"an argument of the wrong type",
       "TypeError: " + name + ": argument 0 ('count') expected str, got int", 1,
       [](MXNetArgs args, MXNetRetValue*) { args[0].As<std::string>(); }},
      {"an Error", "KeyError: " + kLong, 1,
       [](MXNetArgs, MXNetRetValue*) { MXNET_THROW("KeyError") << kLong; }},
      {"an Error that is returned", "KeyError: " + kLong, 1,
       [](MXNetArgs, MXNetRetValue* ret) { *ret = Error("KeyError", kLong); }},
      {"an exception of C++", "IndexError: " + kLong, 1,
       [](MXNetArgs, MXNetRetValue*) { throw std::out_of_range(kLong); }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    Registry registry = Described(name.c_str());
    registry.add_argument("count", "int", "A number.").set_body(c.body);
    registry.Commit();
    const PackedFunc func = PackedFunc::GetGlobal(name.c_str());
    MXNetFuncRemoveGlobal(name.c_str());
    // A thread's strings keep their memory, and what was said last might be said without any.
    MXNetSetLastError(nullptr);
    int64_t said = 0;
    const int64_t limit = ForEachLimit(func, c.num_args, [&](const Outcome& outcome) {
      CHECK(outcome.status == -1);
      said += LastError() == c.error;
      CHECK((LastError() == c.error || LastError() == "MemoryError: out of memory"));
    });
    CHECK(limit > 0);
    CHECK(said > 0);
    CHECK(said <= limit);
  }
}

TEST_CASE("a call is made and its result kept where a trace has no memory for its record") {
  const PackedFunc start = PackedFunc::GetGlobal("ffi.trace.start");
  const PackedFunc stop = PackedFunc::GetGlobal("ffi.trace.stop");
  const PackedFunc seven(details::PackTyped([](int, int, int) { return 7; }));
  const ObjectRef trace = start(1000).As<ObjectRef>();
  int64_t calls = 0;
  const int64_t limit = ForEachLimit(seven, 3, [&](const Outcome& outcome) {
    ++calls;
    CHECK(outcome.status == 0);
    CHECK(outcome.type_code == kMXNetInt);
    CHECK(outcome.value == 7);
  });
  stop(trace);
  const auto recorded = PackedFunc::GetGlobal("ffi.trace.calls")(trace).As<Tuple>();
  const auto dropped = PackedFunc::GetGlobal("ffi.trace.dropped")(trace).As<int64_t>();
  int64_t sevens = 0;
  for (const Any& call : recorded) {
    sevens += call.As<Tuple>()[2].As<std::string>() == "7";
  }
  CHECK(limit > 0);
  CHECK(dropped == limit);
  CHECK(sevens == calls - limit);
}
