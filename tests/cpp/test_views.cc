// What a function borrows of its caller for the call.
#include <optional>
#include <vector>

#include "./support.h"

using mxnet::tests::ErrorOf;
using namespace mxnet::runtime;  // NOLINT: the subject of the test

namespace {

static_assert(!std::is_copy_constructible_v<FunctionView>, "or a lambda may capture it unawares");
static_assert(!std::is_copy_assignable_v<FunctionView>);
static_assert(std::is_convertible_v<const PackedFunc&, FunctionView>);
static_assert(std::is_convertible_v<FunctionView, PackedFunc>);

using details::IsBorrowed;
static_assert(IsBorrowed<std::string_view>::value && IsBorrowed<const char*>::value);
static_assert(IsBorrowed<ShapeView>::value && IsBorrowed<const std::string&>::value);
static_assert(IsBorrowed<const DLTensor*>::value && IsBorrowed<DLTensor*>::value);
static_assert(IsBorrowed<std::optional<std::vector<std::string_view>>>::value);
static_assert(IsBorrowed<FunctionView>::value && IsBorrowed<Variadic<FunctionView>>::value);
static_assert(!IsBorrowed<std::string>::value && !IsBorrowed<PackedFunc>::value);
static_assert(!IsBorrowed<std::vector<std::string>>::value && !IsBorrowed<void*>::value);

int32_t References(const PackedFunc& func) { return func.get()->ref_count; }

PackedFunc AddOne() {
  return PackedFunc([](MXNetArgs args, MXNetRetValue* ret) { *ret = args[0].As<int>() + 1; });
}

}  // namespace

TEST_CASE("a parameter that is borrowed takes no reference and reads what a PackedFunc does") {
  struct Case {
    const char* parameter;
    PackedFunc take;
    int32_t more;  // references that it takes
    const char* expected = "function";
  };
  const Case cases[] = {
      {"PackedFunc", details::PackTyped([](PackedFunc f, int x) {
         return f(x).As<int>() * 1000 + References(f);
       }),
       1},
      {"const PackedFunc&", details::PackTyped([](const PackedFunc& f, int x) {
         return f(x).As<int>() * 1000 + References(f);
       }),
       0},
      {"FunctionView", details::PackTyped([](FunctionView f, int x) {
         return f(x).As<int>() * 1000 + References(f);
       }),
       0},
      {"const FunctionView&", details::PackTyped([](const FunctionView& f, int x) {
         return f(x).As<int>() * 1000 + References(f);
       }),
       0},
      {"std::optional", details::PackTyped([](std::optional<FunctionView> f, int x) {
         return (*f)(x).As<int>() * 1000 + References(*f);
       }),
       0, "function or None"},
      {"args[0].As", PackedFunc([](MXNetArgs args, MXNetRetValue* ret) {
         const auto f = args[0].As<FunctionView>();
         MXNetRetValue result;
         f.CallPacked(args.values + 1, args.type_codes + 1, 1, &result);
         *ret = result.As<int>() * 1000 + References(f);
       }),
       0},
  };
  const PackedFunc func = AddOne();
  MXNetValue values[2] = {};
  values[0].v_handle = func.get();
  values[1].v_int64 = 6;
  const int codes[2] = {kMXNetFuncHandle, kMXNetInt};
  const int wrong[2] = {kMXNetInt, kMXNetInt};
  for (const Case& c : cases) {
    CAPTURE(c.parameter);
    CHECK(c.take.CallPacked(values, codes, 2).As<int>() == 7000 + References(func) + c.more);
    CHECK(References(func) == 1);
    CHECK(ErrorOf([&] { c.take.CallPacked(values, wrong, 2); }) ==
          "TypeError: function: argument 0 expected " + std::string(c.expected) + ", got int");
  }
}

TEST_CASE("what is borrowed can be kept as what owns it") {
  PackedFunc kept;
  TypedPackedFunc<int(int)> typed;
  const PackedFunc keep(details::PackTyped(
      [&](const PackedFunc& func, FunctionView view, Variadic<FunctionView> others) {
        kept = func;
        typed = TypedPackedFunc<int(int)>(view);
        return PackedFunc(others.at(0));
      }));
  PackedFunc func = AddOne();
  const auto returned = keep(func, func, func).As<PackedFunc>();
  CHECK(References(func) == 4);
  func = nullptr;
  CHECK(kept(1).As<int>() == 2);
  CHECK(typed(2) == 3);
  CHECK(returned(3).As<int>() == 4);
}

TEST_CASE("a view may be moved and be of nothing") {
  const PackedFunc func = AddOne();
  FunctionView view = func;
  FunctionView other;
  CHECK(view.defined());
  CHECK_FALSE(other.defined());
  other = std::move(view);
  CHECK(other(1).As<int>() == 2);
  other = FunctionView();
  CHECK_FALSE(other);
  CHECK(References(func) == 1);
  CHECK(ErrorOf([] { PackedFunc::GetGlobal("tests.missing")(); }).find("'tests.missing'") !=
        std::string::npos);
  CHECK(ErrorOf([&] { other(); }).find("ValueError: MXNetFuncCall: an undefined function") == 0);
}

TEST_CASE("a result may be written where one was before") {
  const PackedFunc echo = PackedFunc::GetGlobal("ffi.echo");
  const PackedFunc fail = PackedFunc::GetGlobal("testing.throw_error");
  const PackedFunc func = AddOne();
  MXNetValue value{};
  value.v_handle = func.get();
  const int code = kMXNetFuncHandle;
  MXNetRetValue ret;
  ret = Error("ValueError", "former");
  echo.CallPacked(&value, &code, 1, &ret);
  CHECK_FALSE(ret.failed());
  CHECK(References(func) == 2);
  echo.CallPacked(&value, &code, 1, &ret);
  CHECK(References(func) == 2);
  CHECK_THROWS_AS(fail.CallPacked(&value, &code, 1, &ret), Error);
  CHECK(ret.type_code() == kMXNetNull);
  CHECK(References(func) == 1);
}
