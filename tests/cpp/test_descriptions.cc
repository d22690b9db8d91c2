// Descriptions that come from C++ signatures.
#include <mxnet/runtime/enum.h>
#include <mxnet/runtime/overload.h>

#include <complex>
#include <cstddef>

#include "./support.h"

using mxnet::tests::ErrorOf;
using namespace mxnet::runtime;  // NOLINT: the subject of the test

namespace {

/*! \brief "name: type flags" of each parameter, and the result, of what is registered. */
template <typename Described, typename Body>
std::string Derived(Described&& registry, Body body) {
  registry.set_body_typed(std::move(body)).override_existing().Commit();
  PackedFunc func = PackedFunc::GetGlobal("tests.derived");
  const MXNetFuncInfo* info = nullptr;
  REQUIRE(MXNetFuncGetInfo(func.get(), &info) == 0);
  std::string text;
  for (size_t i = 0; i < info->num_params; ++i) {
    const MXNetParamInfo& param = info->params[i];
    text += std::string(param.name) + ": " + param.type + " " + std::to_string(param.flags) + "; ";
  }
  text += info->returns;
  MXNetFuncRemoveGlobal("tests.derived");
  return text;
}

Registry Named() { return Registry("tests.derived", __FILE__, __LINE__); }

struct Foreign {};

}  // namespace

template <>
struct mxnet::runtime::TypeTraits<Foreign> {
  static std::string Name() { return "foreign"; }
  static Match TryFrom(const MXNetValue&, int, Foreign*) { return Match::kOk; }
  static void Store(Foreign, MXNetAny*) {}
};

TEST_CASE("types come from the C++ signature") {
  CHECK(Derived(Named(), [] {}) == "None");
  CHECK(Derived(Named(), [](bool, int8_t, uint64_t, float, std::complex<double>) { return 1.0; }) ==
        "arg0: bool 0; arg1: int 0; arg2: int 0; arg3: float 0; arg4: complex 0; float");
  CHECK(Derived(Named(), [](std::string, const std::string&, Bytes) { return "text"; }) ==
        "arg0: str 0; arg1: str 0; arg2: bytes 0; str");
  CHECK(Derived(Named(), [](Shape, DLDataType dtype, Context) { return dtype; }) ==
        "arg0: Sequence[int] 0; arg1: DTypeLike 0; arg2: ffi.Context | str 0; numpy.dtype[Any]");
  CHECK(Derived(Named(), [](const DLTensor*, NDArray array) { return array; }) ==
        "arg0: ArrayLike 0; arg1: ArrayLike 0; ffi.NDArray");
  CHECK(Derived(Named(), [](std::vector<std::string>, Array<double> a) { return a; }) ==
        "arg0: Sequence[str] 0; arg1: Sequence[float] 0; ffi.Array[float]");
  CHECK(Derived(Named(), [](Map<std::string, Shape> m) { return m; }) ==
        "arg0: Mapping[str, Sequence[int]] 0; ffi.Map[str, tuple[int, ...]]");
  CHECK(Derived(Named(), [](PackedFunc f, Any, ObjectRef) { return f; }) ==
        "arg0: Callable[..., Any] 0; arg1: Any 0; arg2: Any 0; ffi.Function");
  CHECK(Derived(Named(), [](Foreign) { return Shape(); }) == "arg0: Any 0; tuple[int, ...]");
}

TEST_CASE("what may be left out comes from the C++ signature") {
  CHECK(Derived(Named(), [](std::optional<int>, int, std::optional<Shape>) {
          return std::optional<double>();
        }) == "arg0: int | None 0; arg1: int 0; arg2: Sequence[int] | None 1; float | None");
  CHECK(Derived(Named().arg("a").arg("rest"), [](int a, Variadic<std::string>) { return a; }) ==
        "a: int 0; rest: str 2; int");
  CHECK(Derived(Named().arg("a", "Doc.").arg("b", 2).arg("c", nullptr).arg("d", "x", "Doc."),
                [](int, double, std::optional<int>, std::string) {}) ==
        "a: int 0; b: float 1; c: int | None 1; d: str 1; None");
}

TEST_CASE("what is described wins over what is derived") {
  CHECK(Derived(Named()
                    .add_argument("a", "Literal[1, 2]", "Doc.")
                    .add_argument("b", "int | None", "Doc.")
                    .returns("Literal[3]"),
                [](int, std::optional<int>) { return 3; }) ==
        "a: Literal[1, 2] 0; b: int | None 0; Literal[3]");
}

TEST_CASE("a description that contradicts the C++ signature is rejected") {
  CHECK(ErrorOf([] { Derived(Named().arg("a").arg("b"), [](int) { return 1; }); }) ==
        "ValueError: tests.derived: 2 parameters are described, the C++ body takes 1");
  CHECK(ErrorOf([] {
          Derived(Named().arg("a").add_frontend_argument("order", "str", "C", ""),
                  [](int, int) { return 1; });
        }) == "ValueError: tests.derived: 1 parameters are described, the C++ body takes 2");
  CHECK(ErrorOf([] { Derived(Named().add_variadic("a", "int", ""), [](int) { return 1; }); }) ==
        "ValueError: tests.derived: 'a' is described as variadic, the C++ body takes one int "
        "(int32)");
  CHECK(ErrorOf([] { Derived(Named().arg("a", "x", ""), [](int) { return 1; }); }) ==
        "TypeError: tests.derived: the default of 'a' is str, the C++ body takes int (int32)");
  CHECK(ErrorOf([] { Derived(Named().arg("a", 300), [](int8_t) { return 1; }); }) ==
        "TypeError: tests.derived: the default of 'a' is int, the C++ body takes int (int8)");
}

TEST_CASE("a typed body takes further arguments") {
  TypedPackedFunc<int(int, Variadic<int>)> count(
      [](int first, Variadic<int> rest) { return first + static_cast<int>(rest.size()); });
  CHECK(count.packed()(5).As<int>() == 5);
  CHECK(count.packed()(5, 1, 2, 3).As<int>() == 8);
  CHECK(ErrorOf([&] { count.packed()(); }) ==
        "TypeError: function expected at least 1 arguments, got 0");
  CHECK(ErrorOf([&] { count.packed()(1, 2, "3"); }).find("argument 2 expected int") !=
        std::string::npos);
}

namespace {

enum class Level { kLow, kHigh = 5 };
enum class Unregistered { kOne };
MXNET_REGISTER_ENUM(Level, "tests.Level").value("LOW", Level::kLow).value("HIGH", Level::kHigh);

}  // namespace

TEST_CASE("enums are members, names and values") {
  TypedPackedFunc<Level(Level)> same([](Level level) { return level; });
  CHECK(same.packed()(Level::kHigh).As<Level>() == Level::kHigh);
  CHECK(same.packed()("LOW").As<Level>() == Level::kLow);
  CHECK(same.packed()(5).As<Level>() == Level::kHigh);
  CHECK(same.packed()(5).As<int>() == 5);
  CHECK(ErrorOf([&] { same.packed()(1); }) ==
        "ValueError: function: argument 0: tests.Level has no member with the value 1; its members "
        "are 'LOW', "
        "'HIGH'");
  CHECK(Derived(Named().arg("level", Level::kHigh), [](Level level) { return level; }) ==
        "level: tests.Level | Literal['LOW', 'HIGH'] | int 1; tests.Level");
  const std::string unregistered =
      "the C++ enum {anonymous}::Unregistered is used before MXNET_REGISTER_ENUM registers it, and "
      "MXNET_DECLARE_ENUM does not declare it";
  const auto named = [](std::string text) {
    const std::string of_clang = "(anonymous namespace)";
    const size_t found = text.find(of_clang);
    return found == std::string::npos ? text : text.replace(found, of_clang.size(), "{anonymous}");
  };
  CHECK(named(ErrorOf([] { Derived(Named(), [](Unregistered) {}); })) ==
        "TypeError: " + unregistered);
  CHECK(named(ErrorOf([] { Named().arg("one", Unregistered::kOne).Commit(); })) ==
        "TypeError: tests.derived: " + unregistered);
  CHECK(ErrorOf([] {
          EnumRegistry<Level>("tests.Level", "elsewhere.cc", 1).Commit();
        }).find("ValueError: enum 'tests.Level' is registered already, in ") == 0);
}

TEST_CASE("an overload is chosen by count and types") {
  Named()
      .arg("a")
      .overload([](int64_t a) { return "int " + std::to_string(a); })
      .arg("a")
      .arg("b", "x", "Doc.")
      .overload([](std::string a, std::string b) { return "str " + a + b; })
      .Commit();
  PackedFunc func = PackedFunc::GetGlobal("tests.derived");
  CHECK(func(1).As<std::string>() == "int 1");
  CHECK(func("a").As<std::string>() == "str ax");
  CHECK(func("a", "b").As<std::string>() == "str ab");
  CHECK(ErrorOf([&] { func(1.5); }) ==
        "TypeError: tests.derived: no overload takes (float)\n"
        "    (a: int) -> str: argument 0 ('a') expected int, got float\n"
        "    (a: str, b: str = 'x') -> str: argument 0 ('a') expected str, got float");
  MXNetValue values[3] = {};
  values[0].v_str = {"a", 1};
  struct Case {
    std::vector<int> codes;
    const char* reason;
  };
  for (const Case& c :
       {Case{{kMXNetKeyword, kMXNetInt}, ""}, Case{{kMXNetKeyword}, ": a keyword has no value"},
        Case{{kMXNetKeyword, kMXNetInt, kMXNetInt},
             ": an argument by position follows one by keyword"}}) {
    CAPTURE(c.reason);
    const auto call = [&] {
      func.CallPacked(values, c.codes.data(), static_cast<int>(c.codes.size()));
    };
    CHECK(ErrorOf(call).find(c.reason) != std::string::npos);
    CHECK(ErrorOf(call).empty() == (c.reason[0] == '\0'));
  }
  const MXNetFuncInfo* info = nullptr;
  REQUIRE(MXNetFuncGetInfo(func.get(), &info) == 0);
  REQUIRE(info->num_overloads == 2);
  CHECK(std::string(info->overloads[1]->params[1].name) == "b");
  CHECK(info->described == 0);
  MXNetFuncRemoveGlobal("tests.derived");
}

TEST_CASE("an overload is chosen by the elements of every kind of run") {
  Named()
      .arg("a")
      .overload([](std::vector<int64_t>) { return "ints"; })
      .arg("a")
      .overload([](std::vector<bool>) { return "bools"; })
      .Commit();
  const PackedFunc func = PackedFunc::GetGlobal("tests.derived");
  const std::vector<Any> items{details::ToAny(true)};
  CHECK(func(Array<Any>(items)).As<std::string>() == "bools");
  CHECK(func(List<Any>(items)).As<std::string>() == "bools");
  CHECK(func(Tuple(items)).As<std::string>() == "bools");
  CHECK(func(Shape{1}).As<std::string>() == "ints");
  MXNetFuncRemoveGlobal("tests.derived");
}

TEST_CASE("a registration that mixes overloads with a body, or orders parameters wrongly") {
  auto body = [](int) {};
  CHECK(ErrorOf([&] { Named().overload(body).set_body_typed(body).Commit(); }) ==
        "ValueError: tests.derived: parameters or a body beside its overloads");
  CHECK(ErrorOf([&] { Named().overload(body).arg("a").Commit(); }) ==
        "ValueError: tests.derived: parameters or a body beside its overloads");
  CHECK(ErrorOf([&] {
          Named().add_frontend_argument("a", "str", "C", "").overload(body).Commit();
        }).find("ValueError: tests.derived:") == 0);
  CHECK(ErrorOf([&] { Derived(Named().arg("a", 1).arg("b"), [](int, int) { return 1; }); }) ==
        "ValueError: tests.derived: 'b' has no default, a parameter before it has one");
  CHECK(ErrorOf([&] {
          Named()
              .add_variadic("a", "int", "")
              .add_argument("b", "int", "")
              .set_body([](MXNetArgs, MXNetRetValue*) {})
              .Commit();
        }) == "ValueError: tests.derived: 'a' is variadic and not the last parameter");
}

TEST_CASE("a description of an older library has fewer members, one of a newer library more") {
  struct Newer {
    MXNetFuncInfo known;
    int64_t further;
  };
  for (size_t size : {offsetof(MXNetFuncInfo, overloads), sizeof(MXNetFuncInfo), sizeof(Newer)}) {
    PackedFunc func([](MXNetArgs, MXNetRetValue* ret) { *ret = 1; });
    Newer info{};
    info.known.struct_size = size;
    info.known.abi_major = MXNET_RUNTIME_ABI_MAJOR;
    info.known.name = "tests.sized";
    info.known.num_overloads = size > offsetof(MXNetFuncInfo, overloads) ? 0 : 1000;
    REQUIRE(MXNetFuncSetInfo(func.get(), &info.known) == 0);
    const MXNetFuncInfo* seen = nullptr;
    REQUIRE(MXNetFuncGetInfo(func.get(), &seen) == 0);
    CHECK(std::string(seen->name) == "tests.sized");
    CHECK(seen->struct_size == sizeof(MXNetFuncInfo));
    CHECK(seen->num_overloads == 0);
  }
}
