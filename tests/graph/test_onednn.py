"""Kernels of oneDNN against NumPy: what they compute, in which layouts, and what is rejected."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import ffi
import mx
from mx import _onednn
from tests import library

from . import layers

try:
    dnn = _onednn.load()
except ImportError as error:
    pytest.skip(str(error), allow_module_level=True)

RANDOM = np.random.default_rng(7)
library.load()
run_kernel = ffi.get_global_func("testing.run_kernel")
Input, PostOp, Layout = dnn.Input, dnn.PostOp, dnn.Layout

# Of results relative to the largest of them.
TOLERANCE = {"float32": 2e-6, "bfloat16": 2e-2, "float16": 3e-3}


def normal(*shape, dtype="float32"):
    return RANDOM.standard_normal(shape).astype(dtype)


def array(x, dtype=None):
    return mx.np.array(x, dtype=dtype or str(x.dtype))


def convert(x, shape, dtype, before, after):
    """An array as run_kernel has it, brought from one layout to another."""
    if before == after:
        return x
    step = dnn.reorder(Input(shape, dtype, before), after, None if after else dtype)
    return run_kernel(step.kernel, [x])[0]


def run(primitive, *inputs, offered=()):
    """Runs a kernel on row-major arrays, whatever layouts it wants, and makes its results so."""
    offered = (*offered, *[None] * (len(inputs) - len(offered)))
    arrays = [
        convert(x, x.shape, str(x.dtype), before, after)
        for x, before, after in zip(inputs, offered, primitive.inputs, strict=True)
    ]
    results = run_kernel(primitive.kernel, arrays)
    specs = zip(
        results, primitive.kernel.shapes, primitive.kernel.dtypes, primitive.outputs, strict=True
    )
    return [convert(y, shape, dtype, layout, None) for y, shape, dtype, layout in specs]


def check(primitive, inputs, expected, dtype="float32", tolerance=None):
    (result,) = run(primitive, *[array(x, dtype) for x in inputs])
    assert tuple(primitive.kernel.shapes[0]) == expected.shape
    given = np.asarray(result.astype("float64").asnumpy()).reshape(expected.shape)
    allowed = (tolerance or TOLERANCE[dtype]) * max(1, np.abs(expected).max())
    np.testing.assert_allclose(given, expected, rtol=0, atol=allowed)


CONVOLUTIONS = {
    "one axis": ((2, 3, 17), (8, 3, 3), {"pads": (1, 1)}),
    "two axes": ((2, 3, 9, 11), (16, 3, 3, 3), {"pads": (1, 1, 1, 1)}),
    "three axes": ((1, 3, 5, 6, 7), (8, 3, 3, 2, 3), {}),
    "pointwise": ((1, 64, 7, 7), (32, 64, 1, 1), {}),
    "pointwise, strides": ((1, 64, 8, 8), (32, 64, 1, 1), {"strides": (2, 2)}),
    "a first layer": ((1, 3, 30, 31), (16, 3, 7, 7), {"strides": (2, 2), "pads": (3, 3, 3, 3)}),
    "strides": ((2, 5, 13, 14), (7, 5, 3, 4), {"strides": (2, 3)}),
    "uneven pads": ((1, 4, 9, 10), (6, 4, 3, 3), {"pads": (0, 1, 2, 0)}),
    "dilations": ((1, 8, 14, 15), (8, 8, 3, 3), {"dilations": (2, 3), "pads": (2, 3, 2, 3)}),
    "groups": ((2, 8, 9, 9), (12, 2, 3, 3), {"groups": 4}),
    "depthwise": ((1, 32, 9, 10), (32, 1, 3, 3), {"groups": 32, "pads": (1, 1, 1, 1)}),
    "depthwise of odd width": ((1, 7, 9, 10), (7, 1, 5, 5), {"groups": 7, "strides": (2, 2)}),
    "depthwise, more out": ((1, 6, 9, 10), (12, 1, 3, 3), {"groups": 6}),
    "odd channels": ((3, 17, 6, 5), (19, 17, 3, 3), {"pads": (1, 1, 1, 1)}),
    "few channels": ((2, 1, 9, 11), (3, 1, 5, 4), {"pads": (2, 1, 0, 2), "strides": (2, 1)}),
    "few channels, dilations": ((1, 1, 14, 15), (2, 1, 3, 3), {"dilations": (2, 3)}),
    "few channels, one axis": ((2, 1, 17), (3, 1, 3), {"pads": (1, 1)}),
    "few channels, three axes": ((1, 1, 5, 6, 7), (3, 1, 3, 2, 3), {}),
    "one channel": ((2, 1, 9, 11), (1, 1, 3, 3), {}),
}


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(("x", "weight", "attributes"), CONVOLUTIONS.values(), ids=CONVOLUTIONS)
def test_convolution(x, weight, attributes, has_bias):
    data, weights = normal(*x), normal(*weight)
    bias = normal(weight[0]) if has_bias else None
    expected = layers.convolution(data, weights, bias, **attributes)
    constant = None if bias is None else array(bias)
    made = dnn.convolution(Input(x), array(weights), constant, **attributes)
    assert not made.is_reference
    check(made, [data], expected)
    fed = dnn.convolution(Input(x), Input(weight), constant, **attributes)
    check(fed, [data, weights], expected)


DECONVOLUTIONS = {
    "one axis": ((2, 3, 9), (3, 8, 4), {"strides": (2,)}),
    "two axes": ((1, 8, 6, 7), (8, 5, 3, 3), {"strides": (2, 2), "pads": (1, 1, 1, 1)}),
    "output padding": (
        (1, 8, 6, 7),
        (8, 16, 3, 3),
        {"strides": (2, 3), "pads": (1, 0, 1, 1), "output_padding": (1, 2)},
    ),
    "dilations": ((1, 4, 6, 7), (4, 5, 3, 2), {"dilations": (2, 3)}),
    "groups": ((1, 8, 6, 7), (8, 3, 2, 2), {"groups": 4, "strides": (2, 2)}),
    "three axes": ((1, 4, 3, 4, 5), (4, 3, 2, 2, 2), {"strides": (2, 2, 2)}),
}


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(("x", "weight", "attributes"), DECONVOLUTIONS.values(), ids=DECONVOLUTIONS)
def test_deconvolution(x, weight, attributes, has_bias):
    data, weights = normal(*x), normal(*weight)
    bias = normal(weight[1] * attributes.get("groups", 1)) if has_bias else None
    constant = None if bias is None else array(bias)
    made = dnn.deconvolution(Input(x), array(weights), constant, **attributes)
    check(made, [data], layers.deconvolution(data, weights, bias, **attributes))


POST_OPS = {
    "relu": [("relu", {})],
    "relu6": [("clip", {"alpha": 0, "beta": 6})],
    "leaky_relu": [("leaky_relu", {"alpha": 0.3})],
    "gelu": [("gelu_erf", {})],
    "scale and shift": [("mul", "channels"), ("add", "channels")],
    "a number": [("mul", "number")],
    "residual": [("add", "full"), ("relu", {})],
    "sum": [("sum", "full"), ("relu", {})],
    "of three": [("mul", "channels"), ("swish", {}), ("sum", "full"), ("sub", "full")],
    "constants": [("mul", "constant channels"), ("add", "constant full")],
}


def applied(posts, result, channels_shape):
    """The post-ops, the inputs that they add, and what they make of a result."""
    made, inputs = [], []
    for kind, what in posts:
        if isinstance(what, dict):
            made.append(PostOp(kind, **what))
            numbers = {name[0]: value for name, value in what.items()}
            result = layers.ELTWISE[kind](result, **numbers)
            continue
        shapes = {"channels": channels_shape, "full": result.shape, "number": (1,)}
        operand = normal(*shapes[what.split()[-1]])
        is_constant = what.startswith("constant")
        made.append(PostOp(kind, operand=array(operand) if is_constant else Input(operand.shape)))
        if not is_constant:
            inputs.append(operand)
        result = layers.BINARY["add" if kind == "sum" else kind](result, np.float64(operand))
    return made, inputs, result


@pytest.mark.parametrize("posts", POST_OPS.values(), ids=POST_OPS)
@pytest.mark.parametrize("weight", [(16, 8, 3, 3), (16, 8, 1, 1), (8, 1, 3, 3)])
def test_post_ops_of_convolutions(posts, weight):
    data, weights = normal(2, 8, 9, 9), normal(*weight)
    groups = 8 // weight[1]
    product = layers.convolution(data, weights, groups=groups)
    made, inputs, expected = applied(posts, product, (weight[0], 1, 1))
    primitive = dnn.convolution(Input(data.shape), array(weights), groups=groups, post_ops=made)
    assert not primitive.is_reference
    check(primitive, [data, *inputs], expected)


@pytest.mark.parametrize("posts", POST_OPS.values(), ids=POST_OPS)
@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 5, 7)])
def test_post_ops_of_products(posts, shape):
    data, weights, bias = normal(*shape), normal(7, 11), normal(11)
    made, inputs, expected = applied(posts, np.float64(data) @ weights + bias, (11,))
    primitive = dnn.matmul(Input(shape), array(weights), array(bias), post_ops=made)
    assert not primitive.is_reference
    check(primitive, [data, *inputs], expected)


PRODUCTS = {
    "matrices": ((5, 7), (7, 9), {}),
    "a row": ((1, 64), (64, 10), {}),
    "a column": ((17, 64), (64, 1), {}),
    "rows of more axes": ((2, 3, 5, 7), (7, 9), {}),
    "batches": ((2, 3, 5, 7), (2, 3, 7, 9), {}),
    "broadcast left": ((3, 1, 5, 7), (3, 4, 7, 9), {}),
    "broadcast right": ((3, 4, 5, 7), (3, 1, 7, 9), {}),
    "broadcast both": ((3, 1, 5, 7), (4, 7, 9), {}),
    "transposed b": ((5, 7), (9, 7), {"transpose_b": True}),
    "transposed a": ((7, 5), (7, 9), {"transpose_a": True}),
    "transposed both, batches": ((2, 7, 5), (2, 9, 7), {"transpose_a": True, "transpose_b": True}),
    "alpha": ((2, 5, 7), (2, 7, 9), {"alpha": 0.125}),
    "transposed a, one b": ((2, 7, 5), (7, 9), {"transpose_a": True}),
}


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("constants", ["", "a", "b"])
@pytest.mark.parametrize(("a", "b", "attributes"), PRODUCTS.values(), ids=PRODUCTS)
def test_matmul(a, b, attributes, constants, has_bias):
    left, right = normal(*a), normal(*b)
    first = left.swapaxes(-1, -2) if attributes.get("transpose_a") else left
    second = right.swapaxes(-1, -2) if attributes.get("transpose_b") else right
    expected = np.float64(first) @ second * attributes.get("alpha", 1)
    bias = normal(expected.shape[-1]) if has_bias else None
    constant = None if bias is None else array(bias)
    expected = expected if bias is None else expected + bias
    primitive = dnn.matmul(
        array(left) if constants == "a" else Input(a),
        array(right) if constants == "b" else Input(b),
        constant,
        **attributes,
    )
    inputs = [x for name, x in (("a", left), ("b", right)) if name != constants]
    check(primitive, inputs, expected)


@pytest.mark.parametrize("shape", [(3, 20), (1, 2048), (2, 5, 4, 3), (2, 32, 7, 7)])
def test_inner_product(shape):
    data, weights, bias = normal(*shape), normal(6, np.prod(shape[1:])), normal(6)
    primitive = dnn.inner_product(Input(shape), array(weights), array(bias))
    assert not primitive.is_reference
    check(primitive, [data], np.float64(data.reshape(shape[0], -1)) @ weights.T + bias)


POOLINGS = {
    "even": ((2, 16, 8, 8), {"kernel": (2, 2), "strides": (2, 2)}),
    "pads": ((1, 5, 9, 10), {"kernel": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}),
    "uneven pads": ((1, 5, 9, 10), {"kernel": (3, 2), "pads": (0, 1, 2, 0)}),
    "ceil": ((1, 5, 8, 9), {"kernel": (3, 3), "strides": (2, 3), "ceil_mode": True}),
    "global": ((2, 17, 7, 6), {}),
    "dilations": ((1, 4, 9, 9), {"kernel": (2, 3), "dilations": (2, 2)}),
    "one axis": ((2, 3, 17), {"kernel": (3,), "strides": (2,)}),
    "three axes": ((1, 3, 5, 6, 7), {"kernel": (2, 3, 2)}),
}


@pytest.mark.parametrize("is_blocked", [False, True])
@pytest.mark.parametrize("kind", ["max", "avg", "avg with padding"])
@pytest.mark.parametrize(("shape", "attributes"), POOLINGS.values(), ids=POOLINGS)
def test_pooling(shape, attributes, kind, is_blocked):
    data = normal(*shape)
    count = kind == "avg with padding"
    if count and "ceil_mode" in attributes:
        return  # rejected: the table of wrong arguments has it
    layout = blocked(shape) if is_blocked else None
    kind = kind[:3]
    made = dnn.pooling(Input(shape, layout=layout), kind, count_include_pad=count, **attributes)
    expected = layers.pooling(data, kind, count_include_pad=count, **attributes)
    check(made, [data], expected)


def blocked(shape, dtype="float32"):
    """The layout that a convolution gives its result of that shape."""
    weight = mx.np.zeros((shape[1], shape[1], *[1] * (len(shape) - 2)))
    layout = dnn.convolution(Input(shape, dtype), weight).output
    assert layout is not None and not layout.is_plain
    return layout


@pytest.mark.parametrize("shape", [(3, 5), (2, 7, 5, 3), (1000,)])
@pytest.mark.parametrize("kind", layers.ELTWISE)
def test_eltwise(kind, shape):
    data = normal(*shape)
    if kind in ("log", "sqrt", "pow"):
        data = np.abs(data) + 0.5
    made = dnn.eltwise(Input(shape), kind)
    assert made.kernel.shapes[0] == list(shape)
    # Its logarithm is one of 4e-6.
    tolerance = 1e-5 if kind == "log" else None
    check(made, [data], layers.ELTWISE[kind](np.float64(data)), tolerance=tolerance)


def test_arrays_without_axes():
    made = [dnn.eltwise(Input(()), "square"), dnn.binary(Input(()), array(normal(1))[0], "mul")]
    made += [dnn.reorder(Input(()), dtype="bfloat16")]
    for each in made:
        (result,) = run_kernel(each.kernel, [array(np.float32(3))])
        assert result.shape == () and list(each.kernel.shapes[0]) == []
    assert dnn.binary(Input((1,)), Input(()), "add").kernel.shapes[0] == [1]


@pytest.mark.parametrize(
    ("kind", "alpha", "beta"),
    [
        ("clip", -0.5, 0.25),
        ("elu", 0.5, None),
        ("hardsigmoid", 0.3, 0.4),
        ("leaky_relu", 0.3, None),
        ("linear", 2, -3),
        ("pow", 2, 3),
        ("swish", 1.702, None),
        ("softplus", 2, None),
    ],
)
def test_the_numbers_of_eltwise(kind, alpha, beta):
    data = normal(4, 33)
    numbers = (alpha,) if beta is None else (alpha, beta)
    made = dnn.eltwise(Input(data.shape), kind, *numbers)
    check(made, [data], layers.ELTWISE[kind](np.float64(data), *numbers))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((2, 5, 4, 3), (2, 5, 4, 3)),
        ((2, 5, 4, 3), (5, 1, 1)),
        ((2, 5, 4, 3), (3,)),
        ((2, 5, 4, 3), (1,)),
        ((5, 1), (2, 5, 7)),
        ((4, 1), (1, 6)),
        ((1000,), (1000,)),
    ],
)
@pytest.mark.parametrize("kind", layers.BINARY)
def test_binary(kind, a, b):
    left, right = np.rint(normal(*a)), np.rint(normal(*b))
    if kind == "div":
        right[right == 0] = 2
    expected = layers.BINARY[kind](np.float64(left), right)
    made = dnn.binary(Input(a), Input(b), kind)
    (result,) = run(made, array(left), array(right))
    assert str(result.dtype) == ("bool" if expected.dtype == bool else "float32")
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
    constant = dnn.binary(Input(a), array(right), kind)
    np.testing.assert_array_equal(run(constant, array(left))[0].asnumpy(), result.asnumpy())


def test_blocked_operands_of_binary():
    shape = (2, 16, 5, 6)
    layout = blocked(shape)
    one, other = normal(*shape), normal(*shape)
    for first, second in ((layout, None), (None, layout), (layout, layout)):
        made = dnn.binary(Input(shape, layout=first), Input(shape, layout=second), "add")
        assert list(made.inputs) == [layout, layout] and made.output == layout
        check(made, [one, other], np.float64(one) + other)
    bias = normal(16, 1, 1)
    made = dnn.binary(Input(shape, layout=layout), array(bias), "add")
    assert made.output == layout and not made.is_reference
    check(made, [one], np.float64(one) + bias)


@pytest.mark.parametrize("is_blocked", [False, True])
@pytest.mark.parametrize("shape", [(2, 16, 5, 6), (1, 7, 4, 4), (2, 3, 4, 5, 6)])
def test_batch_normalization(shape, is_blocked):
    data = normal(*shape)
    scale, shift, mean, variance = (np.abs(normal(shape[1])) + 0.5 for _ in range(4))
    layout = blocked(shape) if is_blocked else None
    made = dnn.batch_normalization(
        Input(shape, layout=layout),
        *map(array, (scale, shift, mean, variance)),
        epsilon=1e-3,
        post_ops=[PostOp("relu")],
    )
    assert made.output == layout and not made.is_reference
    by_channel = (x.reshape(-1, *[1] * (len(shape) - 2)) for x in (scale, shift, mean, variance))
    check(made, [data], np.maximum(layers.normalized(np.float64(data), *by_channel, 1e-3), 0))


@pytest.mark.parametrize("has_scale", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"), [((5, 64), -1), ((2, 3, 17), -1), ((2, 3, 4, 5), 2), ((7,), 0), ((2, 3), -2)]
)
def test_layer_normalization(shape, axis, has_scale):
    data = normal(*shape)
    inner = shape[axis:] if axis >= 0 else shape[len(shape) + axis :]
    axes = tuple(range(len(shape) - len(inner), len(shape)))
    scale, shift = normal(*inner), normal(*inner)
    mean, variance = data.mean(axes, np.float64, keepdims=True), data.var(axes, keepdims=True)
    given = (array(scale), array(shift)) if has_scale else ()
    made = dnn.layer_normalization(Input(shape), *given, axis=axis)
    assert not made.is_reference
    if not has_scale:
        scale, shift = 1, 0
    check(
        made,
        [data],
        layers.normalized(np.float64(data), scale, shift, mean, variance),
        "float32",
        1e-5,
    )


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"), [((5, 64), -1), ((2, 12, 7, 33), 3), ((2, 16, 5, 6), 1), ((9,), 0)]
)
def test_softmax(shape, axis, is_log):
    data = normal(*shape) * 5
    expected = layers.softmax(data, axis, is_log)
    check(dnn.softmax(Input(shape), axis, is_log), [data], expected, tolerance=5e-6)
    if len(shape) > 3:
        made = dnn.softmax(Input(shape, layout=blocked(shape)), axis, is_log)
        check(made, [data], expected, tolerance=5e-6)


@pytest.mark.parametrize("is_blocked", [False, True])
def test_lrn(is_blocked):
    data = normal(2, 16, 5, 6)
    layout = blocked(data.shape) if is_blocked else None
    made = dnn.lrn(Input(data.shape, layout=layout), 5, 0.2, 0.6, 1.5)
    check(made, [data], layers.lrn(data, 5, 0.2, 0.6, 1.5), tolerance=1e-5)


@pytest.mark.parametrize("are_blocked", [False, True])
@pytest.mark.parametrize(
    ("shapes", "axis"),
    [
        ([(2, 16, 5, 6), (2, 32, 5, 6)], 1),
        ([(2, 7, 5, 6), (2, 16, 5, 6), (2, 3, 5, 6)], -3),
        ([(2, 16, 5, 6), (2, 16, 4, 6)], 2),
        ([(2, 16, 5, 6)], 0),
    ],
)
def test_concat(shapes, axis, are_blocked):
    inputs = [normal(*shape) for shape in shapes]
    layouts = [blocked(shape) if are_blocked else None for shape in shapes]
    given = [Input(shape, layout=layout) for shape, layout in zip(shapes, layouts, strict=True)]
    check(dnn.concat(given, axis), inputs, np.concatenate(inputs, axis))
    with_constant = dnn.concat([*given, array(inputs[0])], axis)
    check(with_constant, inputs, np.concatenate([*inputs, inputs[0]], axis))


@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5, 64), (1,)),
        ((2, 16, 5, 6), (2, 3)),
        ((2, 7, 5), (0,)),
        ((3, 4, 5), None),
        ((3, 4), (-1,)),
    ],
)
def test_reduction(shape, axes, kind):
    data = normal(*shape)
    expected = getattr(np, kind)(np.float64(data), axis=axes, keepdims=True)
    check(dnn.reduction(Input(shape), kind, axes), [data], expected, tolerance=1e-5)


@pytest.mark.parametrize("is_blocked", [False, True])
@pytest.mark.parametrize("kind", ["nearest", "linear"])
@pytest.mark.parametrize(
    ("shape", "extents"),
    [
        ((2, 16, 5, 6), (10, 12)),
        ((1, 3, 8, 9), (5, 20)),
        ((2, 3, 7), (20,)),
        ((1, 2, 3, 4, 5), (6, 4, 9)),
    ],
)
def test_resampling(shape, extents, kind, is_blocked):
    data = normal(*shape)
    layout = blocked(shape) if is_blocked else None
    made = dnn.resampling(Input(shape, layout=layout), extents, kind)
    check(made, [data], layers.resized(data, extents, kind))


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("slope", [(16, 1, 1), (2, 16, 5, 6), (1,), (6,)])
def test_prelu(slope, is_constant):
    data, slopes = normal(2, 16, 5, 6), normal(*slope)
    made = dnn.prelu(Input(data.shape), array(slopes) if is_constant else Input(slope))
    inputs = [data] if is_constant else [data, slopes]
    check(made, inputs, np.where(data > 0, data, np.float64(data) * slopes))


@pytest.mark.parametrize(("shape", "axis"), [((2, 12, 5, 6), 1), ((3, 12), -1)])
def test_shuffle(shape, axis):
    data = normal(*shape)
    groups = (*shape[:1], 3, 4, *shape[2:])
    expected = data.reshape(groups).swapaxes(1, 2).reshape(shape)
    check(dnn.shuffle(Input(shape), 3, axis), [data], expected)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("kind", ["lstm", "gru", "lbr_gru", "tanh", "relu", "lstm with peepholes"])
@pytest.mark.parametrize("are_given", [False, True])
def test_recurrent(kind, direction, are_given):
    kind, _, has_peepholes = kind.partition(" ")
    directions = 2 if direction == "bidirectional" else 1
    gates = {"lstm": 4, "gru": 3, "lbr_gru": 3}.get(kind, 1)
    length, batch, inputs, hidden = 5, 3, 7, 6
    data = normal(length, batch, inputs)
    weight = normal(directions, gates * hidden, inputs) / 3
    again = normal(directions, gates * hidden, hidden) / 3
    given = {
        "bias": normal(directions, 2 * gates * hidden),
        "initial_h": normal(directions, batch, hidden),
        "initial_c": normal(directions, batch, hidden),
        "peephole": normal(directions, 3 * hidden),
    }
    if not are_given:
        given = {name: x * 0 for name, x in given.items()}
    if not has_peepholes:
        given["peephole"] *= 0
    expected = layers.recurrent(kind, direction, *map(np.float64, (data, weight, again)), **given)
    options, arrays = {}, [array(data)]
    if are_given:
        options = {"bias": array(given["bias"]), "initial_h": Input((directions, batch, hidden))}
        arrays.append(array(given["initial_h"]))
    if are_given and kind == "lstm":
        options["initial_c"] = Input((directions, batch, hidden))
        arrays.append(array(given["initial_c"]))
    if has_peepholes:
        options["peephole"] = array(given["peephole"])
    made = dnn.recurrent(
        Input(data.shape), array(weight), array(again), kind=kind, direction=direction, **options
    )
    results = run(made, *arrays)
    assert len(results) == (3 if kind == "lstm" else 2)
    for result, wanted in zip(results, expected, strict=False):
        np.testing.assert_allclose(result.asnumpy(), wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 17, 5, 6), (3, 8, 9), (1, 3, 4, 5, 6)])
def test_reorder(shape):
    data = normal(*shape)
    layout = blocked(shape)
    (there,) = run_kernel(dnn.reorder(Input(shape), layout).kernel, [array(data)])
    assert there.shape == (layout.bytes,)
    (back,) = run_kernel(dnn.reorder(Input(shape, layout=layout)).kernel, [there])
    np.testing.assert_array_equal(back.asnumpy(), data)


def test_reorder_converts_and_transposes():
    data = normal(3, 4, 5)
    step = dnn.reorder(Input(data.shape), dtype="bfloat16")
    (half,) = run_kernel(step.kernel, [array(data)])
    assert str(half.dtype) == "bfloat16"
    seen = Layout.plain((3, 4, 5)).permuted((2, 0, 1))
    assert seen.shape == [5, 3, 4] and not seen.is_plain
    (turned,) = run_kernel(dnn.reorder(Input((5, 3, 4), layout=seen)).kernel, [array(data)])
    np.testing.assert_array_equal(turned.asnumpy(), data.transpose(2, 0, 1))


IMAGE = (1, 16, 6, 5)
CHANNELS, NUMBER, ROW = (array(normal(*shape)) for shape in ((16, 1, 1), (1,), (5,)))
# What oneDNN has but its reference for, as it is given, and what is made of it.
FAST = {
    "a - b of a constant a": (lambda x: dnn.binary(CHANNELS, x, "sub"), True),
    "a / b of a constant a": (lambda x: dnn.binary(NUMBER, x, "div"), True),
    "a > b of a constant a": (lambda x: dnn.binary(ROW, x, "greater"), True),
    "softmax of rows": (lambda x: dnn.softmax(x, -1), False),
    "sums of rows": (lambda x: dnn.reduction(x, "sum", (3,)), False),
    "means of images": (lambda x: dnn.reduction(x, "mean", (2, 3)), False),
    "sums of single elements": (lambda x: dnn.reduction(x, "sum", (0,)), True),
    "concat with what is row-major": (lambda x: dnn.concat([x, Input((1, 7, 6, 5))], 1), True),
}


@pytest.mark.parametrize(("make", "stays"), FAST.values(), ids=FAST)
def test_makers_avoid_the_reference(make, stays):
    layout = blocked(IMAGE)
    made = make(Input(IMAGE, layout=layout))
    assert not made.is_reference and made.inputs[0] == (layout if stays else None)
    inputs = [normal(*IMAGE), normal(1, 7, 6, 5)][: len(made.inputs)]
    (result,) = run(made, *map(array, inputs))
    (plain,) = run(make(Input(IMAGE)), *map(array, inputs))
    np.testing.assert_allclose(result.asnumpy(), plain.asnumpy(), rtol=1e-4, atol=1e-5)


def test_what_is_kept_is_kept():
    layout = blocked(IMAGE)
    made = dnn.softmax(Input(IMAGE, layout=layout, keep=True), -1)
    assert made.inputs[0] == layout == made.output and made.is_reference


def test_layouts():
    plain = Layout.plain((2, 16, 3, 4))
    assert plain.text == "abcd f32" and plain.is_plain and plain.bytes == 2 * 16 * 3 * 4 * 4
    first, second = blocked((1, 17, 3, 3)), blocked((1, 17, 3, 3))
    assert first == second and hash(first) == hash(second) and first != plain
    assert {first: 1}[second] == 1
    assert first.text[0] == "a" and "b" in first.text and "(1, 17, 3, 3)" in repr(first)
    assert first.bytes >= 17 * 9 * 4 and first.shape == [1, 17, 3, 3]
    flat = Layout.plain((2, 16, 1, 1)).reshaped((2, 16))
    assert flat.is_plain and flat.shape == [2, 16]


@pytest.mark.parametrize("channels", [1, 3, 6])
def test_few_channels_are_written_without_padding(channels):
    data, weights = normal(2, 1, 12, 12), normal(channels, 1, 5, 5)
    made = dnn.convolution(Input(data.shape), array(weights), post_ops=[PostOp("relu")])
    assert made.inputs[0] is None
    expected = np.maximum(layers.convolution(data, weights), 0)
    check(made, [data], expected)
    if made.output is not None:
        assert made.output.bytes < 2 * 4 * expected.size


def test_layouts_go_from_neighbour_to_neighbour():
    data = normal(1, 3, 20, 20)
    weights = [normal(24, 3, 3, 3), normal(24, 1, 3, 3), normal(40, 24, 1, 1)]
    expected, layout, value, shape = data, None, array(data), data.shape
    for weight in weights:
        groups = expected.shape[1] // weight.shape[1]
        expected = np.maximum(layers.convolution(expected, weight, groups=groups), 0)
        made = dnn.convolution(
            Input(shape, layout=layout), array(weight), groups=groups, post_ops=[PostOp("relu")]
        )
        value = convert(value, shape, "float32", layout, made.inputs[0])
        (value,) = run_kernel(made.kernel, [value])
        layout, shape = made.output, made.kernel.shapes[0]
    kept = dnn.convolution(Input(shape, layout=layout, keep=True), array(normal(8, 40, 1, 1)))
    assert kept.inputs[0] == layout
    pooled = dnn.pooling(Input(shape, layout=layout), "avg")
    assert pooled.inputs[0] == layout
    (value,) = run_kernel(pooled.kernel, [value])
    weight = normal(5, 40)
    head = dnn.inner_product(Input((1, 40, 1, 1), layout=pooled.output), array(weight))
    value = convert(value, (1, 40, 1, 1), "float32", pooled.output, head.inputs[0])
    (value,) = run_kernel(head.kernel, [value])
    np.testing.assert_allclose(
        value.asnumpy(), expected.mean(axis=(2, 3)) @ weight.T, rtol=0, atol=2e-3
    )


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_types_of_16_bits(dtype):
    data, weights, bias = normal(1, 16, 9, 9), normal(32, 16, 3, 3), normal(32)
    expected = layers.convolution(data, weights, bias)
    made = dnn.convolution(Input(data.shape, dtype), array(weights), array(bias))
    if not made.is_reference:
        assert list(made.kernel.dtypes) == [dtype]
        check(made, [data], expected, dtype)
    left, right = normal(5, 64), normal(64, 9)
    made = dnn.matmul(Input(left.shape, dtype), array(right), array(bias[:9]))
    if not made.is_reference:
        check(made, [left], np.float64(left) @ right + bias[:9], dtype)


def test_constants_are_owned():
    weights = mx.np.ones((4, 4))
    made = dnn.matmul(Input((2, 4)), weights)
    weights[:] = 7
    del weights
    (result,) = run(made, mx.np.ones((2, 4)))
    assert result.tolist() == [[4] * 4] * 2


def test_constants_may_be_views():
    weights = normal(6, 8)
    made = dnn.matmul(Input((2, 6)), array(weights.T.copy()).T)
    data = normal(2, 6)
    check(made, [data], np.float64(data) @ weights)


def test_threads():
    """Eight threads run one kernel at once, each with memory of its own."""
    weights = normal(32, 16, 3, 3)
    made = dnn.convolution(Input((1, 16, 20, 20)), array(weights))
    wrong = []

    def work():
        random = np.random.default_rng(threading.get_ident())
        data = random.standard_normal((1, 16, 20, 20)).astype("float32")
        expected = layers.convolution(data, weights)
        for _ in range(30):
            (result,) = run(made, array(data))
            if np.abs(result.asnumpy() - expected).max() > 1e-3:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_number_of_threads_is_that_of_mx():
    before = mx.get_num_threads()
    data, weights = normal(1, 16, 20, 20), normal(32, 16, 3, 3)
    try:
        for count in (1, 3):
            mx.set_num_threads(count)
            made = dnn.convolution(Input(data.shape), array(weights))
            check(made, [data], layers.convolution(data, weights))
    finally:
        mx.set_num_threads(before)


WEIGHT = mx.np.zeros((8, 4, 3, 3))
REJECTED = {
    "axes of x": (
        lambda: dnn.convolution(Input((4, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: x: expected 3 to 5 axes, got the shape (4, 9)",
    ),
    "type of x": (
        lambda: dnn.convolution(Input((1, 4, 9, 9), "int32"), WEIGHT),
        TypeError,
        "mx.onednn.convolution: x: expected float32, float16 or bfloat16, got int32",
    ),
    "type that oneDNN has not": (
        lambda: dnn.eltwise(Input((2,), "float64"), "relu"),
        NotImplementedError,
        "mx.onednn.eltwise: x: expected a data type that oneDNN has",
    ),
    "axes of weight": (
        lambda: dnn.convolution(Input((1, 4, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: weight: expected 3 axes, got the shape (8, 4, 3, 3)",
    ),
    "channels": (
        lambda: dnn.convolution(Input((1, 5, 9, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: weight: expected the shape (out channels, in channels / groups",
    ),
    "groups": (
        lambda: dnn.convolution(Input((1, 12, 9, 9)), WEIGHT, groups=3),
        ValueError,
        "mx.onednn.convolution: weight: expected the shape (out channels, in channels / groups",
    ),
    "bias": (
        lambda: dnn.convolution(Input((1, 4, 9, 9)), WEIGHT, mx.np.zeros((7,))),
        ValueError,
        "mx.onednn.convolution: bias: expected the shape (8,), got (7,)",
    ),
    "strides": (
        lambda: dnn.convolution(Input((1, 4, 9, 9)), WEIGHT, strides=(0, 1)),
        ValueError,
        "mx.onednn.convolution: strides: expected 2 integers of 1 or more, got (0, 1)",
    ),
    "pads": (
        lambda: dnn.convolution(Input((1, 4, 9, 9)), WEIGHT, pads=(1, 1)),
        ValueError,
        "mx.onednn.convolution: pads: expected 4 integers of 0 or more, got (1, 1)",
    ),
    "too small": (
        lambda: dnn.convolution(Input((1, 4, 2, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: a window that reaches over 3 elements does not fit into 2",
    ),
    "no elements": (
        lambda: dnn.convolution(Input((0, 4, 9, 9)), WEIGHT),
        ValueError,
        "mx.onednn.convolution: x: expected extents of 1 or more, got the shape (0, 4, 9, 9)",
    ),
    "products": (
        lambda: dnn.matmul(Input((2, 3)), Input((4, 5))),
        ValueError,
        "mx.onednn.matmul: a and b: expected (..., m, k) and (..., k, n)",
    ),
    "types of products": (
        lambda: dnn.matmul(Input((2, 3)), Input((3, 5), "bfloat16")),
        TypeError,
        "mx.onednn.matmul: b: expected float32 as a is, got bfloat16",
    ),
    "broadcasting": (
        lambda: dnn.binary(Input((2, 3)), Input((4,)), "add"),
        ValueError,
        "mx.onednn.binary: a and b: expected shapes that broadcast, got (2, 3) and (4,)",
    ),
    "kind of eltwise": (
        lambda: dnn.eltwise(Input((2, 3)), "reluu"),
        ValueError,
        "mx.onednn.eltwise: kind: expected one of abs, clip",
    ),
    "kind of pooling": (
        lambda: dnn.pooling(Input((1, 2, 3)), "min"),
        ValueError,
        "mx.onednn.pooling: kind: expected 'max' or 'avg', got 'min'",
    ),
    "window of pooling": (
        lambda: dnn.pooling(Input((1, 2, 3)), "max", (2, 2)),
        ValueError,
        "mx.onednn.pooling: kernel: expected 1 integers of 1 or more, got (2, 2)",
    ),
    "means with a partial window": (
        lambda: dnn.pooling(
            Input((1, 2, 8)), "avg", (3,), (2,), ceil_mode=True, count_include_pad=True
        ),
        NotImplementedError,
        "mx.onednn.pooling: count_include_pad: oneDNN would count",
    ),
    "axis": (
        lambda: dnn.softmax(Input((2, 3)), 2),
        ValueError,
        "mx.onednn.softmax: axis: expected -2 to 1, got 2",
    ),
    "scale": (
        lambda: dnn.layer_normalization(Input((2, 3)), mx.np.ones((2,))),
        ValueError,
        "mx.onednn.layer_normalization: scale: expected 3 elements, got the shape (2,)",
    ),
    "types of concat": (
        lambda: dnn.concat([Input((2, 3)), Input((2, 3), "bfloat16")], 0),
        TypeError,
        "mx.onednn.concat: inputs[1]: expected float32 as inputs[0] is, got bfloat16",
    ),
    "shapes of concat": (
        lambda: dnn.concat([Input((2, 3)), Input((2, 4))], 0),
        ValueError,
        "mx.onednn.concat: inputs[1]: expected the shape (2, 3), got (2, 4)",
    ),
    "no inputs of concat": (
        lambda: dnn.concat([], 0),
        ValueError,
        "mx.onednn.concat: inputs: expected one or more",
    ),
    "kind of reduction": (
        lambda: dnn.reduction(Input((2, 3)), "median"),
        ValueError,
        "mx.onednn.reduction: kind: expected one of sum, mean, max, min, prod, got 'median'",
    ),
    "extents": (
        lambda: dnn.resampling(Input((1, 2, 3)), (4, 5), "nearest"),
        ValueError,
        "mx.onednn.resampling: extents: expected 1 integers of 1 or more, got (4, 5)",
    ),
    "groups of shuffle": (
        lambda: dnn.shuffle(Input((1, 6)), 4),
        ValueError,
        "mx.onednn.shuffle: groups: expected a divisor of 6, got 4",
    ),
    "slope": (
        lambda: dnn.prelu(Input((1, 6)), mx.np.ones((2,))),
        ValueError,
        "mx.onednn.prelu: slope: expected a shape that broadcasts to (1, 6), got (2,)",
    ),
    "weights of a recurrent layer": (
        lambda: dnn.recurrent(
            Input((5, 1, 3)), mx.np.zeros((1, 8, 4)), mx.np.zeros((1, 8, 2)), kind="lstm"
        ),
        ValueError,
        "mx.onednn.recurrent: weight: expected the shape (1, 8, 3), got (1, 8, 4)",
    ),
    "weights that are no constants": (
        lambda: dnn.recurrent(Input((5, 1, 3)), Input((1, 8, 3)), mx.np.zeros((1, 8, 2))),
        NotImplementedError,
        "mx.onednn.recurrent: weight: expected a constant",
    ),
    "direction": (
        lambda: dnn.recurrent(
            Input((5, 1, 3)), mx.np.zeros((1, 8, 3)), mx.np.zeros((1, 8, 2)), direction="both"
        ),
        ValueError,
        "mx.onednn.recurrent: direction: expected 'forward', 'reverse' or 'bidirectional'",
    ),
    "c of gru": (
        lambda: dnn.recurrent(
            Input((5, 1, 3)),
            mx.np.zeros((1, 6, 3)),
            mx.np.zeros((1, 6, 2)),
            initial_c=mx.np.zeros((1, 1, 2)),
            kind="gru",
        ),
        ValueError,
        "mx.onednn.recurrent: initial_c and peephole: only lstm has them",
    ),
    "kind of post-op": (
        lambda: PostOp("add2"),
        ValueError,
        "mx.onednn.PostOp: kind: expected one of sum, add",
    ),
    "post-op without operand": (
        lambda: PostOp("add"),
        ValueError,
        "mx.onednn.PostOp: operand: add takes an operand",
    ),
    "operand of post-op": (
        lambda: dnn.matmul(
            Input((2, 3)), Input((3, 5)), post_ops=[PostOp("add", operand=Input((4,)))]
        ),
        ValueError,
        "mx.onednn.matmul: post_ops[0].operand: expected a shape that broadcasts to (2, 5)",
    ),
    "two sums": (
        lambda: dnn.matmul(
            Input((2, 3)), Input((3, 5)), post_ops=[PostOp("sum", operand=Input((2, 5)))] * 2
        ),
        ValueError,
        "mx.onednn.matmul: post_ops[1].operand: expected one sum, over an Input",
    ),
    "layout of another shape": (
        lambda: Input((2, 3), layout=Layout.plain((2, 4))),
        ValueError,
        "mx.onednn.Input: layout: expected one of float32 and the shape (2, 3)",
    ),
    "reorder": (
        lambda: dnn.reorder(Input((2, 3)), Layout.plain((2, 4))),
        ValueError,
        "mx.onednn.reorder: to: expected a layout of the shape (2, 3), got one of (2, 4)",
    ),
    "axes of a layout": (
        lambda: Layout.plain((2, 4)).permuted((0, 2)),
        ValueError,
        "mx.onednn.Layout.permuted: axes: expected the axes 0 to 1 in some order, got (0, 2)",
    ),
    "shape of a layout": (
        lambda: Layout.plain((2, 4)).reshaped((3, 3)),
        ValueError,
        "mx.onednn.Layout.reshaped: shape: expected 8 elements, got (3, 3)",
    ),
    "inputs of a run": (
        lambda: run_kernel(dnn.eltwise(Input((2,)), "relu").kernel, []),
        ValueError,
        "a kernel of oneDNN: expected 1 inputs and 1 outputs, got 0 and 1",
    ),
}


@pytest.mark.parametrize(("call", "kind", "text"), REJECTED.values(), ids=REJECTED)
def test_rejections(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


FORKS = """
import os, signal
import numpy
import mx
from mx import _onednn

dnn = _onednn.load()
run = lambda made, data: made.kernel.run([data])[0].asnumpy()
random = numpy.random.default_rng(0)
weights = mx.np.array(random.standard_normal((32, 16, 3, 3), "float32"))
data = mx.np.array(random.standard_normal((1, 16, 20, 20), "float32"))
make = lambda: dnn.convolution(dnn.Input((1, 16, 20, 20), layout=None, keep=True), weights)
made = make()
expected = run(made, data)
agrees = lambda: all((run(each, data) == expected).all() for each in (made, make()))
child = os.fork()
if child == 0:
    good = False
    signal.alarm(60)
    try:
        grandchild = os.fork()
        good = agrees() and (grandchild == 0 or os.waitpid(grandchild, 0)[1] == 0)
    finally:
        os._exit(0 if good else 1)
assert os.waitpid(child, 0)[1] == 0
"""


def test_forks():
    """A child makes and runs kernels although the threads of its parent are none of its own."""
    # In a process alone: what other tests have imported does not like forks.
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True)


def test_the_environment_is_left_alone():
    """Loading oneDNN sets nothing; `import mx` alone loads nothing."""
    script = (
        "import os, mx\n"
        "before = dict(os.environ)\n"
        "loaded = lambda: 'libdnnl' in open('/proc/self/maps').read()\n"
        "assert not loaded()\n"
        "from mx import _onednn\n"
        "assert not loaded()\n"
        "_onednn.load()\n"
        "assert loaded() and dict(os.environ) == before\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_missing_package_is_told(monkeypatch):
    monkeypatch.setattr(_onednn, "_PACKAGE", "onednn-of-nobody")
    with pytest.raises(ImportError, match="onednn-of-nobody is not installed"):
        _onednn.load.__wrapped__()


def test_weights_are_packed_once_for_kernels_of_several_shapes():
    elements = normal(64, 48)
    weight = dnn.Weight(array(elements))
    for rows in (1, 5, 300):
        a = normal(rows, 64)
        check(dnn.matmul(Input(a.shape), weight), [a], a @ elements)
    assert 1 <= weight.num_packed <= 2
    # Given up, and made again where another layout is asked for.
    assert weight.release() and weight.num_packed >= 1
    b = normal(3, 48)
    check(dnn.matmul(Input(b.shape), weight, transpose_b=True), [b], b @ elements.T)
    assert weight.array().tolist() == elements.tolist()
    with pytest.raises(ValueError, match="row-major without gaps"):
        dnn.Weight(array(elements).T)


def test_weights_that_cannot_be_made_again_stay():
    elements = normal(1, 8, 3)
    weight, recurrent = dnn.Weight(array(elements)), array(normal(1, 8, 2))
    assert not weight.release()
    dnn.recurrent(Input((4, 1, 3)), weight, recurrent)
    assert weight.num_packed == 0 and not weight.release()
    assert weight.array().tolist() == elements.tolist()
