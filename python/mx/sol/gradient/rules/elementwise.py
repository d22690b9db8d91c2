"""Gradients of functions of one element, from their input or from what they gave."""

from __future__ import annotations

import math

import onnx_ir as ir

from ....importers._builder import dtype_of
from .._rules import Call, gradient
from .._writer import Writer


@gradient("Identity")
def _identity(to: Writer, call: Call) -> ir.Value:
    return call.dy


@gradient("Cast", "CastLike")
def _cast(to: Writer, call: Call) -> ir.Value:
    assert call.x.dtype is not None
    return to.cast(call.dy, call.x.dtype)


@gradient("Neg")
def _neg(to: Writer, call: Call) -> ir.Value:
    return to.Neg(call.dy)


@gradient("Abs")
def _abs(to: Writer, call: Call) -> ir.Value:
    return to.Mul(call.dy, to.Sign(call.x))


@gradient("Exp")
def _exp(to: Writer, call: Call) -> ir.Value:
    return to.Mul(call.dy, call.y)


@gradient("Log")
def _log(to: Writer, call: Call) -> ir.Value:
    return to.Div(call.dy, call.x)


@gradient("Sqrt")
def _sqrt(to: Writer, call: Call) -> ir.Value:
    return to.Div(to.Mul(call.dy, 0.5), call.y)


@gradient("Reciprocal")
def _reciprocal(to: Writer, call: Call) -> ir.Value:
    return to.Neg(to.Mul(call.dy, to.Mul(call.y, call.y)))


@gradient("Erf")
def _erf(to: Writer, call: Call) -> ir.Value:
    density = to.Exp(to.Neg(to.Mul(call.x, call.x)))
    return to.Mul(call.dy, to.Mul(density, 2 / math.sqrt(math.pi)))


@gradient("Sin")
def _sin(to: Writer, call: Call) -> ir.Value:
    return to.Mul(call.dy, to.Cos(call.x))


@gradient("Cos")
def _cos(to: Writer, call: Call) -> ir.Value:
    return to.Neg(to.Mul(call.dy, to.Sin(call.x)))


@gradient("Tan")
def _tan(to: Writer, call: Call) -> ir.Value:
    return to.Mul(call.dy, to.Add(to.Mul(call.y, call.y), 1))


@gradient("Sinh")
def _sinh(to: Writer, call: Call) -> ir.Value:
    return to.Mul(call.dy, to.Cosh(call.x))


@gradient("Cosh")
def _cosh(to: Writer, call: Call) -> ir.Value:
    return to.Mul(call.dy, to.Sinh(call.x))


def _squared(to: Writer, x: ir.Value) -> ir.Value:
    square: ir.Value = to.Mul(x, x)
    return square


@gradient("Asin")
def _asin(to: Writer, call: Call) -> ir.Value:
    return to.Div(call.dy, to.Sqrt(to.Add(to.Neg(_squared(to, call.x)), 1)))


@gradient("Acos")
def _acos(to: Writer, call: Call) -> ir.Value:
    return to.Neg(_asin(to, call))


@gradient("Atan")
def _atan(to: Writer, call: Call) -> ir.Value:
    return to.Div(call.dy, to.Add(_squared(to, call.x), 1))


@gradient("Asinh")
def _asinh(to: Writer, call: Call) -> ir.Value:
    return to.Div(call.dy, to.Sqrt(to.Add(_squared(to, call.x), 1)))


@gradient("Acosh")
def _acosh(to: Writer, call: Call) -> ir.Value:
    return to.Div(call.dy, to.Sqrt(to.Sub(_squared(to, call.x), 1)))


@gradient("Atanh")
def _atanh(to: Writer, call: Call) -> ir.Value:
    return to.Div(call.dy, to.Add(to.Neg(_squared(to, call.x)), 1))


@gradient("Clip")
def _clip(to: Writer, call: Call) -> list[ir.Value | None]:
    low, high = call.optional(1), call.optional(2)
    assert call.x.dtype is not None
    bounds = [
        to.constant(end, call.x.dtype) if value is None else value
        for value, end in ((low, -math.inf), (high, math.inf))
    ]
    grads: list[ir.Value | None] = [None, None, None]
    if call.wants(0):
        grads[0] = to.own_like("ClipGrad", call.dy, call.y, *bounds, like=call.x)
    for index, outside in ((1, to.Less), (2, to.Greater)):
        if call.wants(index):
            bound = call.input(index)
            hit = to.where(outside(call.x, bound), call.dy, 0.0)
            grads[index] = to.sum_to(hit, bound, call.y)
    return grads


@gradient("Mod")
def _mod(to: Writer, call: Call) -> list[ir.Value | None]:
    a, b = call.input(0), call.input(1)
    # Of zero as a divisor the rest is NaN.
    times = to.Round(to.Div(to.Sub(a, call.y), b))
    times = to.where(to.Equal(b, 0.0), to.Div(a, b), times)
    return [
        to.sum_to(call.dy, a, call.y),
        to.sum_to(to.Neg(to.Mul(call.dy, times)), b, call.y) if call.wants(1) else None,
    ]


@gradient("DequantizeLinear")
def _dequantize(to: Writer, call: Call) -> list[ir.Value | None]:
    """For the scale: the sum over what it multiplied, which is all, a slice along an axis, or a
    block of elements along it."""
    scale, dims = call.input(1), call.dims(1)
    one = to.Add(to.Mul(scale, 0.0), 1.0)
    axis, block = call.integer("axis", 1), call.integer("block_size", 0)
    inputs = [call.input(0), one, call.optional(2)]
    units = to.DequantizeLinear(*inputs, dtype=dtype_of(scale), axis=axis, block_size=block or None)
    grad = to.Mul(to.cast(call.dy, dtype_of(scale)), units)
    rank = len(call.dims(0))
    axis %= max(rank, 1)
    if not dims or (len(dims) == 1 and not block):
        others = [other for other in range(rank) if not dims or other != axis]
        return [None, to.Reshape(to.sum_over(grad, others), to.shape(scale), allowzero=1)]
    count = to.extent(scale, axis)
    missing = to.Sub(to.Mul(count, [block]), to.extent(grad, axis))
    grad = to.Pad(grad, to.Concat([0], missing, axis=0), None, [axis])
    before, behind = to.Shape(grad, end=axis), to.Shape(grad, start=axis + 1)
    apart = to.Reshape(grad, to.Concat(before, count, [block], behind, axis=0), allowzero=1)
    return [None, to.ReduceSum(apart, [axis + 1], keepdims=0)]
