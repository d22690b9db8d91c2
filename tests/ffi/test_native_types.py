"""Types of the C++ headers, as a library uses them: arrays, functions, maps, operators."""

import numpy
import pytest

import ffi
from tests.native import compile_library

SOURCE = """
#include <mxnet/runtime/class.h>

using namespace mxnet::runtime;

struct Vec {
  double x;
};

MXNET_REGISTER_CLASS(Vec, "native.Vec")
    .def_init<double>()
    .def_readonly("x", &Vec::x)
    .def("__add__", [](const Vec& a, const Vec& b) { return Vec{a.x + b.x}; })
    .def("__mul__", [](const Vec& a, double by) { return Vec{a.x * by}; }, "Stretches.")
    .def("__rmul__", [](const Vec& a, double by) { return Vec{a.x * by}; })
    .def("__pow__", [](const Vec& a, int64_t n) {
      if (n < 0) MXNET_THROW("TypeError") << "no negative power";
      return Vec{a.x};
    })
    .def("__truediv__", [](const Vec&, Any) -> Vec { MXNET_THROW("ValueError") << "by zero"; });

MXNET_REGISTER_API("native.is_contiguous").set_body_typed([](const DLTensor* x) {
  return IsContiguous(*x);
});
MXNET_REGISTER_API("native.strided").set_body_typed([](std::vector<int64_t> shape,
                                                       std::vector<int64_t> strides) {
  DLTensor tensor{};
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.shape = shape.data();
  tensor.strides = strides.data();
  return IsContiguous(tensor);
});
MXNET_REGISTER_API("native.undefined").set_body_typed([](int64_t which) -> int64_t {
  NDArray none;
  switch (which) {
    case 0: return none.ndim();
    case 1: return none.size();
    case 2: return none.shape().size();
    case 3: return none.dtype().bits;
    case 4: return none.ctx().device_id;
    case 5: return none.data() != nullptr;
    case 6: return none.read_only();
    default: return none->ndim;
  }
});
MXNET_REGISTER_API("native.typo").set_body_typed([] { PackedFunc::GetGlobal("native.tpyo")(1); });
MXNET_REGISTER_API("native.swapped").set_body_typed([](Map<Any, Any> map) {
  std::vector<Any> items;
  for (const auto& [key, value] : map) {
    items.push_back(value);
    items.push_back(key);
  }
  return Dict<Any, Any>(std::move(items));
});
MXNET_REGISTER_API("native.total").set_body_typed([](Dict<std::string, int64_t> dict) {
  int64_t total = 0;
  for (const auto& [key, value] : dict) total += value.As<int64_t>();
  return total;
});
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native_types")
    return ffi.load_library(compile_library(folder, "types", SOURCE, "-O0", suffix=".cc"))


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((2, 1, 3), (3, 77, 1), True),
        ((0, 3), (0, 0), True),
        ((3, 0), (0, 0), True),
        ((2, 0, 3), (0, 0, 0), True),
        ((2, 0, 3), (5, 7, 9), True),
        ((2, 1), (0, 0), False),
        ((), (), True),
    ],
)
def test_is_contiguous(library, shape, strides, expected):
    assert library.strided(list(shape), list(strides)) is expected


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_empty_arrays_of_numpy_are_contiguous(library, shape):
    assert library.is_contiguous(numpy.zeros(shape))
    assert library.is_contiguous(numpy.zeros(shape).T)


@pytest.mark.parametrize("which", range(8))
def test_an_undefined_array(library, which):
    with pytest.raises(ValueError, match="an NDArray that refers to no array is looked at"):
        library.undefined(which)


def test_a_function_that_is_not_registered_is_named(library):
    with pytest.raises(ValueError, match="an undefined function is called.*'native.tpyo'"):
        library.typo()


def test_iteration_over_maps(library):
    assert dict(library.swapped({"a": 1, "b": 2}).items()) == {1: "a", 2: "b"}
    assert dict(library.swapped({})) == {}
    assert library.total({"a": 1, "b": 2}) == 3


class Other:
    """Knows what to do with everything."""

    def answer(self, other):
        return "other", other

    __radd__ = __rmul__ = __add__ = __mul__ = __rpow__ = answer


class Plain:
    pass


def test_operators_leave_other_operands_to_them(library):
    vec = library.Vec(2.0)
    other = Other()
    assert (vec + library.Vec(1.0)).x == 3.0
    assert ((vec * 2).x, (2 * vec).x) == (4.0, 4.0)
    assert (vec + other, vec * other, vec**other) == (("other", vec),) * 3
    assert (other + vec, other * vec) == (("other", vec),) * 2
    added = vec
    added += library.Vec(1.0)
    assert added.x == 3.0
    assert library.Vec.__add__(vec, 1) is NotImplemented
    assert library.Vec.__mul__.__doc__ == "Stretches."
    for operand in (1, "text", None, Plain(), [1]):
        with pytest.raises(TypeError, match=r"unsupported operand type\(s\) for \+: 'Vec'"):
            vec + operand


def test_errors_of_operators_stay(library):
    vec = library.Vec(2.0)
    with pytest.raises(TypeError, match="no negative power"):
        vec**-1
    with pytest.raises(ValueError, match="by zero"):
        vec / 0
    with pytest.raises(OverflowError):
        vec ** (1 << 70)
