"""What runs along an axis: in as many steps as its length has binary digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from .._builder import Builder, dtype_of, rank_of, shape_of, static
from .._rule import rule

_INT64 = ir.DataType.INT64
Values = Sequence[ir.Value]


def _scan(
    b: Builder, values: Values, dim: int, length: int, combine: Callable[[Values, Values], Values]
) -> Values:
    """Each element combined with all before it; `combine` is associative, its first argument what
    comes first."""

    def part(x: ir.Value, start: int, end: int) -> ir.Value:
        return b.Slice(x, [start], [end], [dim])

    step = 1
    while step < length:
        first = [part(x, 0, length - step) for x in values]
        second = [part(x, step, length) for x in values]
        values = [
            b.Concat(part(x, 0, step), new, axis=dim)
            for x, new in zip(values, combine(first, second), strict=True)
        ]
        step *= 2
    return values


def _extreme(compare: str) -> Callable[[Builder, ir.Value, int], Values]:
    def write(b: Builder, x: ir.Value, dim: int) -> Values:
        if rank_of(x) == 0:
            return x, b.constant(0, _INT64)
        dim %= rank_of(x)
        (length,) = static([shape_of(x)[dim]], "the length of the axis")
        if length == 0:
            return x, b.cast(x, _INT64)
        own = dtype_of(x)
        if own == ir.DataType.BOOL:
            x = b.cast(x, ir.DataType.UINT8)
        with_nan = own.is_floating_point()

        def combine(first: Values, second: Values) -> Values:
            # Of equal ones the last is given, and so is the last NaN.
            later = b.op(compare, second[0], first[0])[0]
            if with_nan:
                later = b.Where(
                    b.IsNaN(second[0]), b.constant(True, ir.DataType.BOOL),
                    b.And(later, b.Not(b.IsNaN(first[0]))),
                )  # fmt: skip
            return [b.Where(later, new, old) for old, new in zip(first, second, strict=True)]

        shape = [length if axis == dim else 1 for axis in range(rank_of(x))]
        positions = b.Expand(b.Reshape(b.range(0, length), shape), b.Shape(x))
        _, indices = _scan(b, (x, positions), dim, length, combine)
        # Taken by their index, so that their gradient goes to these elements alone.
        return b.cast(b.GatherElements(x, indices, axis=dim), own), indices

    return write


rule("cummax")(_extreme("GreaterOrEqual"))
rule("cummin")(_extreme("LessOrEqual"))


@rule("logcumsumexp")
def logcumsumexp(b: Builder, x: ir.Value, dim: int) -> ir.Value:
    if rank_of(x) == 0:
        return x
    dim %= rank_of(x)
    (length,) = static([shape_of(x)[dim]], "the length of the axis")

    def combine(first: Values, second: Values) -> Values:
        highest = b.Max(first[0], second[0])
        highest = b.Where(b.IsInf(highest), b.constant(0, dtype_of(x)), highest)
        powers = [b.Exp(b.Sub(one[0], highest)) for one in (first, second)]
        return [b.Add(b.Log(b.Add(*powers)), highest)]

    return _scan(b, [x], dim, length, combine)[0]
