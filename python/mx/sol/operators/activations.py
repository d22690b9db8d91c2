"""Gradients of activation functions, from what is kept of the forward pass."""

from __future__ import annotations

import math

import numpy

from ._describe import Array, operator
from ._inference import like
from ._numbers import erf


@operator(
    "ReluGrad",
    "dX",
    like(0),
    body="""
    number = Constant <value_float = 0.0> ()
    zero = CastLike (number, dY)
    positive = Greater (Y, zero)
    dX = Where (positive, dY, zero)
    """,
)
def relu_grad(dY: Array, Y: Array) -> Array:
    """The gradient of Relu from what it gave: dY where Y > 0, 0 elsewhere."""
    return numpy.where(Y > 0, dY, dY.dtype.type(0))


@operator(
    "ClipGrad",
    "dX",
    like(0),
    body="""
    above = Greater (Y, low)
    below = Less (Y, high)
    inside = And (above, below)
    number = Constant <value_float = 0.0> ()
    zero = CastLike (number, dY)
    dX = Where (inside, dY, zero)
    """,
)
def clip_grad(dY: Array, Y: Array, low: Array, high: Array) -> Array:
    """The gradient of Clip from what it gave: dY where Y is between the bounds, 0 elsewhere."""
    return numpy.where((Y > low) & (Y < high), dY, dY.dtype.type(0))


@operator(
    "SigmoidGrad",
    "dX",
    like(0),
    body="""
    number = Constant <value_float = 1.0> ()
    one = CastLike (number, Y)
    rest = Sub (one, Y)
    slope = Mul (Y, rest)
    dX = Mul (dY, slope)
    """,
)
def sigmoid_grad(dY: Array, Y: Array) -> Array:
    """The gradient of Sigmoid from what it gave: dY * Y * (1 - Y)."""
    return dY * (Y * (1 - Y))


@operator(
    "TanhGrad",
    "dX",
    like(0),
    body="""
    number = Constant <value_float = 1.0> ()
    one = CastLike (number, Y)
    square = Mul (Y, Y)
    slope = Sub (one, square)
    dX = Mul (dY, slope)
    """,
)
def tanh_grad(dY: Array, Y: Array) -> Array:
    """The gradient of Tanh from what it gave: dY * (1 - Y * Y)."""
    return dY * (1 - Y * Y)


@operator("GeluGrad", "dX", like(0))
def gelu_grad(dY: Array, X: Array, *, approximate: str = "none") -> Array:
    """The gradient of Gelu from its input, by erf, or with approximate="tanh" by tanh."""
    x = X.astype("float64") if X.dtype == "float64" else X.astype("float32")
    if approximate == "tanh":
        root = math.sqrt(2 / math.pi)
        inner = numpy.tanh(root * (x + 0.044715 * x**3))
        slope = root * (1 + 3 * 0.044715 * x * x)
        factor = 0.5 * (1 + inner) + 0.5 * x * (1 - inner * inner) * slope
    else:
        density = numpy.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
        factor = 0.5 * (1 + erf(x / math.sqrt(2))) + x * density
    found: Array = (dY * factor).astype(dY.dtype)
    return found


@operator(
    "SwishGrad",
    "dX",
    like(0),
    body="""
    factor = Constant <value_float : float = @alpha> ()
    scale = CastLike (factor, X)
    number = Constant <value_float = 1.0> ()
    one = CastLike (number, X)
    scaled = Mul (X, scale)
    share = Sigmoid (scaled)
    rest = Sub (one, share)
    steep = Mul (scaled, rest)
    more = Add (one, steep)
    slope = Mul (share, more)
    dX = Mul (dY, slope)
    """,
)
def swish_grad(dY: Array, X: Array, *, alpha: float = 1.0) -> Array:
    """The gradient of Swish, X * sigmoid(alpha * X), from its input."""
    with numpy.errstate(over="ignore"):
        share = 1 / (1 + numpy.exp(-alpha * X))
    found: Array = (dY * (share * (1 + alpha * X * (1 - share)))).astype(dY.dtype)
    return found


@operator(
    "SoftmaxGrad",
    "dX",
    like(0),
    body="""
    both = Mul (dY, Y)
    axis = Constant <value_int : int = @axis> ()
    one = Constant <value_ints = [1]> ()
    axes = Reshape (axis, one)
    sum = ReduceSum <keepdims = 1> (both, axes)
    part = Mul (Y, sum)
    dX = Sub (both, part)
    """,
)
def softmax_grad(dY: Array, Y: Array, *, axis: int = -1) -> Array:
    """The gradient of Softmax along an axis from what it gave: Y * (dY - sum(dY * Y))."""
    both = dY * Y
    return both - Y * both.sum(axis, keepdims=True, dtype=both.dtype)


@operator(
    "LogSoftmaxGrad",
    "dX",
    like(0),
    body="""
    axis = Constant <value_int : int = @axis> ()
    one = Constant <value_ints = [1]> ()
    axes = Reshape (axis, one)
    sum = ReduceSum <keepdims = 1> (dY, axes)
    share = Exp (Y)
    part = Mul (share, sum)
    dX = Sub (dY, part)
    """,
)
def log_softmax_grad(dY: Array, Y: Array, *, axis: int = -1) -> Array:
    """The gradient of LogSoftmax along an axis from what it gave: dY - exp(Y) * sum(dY)."""
    return dY - numpy.exp(Y) * dY.sum(axis, keepdims=True, dtype=dY.dtype)
