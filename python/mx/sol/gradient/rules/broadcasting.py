"""Gradients of functions of several tensors, element by element."""

from __future__ import annotations

import onnx_ir as ir

from .._rules import Call, gradient
from .._writer import Writer

Grads = list[ir.Value | None]


@gradient("Add")
def _add(to: Writer, call: Call) -> Grads:
    return [to.sum_to(call.dy, call.input(i), call.y) if call.wants(i) else None for i in range(2)]


@gradient("Sub")
def _sub(to: Writer, call: Call) -> Grads:
    a, b = call.input(0), call.input(1)
    return [
        to.sum_to(call.dy, a, call.y) if call.wants(0) else None,
        to.Neg(to.sum_to(call.dy, b, call.y)) if call.wants(1) else None,
    ]


@gradient("Mul")
def _mul(to: Writer, call: Call) -> Grads:
    a, b = call.input(0), call.input(1)
    return [
        to.sum_to(to.Mul(call.dy, b), a, call.y) if call.wants(0) else None,
        to.sum_to(to.Mul(call.dy, a), b, call.y) if call.wants(1) else None,
    ]


@gradient("Div")
def _div(to: Writer, call: Call) -> Grads:
    a, b = call.input(0), call.input(1)
    share = to.Div(call.dy, b)
    return [
        to.sum_to(share, a, call.y) if call.wants(0) else None,
        to.sum_to(to.Neg(to.Mul(share, call.y)), b, call.y) if call.wants(1) else None,
    ]


@gradient("Pow")
def _pow(to: Writer, call: Call) -> Grads:
    base, exponent = call.input(0), call.input(1)
    assert base.dtype is not None
    grads: Grads = [None, None]
    power = to.cast(exponent, base.dtype)
    if call.wants(0):
        number = ir.convenience.get_const_tensor(exponent)
        if number is not None and number.size == 1 and float(number.numpy().reshape(())) == 2:
            slope = to.Mul(base, power)
        else:
            # With the exponent 0 it is 0, at 0 as well.
            steep = to.Mul(power, to.Pow(base, to.Sub(power, 1.0)))
            slope = to.where(to.Not(to.Equal(power, 0.0)), steep, 0.0)
        grads[0] = to.sum_to(to.Mul(call.dy, slope), base, call.y)
    if call.wants(1):
        # It is 0 where the base is, as a limit; with exponents below 0 infinite.
        is_flat = to.And(to.Equal(base, 0.0), to.GreaterOrEqual(power, 0.0))
        one = to.constant(1.0, base.dtype)
        log = to.Log(to.Where(is_flat, one, base, dtype=base.dtype))
        grads[1] = to.sum_to(to.Mul(call.dy, to.Mul(call.y, log)), exponent, call.y)
    return grads


@gradient("Where")
def _where(to: Writer, call: Call) -> Grads:
    condition, x, y = call.input(0), call.input(1), call.input(2)
    zero = to.constant(0.0, call.dy.dtype or ir.DataType.FLOAT)
    chosen = to.Where(condition, call.dy, zero) if call.wants(1) else None
    other = to.Where(condition, zero, call.dy) if call.wants(2) else None
    return [
        None,
        None if chosen is None else to.sum_to(chosen, x, call.y),
        None if other is None else to.sum_to(other, y, call.y),
    ]


@gradient("Sum", "Mean")
def _sum(to: Writer, call: Call) -> Grads:
    count = len(call.node.inputs)
    dy = to.Mul(call.dy, 1 / count) if call.node.op_type == "Mean" else call.dy
    return [to.sum_to(dy, call.input(i), call.y) if call.wants(i) else None for i in range(count)]


@gradient("Max", "Min")
def _extreme(to: Writer, call: Call) -> Grads:
    """Inputs that are equal to what came share its gradient; where that is NaN, each has it, as in
    torch."""
    inputs = [call.input(i) for i in range(len(call.node.inputs))]
    assert call.y.dtype is not None
    if len(inputs) == 1:
        return [call.dy]
    misses = to.Less if call.node.op_type == "Max" else to.Greater
    hits = [to.cast(to.Not(misses(x, call.y)), call.y.dtype) for x in inputs]
    count = hits[0]
    for hit in hits[1:]:
        count = to.Add(count, hit)
    share = to.where(to.IsNaN(call.y), call.dy, to.Div(call.dy, count))
    return [
        to.sum_to(to.Mul(share, hit), x, call.y) if call.wants(i) else None
        for i, (x, hit) in enumerate(zip(inputs, hits, strict=True))
    ]
