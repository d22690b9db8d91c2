"""Operators that move elements without computing with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule


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
    made: Value = to.call(np.concatenate, list(inputs), axis=axis)
    return made


@rule("Split", since=2)
def _split_2(
    to: Lowering, x: Value, *, axis: int = 0, split: Sequence[int] | None = None
) -> list[Value]:
    if split is None:
        raise Declined("parts of equal size, of which only the outputs tell how many")
    return _split_at(to, x, axis, split)


@rule("Split", since=13)
def _split(
    to: Lowering,
    x: Value,
    split: Value | None = None,
    *,
    axis: int = 0,
    num_outputs: int | None = None,
) -> list[Value]:
    extent = x.shape[axis]
    if split is not None:
        return _split_at(to, x, axis, to.ints(split))
    if num_outputs is None:
        raise Declined("parts of equal size, of which only the outputs tell how many")
    size = -(-extent // num_outputs)
    sizes = [min(size, max(extent - size * index, 0)) for index in range(num_outputs)]
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
        begin, end = _bounds(starts[position], ends[position], step, x.shape[axis])
        index[axis] = slice(begin, end, step)
    return to.slices(x, index)


def _bounds(start: int, end: int, step: int, extent: int) -> tuple[int, int | None]:
    """Bounds as Python's slices have them; ONNX clamps them to the axis."""
    if step > 0:
        return start, end
    first = start + extent if start < 0 else start
    last = end + extent if end < 0 else end
    return min(first, extent - 1), None if last < 0 else last


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
def _space_to_depth(to: Lowering, x: Value, *, blocksize: int) -> Value:
    n, c, h, w = x.shape
    b = blocksize
    moved = to.call(np.transpose, to.reshape(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return to.reshape(moved, (n, c * b * b, h // b, w // b))
