"""Parts of arrays by position, and arrays with parts written."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from ..._builder import dtype_of, rank_of, shape_of
from ..._layout import behind, inverse, permuted
from .._call import Builder, Call, Unsupported, rule
from .shape import vector

_INT64 = ir.DataType.INT64
_LAST = 2**63 - 1


@rule("StridedSlice")
def strided_slice(b: Builder, call: Call) -> ir.Value:
    begin, end = call.known(1), call.known(2)
    steps = call.ints(3, "the steps")
    masks = {
        name: int(call.attr(f"{name}_mask"))
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    x = call[0]
    rank = rank_of(x)
    count = len(steps)

    def has(mask: str, position: int) -> bool:
        return bool(masks[mask] >> position & 1)

    real = sum(not has("new_axis", i) and not has("ellipsis", i) for i in range(count))
    axis = 0
    starts: list[int | ir.Value] = []
    ends: list[int | ir.Value] = []
    axes, strides, removed, new = [], [], [], []
    at = 0  # the axis of the result before axes are removed
    for i in range(count):
        if has("ellipsis", i):
            axis += rank - real
            at += rank - real
            continue
        if has("new_axis", i):
            new.append(at)
            at += 1
            continue
        one_begin = _position(b, call, 1, begin, i)
        if has("shrink_axis", i):
            starts.append(one_begin)
            ends.append(_next(b, one_begin))
            removed.append(at)
        else:
            step = steps[i]
            starts.append((0 if step > 0 else _LAST) if has("begin", i) else one_begin)
            beyond = _LAST if step > 0 else -_LAST
            ends.append(beyond if has("end", i) else _position(b, call, 2, end, i))
        strides.append(1 if has("shrink_axis", i) else steps[i])
        axes.append(axis)
        axis += 1
        at += 1
    kept = [
        n
        for n in range(len(axes))
        if not (starts[n] == 0 and strides[n] == 1 and _is_last(ends[n], shape_of(x)[axes[n]]))
    ]
    source, order = behind(x)
    if new or removed:
        source, order = x, tuple(range(rank))
    result = x
    if kept:
        result = b.Slice(
            source,
            b.vector([starts[n] for n in kept]),
            b.vector([ends[n] for n in kept]),
            b.ints(order[axes[n]] for n in kept),
            None if all(strides[n] == 1 for n in kept) else b.ints(strides[n] for n in kept),
        )
    if kept and source is not x:
        shape = call.shape()
        result.shape = ir.Shape([shape[axis] for axis in inverse(order)])
        return permuted(b, result, order)
    if new:
        result = b.Unsqueeze(result, new)
    return b.Squeeze(result, removed) if removed else result


def _position(
    b: Builder, call: Call, index: int, array: np.ndarray | None, i: int
) -> int | ir.Value:
    if array is not None:
        return int(array[i])
    found = b.Gather(b.cast(call[index], _INT64), b.scalar(i))
    found.shape = ir.Shape([])
    return found


def _next(b: Builder, begin: int | ir.Value) -> int | ir.Value:
    if isinstance(begin, int):
        return _LAST if begin == -1 else begin + 1
    one = b.Add(begin, b.scalar(1))
    # Behind the last element is no 0.
    found = b.Where(b.Equal(one, b.scalar(0)), b.scalar(_LAST), one)
    found.shape = ir.Shape([])
    return found


def _is_last(end: int | ir.Value, length: int | ir.SymbolicDim) -> bool:
    return isinstance(end, int) and (end == _LAST or (isinstance(length, int) and end >= length))


@rule("Slice")
def slice_(b: Builder, call: Call) -> ir.Value:
    begin, size = call.known(1), call.known(2)
    axes = b.ints(range(rank_of(call[0])))
    if begin is not None and size is not None:
        ends = [
            _LAST if n == -1 else int(i + n)
            for i, n in zip(begin.reshape(-1), size.reshape(-1), strict=True)
        ]
        return b.Slice(call[0], b.ints(int(i) for i in begin.reshape(-1)), b.ints(ends), axes)
    first, lengths = vector(b, call, 1), vector(b, call, 2)
    if size is None:
        whole = b.Equal(lengths, b.ints([-1]))
        end = b.Where(whole, b.ints([_LAST]), b.Add(first, lengths))
    else:
        fixed = [_LAST if n == -1 else 0 for n in size]
        end = b.Max(b.Add(first, lengths), b.ints(fixed))
    return b.Slice(call[0], first, end, axes)


@rule("Gather", "GatherV2", "ResourceGather")
def gather(b: Builder, call: Call) -> ir.Value:
    axis = call.ints(2, "the axis")[0] if call.op.type == "GatherV2" else 0
    attributes = call.op.node_def.attr
    batch = int(call.attr("batch_dims")) if "batch_dims" in attributes else 0
    x, positions = call[0], call[1]
    if not batch:
        return b.Gather(x, positions, axis=axis)
    if batch < 0:
        batch += rank_of(positions)
    if axis == batch and rank_of(positions) == batch + 1:
        deeper = b.Unsqueeze(b.cast(positions, _INT64), [-1])
        return b.GatherND(x, deeper, batch_dims=batch)
    raise Unsupported("batch_dims with an axis behind them, or with positions of several axes")


@rule("GatherNd")
def gather_nd(b: Builder, call: Call) -> ir.Value:
    return b.GatherND(call[0], b.cast(call[1], _INT64))


@rule("OneHot")
def one_hot(b: Builder, call: Call) -> ir.Value:
    positions = b.cast(call[0], _INT64)
    depth = call.ints(1, "the number of classes")[0]
    # ONNX counts negative positions from the end, TensorFlow has no element for them.
    inside = b.Where(b.Less(positions, b.scalar(0)), b.scalar(depth), positions)
    values = b.Concat(b.Reshape(call[3], [1]), b.Reshape(call[2], [1]), axis=0)
    return b.OneHot(inside, b.scalar(depth), values, axis=int(call.attr("axis")))


@rule("Where")
def where(b: Builder, call: Call) -> ir.Value:
    condition = call[0]
    if dtype_of(condition) != ir.DataType.BOOL:
        condition = b.Not(b.Equal(condition, b.constant(0, dtype_of(condition))))
    return b.Transpose(b.NonZero(condition), perm=[1, 0])


@rule("ScatterNd")
def scatter_nd(b: Builder, call: Call) -> ir.Value:
    zeros = b.Expand(b.constant(0, dtype_of(call[1])), vector(b, call, 2))
    return b.ScatterND(zeros, b.cast(call[0], _INT64), call[1], reduction="add")


@rule("TensorScatterUpdate")
def scatter_update(b: Builder, call: Call) -> ir.Value:
    return b.ScatterND(call[0], b.cast(call[1], _INT64), call[2])


@rule("TensorScatterAdd")
def scatter_add(b: Builder, call: Call) -> ir.Value:
    return b.ScatterND(call[0], b.cast(call[1], _INT64), call[2], reduction="add")
