"""Windows of an array that are read or written at computed positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from ..._builder import dtype_of, shape_of
from ..._layout import inverse, permuted
from .._call import Builder, Equation, Unsupported, known, rule

_INT64 = ir.DataType.INT64
_REDUCTIONS = {
    "scatter": None,
    "scatter-add": "add",
    "scatter_add": "add",
    "scatter-mul": "mul",
    "scatter_mul": "mul",
    "scatter-min": "min",
    "scatter_min": "min",
    "scatter-max": "max",
    "scatter_max": "max",
}


@dataclass(frozen=True)
class Windows:
    """Windows of an array, each of which begins where a row of `starts` says."""

    lengths: Sequence[int]  # of the array
    sizes: Sequence[int]  # of a window, along each axis of the array
    starts: ir.Value
    count: Sequence[int]  # the axes of `starts`, but for the last one
    started: Sequence[int]  # the axis of the array that each number of a row is for
    batches: dict[int, int]  # axes that both have: of the array, of `starts`
    dropped: Sequence[int]  # axes that windows have no axis for

    @property
    def positioned(self) -> list[int]:
        """The axes of which windows have a part."""
        found = [
            axis
            for axis, (length, size) in enumerate(zip(self.lengths, self.sizes, strict=True))
            if axis in self.started or axis in self.batches or size != length
        ]
        return found or [0]

    @property
    def whole(self) -> list[int]:
        """The others, of which windows have all."""
        return [axis for axis in range(len(self.lengths)) if axis not in self.positioned]

    @property
    def own(self) -> list[int]:
        """The positioned axes that windows have an axis for."""
        return [
            axis
            for axis in self.positioned
            if axis not in self.dropped and axis not in self.batches
        ]

    def positions(self, b: Builder, starts: ir.Value) -> ir.Value:
        """For each element of the positioned axes of each window where it is."""
        own = self.own
        shape = [*self.count, *(self.sizes[axis] for axis in own)]
        parts = []
        for axis in self.positioned:
            offset = np.zeros([1] * len(shape), np.int64)
            if axis in own:
                offset = offset + _along(self.sizes[axis], len(self.count) + own.index(axis), shape)
            if axis in self.batches:
                offset = offset + _along(self.lengths[axis], self.batches[axis], shape)
            part = b.constant(offset, _INT64)
            if axis in self.started:
                start = b.Gather(starts, b.scalar(list(self.started).index(axis)), axis=-1)
                part = b.Add(b.reshape(start, [*self.count, *[1] * len(own)]), part)
            parts.append(b.Unsqueeze(b.Expand(part, b.ints(shape)), [-1]))
        return b.Concat(*parts, axis=-1) if len(parts) > 1 else parts[0]

    def limits(self) -> list[int]:
        """The last positions that windows can begin at."""
        return [self.lengths[axis] - self.sizes[axis] for axis in self.started]

    def inside(self, b: Builder) -> ir.Value:
        """The starts, moved so that windows are inside."""
        if not self.started:
            return self.starts
        return b.Max(b.Min(self.starts, b.ints(self.limits())), b.ints([0] * len(self.started)))

    def fit(self, b: Builder, inside: ir.Value) -> ir.Value | None:
        """Whether each window is inside as it is; None where all are."""
        if not self.started:
            return None
        found = known(self.starts)
        if found is not None and (found >= 0).all() and (found <= self.limits()).all():
            return None
        same = b.cast(b.Equal(inside, self.starts), _INT64)
        return b.Equal(b.ReduceMin(same, [-1], keepdims=0), b.scalar(1))


def _along(count: int, axis: int, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """0, 1, ... along an axis of so many axes."""
    return np.arange(count).reshape([-1 if one == axis else 1 for one in range(len(shape))])


def _lengths(value: ir.Value) -> list[int]:
    return [int(str(length)) for length in shape_of(value)]


@rule(*_REDUCTIONS)
def scatter(b: Builder, call: Equation) -> ir.Value:
    """Writes windows, or combines them with what is there."""
    x, indices, updates = call[0], b.cast(call[1], _INT64), call[2]
    numbers = call.param("dimension_numbers")
    lengths, shape = _lengths(x), _lengths(updates)
    batches = dict(
        zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True)
    )
    dropped = list(numbers.inserted_window_dims)
    combine = getattr(call.param("update_jaxpr"), "jaxpr", call.param("update_jaxpr"))
    if call.eqn.primitive.name == "scatter" and combine is not None:
        if combine.outvars[0] is not combine.invars[1]:
            raise Unsupported("elements that a function makes others of")
    if not lengths:
        raise Unsupported("an array without axes")
    kept = [axis for axis in range(len(lengths)) if axis not in dropped and axis not in batches]
    windows_at = dict(zip(kept, numbers.update_window_dims, strict=True))
    windows = Windows(
        lengths,
        [shape[windows_at[axis]] if axis in windows_at else 1 for axis in range(len(lengths))],
        indices,
        _lengths(indices)[:-1],
        list(numbers.scatter_dims_to_operand_dims),
        batches,
        dropped,
    )
    if 0 in lengths or 0 in shape:
        return x
    starts = windows.inside(b)
    mode = str(call.param("mode")).upper()
    fits = windows.fit(b, starts) if "CLIP" not in mode and "PROMISE" not in mode else None
    positions = windows.positions(b, starts)
    order = [*windows.positioned, *windows.whole]
    target = permuted(b, x, order)
    target = b.Identity(target) if target is x else target
    if fits is not None:
        # What does not fit is written into a row behind the others, which goes afterwards.
        ends = [0] * len(lengths) + [1] + [0] * (len(lengths) - 1)
        target = b.Pad(target, b.ints(ends))
        beyond = np.zeros(len(windows.positioned), np.int64)
        beyond[0] = lengths[order[0]]
        wide = b.reshape(fits, [*windows.count, *[1] * (len(windows.own) + 1)])
        positions = b.Where(wide, positions, b.constant(beyond, _INT64))
    scattered = [axis for axis in range(len(shape)) if axis not in windows_at.values()]
    inner = [windows_at[axis] for axis in (*windows.own, *windows.whole)]
    written = permuted(b, updates, [*scattered, *inner])
    result = b.ScatterND(target, positions, written, reduction=_REDUCTIONS[call.eqn.primitive.name])
    if fits is not None:
        result = b.Slice(result, [0], [lengths[order[0]]], [0])
    result.shape = ir.Shape([lengths[axis] for axis in order])
    return permuted(b, result, inverse(order))


def fill_of(kind: ir.DataType) -> Any:
    """What JAX has where a window is outside and nothing is said: NaN, the least signed and the
    greatest unsigned number, and True."""
    dtype = kind.numpy()
    if dtype.kind == "b":
        return True
    if dtype.kind == "u":
        return np.iinfo(dtype).max
    return float("nan") if kind.is_floating_point() else np.iinfo(dtype).min


def gather_windows(b: Builder, call: Equation) -> ir.Value:
    """Reads windows of any size."""
    x, indices = call[0], b.cast(call[1], _INT64)
    numbers = call.param("dimension_numbers")
    lengths, result_shape = _lengths(x), call.shape()
    batches = dict(
        zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    )
    windows = Windows(
        lengths,
        list(call.param("slice_sizes")),
        indices,
        _lengths(indices)[:-1],
        list(numbers.start_index_map),
        batches,
        list(numbers.collapsed_slice_dims),
    )
    starts = windows.inside(b)
    order = [*windows.positioned, *windows.whole]
    result = b.GatherND(permuted(b, x, order), windows.positions(b, starts))
    # The windows, and then their axes; which of the result's each of them is.
    kept = [a for a in range(len(lengths)) if a not in windows.dropped and a not in batches]
    offsets = dict(zip(kept, numbers.offset_dims, strict=True))
    outer = [axis for axis in range(len(result_shape)) if axis not in offsets.values()]
    axes = [*outer, *(offsets[axis] for axis in (*windows.own, *windows.whole))]
    result.shape = ir.Shape([result_shape[axis] for axis in axes])
    fits = windows.fit(b, starts) if "FILL" in str(call.param("mode")).upper() else None
    if fits is not None:
        filled = call.param("fill_value")
        if filled is None:
            filled = fill_of(dtype_of(x))
        wide = b.reshape(fits, [*windows.count, *[1] * (len(axes) - len(outer))])
        shape = result.shape
        result = b.Where(wide, result, b.constant(filled, dtype_of(x)))
        result.shape = shape
    return permuted(b, result, inverse(axes))
