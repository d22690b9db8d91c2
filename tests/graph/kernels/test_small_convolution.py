"""Convolutions of small images against float64, and which nodes of a graph become one kernel."""

import numpy as np
import onnx_ir
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

import ffi
import mx
from mx.graph import Graph, Plan
from mx.graph.lowering import OPERATORS, Chooser
from tests import library

from .. import build, layers

library.load()
run_kernel = ffi.get_global_func("testing.run_kernel")
make = ffi.get_global_func("mx.graph.small_convolution")
suits = ffi.get_global_func("mx.graph.suits_small_convolution")
fits = ffi.get_global_func("mx.graph.fits_small_convolution")


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def kernel_of(x, weight, bias=None, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), relu=False,
              pools=False):  # fmt: skip
    given = None if bias is None else mx.np.array(bias)
    return make(x.shape, mx.np.array(weight), given, strides, pads, dilations, relu, pools)


def expected_of(x, weight, bias, relu=False, pools=False, **attributes):
    made = layers.convolution(x, weight, bias, **attributes)
    made = np.maximum(made, 0) if relu else made
    return layers.pooling(made, "max", (2, 2), (2, 2)) if pools else made


# Images, weights, attributes; registers have columns in the first of these, then channels.
SHAPES = {
    "a first layer": ((2, 1, 28, 28), (6, 1, 5, 5), {"pads": (2, 2, 2, 2)}),
    "a second layer": ((2, 6, 14, 14), (16, 6, 5, 5), {}),
    "uneven pads": ((1, 3, 9, 10), (5, 3, 3, 3), {"pads": (0, 1, 2, 3)}),
    "strides": ((2, 3, 13, 14), (7, 3, 3, 4), {"strides": (2, 3), "pads": (1, 2, 0, 1)}),
    "dilations": ((1, 2, 14, 15), (4, 2, 3, 3), {"dilations": (2, 3), "pads": (2, 3, 2, 3)}),
    "strides and dilations": (
        (1, 2, 15, 21),
        (9, 2, 2, 3),
        {"strides": (3, 2), "dilations": (1, 3), "pads": (0, 4, 1, 0)},
    ),
    "pads wider than the window": ((1, 1, 2, 3), (1, 1, 2, 2), {"pads": (3, 4, 2, 5)}),
    "one window": ((3, 4, 3, 5), (17, 4, 3, 5), {}),
    "one row": ((1, 2, 1, 40), (3, 2, 1, 3), {}),
    "one column": ((1, 2, 40, 1), (3, 2, 3, 1), {"pads": (1, 0, 1, 0)}),
    "channels that fill registers": ((1, 5, 7, 6), (32, 5, 3, 3), {}),
    "channels that do not": ((1, 5, 6, 5), (19, 5, 2, 2), {}),
    "rows of several tiles": ((1, 3, 3, 70), (16, 3, 2, 3), {}),
    "wide rows of few channels": ((1, 1, 4, 75), (2, 1, 3, 3), {"pads": (1, 1, 1, 1)}),
    "one element of an image": ((2, 3, 1, 1), (4, 3, 1, 1), {}),
    # Images that threads share.
    "many columns": ((2, 8, 70, 100), (10, 8, 3, 3), {"pads": (1, 1, 1, 1)}),
    "many channels": ((1, 96, 20, 17), (72, 96, 3, 3), {"pads": (1, 0, 0, 1)}),
    "many windows of one element": ((1, 40, 45, 33), (21, 40, 1, 1), {}),
    "many strides": ((1, 24, 67, 61), (33, 24, 3, 2), {"strides": (2, 3), "pads": (0, 2, 1, 0)}),
    "many narrow rows": ((1, 12, 2000, 5), (16, 12, 3, 3), {"dilations": (2, 1)}),
}


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("pools", [False, True])
@pytest.mark.parametrize(("x", "weight", "attributes"), SHAPES.values(), ids=SHAPES)
def test_kernel(x, weight, attributes, pools, relu):
    data, weights, bias = normal(1, *x), normal(2, *weight), normal(3, weight[0])
    if relu:
        bias = None
    expected = expected_of(data, weights, bias, **attributes)
    if pools and min(expected.shape[2:]) < 2:
        with pytest.raises(ValueError, match="x: no window fits"):
            kernel_of(data, weights, bias, pools=True, **attributes)
        return
    kernel = kernel_of(data, weights, bias, relu=relu, pools=pools, **attributes)
    (given,) = run_kernel(kernel, [mx.np.array(data)])
    expected = expected_of(data, weights, bias, relu, pools, **attributes)
    assert tuple(kernel.shapes[0]) == expected.shape
    allowed = 2e-6 * max(1, np.abs(expected).max())
    np.testing.assert_allclose(given.asnumpy(), expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("channels", [4, 16])
def test_nan_and_infinity(channels):
    """A NaN of an image is in all sums over it, and in no others."""
    data, weights = normal(1, 1, 2, 9, 9), normal(2, channels, 2, 3, 3)
    data[0, 1, 4, 5], data[0, 0, 0, 0] = np.nan, np.inf
    (given,) = run_kernel(kernel_of(data, weights, relu=True), [mx.np.array(data)])
    expected = expected_of(data, weights, None, relu=True)
    np.testing.assert_allclose(given.asnumpy(), expected, rtol=0, atol=1e-5)


X = ((1, 2, 8, 8), (4, 2, 3, 3))
REJECTED = {
    "axes": ({}, ((1, 2, 8), (4, 2, 3)), "x: expected 4 numbers, got 3"),
    "channels": ({}, ((1, 3, 8, 8), (4, 2, 3, 3)), "weight: expected .out channels, 3, rows"),
    "bias": ({"bias": np.zeros(3, "float32")}, X, "bias: expected the shape .4., got .3,."),
    "strides": ({"strides": (0, 1)}, X, "strides: expected 1 to 2147483647, got 0"),
    "pads": ({"pads": (0, 0, -1, 0)}, X, "pads: expected 0 to 2147483647, got -1"),
    "dilations": ({"dilations": (1,)}, X, "dilations: expected 2 numbers, got 1"),
    "window": ({"dilations": (4, 1)}, X, "x: no window fits into an image of 8 by 8"),
    "size": ({"pads": (2**30, 2**30, 2**30, 2**30)}, X, r"of 2 \*\* 20 elements or fewer"),
    "empty": ({}, ((1, 2, 0, 8), (4, 2, 3, 3)), "x: expected 1 to 2147483647, got 0"),
}


@pytest.mark.parametrize(("attributes", "shapes", "message"), REJECTED.values(), ids=REJECTED)
def test_rejected(attributes, shapes, message):
    with pytest.raises(ValueError, match=message):
        kernel_of(*(np.zeros(shape, "float32") for shape in shapes), **attributes)


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_rejected_type(dtype):
    with pytest.raises(TypeError, match=f"weight: expected float32, got {dtype}"):
        kernel_of(np.zeros((1, 2, 8, 8), "float32"), np.zeros((4, 2, 3, 3), dtype))


# Whether it is chosen for images and a weight, where others have a kernel and where nobody has;
# whether a pool follows.
CHOICES = {
    "a first layer": (True, True, (1, 1, 28, 28), (6, 1, 5, 5), True),
    "a second layer": (True, True, (16, 6, 14, 14), (6, 6, 5, 5), True),
    "many channels": (False, True, (1, 64, 56, 56), (64, 64, 3, 3), False),
    "a large image": (False, False, (1, 3, 224, 224), (64, 3, 7, 7), False),
    "a product of matrices": (False, True, (1, 4, 8, 8), (6, 4, 1, 1), False),
    "no window": (False, False, (1, 4, 2, 8), (6, 4, 3, 3), False),
    "nothing to pool": (False, False, (1, 4, 3, 8), (6, 4, 3, 3), True),
}


@pytest.mark.parametrize(("chosen", "last", "x", "weight", "pools"), CHOICES.values(), ids=CHOICES)
def test_choice(chosen, last, x, weight, pools):
    given = x, weight, (1, 1), (0, 0, 0, 0), (1, 1), pools
    assert (suits(*given), fits(*given)) == (chosen, last)


# Nodes by a weight `w` of these extents; what the first step is where no library is asked.
ALONE = {
    "a convolution": ("y = Conv (x, w)", (40, 16, 3, 3), "small_convolution"),
    "of one axis": ("d = Reshape (x, t) y = Conv (d, w)", (8, 16, 3), None),
    "of groups": ("y = Conv <group = 4> (x, w)", (8, 4, 3, 3), None),
    "windows that touch": (
        "y = ConvTranspose <strides = [2, 3]> (x, w, b)",
        (16, 5, 2, 3),
        "small_convolution",
    ),
    "touching windows before a Relu": (
        "c = ConvTranspose <strides = [2, 2]> (x, w) y = Relu (c)",
        (16, 5, 2, 2),
        "small_convolution",
    ),
    "windows that overlap": ("y = ConvTranspose <strides = [2, 2]> (x, w, b)", (16, 5, 3, 3), None),
    "windows with pads": (
        "y = ConvTranspose <strides = [2, 2], pads = [1, 0, 0, 0]> (x, w)",
        (16, 5, 2, 2),
        None,
    ),
    "windows with more behind": (
        "y = ConvTranspose <strides = [2, 2], output_padding = [1, 0]> (x, w)",
        (16, 5, 2, 2),
        None,
    ),
    "windows with gaps": (
        "y = ConvTranspose <strides = [2, 2], dilations = [2, 1]> (x, w)",
        (16, 5, 2, 2),
        None,
    ),
}


@pytest.mark.parametrize(("nodes", "weight", "first"), ALONE.values(), ids=ALONE)
def test_without_libraries(nodes, weight, first):
    text = "agraph (float[2, 16, 30, 31] x) => (float[N, C, H, W] y) <int64[3] t = {2, 16, 930}>"
    model = build.model_of(f"{text} {{ {nodes} }}")
    if "(d, w)" in nodes:
        del model.graph.output[0].type.tensor_type.shape.dim[3]
    model.graph.initializer.append(numpy_helper.from_array(normal(5, *weight), "w"))
    model.graph.initializer.append(numpy_helper.from_array(normal(6, 5), "b"))
    x = normal(4, 2, 16, 30, 31)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    plan = Plan(Graph(onnx_ir.from_proto(model)), chooser=Chooser([OPERATORS]))
    given = plan(x)[0].asnumpy()
    np.testing.assert_allclose(given, expected, rtol=0, atol=2e-6 * np.abs(expected).max())
    name = plan.compiled({"x": x}).steps[0][1]
    assert name.startswith("small_convolution") == (first is not None)


POOL = "MaxPool <kernel_shape = [2, 2], strides = [2, 2]>"
# Nodes behind the convolution `c`, and what the steps are; None where it is left to others.
CHAINS = {
    "nothing": ("y = Identity(c)", [""]),
    "relu": ("y = Relu(c)", ["+relu"]),
    "pool": (f"y = {POOL} (c)", ["+max_pool"]),
    "relu and pool": (f"a = Relu(c) y = {POOL} (a)", ["+relu+max_pool"]),
    "pool and relu": (f"a = {POOL} (c) y = Relu(a)", ["+relu+max_pool"]),
    "twice": (f"a = Relu(c) b = {POOL} (a) y = Relu(b)", ["+relu+max_pool", None]),
    "a window of three": (
        "y = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (c)",
        ["", None],
    ),
    "a pool with pads": (
        "y = MaxPool <kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 0, 0]> (c)",
        ["", None],
    ),
    "a pool of part windows": (
        "y = MaxPool <kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1> (c)",
        ["", None],
    ),
    "a pool with positions": (
        "a, b = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (c)\n"
        "d = Cast <to = 1> (b)\ny = Add(a, d)",
        ["", None, None, None],
    ),
    "what kernels of others do": ("y = Tanh(c)", None),
    "used twice": ("a = Relu(c) y = Add(a, c)", ["", None, None]),
}


# An image that does not fill it.
IMAGE, WEIGHT, PADS = (2, 2, 11, 12), (5, 2, 3, 3), [1, 0, 1, 2]


@pytest.mark.parametrize(("behind", "steps"), CHAINS.values(), ids=CHAINS)
def test_chain(behind, steps):
    """What follows is done by the kernel where it can, and the result is the reference's."""
    model = model_of(behind)
    x = normal(4, *IMAGE)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    plan = Plan(Graph(onnx_ir.from_proto(model)))
    given = plan(x)[0].asnumpy()
    np.testing.assert_allclose(given, expected, rtol=0, atol=2e-6 * np.abs(expected).max())
    names = [step[1] for step in plan.compiled({"x": x}).steps]
    if steps is None:
        assert not any(name.startswith("small_convolution") for name in names)
        return
    assert len(names) == len(steps)
    for name, step in zip(names, steps, strict=True):
        assert step is None or name == f"small_convolution{step}"


def model_of(behind):
    """A convolution by a constant with nodes behind it, in ONNX's text."""
    text = "agraph (float[2, 2, 11, 12] x) => (float[N, C, H, W] y)"
    model = build.model_of(f"{text} {{ c = Conv <pads = {PADS}> (x, w) {behind} }}")
    model.graph.initializer.append(numpy_helper.from_array(normal(5, *WEIGHT), "w"))
    return model


def test_nan_is_kept():
    """A pool that the kernel does may lose a NaN."""
    model = model_of(f"y = {POOL} (c)")
    x = normal(4, *IMAGE)
    x[0, 0, 3, 4] = np.nan
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x})
    plan = Plan(Graph(onnx_ir.from_proto(model)), keep_nan=True)
    np.testing.assert_allclose(plan(x)[0].asnumpy(), expected, atol=1e-5)
    assert plan.compiled({"x": x}).steps[0][1] == "small_convolution"
