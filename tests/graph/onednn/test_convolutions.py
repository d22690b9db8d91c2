"""Convolutions of oneDNN against NumPy, with what is computed in the same kernel."""

import numpy as np
import pytest

from tests.processor import FLAGS

from .. import layers
from .kernels import Input, PostOp, array, check, dnn, normal

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
    # With AVX2 alone oneDNN has no fast product of so many things that are broadcast.
    assert not primitive.is_reference or "avx512f" not in FLAGS
    check(primitive, [data, *inputs], expected)


def primitive_of(make, *given):
    """A primitive; None where oneDNN has none of that type for this processor, or a slow one."""
    try:
        made = make(*given)
    except NotImplementedError as error:
        assert "oneDNN" in str(error)
        return None
    return None if made.is_reference else made


# Instructions with which oneDNN has fast primitives of a type for certain.
INSTRUCTIONS = {"bfloat16": "avx512_bf16", "float16": "avx512_fp16"}


@pytest.mark.parametrize("dtype", INSTRUCTIONS)
def test_types_of_16_bits(dtype):
    data, weights, bias = normal(1, 16, 9, 9), normal(32, 16, 3, 3), normal(32)
    left, right = normal(5, 64), normal(64, 9)
    convolution = primitive_of(
        dnn.convolution, Input(data.shape, dtype), array(weights), array(bias)
    )
    product = primitive_of(dnn.matmul, Input(left.shape, dtype), array(right), array(bias[:9]))
    if INSTRUCTIONS[dtype] in FLAGS:
        assert convolution is not None and product is not None
    if convolution is not None:
        assert list(convolution.kernel.dtypes) == [dtype]
        check(convolution, [data], layers.convolution(data, weights, bias), dtype)
    if product is not None:
        check(product, [left], np.float64(left) @ right + bias[:9], dtype)
