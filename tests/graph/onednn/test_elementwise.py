"""Elementwise kernels of oneDNN against NumPy."""

import numpy as np
import pytest

from .. import layers
from .kernels import Input, array, blocked, check, dnn, normal, run, run_kernel


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


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("slope", [(16, 1, 1), (2, 16, 5, 6), (1,), (6,)])
def test_prelu(slope, is_constant):
    data, slopes = normal(2, 16, 5, 6), normal(*slope)
    made = dnn.prelu(Input(data.shape), array(slopes) if is_constant else Input(slope))
    inputs = [data] if is_constant else [data, slopes]
    check(made, inputs, np.where(data > 0, data, np.float64(data) * slopes))
