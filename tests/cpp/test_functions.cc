// Functions: calls, descriptions, errors, the registry.
#include <atomic>
#include <thread>

#include "./support.h"

using mxnet::tests::ErrorOf;
using mxnet::tests::LastError;
using namespace mxnet::runtime;  // NOLINT: the subject of the test

namespace {

/*! \brief Registers a function for the duration of a test. */
class Registered {
 public:
  Registered(const char* name, Registry& registry) : name_(name) { registry.Commit(); }
  ~Registered() { MXNetFuncRemoveGlobal(name_); }
  PackedFunc get() const { return PackedFunc::GetGlobal(name_); }

 private:
  const char* name_;
};

Registry Described(const char* name) { return Registry(name, __FILE__, __LINE__); }

}  // namespace

TEST_CASE("any lambda is a function") {
  int64_t calls = 0;
  PackedFunc packed([&calls](MXNetArgs args, MXNetRetValue* ret) {
    ++calls;
    *ret = args[0].As<int64_t>() + args[1].operator int64_t();
  });
  CHECK(packed(1, 2).As<int64_t>() == 3);
  int64_t sum = packed(3, 4);
  CHECK(sum == 7);
  CHECK(calls == 2);
  TypedPackedFunc<std::string(std::string, int)> repeat([](std::string text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  });
  CHECK(repeat("ab", 2) == "abab");
  CHECK(repeat.packed()("x", 3).As<std::string>() == "xxx");
}

TEST_CASE("a typed body says which argument is wrong") {
  Registered f("tests.typed", Described("tests.typed")
                                  .add_argument("count", "int", "c")
                                  .add_argument("name", "str", "n")
                                  .set_body_typed([](int8_t count, std::string name) {
                                    return name + std::to_string(count);
                                  }));
  CHECK(f.get()(1, "x").As<std::string>() == "x1");
  CHECK(ErrorOf([&] { f.get()("1", "x"); }) ==
        "TypeError: tests.typed: argument 0 ('count') expected int (int8), got str");
  CHECK(ErrorOf([&] { f.get()(1000, "x"); }) ==
        "OverflowError: tests.typed: argument 0 ('count') expected int (int8), got 1000");
  CHECK(ErrorOf([&] { f.get()(1, nullptr); }) ==
        "TypeError: tests.typed: argument 1 ('name') expected str, got None");
  CHECK(ErrorOf([&] { f.get()(1); }) == "TypeError: tests.typed: missing argument 1 ('name')");
  CHECK(ErrorOf([&] { f.get()(1, "x", 2); }) ==
        "TypeError: tests.typed: expected 2 arguments, got 3");
}

TEST_CASE("defaults fill what is not given") {
  Registered f("tests.defaults", Described("tests.defaults")
                                     .add_argument("a", "int", "required")
                                     .add_argument("b", "str", "text", "optional")
                                     .add_frontend_argument("order", "str", "C", "front end only")
                                     .add_argument("c", "float", 2.5, "optional")
                                     .set_body([](MXNetArgs args, MXNetRetValue* ret) {
                                       *ret = args[1].As<std::string>() + "/" +
                                              std::to_string(args[2].As<double>());
                                     }));
  CHECK(f.get()(1).As<std::string>() == "text/2.500000");
  CHECK(f.get()(1, "b").As<std::string>() == "b/2.500000");
  MXNetValue values[3] = {};
  int codes[3] = {kMXNetInt, kMXNetMissing, kMXNetFloat};
  values[2].v_float64 = 1.0;
  CHECK(f.get().CallPacked(values, codes, 3).As<std::string>() == "text/1.000000");
  codes[0] = kMXNetMissing;
  CHECK(ErrorOf([&] { f.get().CallPacked(values, codes, 3); }) ==
        "TypeError: tests.defaults: missing argument 0 ('a')");
  CHECK(ErrorOf([&] { f.get()(1, "x", 1.0, 4); }) ==
        "TypeError: tests.defaults: expected 1 to 3 arguments, got 4");
  const MXNetFuncInfo* info = nullptr;
  REQUIRE(MXNetFuncGetInfo(f.get().get(), &info) == 0);
  CHECK(info->num_params == 4);
  CHECK(info->params[2].flags == (kMXNetParamOptional | kMXNetParamFrontEnd));
  CHECK(std::string(info->params[1].default_value.value.v_str.data) == "text");
}

TEST_CASE("a registration that cannot be kept is rejected") {
  auto body = [](MXNetArgs, MXNetRetValue*) {};
  CHECK(ErrorOf([&] { Described("tests.none").Commit(); }) ==
        "ValueError: tests.none is registered without a body");
  Registered first("tests.taken", Described("tests.taken").set_body(body));
  CHECK(ErrorOf([&] { Described("tests.taken").set_body(body).Commit(); }) ==
        "ValueError: function 'tests.taken' is registered already; pass override=True to replace "
        "it");
  Described("tests.taken")
      .set_body([](MXNetArgs, MXNetRetValue* ret) { *ret = 2; })
      .override_existing()
      .Commit();
  CHECK(first.get()().As<int>() == 2);
  CHECK(MXNetFuncRemoveGlobal("tests.never") == -1);
  CHECK(LastError() == "KeyError: no function is registered as 'tests.never'");
  CHECK(MXNetFuncRegisterGlobal("", first.get().get(), 0) == -1);
  CHECK_FALSE(PackedFunc::GetGlobal("tests.never").defined());
}

TEST_CASE("exceptions become errors and never cross") {
  struct Case {
    const char* expected;
    void (*raise)();
  };
  for (const Case& c : {Case{"ValueError: v", [] { MXNET_THROW("ValueError") << "v"; }},
                        Case{"RuntimeError: r", [] { throw std::runtime_error("r"); }},
                        Case{"IndexError: i", [] { throw std::out_of_range("i"); }},
                        Case{"ValueError: a", [] { throw std::invalid_argument("a"); }},
                        Case{"OverflowError: o", [] { throw std::overflow_error("o"); }},
                        Case{"MemoryError: out of memory", [] { throw std::bad_alloc(); }},
                        Case{"RuntimeError: a C++ exception of unknown type", [] { throw 1; }}}) {
    auto raise = c.raise;
    PackedFunc func([raise](MXNetArgs, MXNetRetValue*) { raise(); });
    CHECK(ErrorOf([&] { func(); }) == c.expected);
    MXNetValue ret;
    int code = 0;
    CHECK(MXNetFuncCall(func.get(), nullptr, nullptr, 0, &ret, &code) == -1);
    CHECK(LastError() == c.expected);
  }
}

TEST_CASE("an error names the source lines it passed") {
  Registered inner("tests.inner", Described("tests.inner").set_body([](MXNetArgs, MXNetRetValue*) {
    MXNET_THROW("ValueError") << "deep";
  }));
  Registered outer("tests.outer",
                   Described("tests.outer").set_body([](MXNetArgs, MXNetRetValue* ret) {
                     *ret = PackedFunc::GetGlobal("tests.inner")().As<int>();
                   }));
  MXNetValue ret;
  int code = 0;
  REQUIRE(MXNetFuncCall(outer.get().get(), nullptr, nullptr, 0, &ret, &code) == -1);
  const MXNetErrorInfo* info = MXNetGetLastError();
  // Between them are return addresses, for this program has debug information.
  std::vector<MXNetErrorFrame> named;
  for (size_t i = 0; i < info->num_frames; ++i) {
    if (*info->frames[i].file != '\0') named.push_back(info->frames[i]);
  }
  REQUIRE(named.size() == 3);
  CHECK(std::string(named[0].file).find("test_functions.cc") != std::string::npos);
  CHECK(std::string(named[1].function) == "tests.inner");
  CHECK(std::string(named[2].function) == "tests.outer");
  MXNetSetLastError(nullptr);
  CHECK(MXNetGetLastError()->num_frames == 0);
}

TEST_CASE("a failure may be returned instead of thrown") {
  PackedFunc func([](MXNetArgs, MXNetRetValue* ret) { *ret = Error("KeyError", "k"); });
  CHECK(ErrorOf([&] { func(); }) == "KeyError: k");
}

TEST_CASE("a returned failure is the one reported, whatever fails while the body ends") {
  struct FailsAtItsEnd {
    ~FailsAtItsEnd() { MXNetFuncRemoveGlobal("tests.never"); }
  };
  PackedFunc func([](MXNetArgs, MXNetRetValue* ret) {
    const FailsAtItsEnd local;
    *ret = Error("KeyError", "k");
  });
  CHECK(ErrorOf([&] { func(); }) == "KeyError: k");
}

TEST_CASE("a check of a C call is one statement") {
  bool checked = true;
  if (!checked)
    MXNET_CHECK_CALL(MXNetFuncRemoveGlobal("tests.never"));
  else
    checked = false;
  CHECK_FALSE(checked);
}

TEST_CASE("an error with a text that no string can hold is lack of memory") {
  MXNetErrorInfo info{};
  info.struct_size = sizeof(info);
  info.kind = "KeyError";
  info.message = MXNetByteArray{"text", SIZE_MAX};
  CHECK(MXNetSetLastError(&info) == -1);
  CHECK(std::string(MXNetGetLastError()->kind) == "MemoryError");
}

TEST_CASE("a function's resource is released once") {
  static std::atomic<int> released{0};
  released = 0;
  auto body = [](void*, const MXNetValue*, const int*, int, MXNetValue*, int*) { return 0; };
  auto finalizer = [](void*) { ++released; };
  MXNetFunctionHandle func = nullptr;
  REQUIRE(MXNetFuncCreateFromCFunc(body, &released, finalizer, &func) == 0);
  REQUIRE(MXNetFuncRegisterGlobal("tests.resource", func, 0) == 0);
  REQUIRE(MXNetFuncFree(func) == 0);
  CHECK(released == 0);
  REQUIRE(MXNetFuncRemoveGlobal("tests.resource") == 0);
  CHECK(released == 1);
  CHECK(MXNetFuncCreateFromCFunc(nullptr, &released, finalizer, &func) == -1);
  CHECK(released == 2);
}

TEST_CASE("a function removed while it runs finishes") {
  Registered f("tests.removed",
               Described("tests.removed").set_body([](MXNetArgs, MXNetRetValue* r) {
                 MXNetFuncRemoveGlobal("tests.removed");
                 *r = 5;
               }));
  CHECK(f.get()().As<int>() == 5);
}

TEST_CASE("the registry is safe from many threads") {
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &wrong] {
      const std::string name = "tests.thread" + std::to_string(t);
      for (int i = 0; i < kRounds; ++i) {
        Registry(name, __FILE__, __LINE__)
            .set_body([i](MXNetArgs, MXNetRetValue* ret) { *ret = i; })
            .override_existing()
            .Commit();
        if (PackedFunc::GetGlobal(name.c_str())().As<int>() != i) ++wrong;
        PackedFunc shared = PackedFunc::GetGlobal("tests.thread0");
        if (shared.defined() && shared().As<int>() < 0) ++wrong;
        if (i % 50 == 0) {
          int size = 0;
          const char** names = nullptr;
          if (MXNetFuncListGlobalNames(&size, &names) != 0 || size == 0) ++wrong;
        }
      }
      MXNetFuncRemoveGlobal(name.c_str());
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("errors belong to their thread") {
  MXNetFuncRemoveGlobal("tests.mine");
  std::thread([] {
    CHECK(std::string(MXNetGetLastError()->kind).empty());
    MXNetFuncRemoveGlobal("tests.other");
  }).join();
  CHECK(LastError().find("tests.mine") != std::string::npos);
}

TEST_CASE("destructors of a thread's variables may ask the registry") {
  struct Late {
    std::string* message;
    ~Late() {
      int size = 0;
      const char** names = nullptr;
      CHECK(MXNetFuncListGlobalNames(&size, &names) == 0);
      try {
        PackedFunc::GetGlobal(("tests.late." + std::string(500, 'x')).c_str())();
      } catch (const Error& error) {
        *message = error.message();
      }
    }
  };
  std::string message;
  std::thread([&message] {
    // Made first, and so destroyed last.
    static thread_local Late late{&message};
    int size = 0;
    const char** names = nullptr;
    CHECK(MXNetFuncListGlobalNames(&size, &names) == 0);
    PackedFunc::GetGlobal(("tests.early." + std::string(100, 'x')).c_str());
    static_cast<void>(late);
  }).join();
  CHECK(message.find("is not registered is 'tests.late.xxx") != std::string::npos);
}

TEST_CASE("the end of an error's payload may fail itself") {
  static int ended;
  ended = 0;
  MXNetOpaqueObject payload{};
  payload.header = MXNetObject{1, kMXNetObjectOpaque,
                               [](MXNetObject*) {
                                 ++ended;
                                 Error("ValueError", "inner").SetLast();
                               },
                               nullptr};
  MXNetErrorInfo info{};
  info.struct_size = sizeof(info);
  info.kind = "KeyError";
  info.payload = &payload;
  MXNetSetLastError(&info);
  MXNetObjectFree(&payload);
  CHECK(ended == 0);
  Error("TypeError", "outer").SetLast();
  CHECK(ended == 1);
  CHECK(LastError() == "TypeError: outer");
}

TEST_CASE("a call without what it needs is rejected") {
  const PackedFunc func = PackedFunc::GetGlobal("testing.nop");
  MXNetValue value{};
  MXNetValue ret;
  int code = kMXNetInt;
  struct Case {
    const char* what;
    int status;
  };
  for (const Case& c : {
           Case{"func", MXNetFuncCall(nullptr, &value, &code, 1, &ret, &code)},
           Case{"arg_values", MXNetFuncCall(func.get(), nullptr, &code, 1, &ret, &code)},
           Case{"type_codes", MXNetFuncCall(func.get(), &value, nullptr, 1, &ret, &code)},
           Case{"num_args", MXNetFuncCall(func.get(), &value, &code, -1, &ret, &code)},
           Case{"ret_val", MXNetFuncCall(func.get(), &value, &code, 1, nullptr, &code)},
           Case{"ret_type_code", MXNetFuncCall(func.get(), &value, &code, 1, &ret, nullptr)},
       }) {
    CAPTURE(c.what);
    CHECK(c.status == -1);
    CHECK(LastError().find("ValueError: MXNetFuncCall: func, ret_val") == 0);
  }
}
