"""Activations that ONNX has an operator for, and softmax."""

from __future__ import annotations

import onnx_ir as ir

from .._builder import Builder, Number, dtype_of, rank_of
from .._dtypes import FLOATS
from .._promotion import in_type_of
from .._rule import rule
from .random import uniform


@rule("relu")
def relu(b: Builder, x: ir.Value) -> ir.Value:
    return in_type_of(
        b,
        b.Relu,
        FLOATS | {ir.DataType.INT32, ir.DataType.INT64, ir.DataType.INT8, ir.DataType.INT16},
        ir.DataType.INT64,
        x,
    )


@rule("gelu")
def gelu(b: Builder, x: ir.Value, *, approximate: str = "none") -> ir.Value:
    return b.Gelu(x, approximate=None if approximate == "none" else approximate)


@rule("silu")
def silu(b: Builder, x: ir.Value) -> ir.Value:
    return b.Swish(x)


@rule("mish")
def mish(b: Builder, x: ir.Value) -> ir.Value:
    return b.Mish(x)


@rule("hardswish")
def hardswish(b: Builder, x: ir.Value) -> ir.Value:
    return b.HardSwish(x)


@rule("hardsigmoid")
def hardsigmoid(b: Builder, x: ir.Value) -> ir.Value:
    return b.HardSigmoid(x, alpha=1 / 6, beta=0.5)


@rule("hardtanh")
def hardtanh(b: Builder, x: ir.Value, min_val: Number = -1, max_val: Number = 1) -> ir.Value:
    return b.Clip(x, min_val, max_val)


@rule("relu6")
def relu6(b: Builder, x: ir.Value) -> ir.Value:
    return b.Clip(x, 0, 6)


@rule("leaky_relu")
def leaky_relu(b: Builder, x: ir.Value, negative_slope: Number = 0.01) -> ir.Value:
    return b.LeakyRelu(x, alpha=float(negative_slope))


@rule("rrelu_with_noise_functional")
def rrelu_with_noise(
    b: Builder,
    x: ir.Value,
    noise: ir.Value,
    lower: Number = 1 / 8,
    upper: Number = 1 / 3,
    training: bool = False,
    generator: object = None,
) -> tuple[ir.Value, ir.Value]:
    """In training each element that is not above 0 has a slope of its own, which is drawn."""
    lower, upper = float(lower), float(upper)
    if not training:
        return leaky_relu(b, x, (lower + upper) / 2), noise
    drawn = uniform(b, b.sizes(x), dtype_of(x), lower, upper)
    drawn.shape = x.shape
    slopes = b.Where(b.LessOrEqual(x, 0), drawn, b.constant(1, dtype_of(x)))
    return b.Mul(x, slopes), slopes


@rule("rrelu")
def rrelu(
    b: Builder,
    x: ir.Value,
    lower: Number = 1 / 8,
    upper: Number = 1 / 3,
    training: bool = False,
    generator: object = None,
) -> ir.Value:
    return rrelu_with_noise(b, x, x, lower, upper, training)[0]


@rule("elu")
def elu(
    b: Builder, x: ir.Value, alpha: Number = 1, scale: Number = 1, input_scale: Number = 1
) -> ir.Value:
    if input_scale == 1:
        result = b.Elu(x, alpha=float(alpha))
    else:
        negative = b.Mul(b.Sub(b.Exp(b.Mul(x, input_scale)), 1), alpha)
        result = b.Where(b.Greater(x, 0), x, negative)
    return result if scale == 1 else b.Mul(result, scale)


@rule("celu")
def celu(b: Builder, x: ir.Value, alpha: Number = 1) -> ir.Value:
    return b.Celu(x, alpha=float(alpha))


@rule("selu")
def selu(b: Builder, x: ir.Value) -> ir.Value:
    return b.Selu(x)


@rule("prelu", "_prelu_kernel")
def prelu(b: Builder, x: ir.Value, weight: ir.Value) -> ir.Value:
    rank = rank_of(x)
    if rank_of(weight) == 1 and rank > 2:
        weight = b.reshape(weight, [b.size(weight, 0)] + [1] * (rank - 2))
    if rank == 0:
        weight = b.Squeeze(weight)
    return b.PRelu(x, weight)


@rule("softplus")
def softplus(b: Builder, x: ir.Value, beta: Number = 1, threshold: Number = 20) -> ir.Value:
    scaled = x if beta == 1 else b.Mul(x, beta)
    result = b.Softplus(scaled)
    if beta != 1:
        result = b.Div(result, beta)
    # Beyond torch's usual threshold both are the same number.
    return result if threshold >= 20 else b.Where(b.Greater(scaled, threshold), x, result)


@rule("log_sigmoid")
def log_sigmoid(b: Builder, x: ir.Value) -> ir.Value:
    return b.Neg(b.Softplus(b.Neg(x)))


@rule("log_sigmoid_forward")
def log_sigmoid_forward(b: Builder, x: ir.Value) -> tuple[ir.Value]:
    return (log_sigmoid(b, x),)


@rule("hardshrink")
def hardshrink(b: Builder, x: ir.Value, lambd: Number = 0.5) -> ir.Value:
    return b.Shrink(x, lambd=float(lambd), bias=0.0)


@rule("softshrink")
def softshrink(b: Builder, x: ir.Value, lambd: Number = 0.5) -> ir.Value:
    return b.Shrink(x, lambd=float(lambd), bias=float(lambd))


@rule("_softmax")
def softmax_of_type(b: Builder, x: ir.Value, dim: int, half_to_float: bool) -> ir.Value:
    return _along(b, "Softmax", x, dim)


@rule("_log_softmax")
def log_softmax_of_type(b: Builder, x: ir.Value, dim: int, half_to_float: bool) -> ir.Value:
    return _along(b, "LogSoftmax", x, dim)


@rule("softmax.int")
def softmax(b: Builder, x: ir.Value, dim: int, dtype: object = None) -> ir.Value:
    return _along(b, "Softmax", x, dim)


@rule("log_softmax.int")
def log_softmax(b: Builder, x: ir.Value, dim: int, dtype: object = None) -> ir.Value:
    return _along(b, "LogSoftmax", x, dim)


def _along(b: Builder, operator: str, x: ir.Value, dim: int) -> ir.Value:
    x = b.cast(x, b.out)
    if rank_of(x) == 0:
        return b.constant(1 if operator == "Softmax" else 0, b.out)
    return b.op(operator, x, axis=dim)[0]


@rule("_safe_softmax")
def safe_softmax(b: Builder, x: ir.Value, dim: int, dtype: object = None) -> ir.Value:
    """Rows that are masked altogether give zeros."""
    x = b.cast(x, b.out)
    masked = b.Equal(b.ReduceMax(x, [dim], keepdims=1), float("-inf"))
    zero = b.constant(0, dtype_of(x))
    # Of such rows softmax would be NaN, and so would be the gradient.
    return b.Where(masked, zero, b.Softmax(b.Where(masked, zero, x), axis=dim))
