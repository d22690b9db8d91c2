"""Kernels for the operators of training compute what the operators' descriptions say."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import onnx.parser
import onnx_ir
import pytest

import ffi
import mx
from mx import _onednn
from mx.graph import Graph, GraphError, Plan
from mx.graph.lowering.onednn import _across
from mx.sol.operators import DOMAIN, OPERATORS, VERSION

thin_product = ffi.get_global_func("mx.graph.training.thin_product")
RANDOM = numpy.random.default_rng(3)
# Relative to the largest number that is expected.
TOLERANCE = 3e-6


def has_onednn() -> bool:
    try:
        _onednn.load()
    except ImportError:
        return False
    return True


def f(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype("float32")


def ints(*items: int) -> Any:
    return numpy.array(items, "int64")


def plan_of(
    name: str, inputs: list[Any], attributes: dict[str, Any], outputs: int, domain: str = DOMAIN
) -> Plan:
    """The plan of a graph of one node, whose shapes are constants."""
    values = []
    for number, array in enumerate(inputs):
        value = None
        if array is not None:
            value = onnx_ir.Value(
                name=f"x{number}",
                type=onnx_ir.TensorType(onnx_ir.DataType.from_numpy(array.dtype)),
                shape=onnx_ir.Shape(array.shape),
            )
        values.append(value)
    node = onnx_ir.node(name, values, attributes, domain=domain, num_outputs=outputs, name="n")
    for number, value in enumerate(node.outputs):
        value.name = f"y{number}"
    opset = {"": 23, DOMAIN: VERSION}
    given = [value for value in values if value is not None]
    made = onnx_ir.Graph(given, node.outputs, nodes=[node], opset_imports=opset, name=name)
    return Plan(Graph(onnx_ir.Model(made, ir_version=10)), optimize=False)


def check(
    name: str, inputs: list[Any], attributes: dict[str, Any], backend: str, tolerance: float
) -> None:
    described = OPERATORS[name]
    with numpy.errstate(all="ignore"):
        wanted = described.reference(
            *inputs, *[None] * (len(described.inputs) - len(inputs)), **attributes
        )
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    plan = plan_of(name, inputs, attributes, len(wanted))
    given = [array for array in inputs if array is not None]
    found = [numpy.asarray(array) for array in plan(*given)]
    again = [numpy.asarray(array) for array in plan(*given)]
    assert [step.backend for step in plan.steps()] == [backend], plan.steps()[0].reasons
    for array, same, expected in zip(found, again, wanted, strict=True):
        assert array.dtype == expected.dtype and array.shape == expected.shape
        numpy.testing.assert_array_equal(array, same)
        finite = numpy.abs(expected[numpy.isfinite(expected)]) if array.size else array
        bound = tolerance * max(1.0, float(finite.max(initial=0)))
        numpy.testing.assert_allclose(array, expected, rtol=tolerance, atol=bound)


# Shapes of x and the weight, and the attributes.
CONVOLUTIONS: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "one axis": ((2, 3, 17), (8, 3, 3), {"pads": [1, 1]}),
    "two axes": ((2, 3, 9, 11), (16, 3, 3, 3), {"pads": [1, 1, 1, 1]}),
    "three axes": ((1, 3, 5, 6, 7), (8, 3, 3, 2, 3), {}),
    "pointwise": ((2, 64, 7, 7), (32, 64, 1, 1), {}),
    "pointwise, strides": ((1, 32, 8, 8), (64, 32, 1, 1), {"strides": [2, 2]}),
    "a first layer": ((1, 3, 30, 31), (16, 3, 7, 7), {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
    "strides that leave some out": ((2, 5, 13, 14), (7, 5, 3, 4), {"strides": [2, 3]}),
    "uneven pads": ((1, 4, 9, 10), (6, 4, 3, 3), {"pads": [0, 1, 2, 0]}),
    "dilations": ((1, 8, 14, 15), (8, 8, 3, 3), {"dilations": [2, 3], "pads": [2, 3, 2, 3]}),
    "groups": ((2, 8, 9, 9), (12, 2, 3, 3), {"group": 4}),
    "depthwise": ((1, 32, 9, 10), (32, 1, 3, 3), {"group": 32, "pads": [1, 1, 1, 1]}),
    "depthwise, dilations": ((1, 16, 9, 10), (16, 1, 3, 3), {"group": 16, "dilations": [2, 2]}),
    "depthwise of odd width": ((1, 7, 9, 10), (7, 1, 5, 5), {"group": 7, "strides": [2, 2]}),
    "depthwise, more out": ((1, 6, 9, 10), (12, 1, 3, 3), {"group": 6}),
    "odd channels": ((3, 17, 6, 5), (19, 17, 3, 3), {"pads": [1, 1, 1, 1]}),
    "one channel": ((2, 1, 9, 11), (1, 1, 3, 3), {}),
    "one position": ((2, 16, 3, 3), (8, 16, 3, 3), {}),
    "no items": ((0, 3, 9, 9), (4, 3, 3, 3), {}),
}


def result_shape(x: Any, weight: Any, attributes: dict[str, Any]) -> tuple[int, ...]:
    axes = len(x) - 2
    strides = attributes.get("strides", [1] * axes)
    gaps = attributes.get("dilations", [1] * axes)
    pads = attributes.get("pads", [0] * 2 * axes)
    counts = [
        (x[2 + i] + pads[i] + pads[axes + i] - (weight[2 + i] - 1) * gaps[i] - 1) // strides[i] + 1
        for i in range(axes)
    ]
    return (x[0], weight[0], *counts)


@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize(("x", "weight", "attributes"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_gradients_of_convolutions(x: Any, weight: Any, attributes: dict[str, Any]) -> None:
    gradient = f(*result_shape(x, weight, attributes))
    check("ConvGradInput", [gradient, f(*weight), ints(*x)], attributes, "onednn", 1e-5)
    check("ConvGradWeight", [f(*x), gradient, ints(*weight)], attributes, "onednn", 1e-5)


def wide(*shape: int) -> Any:
    return RANDOM.standard_normal(shape)


@pytest.mark.parametrize(("x", "weight", "attributes"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_gradients_of_convolutions_of_float64(x: Any, weight: Any, attributes: Any) -> None:
    gradient = wide(*result_shape(x, weight, attributes))
    for name, inputs in (
        ("ConvGradInput", [gradient, wide(*weight), ints(*x)]),
        ("ConvGradWeight", [wide(*x), gradient, ints(*weight)]),
    ):
        if any(array.size == 0 for array in inputs):
            continue  # left to NumPy
        check(name, inputs, attributes, "mx", 1e-12)


@pytest.mark.parametrize(
    ("x", "weight", "options"),
    [
        ((2, 6, 5, 7), (6, 4, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
        ((1, 6, 5, 4), (6, 3, 2, 3), {"stride": (3, 1), "groups": 2}),
        ((1, 3, 9, 8), (3, 5, 3, 3), {"dilation": 2, "padding": (3, 5)}),
        ((2, 3, 17), (3, 4, 2), {"stride": 4, "padding": 1, "output_padding": 3}),
        ((1, 4, 3, 2, 3), (4, 2, 2, 3, 2), {"stride": (2, 1, 3)}),
    ],
)
def test_transposed_convolutions_of_float64(x: Any, weight: Any, options: Any) -> None:
    torch = pytest.importorskip("torch")
    count = len(x) - 2
    filters = weight[1] * options.get("groups", 1)
    arrays = [wide(*x), wide(*weight), wide(filters)]
    attributes: dict[str, Any] = {"group": options.get("groups", 1)}
    names = {"stride": "strides", "dilation": "dilations", "padding": "pads"}
    for name, value in options.items():
        items = [value] * count if isinstance(value, int) else list(value)
        if name != "groups":
            attributes[names.get(name, name)] = items * (2 if name == "padding" else 1)
    plan = plan_of("ConvTranspose", arrays, attributes, 1, domain="")
    (found,) = plan(*arrays)
    assert [step.backend for step in plan.steps()] == ["mx"]
    by_torch = getattr(torch.nn.functional, f"conv_transpose{count}d")
    wanted = by_torch(*map(torch.tensor, arrays), **options)
    numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=1e-12, atol=1e-12)


POOLS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "even": ((2, 16, 8, 8), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "overlap": ((2, 16, 9, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "uneven pads": ((1, 5, 9, 10), {"kernel_shape": [3, 2], "pads": [0, 1, 2, 0]}),
    "counted pads": (
        (1, 5, 9, 10),
        {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1},
    ),
    "dilations": ((1, 4, 9, 9), {"kernel_shape": [2, 3], "dilations": [2, 2]}),
    "one axis": ((2, 3, 17), {"kernel_shape": [3], "strides": [2]}),
    "three axes": ((1, 3, 5, 6, 7), {"kernel_shape": [2, 3, 2]}),
    "whole": ((2, 7, 5, 4), {"kernel_shape": [5, 4]}),
    "no items": ((0, 2, 5, 4), {"kernel_shape": [2, 2]}),
}


@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize(("x", "attributes"), POOLS.values(), ids=POOLS)
def test_gradients_of_means(x: Any, attributes: dict[str, Any]) -> None:
    shape = result_shape(x, (x[1], 1, *attributes["kernel_shape"]), attributes)
    check("AveragePoolGrad", [f(*shape), ints(*x)], attributes, "onednn", TOLERANCE)


@pytest.mark.parametrize("special", [None, numpy.nan, -numpy.inf])
@pytest.mark.parametrize(
    ("x", "attributes"),
    [(x, attributes) for x, attributes in POOLS.values() if 0 not in x]
    + [
        ((1, 2, 8, 9), {"kernel_shape": [3, 3], "strides": [2, 3], "ceil_mode": 1}),
        ((1, 1, 4, 1100), {"kernel_shape": [2, 3], "strides": [1, 1], "pads": [0, 1, 1, 1]}),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_largest_elements_with_positions(
    x: Any, attributes: dict[str, Any], special: Any, dtype: str
) -> None:
    attributes = {n: value for n, value in attributes.items() if n != "count_include_pad"}
    data = numpy.round(f(*x), 1).astype(dtype)  # of which some are equal
    if special is not None:
        data.reshape(-1)[:: 7 if special == special else 5] = special
        data[0, 0] = special
    (y, positions) = map(numpy.asarray, plan_of("MaxPool", [data], attributes, 2, "")(data))
    kernel = attributes["kernel_shape"]
    axes = len(kernel)
    strides = attributes.get("strides", [1] * axes)
    gaps = attributes.get("dilations", [1] * axes)
    pads = attributes.get("pads", [0] * 2 * axes)
    flat = data.reshape(-1)
    numbers = numpy.arange(data.size).reshape(data.shape)
    for where in numpy.ndindex(*y.shape):
        seen = []
        for tap in numpy.ndindex(*kernel):
            at = [where[2 + i] * strides[i] - pads[i] + tap[i] * gaps[i] for i in range(axes)]
            if all(0 <= at[i] < x[2 + i] for i in range(axes)):
                seen.append(int(numbers[(where[0], where[1], *at)]))
        window = flat[seen]
        # The first NaN, where there is one, though any NaN will do.
        if numpy.isnan(window).any():
            assert numpy.isnan(y[where]) and numpy.isnan(flat[positions[where]])
            assert positions[where] in seen
        else:
            best = seen[int(numpy.argmax(window))]
            assert (y[where], positions[where]) == (flat[best], best)
    assert y.dtype == dtype
    gradient = f(*y.shape).astype(dtype)
    check("MaxPoolGrad", [gradient, positions, ints(*x)], {}, "mx", TOLERANCE)


def doubles(*items: float) -> Any:
    return numpy.array(items, "float64")


PAIR = (f(99), f(99))
RMSPROP = doubles(0.1, 0.9, 0.1, 1e-6, 0.01, 0.5, 0.1, 0.3, 0.9)
SGD = numpy.array([0.1, 0.9, 0.01, 0.7, 0.6, 0.95])
ADAM = numpy.array([0.1, 0.9, 0.999, 1e-8, 0.01, 0.19, 0.0447])
# Of each operator inputs and attributes.
ROWS: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("LayerNormGrad", [f(5, 64), f(5, 64), f(64), f(5, 1), f(5, 1)], {}),
    ("LayerNormGrad", [f(70, 33), f(70, 33), f(33), f(70, 1), f(70, 1)], {"axis": 1}),
    ("LayerNormGrad", [f(2, 3, 4, 5), f(2, 3, 4, 5), f(4, 5), f(2, 3, 1, 1), f(2, 3, 1, 1)],
     {"axis": 2}),
    ("RMSNormTraining", [f(5, 64), f(64)], {}),
    ("RMSNormTraining", [f(2, 3, 7), f(3, 7)], {"axis": 1, "epsilon": 0.1}),
    ("RMSNormGrad", [f(5, 64), f(5, 64), f(64), f(5, 1)], {}),
    ("RMSNormGrad", [f(600, 17), f(600, 17), f(17), f(600, 1)], {}),
    ("SoftmaxGrad", [f(5, 64), f(5, 64)], {}),
    ("SoftmaxGrad", [f(2, 3, 700), f(2, 3, 700)], {"axis": 1}),
    ("SoftmaxGrad", [f(0, 4), f(0, 4)], {}),
    ("LogSoftmaxGrad", [f(5, 64), f(5, 64)], {}),
    ("LogSoftmaxGrad", [f(4, 3, 5), f(4, 3, 5)], {"axis": 0}),
    ("DropoutTraining", [f(3, 50), ints(7)], {"ratio": 0.25}),
    ("DropoutTraining", [f(1001), ints(2**62 + 5, -3)], {"ratio": 0.5}),
    ("DropoutTraining", [f(5), ints(3)], {"ratio": 1.0}),
    ("DropoutTraining", [f(0), ints(3)], {}),
    ("DropoutGrad", [f(3, 50), f(3, 50) > 0], {"ratio": 0.25}),
    ("RandomUniformTraining", [ints(7), ints(3, 50)], {}),
    ("RandomUniformTraining", [ints(2**62 + 5, -3), ints(1001)], {"low": -2.0, "high": 0.5}),
    ("RandomNormalTraining", [ints(7), ints(3, 25)], {}),
    ("RandomNormalTraining", [ints(2**62 + 5, -3), ints(40_001)], {"mean": 3.0, "scale": 0.5}),
    ("RandomNormalTraining", [ints(7), ints(0)], {}),
    ("GatherGrad", [f(2, 3, 5), ints(0, 3, -1, 3, 1, 0).reshape(2, 3), ints(4, 5)], {}),
    ("GatherGrad", [f(2, 6, 5), ints(0, 3, -1, 3, 1, 0), ints(2, 4, 5)], {"axis": 1}),
    ("GatherGrad", [f(2, 6), ints(0, 3, -1, 3, 1, 0), ints(2, 4)], {"axis": -1}),
    ("GatherGrad", [f(5), ints(1).reshape(()), ints(3, 5)], {}),
    ("GatherGrad", [f(0, 5), ints(), ints(3, 5)], {}),
    ("ResizeGrad", [f(2, 3, 8, 10), ints(2, 3, 4, 5)],
     {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    ("ResizeGrad", [f(2, 3, 7, 4), ints(2, 3, 5, 9)], {"mode": "linear"}),
    ("ResizeGrad", [f(2, 3, 7, 40), ints(2, 3, 5, 30)],
     {"mode": "linear", "coordinate_transformation_mode": "align_corners", "axes": [2, -1]}),
    ("ResizeGrad", [f(3, 9, 4), ints(3, 5, 4)],
     {"mode": "cubic", "coordinate_transformation_mode": "pytorch_half_pixel", "axes": [1]}),
    ("ResizeGrad", [f(1, 1, 8, 4), ints(1, 1, 5, 3), None, numpy.float32([1, 1, 1.7, 1.5])],
     {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}),
    ("ResizeGrad", [f(1, 1, 6, 6), ints(1, 1, 6, 6)], {"mode": "linear"}),
    ("ResizeGrad", [f(1, 2, 3, 4), ints(1, 2, 7, 9)],
     {"mode": "linear", "antialias": 1, "exclude_outside": 1}),
    ("ReluGrad", [f(3, 50), f(3, 50)], {}),
    ("ReluGrad", [f(100_000), f(100_000)], {}),
    ("SGDStep", [f(3, 50), f(3, 50), SGD], {}),
    ("SGDStep", [f(3, 50), f(3, 50), SGD, f(3, 50)], {}),
    ("SGDStep", [f(99), f(99), SGD, f(99)],
     {"nesterov": 1, "maximize": 1}),
    # Small; large, with rests of rows and columns; of as many terms as there may be; of one more.
    ("SGDProductStep", [f(3, 50), f(4, 3), f(4, 50), SGD], {}),
    ("SGDProductStep", [f(122, 150), f(5, 122), f(5, 150), SGD, f(122, 150)], {}),
    ("SGDProductStep", [f(50, 590), f(32, 50), f(32, 590), SGD],
     {"nesterov": 1, "maximize": 1}),
    ("SGDProductStep", [f(130, 160), f(33, 130), f(33, 160), SGD, f(130, 160)],
     {"nesterov": 1, "maximize": 1}),
    ("AdamStep", [f(3, 50), f(3, 50), ADAM, f(3, 50), f(3, 50) ** 2], {}),
    ("AdamStep", [f(99), f(99), ADAM, f(99), f(99) ** 2], {"decoupled": 1, "maximize": 1}),
    ("AdamStep", [f(99), f(99), ADAM, f(99), f(99) ** 2, f(99) ** 2], {}),
    ("RMSpropStep", [*PAIR, RMSPROP, f(99) ** 2], {}),
    ("RMSpropStep", [*PAIR, RMSPROP, f(99) ** 2, f(99)], {"maximize": 1}),
    ("RMSpropStep", [*PAIR, RMSPROP, f(99) ** 2 + 2, f(99) / 9], {"centered": 1}),
    ("RMSpropStep", [*PAIR, RMSPROP, f(99) ** 2 + 2, f(99) / 9, f(99)],
     {"centered": 1, "maximize": 1}),
    ("AdagradStep", [f(3, 50), f(3, 50), doubles(0.01, 1e-6, 0.1, 0.2, 0.9), f(3, 50) ** 2], {}),
    ("AdadeltaStep", [*PAIR, doubles(1, 0.9, 0.1, 1e-6, 0.1, 0.9), f(99) ** 2,
     f(99) ** 2], {}),
    ("AdamaxStep", [*PAIR, doubles(0.01, 0.1, 0.999, 1e-8, 0.1, 0.2, 0.9), f(99), f(99) ** 2],
     {"maximize": 1}),
    ("NAdamStep", [*PAIR, doubles(0.1, 0.2, 0.1, 0.99, 0.01, 1e-8, 0.9, 0.1, 0.2), f(99),
     f(99) ** 2], {}),
    ("RAdamStep", [*PAIR, doubles(0.1, 0.1, 0.99, 0.01, 1e-8, 0.9, 0.1, 0.5), f(99), f(99) ** 2],
     {"maximize": 1}),
    ("RAdamStep", [*PAIR, doubles(0.1, 0.1, 0.99, 0.01, 1e-8, 0.9, 0.1, 0), f(99), f(99) ** 2], {}),
    ("SumTo", [f(4, 2, 3), ints(2, 1)], {}),
    ("SumTo", [f(4, 2, 3), ints(4, 2, 3)], {}),
    ("SumTo", [f(4, 2, 3), ints()], {}),
    ("SumTo", [f(1, 2, 3), ints(2, 3)], {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "attributes"), ROWS)
def test_rows(name: str, inputs: list[Any], attributes: dict[str, Any]) -> None:
    check(name, inputs, attributes, "mx", 1e-5)


def test_normal_numbers_are_normal() -> None:
    (found,) = plan_of("RandomNormalTraining", [ints(3), ints(200_000)], {}, 1)(
        ints(3), ints(200_000)
    )
    x = numpy.asarray(found, "float64")
    for power, moment in ((1, 0), (2, 1), (3, 0), (4, 3)):
        assert abs((x**power).mean() - moment) < 0.05
    assert abs((x[::2] * x[1::2]).mean()) < 0.01


@pytest.mark.parametrize("shape", [(2, 16, 5, 6), (3, 7, 4), (2, 3, 4, 5, 6), (6, 5), (1, 3, 1)])
@pytest.mark.parametrize("unbiased", [0, 1])
def test_batch_normalization(shape: tuple[int, ...], unbiased: int) -> None:
    channels = shape[1]
    x = f(*shape) * 2 + 3
    vectors = [f(channels), f(channels), f(channels), f(channels) ** 2]
    attributes = {"epsilon": 1e-3, "momentum": 0.3, "unbiased": unbiased}
    check("BatchNormTraining", [x, *vectors], attributes, "mx", 3e-5)
    _, _, _, mean, inv_std = OPERATORS["BatchNormTraining"].reference(x, *vectors, **attributes)
    check("BatchNormGrad", [f(*shape), x, vectors[0], mean, inv_std], {}, "mx", 3e-5)


@pytest.mark.parametrize("shape", [(3, 50), (2, 16, 5, 6), (), (100_000,)])
@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("SigmoidGrad", {}),
        ("TanhGrad", {}),
        ("GeluGrad", {}),
        ("GeluGrad", {"approximate": "tanh"}),
        ("SwishGrad", {}),
        ("SwishGrad", {"alpha": 1.5}),
    ],
)
@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
def test_slopes(name: str, attributes: dict[str, Any], shape: tuple[int, ...]) -> None:
    at = numpy.asarray(f(*shape), "float32")
    if name in ("SigmoidGrad", "TanhGrad"):
        at = numpy.tanh(at)
    gradient = numpy.asarray(f(*shape), "float32")
    check(name, [gradient, at], attributes, "onednn", 1e-5)


def test_the_slope_of_relu_keeps_what_is_no_number() -> None:
    gradient = numpy.array([numpy.nan, numpy.inf, numpy.nan, numpy.inf, 1], "float32")
    at = numpy.array([1, 1, 0, 0, numpy.nan], "float32")
    (found,) = plan_of("ReluGrad", [gradient, at], {}, 1)(gradient, at)
    numpy.testing.assert_array_equal(found, OPERATORS["ReluGrad"].reference(gradient, at))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("shape", [(5, 7), (3, 5000), (2, 3, 4, 100), (4, 2, 3)])
@pytest.mark.parametrize("labels", ["int64", "int32"])
def test_cross_entropy(shape: Any, has_weights: bool, reduction: str, labels: str) -> None:
    scores = f(*shape) * 3
    classes = RANDOM.integers(0, shape[1], (shape[0], *shape[2:])).astype(labels)
    classes.reshape(-1)[::3] = -1
    weights = [f(shape[1]) ** 2] if has_weights else []
    attributes = {"reduction": reduction, "ignore_index": -1}
    inputs = [scores, classes, *weights]
    check("SoftmaxCrossEntropyTraining", inputs, attributes, "mx", 1e-5)
    loss, log_prob = OPERATORS["SoftmaxCrossEntropyTraining"].reference(*inputs, **attributes)
    given = numpy.asarray(f(*loss.shape), "float32")
    inputs = [given, log_prob, classes, *weights]
    check("SoftmaxCrossEntropyGrad", inputs, attributes, "mx", 1e-5)


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 4, 100)])
def test_cross_entropy_of_ignored_labels_has_no_gradient(
    shape: Any, has_weights: bool, reduction: str
) -> None:
    classes = numpy.full((shape[0], *shape[2:]), -1)
    weights = [numpy.zeros(shape[1], "float32")] if has_weights else []
    attributes = {"reduction": reduction, "ignore_index": -1}
    inputs = [f(*shape), classes, *weights]
    if has_weights:  # a class that does not count is as good as ignored
        classes.reshape(-1)[::2] = 1
    check("SoftmaxCrossEntropyTraining", inputs, attributes, "mx", 1e-5)
    with numpy.errstate(all="ignore"):
        loss, log_prob = OPERATORS["SoftmaxCrossEntropyTraining"].reference(*inputs, **attributes)
    assert bool(numpy.isnan(loss).all()) == (reduction == "mean")
    inputs = [numpy.ones(loss.shape, "float32"), log_prob, classes, *weights]
    check("SoftmaxCrossEntropyGrad", inputs, attributes, "mx", 1e-5)
    (gradient,) = plan_of("SoftmaxCrossEntropyGrad", inputs, attributes, 1)(*inputs)
    assert not numpy.asarray(gradient).any()


@pytest.mark.parametrize(
    ("name", "inputs", "outputs", "message"),
    [
        ("SoftmaxCrossEntropyTraining", [f(2, 3), ints(1, 3)], 2, "labels: expected 0 to 2"),
        ("GatherGrad", [f(2, 5), ints(1, 4), ints(4, 5)], 1, "indices: expected -4 to 3"),
        ("MaxPoolGrad", [f(1, 1, 2), ints(1, 4).reshape(1, 1, 2), ints(1, 1, 4)], 1, "0 to 3"),
        ("MaxPoolGrad", [f(1, 1, 2), ints(-1, 2).reshape(1, 1, 2), ints(1, 1, 4)], 1, "0 to 3"),
    ],
)
def test_wrong_positions_are_errors(
    name: str, inputs: list[Any], outputs: int, message: str
) -> None:
    plan = plan_of(name, inputs, {}, outputs)
    with pytest.raises((IndexError, GraphError), match=message):
        plan(*inputs)


def test_positions_in_other_channels_count() -> None:
    inputs = [f(2, 2, 3), ints(5, 4, 0, 1, 23, 5, 6, 6, 7, 8, 9, 23).reshape(2, 2, 3)]
    check("MaxPoolGrad", [*inputs, ints(2, 2, 6)], {}, "mx", TOLERANCE)


@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize("channels", [32, 19])
def test_layers_of_convolutions_stay_in_blocks(channels: int) -> None:
    x, w, vectors = f(2, 8, 9, 9), f(channels, 8, 3, 3), [f(channels) for _ in range(3)]
    vectors.append(f(channels) ** 2)
    attributes = {"pads": [1, 1, 1, 1]}
    graph = parsed(
        f"float[2,8,9,9] x, float[{channels},8,3,3] w, "
        f"float[{channels}] s, float[{channels}] b, float[{channels}] m, float[{channels}] v",
        "z, new_mean, new_var, mean, inv",
        """c = Conv<pads = [1, 1, 1, 1]>(x, w)
        y, new_mean, new_var, mean, inv = mxffi.sol.BatchNormTraining(c, s, b, m, v)
        z = Relu(y)""",
    )
    plan = Plan(graph, optimize=False)
    found = [numpy.asarray(array) for array in plan(x, w, *vectors)]
    assert "reorder" not in implementations(plan, x, w, *vectors)[1:-1]
    (c,) = plan_of("Conv", [x, w], attributes, 1, "")(x, w)
    c = numpy.asarray(c)
    y, *rest = OPERATORS["BatchNormTraining"].reference(c, *vectors)
    for array, expected in zip(found, (numpy.maximum(y, 0), *rest), strict=True):
        numpy.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-5)
    gradient, (mean, inv_std) = f(2, 8, 9, 9), rest[2:]
    graph = parsed(
        f"float[2,8,9,9] g, float[8,{channels},3,3] w, float[2,{channels},9,9] c, "
        f"float[2,{channels},9,9] z, float[{channels}] s, float[{channels}] m, float[{channels}] i",
        "dc, ds, db",
        f"""shape = Constant<value_ints = [2, {channels}, 9, 9]>()
        dz = mxffi.sol.ConvGradInput<pads = [1, 1, 1, 1]>(g, w, shape)
        dy = mxffi.sol.ReluGrad(dz, z)
        dc, ds, db = mxffi.sol.BatchNormGrad(dy, c, s, m, i)""",
    )
    plan = Plan(graph, optimize=False)
    weight = f(8, channels, 3, 3)
    z = numpy.maximum(y, 0)
    found = [numpy.asarray(a) for a in plan(gradient, weight, c, z, vectors[0], mean, inv_std)]
    assert {step.backend for step in plan.steps()} <= {"onednn", "constant"}
    dz = OPERATORS["ConvGradInput"].reference(gradient, weight, ints(*c.shape), **attributes)
    dy = OPERATORS["ReluGrad"].reference(dz, z)
    wanted = OPERATORS["BatchNormGrad"].reference(dy, c, vectors[0], mean, inv_std)
    for array, expected in zip(found, wanted, strict=True):
        bound = 2e-5 * float(numpy.abs(expected).max())
        numpy.testing.assert_allclose(array, expected, rtol=1e-4, atol=bound)


@pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
@pytest.mark.parametrize("channels", [32, 21])
@pytest.mark.parametrize(
    ("kernel", "attributes"),
    [
        ((5, 5), {"pads": [2, 2, 2, 2]}),
        ((5, 5), {"pads": [2, 2, 1, 1], "strides": [2, 2]}),
        ((2, 7), {"pads": [0, 5, 1, 4], "dilations": [2, 2]}),
    ],
)
def test_weights_of_channels_in_blocks(
    channels: int, kernel: tuple[int, int], attributes: dict[str, Any]
) -> None:
    x, w, v = f(2, 8, 9, 11), f(channels, 8, 1, 1), f(channels, 8, 1, 1)
    weight = (channels, 1, *kernel)
    shape = result_shape((2, channels, 9, 11), weight, attributes)
    y = f(2, 8, *shape[2:])
    written = ", ".join(f"{name} = {items}" for name, items in attributes.items())
    graph = parsed(
        f"float[2,8,9,11] x, float[{channels},8,1,1] w, float{list(y.shape)} y, "
        f"float[{channels},8,1,1] v",
        "c, g, dw",
        f"""c = Conv(x, w)
        g = Conv(y, v)
        shape = Constant<value_ints = {list(weight)}>()
        dw = mxffi.sol.ConvGradWeight<group = {channels}, {written}>(c, g, shape)""",
    )
    plan = Plan(graph, optimize=False)
    c, g, found = [numpy.asarray(array) for array in plan(x, w, y, v)]
    described = OPERATORS["ConvGradWeight"].reference
    expected = described(c, g, ints(*weight), group=channels, **attributes)
    bound = 1e-5 * float(numpy.abs(expected).max())
    numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=bound)
    if thin_product(999, 999, 9):  # where blocks have 16 channels, as there is AVX-512
        assert "training.depthwise_weight_grad" in implementations(plan, x, w, y, v)


def parsed(inputs: str, outputs: str, nodes: str) -> Graph:
    """A graph of ONNX's text form, whose outputs are of types that inference finds."""
    outputs = ", ".join(f"float[] {name}" for name in outputs.split(", "))
    opset = f'<ir_version: 10, opset_import: ["": 23, "{DOMAIN}": {VERSION}]>'
    nodes = nodes.replace("mxffi.sol.", "")
    model = onnx.parser.parse_model(f"{opset} g ({inputs}) => ({outputs}) {{ {nodes} }}")
    for node in model.graph.node:
        if node.op_type in OPERATORS:
            node.domain = DOMAIN
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    return Graph(onnx_ir.from_proto(model))


def implementations(plan: Plan, *arrays: Any) -> list[str]:
    """What the steps of a plan are computed by."""
    given = dict(zip(plan.input_names, map(mx.np.array, arrays), strict=True))
    return [step[1].split()[0].removeprefix("onednn.") for step in plan.compiled(given).steps]


@pytest.mark.parametrize(
    ("left", "right", "backend"),
    [((64, 1000), (1000, 2100), "blas"), ((8, 1000), (1000, 2100), "onednn"),
     ((64, 1024), (1024, 2048), "onednn")],
)  # fmt: skip
def test_large_matrices_that_many_rows_are_multiplied_by(
    left: tuple[int, ...], right: tuple[int, ...], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_onednn():
        pytest.skip("there is no oneDNN")
    monkeypatch.setattr(_across, "_cpu_level", lambda: "avx512")
    inputs = [f(*left), f(*right)]
    plan = plan_of("MatMul", inputs, {}, 1, domain="")
    (made,) = plan(*inputs)
    numpy.testing.assert_allclose(made.asnumpy(), inputs[0] @ inputs[1], rtol=1e-3, atol=1e-3)
    assert {step.backend for step in plan.steps()} == {backend}
