"""mxnet/runtime/stl.h and TypedPackedFunc: what Python gives, takes and reads of them."""

import numpy
import pytest

import ffi
from tests.native import compile_library

SOURCE = """
#include <mxnet/runtime/class.h>
#include <mxnet/runtime/stl.h>

using namespace mxnet::runtime;

struct Item {
  int value;
};
MXNET_REGISTER_CLASS(Item, "stl.Item").def_init<int>().def_readonly("value", &Item::value);

using Nested = std::map<std::string, std::vector<std::pair<int64_t, std::string>>>;
using Either = std::variant<std::monostate, int64_t, double, std::string, Ref<Item>>;

// What a TypedPackedFunc cannot return: it would point into a value that is gone.
using details::IsBorrowed;
static_assert(IsBorrowed<std::map<int, std::string_view>>::value);
static_assert(IsBorrowed<std::unordered_map<std::string_view, int>>::value);
static_assert(!IsBorrowed<Nested>::value);

template <typename T>
T Same(T value) {
  return value;
}

MXNET_REGISTER_API("stl.pair").set_body_typed(Same<std::pair<int64_t, std::string>>);
MXNET_REGISTER_API("stl.tuple").set_body_typed(Same<std::tuple<int, double, bool>>);
MXNET_REGISTER_API("stl.none").set_body_typed(Same<std::tuple<>>);
MXNET_REGISTER_API("stl.array").set_body_typed(Same<std::array<double, 3>>);
MXNET_REGISTER_API("stl.nested").set_body_typed(Same<Nested>);
MXNET_REGISTER_API("stl.hashed").set_body_typed(Same<std::unordered_map<int64_t, double>>);
MXNET_REGISTER_API("stl.either").set_body_typed(Same<Either>);
using Borrowed = std::pair<std::string_view, const DLTensor*>;
MXNET_REGISTER_API("stl.borrowed").set_body_typed([](Borrowed borrowed) {
  return std::string(borrowed.first) + std::to_string(borrowed.second->ndim);
});
MXNET_REGISTER_API("stl.items").set_body_typed([] { return std::make_pair(Item{1}, Item{2}); });
MXNET_REGISTER_API("stl.apply").arg("f").arg("x").set_body_typed(
    [](std::function<double(double)> f, double x) { return f(x); });
MXNET_REGISTER_API("stl.adder").set_body_typed([](int n) {
  return std::function<int(int)>([n](int m) { return n + m; });
});
MXNET_REGISTER_API("stl.nothing").set_body_typed([] { return std::function<int(int)>(); });
MXNET_REGISTER_API("stl.typed").arg("f").arg("x").set_body_typed(
    [](const TypedPackedFunc<std::string(int, NDArray)>& f, NDArray x) { return f(7, x); });
MXNET_REGISTER_API("stl.multiplier").set_body_typed([](double by) {
  return TypedPackedFunc<double(double)>([by](double x) { return x * by; });
});
MXNET_REGISTER_API("stl.each").arg("f").set_body_typed(
    [](TypedPackedFunc<void(const Item&)> f) { f(Item{3}); });
"""


@pytest.fixture(scope="module")
def stl(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stl")
    return ffi.load_library(compile_library(folder, "stl", SOURCE, "-O0", suffix=".cc"))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("pair", (1, "a"), (1, "a")),
        ("pair", [1, "a"], (1, "a")),
        ("pair", ffi.Array([1, "a"]), (1, "a")),
        ("tuple", (1, 2, True), (1, 2.0, True)),
        ("tuple", [1, 2.5, False], (1, 2.5, False)),
        ("none", (), ()),
        ("array", (1, 2, 3), [1.0, 2.0, 3.0]),
        ("array", [1.5, 2, 3], [1.5, 2.0, 3.0]),
        ("nested", {"b": [(1, "x")], "a": []}, {"a": [], "b": [(1, "x")]}),
        ("nested", ffi.Map({"b": [(1, "x")]}), {"b": [(1, "x")]}),
        ("nested", ffi.Dict({"b": [(1, "x")]}), {"b": [(1, "x")]}),
        ("hashed", {3: 1}, {3: 1.0}),
        ("either", None, None),
        ("either", 1, 1),
        ("either", 1.5, 1.5),
        ("either", "text", "text"),
        ("either", True, 1),
    ],
)
def test_values(stl, name, value, expected):
    given = getattr(stl, name)(value)
    if isinstance(expected, dict):
        given = {key: value if name == "hashed" else list(value) for key, value in given.items()}
    elif isinstance(expected, list):
        given = list(given)
    assert (given, type(given)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("pair", (1, 2), "expected tuple[int, str], got tuple"),
        ("pair", (1,), "expected tuple[int, str], got tuple"),
        ("pair", 3, "expected tuple[int, str], got int"),
        ("array", [1, 2], "expected list of 3 float, got list"),
        ("nested", {1: []}, "expected dict of str to list of tuple[int, str], got dict"),
        ("either", [], "expected None or int or float or str or stl.Item, got list"),
    ],
)
def test_rejections(stl, name, value, expected):
    with pytest.raises(TypeError) as caught:
        getattr(stl, name)(value)
    assert str(caught.value).endswith(expected)


def test_elements_are_borrowed(stl):
    assert stl.borrowed(("a", ffi.from_dlpack(numpy.zeros((2, 3))))) == "a2"


def test_objects_as_elements(stl):
    first, second = stl.items()
    assert (type(first), first.value, second.value) == (stl.Item, 1, 2)
    assert stl.either(first) is first


def test_callbacks(stl):
    assert stl.apply(lambda x: x + 1, 2) == 3.0
    with pytest.raises(TypeError, match="expected float, got str"):
        stl.apply(lambda x: "a", 2)
    with pytest.raises(ZeroDivisionError):
        stl.apply(lambda x: 1 / 0, 2)
    with pytest.raises(TypeError, match="expected function, got int"):
        stl.apply(1, 2)
    array = ffi.from_dlpack(numpy.zeros((2, 3)))
    assert stl.typed(lambda number, x: f"{number}{x.shape}", array) == "7(2, 3)"
    seen = []
    stl.each(lambda item: seen.append(item.value))
    assert seen == [3]


def test_functions_as_results(stl):
    assert stl.adder(2)(3) == 5
    assert stl.multiplier(2)(1.5) == 3.0
    assert stl.nothing() is None
    with pytest.raises(TypeError, match="expected float, got str"):
        stl.multiplier(2)("a")


@pytest.mark.parametrize(
    ("name", "argument", "result"),
    [
        ("pair", "tuple[int, str]", "tuple[int, str]"),
        ("none", "tuple[()]", "tuple[()]"),
        ("array", "Sequence[float]", "ffi.Array[float]"),
        ("hashed", "Mapping[int, float]", "ffi.Map[int, float]"),
        ("either", "None | int | float | str | stl.Item", None),
        ("apply", "Callable[[float], float]", "float"),
        ("typed", "Callable[[int, ffi.NDArray], str]", "str"),
        ("each", "Callable[[stl.Item], None]", "None"),
        ("adder", "int", "ffi.Function"),
        ("multiplier", "float", "ffi.Function"),
    ],
)
def test_types(stl, name, argument, result):
    info = getattr(stl, name).info
    assert (info.params[0].type, info.returns) == (argument, result or argument)
