"""Generated kernels that move and pool elements, against the reference implementation of onnx."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy
import onnx_ir
import pytest

from mx.graph.lowering._host import HostNode
from mx.graph.lowering._node import attributes_of
from mx.sol.backends.gen import FLAGS, Declined, GenKernel, Spec, Target, emit, library_source
from mx.sol.jits import compiled


@dataclass(frozen=True)
class Case:
    """A node by its inputs: shapes of float32, arrays that are not known, or lists that are."""

    operator: str
    inputs: tuple[Any, ...]
    attributes: dict[str, Any]
    outputs: int = 1

    def __str__(self) -> str:
        return f"{self.operator}-{self.inputs}-{self.attributes}".replace(" ", "")


def case(operator: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Case:
    return Case(operator, inputs, attributes, outputs)


HALVES = numpy.arange(12, dtype="float16").reshape(3, 4)
POSITIONS = numpy.array([[0, -1], [2, 1]])

CASES = [
    case("Identity", (3, 5)),
    case("Identity", (300, 101)),
    case("Identity", ()),
    case("Transpose", (3, 5)),
    case("Transpose", (70, 130)),
    case("Transpose", (2, 3, 4, 5), perm=[0, 2, 1, 3]),
    case("Transpose", (2, 3, 40, 50), perm=[0, 2, 3, 1]),
    case("Transpose", (2, 3, 4, 5), perm=[3, 1, 2, 0]),
    case("Transpose", (3, 0), perm=[1, 0]),
    case("Transpose", HALVES),
    case("Transpose", HALVES > 3),
    case("Expand", (3, 1), [2, 1, 4]),
    case("Expand", (3, 4), [1, 1]),
    case("Tile", (2, 3), [2, 2]),
    case("Slice", (7, 9), [1, 2], [5, 100]),
    case("Slice", (7, 9), [-1, 8], [-100, 0], [0, 1], [-2, -3]),
    case("Slice", (7, 9), [5], [2], [0]),
    case("Slice", (7, 9), [-3], [100], [-1]),
    case("Concat", (2, 3), (2, 1), (2, 4), axis=1),
    case("Concat", (2, 3), (1, 3), (0, 3), axis=-2),
    case("Split", (2, 7), [3, 4], outputs=2, axis=1),
    case("Split", (7, 3), outputs=3, num_outputs=3),
    case("Pad", (3, 4), [1, 2, 0, 3], [2.5]),
    case("Pad", (3, 4), [1, 0, 2, 3]),
    case("Pad", (3, 4), [2, 3, 2, 3], mode="reflect"),
    case("Pad", (3, 4), [2, 5, 2, 5], mode="edge"),
    case("Pad", (3, 4), [2, 3, 2, 3], mode="wrap"),
    case("Pad", (3, 4, 2), [1, 1], [7.0], [1]),
    case("DepthToSpace", (2, 8, 3, 5), blocksize=2),
    case("DepthToSpace", (2, 8, 3, 5), blocksize=2, mode="CRD"),
    case("SpaceToDepth", (2, 3, 4, 6), blocksize=2),
    case("Gather", (5, 3), POSITIONS),
    case("Gather", (5, 3, 2), POSITIONS.astype("int32"), axis=1),
    case("Gather", (5, 3), numpy.array(4)),
    case("Gather", (700, 30), numpy.arange(0, 700, 3)),
    case("GatherElements", (3, 2), POSITIONS, axis=0),
    case("GatherElements", (2, 3), POSITIONS, axis=1),
    case("TopK", (3, 50, 2), [9], axis=1, outputs=2),
    case("TopK", (3, 70), [70], largest=0, outputs=2),
    case("ScatterND", (9, 3), numpy.array([[[2], [-9]], [[2], [0]]]), (2, 2, 3), reduction="add"),
    case("ScatterElements", (2, 4), POSITIONS, (2, 2), axis=1, reduction="mul"),
    case("GatherND", (5, 3), POSITIONS.T),
    case("MaxPool", (2, 3, 9, 8), kernel_shape=[3, 2], strides=[2, 1]),
    case("MaxPool", (2, 3, 9, 8), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    case("MaxPool", (1, 1, 9, 8), kernel_shape=[3, 3], dilations=[2, 3], pads=[1, 0, 0, 2]),
    case("MaxPool", (1, 2, 10, 9), kernel_shape=[3, 3], strides=[3, 3], ceil_mode=1),
    case("MaxPool", (1, 2, 11), kernel_shape=[2], strides=[2], auto_pad="SAME_UPPER"),
    case("MaxPool", (1, 2, 5, 4, 6), kernel_shape=[2, 2, 2]),
    case("AveragePool", (2, 3, 9, 8), kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]),
    case(
        "AveragePool", (2, 3, 9, 8), kernel_shape=[3, 2], pads=[1, 0, 1, 1], count_include_pad=1
    ),
    case("Resize", (1, 2, 3, 4), (0,), [1.0, 1.0, 2.0, 2.0]),
    case("Resize", (1, 2, 3, 4), (0,), (0,), [1, 2, 5, 7], nearest_mode="floor"),
    case("Resize", (1, 2, 3, 4), (0,), [1.0, 1.0, 2.0, 1.5], mode="linear"),
    case("Resize", (2, 6, 4), (0,), [0.5, 0.5], mode="linear", axes=[1, 2]),
    case(
        "Resize", (1, 2, 3, 4), (0,), (0,), [1, 2, 6, 4], mode="linear",
        coordinate_transformation_mode="align_corners",
    ),
    case("Resize", (1, 1, 5, 4), (0,), [1.0, 1.0, 2.0, 0.8], mode="cubic", exclude_outside=1),
    case("GlobalAveragePool", (2, 3, 7, 9)),
    case("GlobalMaxPool", (2, 3, 7, 1)),
]  # fmt: skip
# The reference takes the mean of other elements than torch and the text of ONNX.
CEILED = case("AveragePool", (1, 2, 10, 9), kernel_shape=[3, 3], strides=[3, 3], ceil_mode=1)
# With the shapes of their results; the reference does not take all of them.
EMPTY = [
    (case("Identity", (0, 3)), (0, 3)),
    (case("Concat", (0, 3), (0, 4), axis=1), (0, 7)),
    (case("Pad", (0, 3, 4), [0, 1, 0, 0, 1, 2]), (0, 5, 6)),
    (case("Pad", (2, 0, 4), [0, 0, 1, 0, 0, 1]), (2, 0, 6)),
    (case("Pad", (2, 3, 0), [1, 1, 0, 0, 0, 0]), (3, 4, 0)),
    (case("Gather", (5, 3), numpy.zeros((0,), "int64")), (0, 3)),
    (case("Gather", (5, 0), POSITIONS), (2, 2, 0)),
    (case("GatherElements", (3, 2), numpy.zeros((2, 0), "int64")), (2, 0)),
    (case("TopK", (0, 3), [2], outputs=2), (0, 2)),
    (case("CumSum", (3, 0), [0]), (3, 0)),
    (case("Trilu", (0, 3)), (0, 3)),
    (case("OneHot", (0, 2), [3], [0.0, 1.0]), (0, 2, 3)),
    (case("GatherND", (5, 0), POSITIONS[:, :1]), (2, 0)),
    (case("MaxPool", (0, 3, 9, 8), kernel_shape=[3, 2]), (0, 3, 7, 7)),
    (case("AveragePool", (2, 0, 9, 8), kernel_shape=[3, 2]), (2, 0, 7, 7)),
    (case("GlobalAveragePool", (0, 3, 7, 9)), (0, 3, 1, 1)),
    (case("GlobalMaxPool", (0, 3, 7, 9)), (0, 3, 1, 1)),
    (case("Resize", (0, 2, 3, 4), (0,), [1.0, 1.0, 2.0, 2.0]), (0, 2, 6, 8)),
    (case("Resize", (1, 0, 3, 4), (0,), [1.0, 1.0, 2.0, 2.0], mode="linear"), (1, 0, 6, 8)),
]
TARGETS = {"c": Target.named("c"), "host": Target.host()}


def arrays_of(one: Case) -> list[numpy.ndarray]:
    random = numpy.random.default_rng(1)
    return [
        random.standard_normal(given, "float32")
        if isinstance(given, tuple)
        else numpy.asarray(given)
        if isinstance(given, numpy.ndarray) or not isinstance(given[0], float)
        else numpy.array(given if len(given) > 1 else given[0], "float32")
        for given in one.inputs
    ]


def node_of(one: Case, names: list[str]) -> onnx_ir.Node:
    return onnx_ir.node(
        one.operator,
        [onnx_ir.Value(name=name) for name in names],
        one.attributes,
        outputs=[onnx_ir.Value(name=f"y{n}") for n in range(one.outputs)],
    )


def kernel_of(one: Case, target: Target) -> GenKernel:
    arrays = arrays_of(one)
    known = {
        index: array
        for index, (given, array) in enumerate(zip(one.inputs, arrays, strict=True))
        if isinstance(given, list)
    }
    specs = [Spec(array.shape, str(array.dtype)) for array in arrays]
    node = node_of(one, [f"x{n}" for n in range(len(arrays))])
    return emit(target, one.operator, specs, attributes_of(node), known)


@pytest.fixture(scope="module", params=TARGETS)
def library(request: pytest.FixtureRequest) -> Any:
    """All cases as one library, and the kernel of each."""
    target = TARGETS[request.param]
    every = (*CASES, CEILED, *(one for one, _ in EMPTY))
    kernels = {str(one): kernel_of(one, target) for one in every}
    flags = (*FLAGS, "-O1", "-Wall", "-Wextra", "-Werror")
    return compiled(library_source(kernels.values()), target, flags), kernels


def run(library: Any, kernel: GenKernel, arrays: list[numpy.ndarray]) -> list[numpy.ndarray]:
    """The outputs, of all tiles in parts and backwards."""
    arrays = [*map(numpy.ascontiguousarray, arrays), *kernel.constants]
    outputs = [numpy.full(one.shape, 77, one.dtype) for one in kernel.outputs]
    work = numpy.zeros(kernel.workspace + 1, "uint8")

    def pointers(given: list[numpy.ndarray]) -> Any:
        return (ctypes.c_void_p * max(len(given), 1))(*[one.ctypes.data for one in given])

    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64, ctypes.c_int64)(
        library.address(kernel.symbol)
    )
    for tile in reversed(range(0, kernel.tiles, 3)):
        end = min(tile + 3, kernel.tiles)
        function(pointers(arrays), pointers(outputs), work.ctypes.data, tile, end)
    return outputs


@pytest.mark.parametrize("one", CASES, ids=str)
def test_as_the_reference(library: Any, one: Case) -> None:
    arrays = arrays_of(one)
    node = node_of(one, [f"x{n}" for n in range(len(arrays))])
    expected = HostNode(node, {"": 20}).run(arrays)
    came = run(library[0], library[1][str(one)], arrays)
    for output, wanted in zip(came, expected, strict=True):
        assert output.shape == wanted.shape and output.dtype == wanted.dtype
        numpy.testing.assert_allclose(output, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("one", "shape"), EMPTY, ids=str)
def test_nothing_is_done_without_elements(library: Any, one: Case, shape: tuple[int, ...]) -> None:
    kernel = library[1][str(one)]
    assert kernel.tiles == 0 and kernel.outputs[0].shape == shape


def test_nan_is_the_largest(library: Any) -> None:
    one = next(one for one in CASES if one.operator == "MaxPool")
    (x,) = arrays_of(one)
    x[0, 0, 0, 0] = numpy.nan
    (y,) = run(library[0], library[1][str(one)], [x])
    assert numpy.isnan(y).sum() == 1


def test_a_position_outside_gives_nan(library: Any) -> None:
    one = next(one for one in CASES if one.operator == "Gather")
    x, _ = arrays_of(one)
    (y,) = run(library[0], library[1][str(one)], [x, numpy.array([[0, 5], [-6, 1 << 40]])])
    assert numpy.isnan(y.reshape(4, 3)[1:]).all() and not numpy.isnan(y[0, 0]).any()


def test_positions_outside_are_not_written(library: Any) -> None:
    one = next(one for one in CASES if one.operator == "ScatterElements")
    x, _, updates = arrays_of(one)
    (y,) = run(library[0], library[1][str(one)], [x, numpy.array([[4, -5], [1 << 40, 2]]), updates])
    x[1, 2] *= updates[1, 1]
    numpy.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("largest", [1, 0])
def test_nan_goes_first_among_the_largest(library: Any, largest: int) -> None:
    one = next(
        one
        for one in CASES
        if one.operator == "TopK" and one.attributes.get("largest", 1) == largest
    )
    x = numpy.zeros(arrays_of(one)[0].shape, "float32")
    x[0, 7] = numpy.nan
    y, positions = run(library[0], library[1][str(one)], [x, numpy.array(9)])
    where = 0 if largest else -1
    assert numpy.isnan(y[0, where]).all() and (positions[0, where] == 7).all()
    assert numpy.isnan(y).sum() == y[0, 0].size


def test_windows_behind_the_end_are_cut(library: Any) -> None:
    (x,) = arrays_of(CEILED)
    (y,) = run(library[0], library[1][str(CEILED)], [x])
    for row, column in numpy.ndindex(4, 3):
        window = x[:, :, 3 * row : 3 * row + 3, 3 * column : 3 * column + 3]
        numpy.testing.assert_allclose(y[:, :, row, column], window.mean((2, 3)), rtol=1e-5)


DECLINED = [
    (case("Expand", (3, 1), numpy.array([2, 1, 4])), "depends on the model's inputs"),
    (case("Slice", (3, 1), numpy.array([1]), numpy.array([2])), "depends on the model's inputs"),
    (case("MaxPool", HALVES.reshape(1, 1, 3, 4), kernel_shape=[2, 2]), "float16"),
    (case("Gather", (3, 1), numpy.array([0.5])), "neither int32 nor int64"),
    (case("GatherElements", (3, 2), numpy.zeros((2, 3), "int64")), "positions of shape"),
    (case("GatherElements", (3, 2), numpy.zeros((4, 2), "int64"), axis=1), "positions of shape"),
    (case("GatherElements", (3, 2), numpy.zeros(2, "int64")), "positions of shape"),
    (case("Resize", (1, 0), (0,), (0,), [1, 3], mode="linear"), "nothing to take"),
    (case("TopK", (3, 2), numpy.array([1])), "depends on the model's inputs"),
    (case("TopK", (3, 2), [3]), "3 of 2 elements"),
    (case("CumSum", (3, 2), [2]), "axis 2 of 2"),
    (case("ScatterND", (3, 2), POSITIONS, (2, 2)), "updates of shape"),
    (case("ScatterElements", (3, 2), POSITIONS, (2, 1)), "positions of shape"),
    (case("GatherND", (3,), POSITIONS), "positions of shape"),
    (case("Softplus_", (3, 1)), "no emitter for Softplus_"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "reason"), DECLINED, ids=str)
def test_what_is_declined(one: Case, reason: str) -> None:
    with pytest.raises(Declined, match=reason):
        kernel_of(one, Target.host())
