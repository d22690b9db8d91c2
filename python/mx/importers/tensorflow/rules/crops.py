"""Boxes of images in another size."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from ..._builder import Size, dtype_of
from .._call import Builder, Call, rule

_FLOAT, _INT64 = ir.DataType.FLOAT, ir.DataType.INT64


@rule("CropAndResize")
def crop_and_resize(b: Builder, call: Call) -> ir.Value:
    image, boxes, numbers = b.cast(call[0], _FLOAT), call[1], call[2]
    crop = call.ints(3, "the size of the crops")
    is_nearest = call.attr("method") == "nearest"
    sides = [b.Slice(boxes, [n], [n + 1], [1]) for n in range(4)]
    rows = _Along(b, sides[0], sides[2], b.size(image, 1), crop[0], is_nearest, [-1, crop[0], 1])
    columns = _Along(b, sides[1], sides[3], b.size(image, 2), crop[1], is_nearest, [-1, 1, crop[1]])
    each = b.Reshape(b.cast(numbers, _INT64), [-1, 1, 1])

    def at(row: ir.Value, column: ir.Value) -> ir.Value:
        # Zeros that bring all three to one shape.
        spread = b.Mul(b.Add(row, column), 0)
        parts = [b.Unsqueeze(b.Add(one, spread), [-1]) for one in (each, row, column)]
        result: ir.Value = b.GatherND(image, b.Concat(*parts, axis=-1))
        return result

    if is_nearest:
        result = at(rows.first, columns.first)
    else:
        over, under = (
            _between(b, at(row, columns.first), at(row, columns.last), columns.rest)
            for row in (rows.first, rows.last)
        )
        result = _between(b, over, under, rows.rest)
    is_inside = b.Unsqueeze(b.And(rows.is_inside, columns.is_inside), [-1])
    return b.Where(is_inside, result, b.constant(call.attr("extrapolation_value"), _FLOAT))


def _between(b: Builder, one: ir.Value, other: ir.Value, rest: ir.Value) -> ir.Value:
    result: ir.Value = b.Add(one, b.Mul(b.Sub(other, one), b.Unsqueeze(rest, [-1])))
    return result


class _Along:
    """Where the elements of a crop are along one axis of the image."""

    def __init__(
        self,
        b: Builder,
        low: ir.Value,
        high: ir.Value,
        size: Size,
        count: int,
        is_nearest: bool,
        shape: list[int],
    ) -> None:
        last = b.minus(size, 1)
        end = b.cast(b.scalar(last), dtype_of(low))
        if count > 1:
            step = b.Div(b.Mul(b.Sub(high, low), end), float(count - 1))
            numbers = b.constant(np.arange(count), dtype_of(low))
            at = b.Add(b.Mul(low, end), b.Mul(step, numbers))
        else:
            at = b.Mul(b.Mul(b.Add(low, high), 0.5), end)
        at = b.Reshape(at, shape)
        self.is_inside = b.And(b.GreaterOrEqual(at, 0.0), b.LessOrEqual(at, end))
        # What is outside is replaced, and may be anywhere.
        at = b.Where(self.is_inside, at, b.constant(0, dtype_of(low)))
        floor = b.Floor(at)
        self.rest = b.Sub(at, floor)
        if is_nearest:  # halves go up
            floor = b.Add(floor, b.cast(b.GreaterOrEqual(self.rest, 0.5), dtype_of(low)))
        self.first = b.cast(floor, _INT64)
        self.last = b.cast(b.Ceil(at), _INT64)
