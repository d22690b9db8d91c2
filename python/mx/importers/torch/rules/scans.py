"""What runs along an axis."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from ..._scans import Values, logarithms_of_sums, scan
from .._builder import Builder, dtype_of, rank_of, shape_of, static
from .._rule import rule

_INT64 = ir.DataType.INT64


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
        _, indices = scan(b, (x, positions), dim, length, combine)
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

    return logarithms_of_sums(b, x, dim, length)
