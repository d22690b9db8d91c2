"""What runs along an axis: in as many steps as its length has binary digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from ._builder import Builder, dtype_of

Values = Sequence[ir.Value]


def scan(
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


def logarithms_of_sums(b: Builder, x: ir.Value, dim: int, length: int) -> ir.Value:
    """The logarithm of the sum of the exponentials of each element and of all before it."""

    def combine(first: Values, second: Values) -> Values:
        highest = b.Max(first[0], second[0])
        highest = b.Where(b.IsInf(highest), b.constant(0, dtype_of(x)), highest)
        powers = [b.Exp(b.Sub(one[0], highest)) for one in (first, second)]
        return [b.Add(b.Log(b.Add(*powers)), highest)]

    return scan(b, [x], dim, length, combine)[0]


def backwards(b: Builder, x: ir.Value, dim: int) -> ir.Value:
    """The elements along an axis from the last to the first."""
    result: ir.Value = b.Slice(x, [-1], [-(1 << 62)], [dim], [-1])
    result.shape = x.shape
    return result
