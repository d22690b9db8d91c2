"""Operators that move elements without computing with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .... import numpy as np
from ..._slices import python_slice
from .._images import TO_LAST, is_last, seen_first, seen_last
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import cast
from ._pieces import along_axis, axis_slice, check_bounds, indices_along, padded, wrapped


@rule("Reshape", since=5)
def _reshape(to: Lowering, x: Value, shape: Value, *, allowzero: int = 0) -> Value:
    extents = to.ints(shape)
    if not allowzero:
        extents = [
            x.shape[axis] if extent == 0 and axis < len(x.shape) else extent
            for axis, extent in enumerate(extents)
        ]
    return to.reshape(x, extents)


@rule("Flatten")
def _flatten(to: Lowering, x: Value, *, axis: int = 1) -> Value:
    axis = axis + len(x.shape) if axis < 0 else axis
    rows = int(numpy.prod(x.shape[:axis], dtype=numpy.int64))
    columns = int(numpy.prod(x.shape[axis:], dtype=numpy.int64))
    return to.reshape(x, (rows, columns))


@rule("Squeeze")
def _squeeze_1(to: Lowering, x: Value, *, axes: Sequence[int] | None = None) -> Value:
    return _squeezed(to, x, axes)


@rule("Squeeze", since=13)
def _squeeze(to: Lowering, x: Value, axes: Value | None = None) -> Value:
    return _squeezed(to, x, None if axes is None else to.ints(axes))


def _squeezed(to: Lowering, x: Value, axes: Sequence[int] | None) -> Value:
    made: Value = to.call(np.squeeze, x, axis=None if axes is None else tuple(axes))
    return made


@rule("Unsqueeze")
def _unsqueeze_1(to: Lowering, x: Value, *, axes: Sequence[int]) -> Value:
    made: Value = to.call(np.expand_dims, x, tuple(axes))
    return made


@rule("Unsqueeze", since=13)
def _unsqueeze(to: Lowering, x: Value, axes: Value) -> Value:
    return _unsqueeze_1(to, x, axes=to.ints(axes))


@rule("Transpose")
def _transpose(to: Lowering, x: Value, *, perm: Sequence[int] | None = None) -> Value:
    made: Value = to.call(np.transpose, x, None if perm is None else tuple(perm))
    return made


@rule("Concat", since=4)
def _concat(to: Lowering, *inputs: Value, axis: int) -> Value:
    if -4 <= axis < 4 and all(map(is_last, inputs)):
        parts = [seen_last(to, value) for value in inputs]
        joined = to.call(np.concatenate, parts, axis=TO_LAST.index(axis % 4))
        return seen_first(to, joined, inputs[0])
    made: Value = to.call(np.concatenate, list(inputs), axis=axis)
    return made


@rule("Split", since=2)
def _split_2(
    to: Lowering, x: Value, *, axis: int = 0, split: Sequence[int] | None = None
) -> list[Value]:
    return _split_at(to, x, axis, _equal_parts(to, x.shape[axis]) if split is None else split)


def _equal_parts(to: Lowering, extent: int) -> list[int]:
    """The sizes of as many parts as the node has outputs; the last one may be smaller."""
    size = -(-extent // to.num_outputs)
    return [min(size, max(extent - size * part, 0)) for part in range(to.num_outputs)]


@rule("Split", since=13)
def _split(
    to: Lowering,
    x: Value,
    split: Value | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
) -> list[Value]:
    sizes = _equal_parts(to, x.shape[axis]) if split is None else to.ints(split)
    return _split_at(to, x, axis, sizes)


def _split_at(to: Lowering, x: Value, axis: int, sizes: Sequence[int]) -> list[Value]:
    if sum(sizes) != x.shape[axis]:
        raise Declined(f"parts of {list(sizes)} of an axis of {x.shape[axis]}")
    ends = tuple(int(end) for end in numpy.cumsum(sizes)[:-1])
    made = to.call(np.split, x, ends, axis=axis)
    return [made] if isinstance(made, Value) else made


@rule("Slice")
def _slice_1(
    to: Lowering,
    x: Value,
    *,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None = None,
) -> Value:
    return _sliced(to, x, starts, ends, axes, None)


@rule("Slice", since=10)
def _slice(
    to: Lowering,
    x: Value,
    starts: Value,
    ends: Value,
    axes: Value | None = None,
    steps: Value | None = None,
) -> Value:
    return _sliced(
        to,
        x,
        to.ints(starts),
        to.ints(ends),
        None if axes is None else to.ints(axes),
        None if steps is None else to.ints(steps),
    )


def _sliced(
    to: Lowering,
    x: Value,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> Value:
    index = [slice(None)] * len(x.shape)
    chosen = range(len(starts)) if axes is None else axes
    for position, axis in enumerate(chosen):
        step = 1 if steps is None else steps[position]
        index[axis] = python_slice(starts[position], ends[position], step, x.shape[axis])
    return to.slices(x, index)


@rule("Expand", since=8)
def _expand(to: Lowering, x: Value, shape: Value) -> Value:
    extents = numpy.broadcast_shapes(x.shape, tuple(to.ints(shape)))
    made: Value = to.call(np.broadcast_to, x, extents)
    return made


@rule("Tile", since=6)
def _tile(to: Lowering, x: Value, repeats: Value) -> Value:
    made: Value = to.call(np.tile, x, tuple(to.ints(repeats)))
    return made


@rule("Gather")
def _gather(to: Lowering, x: Value, indices: Value, *, axis: int = 0) -> Value:
    if indices.constant is not None and not indices.shape:
        at = int(indices.constant)
        at = at + x.shape[axis] if at < 0 else at
        index: list[slice] = [slice(None)] * len(x.shape)
        index[axis] = slice(at, at + 1)
        made: Value = to.call(np.squeeze, to.slices(x, index), axis=axis)
        return made
    taken: Value = to.call(np.take, x, indices, axis=axis)
    return taken


@rule("Trilu", since=14)
def _trilu(to: Lowering, x: Value, k: Value | None = None, *, upper: int = 1) -> Value:
    offset = 0 if k is None else int(to.elements(k))
    made: Value = to.call(np.triu if upper else np.tril, x, offset)
    return made


@rule("DepthToSpace")
def _depth_to_space(to: Lowering, x: Value, *, blocksize: int, mode: str = "DCR") -> Value:
    n, c, h, w = x.shape
    b = blocksize
    if mode == "DCR":
        split, order = (n, b, b, c // (b * b), h, w), (0, 3, 4, 1, 5, 2)
    else:
        split, order = (n, c // (b * b), b, b, h, w), (0, 1, 4, 2, 5, 3)
    moved = to.call(np.transpose, to.reshape(x, split), order)
    return to.reshape(moved, (n, c // (b * b), h * b, w * b))


@rule("SpaceToDepth")
def _space_to_depth(to: Lowering, x: Value, *, blocksize: int, mode: str = "DCR") -> Value:
    n, c, h, w = x.shape
    b = blocksize
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    moved = to.call(np.transpose, to.reshape(x, (n, c, h // b, b, w // b, b)), order)
    return to.reshape(moved, (n, c * b * b, h // b, w // b))


_PAD_MODES = ("constant", "edge", "reflect", "wrap")


@rule("Pad", since=11)
def _pad(
    to: Lowering,
    x: Value,
    pads: Value,
    value: Value | None = None,
    axes: Value | None = None,
    *,
    mode: str = "constant",
) -> Value:
    chosen = range(len(x.shape)) if axes is None else to.ints(axes)
    given, count = to.ints(pads), len(chosen)
    element = 0 if value is None else to.elements(value).reshape(()).item()
    for index, axis in enumerate(chosen):
        x = _padded(to, x, axis, given[index], given[count + index], mode, element)
    return x


@rule("Pad", since=2)
def _pad_2(
    to: Lowering, x: Value, *, pads: Sequence[int], mode: str = "constant", value: float = 0.0
) -> Value:
    for axis, (before, after) in enumerate(zip(pads, pads[len(x.shape) :], strict=False)):
        x = _padded(to, x, axis, before, after, mode, value)
    return x


def _padded(
    to: Lowering, x: Value, axis: int, before: int, after: int, mode: str, element: float
) -> Value:
    """The elements with more in front of and behind them along an axis; fewer for less than 0."""
    cut = slice(max(-before, 0), x.shape[axis] - max(-after, 0))
    if before < 0 or after < 0:
        x = axis_slice(to, x, axis, cut)
        before, after = max(before, 0), max(after, 0)
    if not before and not after:
        return x
    if mode == "constant":
        return padded(to, x, axis, before, after, element)
    if mode not in _PAD_MODES:
        raise Declined(f"the mode {mode}")
    positions = numpy.pad(numpy.arange(x.shape[axis]), (before, after), mode)  # type: ignore[call-overload]
    made: Value = to.call(np.take, x, to.constant(positions), axis=axis)
    return made


@rule("GatherElements", since=11)
def _gather_elements(to: Lowering, x: Value, indices: Value, *, axis: int = 0) -> Value:
    check_bounds(indices, x.shape[axis])
    return along_axis(to, x, indices, axis)


@rule("GatherND", since=11)
def _gather_nd(to: Lowering, x: Value, indices: Value, *, batch_dims: int = 0) -> Value:
    """The first axes, which the indices are of, become one, of which elements are taken."""
    depth = indices.shape[-1]
    batches, leading = x.shape[:batch_dims], x.shape[batch_dims : batch_dims + depth]
    number = None
    for axis, extent in enumerate(leading):
        part = to.call(np.squeeze, axis_slice(to, indices, -1, slice(axis, axis + 1)), axis=-1)
        check_bounds(part, extent)
        part = wrapped(to, part, extent)
        scaled = part if number is None else to.call(np.multiply, number, extent)
        number = part if number is None else to.call(np.add, scaled, part)
    if number is None:
        raise Declined("indices of nothing")
    many = math.prod(leading)
    if batches:
        rows = numpy.arange(math.prod(batches), dtype="int64").reshape(batches) * many
        ones = (1,) * (len(number.shape) - batch_dims)
        number = to.call(np.add, number, to.constant(rows.reshape(batches + ones)))
    flat = to.reshape(x, (math.prod(batches) * many, *x.shape[batch_dims + depth :]))
    made: Value = to.call(np.take, flat, number, axis=0)
    return made


@rule("OneHot", since=9)
def _one_hot(to: Lowering, indices: Value, depth: Value, values: Value, *, axis: int = -1) -> Value:
    count = int(to.elements(depth).reshape(()))
    axis = axis + len(indices.shape) + 1 if axis < 0 else axis
    spread = to.call(np.expand_dims, wrapped(to, cast(to, indices, "int64"), count), axis)
    shape = (*indices.shape[:axis], count, *indices.shape[axis:])
    is_on = to.call(np.equal, spread, indices_along(to, shape, axis))
    off, on = (to.reshape(to.slices(values, [part]), ()) for part in (slice(0, 1), slice(1, 2)))
    made: Value = to.call(np.where, is_on, on, off)
    return made


@rule("TopK", since=10)
def _top_k(
    to: Lowering, x: Value, k: Value, *, axis: int = -1, largest: int = 1, sorted: int = 1
) -> list[Value]:
    count, backwards = int(to.elements(k).reshape(())), slice(None, None, -1)
    if largest:
        # Equal elements stay in order where the reverse is sorted and reversed.
        order = to.call(np.argsort, axis_slice(to, x, axis, backwards), axis=axis, kind="stable")
        order = axis_slice(to, order, axis, backwards)
        order = to.call(np.subtract, x.shape[axis] - 1, axis_slice(to, order, axis, slice(count)))
    else:
        order = to.call(np.argsort, x, axis=axis, kind="stable")
        order = axis_slice(to, order, axis, slice(count))
    return [along_axis(to, x, order, axis), order]


def _scattered(to: Lowering, x: Value, updates: Value, at: Any) -> Value:
    """The elements, of which those with the numbers `at` are replaced by the updates."""
    chosen = numpy.arange(x.size, dtype="int64")
    chosen[at.reshape(-1)] = x.size + numpy.arange(updates.size)
    flat = [to.reshape(value, (value.size,)) for value in (x, updates)]
    taken = to.call(np.take, to.call(np.concatenate, flat), to.constant(chosen))
    return to.reshape(taken, x.shape)


def _numbers(x: Value, indices: Value, reduction: str) -> Any:
    """The number of each element. Declined where only a loop of its own can scatter."""
    if indices.constant is None or reduction != "none":
        raise Declined("indices that are computed, or a reduction")
    return numpy.arange(x.size, dtype="int64").reshape(x.shape)


@rule("ScatterElements", since=11)
@rule("Scatter", since=9)
def _scatter_elements(
    to: Lowering,
    x: Value,
    indices: Value,
    updates: Value,
    *,
    axis: int = 0,
    reduction: str = "none",
) -> Value:
    numbers = _numbers(x, indices, reduction)
    index = list(numpy.indices(indices.shape))
    index[axis] = to.elements(indices)
    return _scattered(to, x, updates, numbers[tuple(index)])


@rule("ScatterND", since=11)
def _scatter_nd(
    to: Lowering, x: Value, indices: Value, updates: Value, *, reduction: str = "none"
) -> Value:
    numbers = _numbers(x, indices, reduction)
    index = tuple(numpy.moveaxis(to.elements(indices), -1, 0))
    return _scattered(to, x, updates, numbers[index])
