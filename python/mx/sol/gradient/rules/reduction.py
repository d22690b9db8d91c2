"""Gradients of reductions and of sums along an axis."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ....importers._builder import dtype_of
from .._rules import Call, gradient
from .._writer import Writer


def reduced_axes(call: Call) -> Sequence[int] | ir.Value | None:
    """The axes that a reduction goes over, as numbers; None for all of them, the input where they
    are computed."""
    given = call.optional(1)
    if given is None:
        return [] if call.integer("noop_with_empty_axes", 0) else None
    tensor = ir.convenience.get_const_tensor(given)
    if tensor is None:
        return given
    rank = len(call.dims(0))
    axes = [int(axis) % rank for axis in tensor.numpy().reshape(-1)]
    return axes or ([] if call.integer("noop_with_empty_axes", 0) else None)


def _reduced(to: Writer, call: Call, operator: str, x: ir.Value) -> ir.Value:
    """A value reduced over the axes of a node, of which 1 is kept."""
    axes = reduced_axes(call)
    noop = call.integer("noop_with_empty_axes", 0) or None
    given = axes if axes is None or isinstance(axes, ir.Value) else list(axes)
    made: ir.Value = to.op(operator, x, given, keepdims=1, noop_with_empty_axes=noop)[0]
    return made


def _kept(to: Writer, call: Call, value: ir.Value) -> ir.Value:
    """A value of the shape of the output, in the shape that keepdims=1 would give."""
    if call.integer("keepdims", 1):
        return value
    axes = reduced_axes(call)
    if isinstance(axes, ir.Value):
        zeros = to.Mul(call.x, 0.0)
        return to.Reshape(value, to.Shape(_reduced(to, call, "ReduceSum", zeros)), allowzero=1)
    every = list(range(len(call.dims(0)))) if axes is None else list(axes)
    return to.Unsqueeze(value, sorted(every)) if every else value


def _wide(to: Writer, call: Call, value: ir.Value) -> ir.Value:
    """The same in the shape of the input."""
    made: ir.Value = to.Expand(_kept(to, call, value), to.shape(call.x))
    made.shape = call.x.shape
    return made


@gradient("ReduceSum")
def _sum(to: Writer, call: Call) -> ir.Value:
    return _wide(to, call, call.dy)


@gradient("ReduceMean")
def _mean(to: Writer, call: Call) -> ir.Value:
    axes = reduced_axes(call)
    if isinstance(axes, ir.Value):
        wide = _wide(to, call, call.dy)
        return to.Div(wide, to.cast(to.Div(to.Size(call.x), to.Size(call.y)), dtype_of(call.x)))
    if axes is not None and not axes:
        return call.dy
    dims = call.dims(0)
    every = range(len(dims)) if axes is None else axes
    known = [dims[axis] for axis in every]
    if all(isinstance(dim, int) for dim in known):
        count = 1
        for dim in known:
            count *= int(str(dim))
        return _wide(to, call, to.Mul(call.dy, 1 / max(count, 1)))
    size = to.Squeeze(to.ReduceProd(to.Concat(*(to.extent(call.x, a) for a in every), axis=0)))
    assert call.dy.dtype is not None
    return _wide(to, call, to.Div(call.dy, to.cast(size, call.dy.dtype)))


@gradient("ReduceMax", "ReduceMin")
def _extreme(to: Writer, call: Call) -> ir.Value:
    """Elements that are equal to what came share its gradient."""
    assert call.x.dtype is not None
    hits = to.cast(to.Equal(call.x, _kept(to, call, call.y)), call.x.dtype)
    axes = reduced_axes(call)
    if not isinstance(axes, ir.Value) and axes is not None and not axes:
        return call.dy
    count = _reduced(to, call, "ReduceSum", hits)
    return to.Mul(hits, to.Div(_kept(to, call, call.dy), count))


@gradient("ReduceProd")
def _prod(to: Writer, call: Call) -> ir.Value:
    """The product of the others: of those before an element and of those behind it."""
    axes = reduced_axes(call)
    if isinstance(axes, ir.Value):
        return _prod_of(to, call)
    rank = len(call.dims(0))
    every = list(range(rank)) if axes is None else list(axes)
    if not every:
        return call.dy
    rest = [axis for axis in range(rank) if axis not in every]
    order = rest + every
    moved = to.transpose(call.x, order)
    flat = (
        to.Reshape(moved, to.Concat(*(to.extent(call.x, a) for a in rest), [-1], axis=0))
        if (rest)
        else to.Reshape(moved, [-1])
    )
    last = to.constant(len(rest), ir.DataType.INT64)
    before = to.CumProd(flat, last, exclusive=1)
    behind = to.CumProd(flat, last, exclusive=1, reverse=1)
    others = to.Reshape(to.Mul(before, behind), to.Shape(moved))
    back = to.transpose(others, sorted(range(rank), key=order.__getitem__))
    return to.Mul(_kept(to, call, call.dy), back)


def _prod_of(to: Writer, call: Call) -> ir.Value:
    """The same for axes that are computed: the product of all that are not 0, without the element
    itself, where no other one is 0."""
    dtype, is_zero = dtype_of(call.x), to.Equal(call.x, 0.0)
    factors = to.where(to.Not(is_zero), call.x, 1.0)
    product = _reduced(to, call, "ReduceProd", factors)
    zeros = to.cast(is_zero, dtype)
    alone = to.Equal(_reduced(to, call, "ReduceSum", zeros), zeros)
    return to.Mul(_kept(to, call, call.dy), to.where(alone, to.Div(product, factors), 0.0))


@gradient("ReduceL1")
def _l1(to: Writer, call: Call) -> ir.Value:
    return to.Mul(to.Sign(call.x), _kept(to, call, call.dy))


@gradient("ReduceL2")
def _l2(to: Writer, call: Call) -> ir.Value:
    """At the length 0 it is 0."""
    length = _kept(to, call, call.y)
    safe = to.Add(length, to.cast(to.Equal(length, 0.0), call.x.dtype or ir.DataType.FLOAT))
    return to.Mul(call.x, to.Div(_kept(to, call, call.dy), safe))


@gradient("ReduceSumSquare")
def _sum_square(to: Writer, call: Call) -> ir.Value:
    return to.Mul(to.Mul(call.x, 2.0), _kept(to, call, call.dy))


@gradient("ReduceLogSum")
def _log_sum(to: Writer, call: Call) -> ir.Value:
    return _wide(to, call, to.Div(call.dy, to.Exp(call.y)))


@gradient("ReduceLogSumExp")
def _log_sum_exp(to: Writer, call: Call) -> ir.Value:
    share = to.Exp(to.Sub(call.x, _kept(to, call, call.y)))
    return to.Mul(share, _kept(to, call, call.dy))


@gradient("CumSum")
def _cum_sum(to: Writer, call: Call) -> ir.Value:
    return to.CumSum(
        call.dy,
        call.input(1),
        exclusive=call.integer("exclusive", 0),
        reverse=1 - call.integer("reverse", 0),
    )


@gradient("CumProd")
def _cum_prod(to: Writer, call: Call) -> ir.Value:
    """By the logarithm's slope before the first 0 along the axis. At that, all products behind it
    without it; behind it all products are 0 without one of their factors, too."""
    axis, y = call.input(1), call.y
    exclusive, reverse = call.integer("exclusive", 0), call.integer("reverse", 0)
    dtype = call.x.dtype or ir.DataType.FLOAT

    def along(products: ir.Value) -> ir.Value:
        weighted = to.Mul(call.dy, products)
        return to.CumSum(weighted, axis, exclusive=exclusive, reverse=1 - reverse)

    is_zero = to.Equal(call.x, 0.0)
    zeros = to.CumSum(to.cast(is_zero, dtype), axis, reverse=reverse)
    is_first = to.And(is_zero, to.Equal(zeros, 1.0))
    without = to.CumProd(
        to.where(to.Not(is_first), call.x, 1.0), axis, exclusive=exclusive, reverse=reverse
    )
    before = to.Equal(zeros, 0.0)
    slope = to.Div(along(y), to.where(before, call.x, 1.0))
    return to.where(is_first, along(without), to.where(before, slope, 0.0))


@gradient("LpNormalization")
def _lp_normalization(to: Writer, call: Call) -> ir.Value:
    """y = x / n: dx = (dy - dn * sum(dy * y)) / n with dn the slope of the norm n at x."""
    axis = call.integer("axis", -1)
    p = call.integer("p", 2)
    norm = (to.ReduceL1 if p == 1 else to.ReduceL2)(call.x, [axis], keepdims=1)
    safe = to.Add(norm, to.cast(to.Equal(norm, 0.0), call.x.dtype or ir.DataType.FLOAT))
    slope = to.Sign(call.x) if p == 1 else call.y
    along = to.ReduceSum(to.Mul(call.dy, call.y), [axis], keepdims=1)
    return to.Div(to.Sub(call.dy, to.Mul(slope, along)), safe)
