// Descriptions that come from C++ signatures.
#include <complex>

#include "./support.h"

using mxnet::tests::ErrorOf;
using namespace mxnet::runtime;  // NOLINT: the subject of the test

namespace {

/*! \brief "name: type flags" of each parameter, and the result, of what is registered. */
template <typename Body>
std::string Derived(Registry registry, Body body) {
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

TEST_CASE("a description that contradicts the C++ signature is refused") {
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
