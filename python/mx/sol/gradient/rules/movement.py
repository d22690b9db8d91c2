"""Gradients of operators that move elements, or leave some of them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import onnx_ir as ir

from ....graph._spec import dims_of
from .._rules import Call, expansion, gradient
from .._writer import Writer

Grads = list[ir.Value | None]


@gradient("Reshape", "Flatten", "Squeeze", "Unsqueeze")
def _reshape(to: Writer, call: Call) -> ir.Value:
    made: ir.Value = to.Reshape(call.dy, to.shape(call.x), allowzero=1)
    made.shape = call.x.shape
    return made


@gradient("Transpose")
def _transpose(to: Writer, call: Call) -> ir.Value:
    rank = len(call.dims(0))
    order = list(call.ints("perm") or range(rank - 1, -1, -1))
    return to.transpose(call.dy, sorted(range(rank), key=order.__getitem__))


@gradient("Expand")
def _expand(to: Writer, call: Call) -> ir.Value:
    return to.sum_to(call.dy, call.x, call.y)


@gradient("Concat")
def _concat(to: Writer, call: Call) -> Grads:
    rank = len(call.dims(0))
    axis = call.integer("axis", 0) % rank
    sizes = [to.extent(call.input(i), axis) for i in range(len(call.node.inputs))]
    if len(sizes) == 1:
        return [call.dy]
    assert call.dy.dtype is not None
    types = [call.dy.dtype] * len(sizes)
    lengths = to.Concat(*sizes, axis=0)
    return list(to.op("Split", call.dy, lengths, outputs=len(sizes), dtype=types, axis=axis))


@gradient("Split")
def _split(to: Writer, call: Call) -> ir.Value:
    parts = [
        to.given(grad, value) for grad, value in zip(call.grads, call.node.outputs, strict=True)
    ]
    return to.Concat(*parts, axis=call.integer("axis", 0)) if len(parts) > 1 else parts[0]


def _numbers(value: ir.Value | None) -> list[int] | None:
    tensor = None if value is None else ir.convenience.get_const_tensor(value)
    return None if tensor is None else [int(item) for item in tensor.numpy().reshape(-1)]


@gradient("Slice")
def _slice(to: Writer, call: Call) -> ir.Value:
    """Zeros around what came, or what came at the indices that were read."""
    dims, rank = call.dims(0), len(call.dims(0))
    starts, ends, steps = (_numbers(call.optional(index)) for index in (1, 2, 4))
    axes = _numbers(call.optional(3)) if call.optional(3) is not None else None
    if call.optional(3) is not None and axes is None:
        return _by_positions(to, call, lambda at: to.Slice(at, *call.node.inputs[1:]))
    if starts is not None and ends is not None and (call.optional(4) is None or steps):
        chosen = [axis % rank for axis in axes] if axes else list(range(len(starts)))
        steps = steps or [1] * len(chosen)
        if len(chosen) == 1 and steps == [1] and isinstance(dims[chosen[0]], int):
            extent = int(str(dims[chosen[0]]))
            begin, end, _ = slice(starts[0], ends[0], 1).indices(extent)
            return to.part(call.dy, call.x, chosen[0], begin, max(begin, end))
        pads = [0] * (2 * rank)
        for axis, start, end, step in zip(chosen, starts, ends, steps, strict=True):
            dim = dims[axis]
            if step != 1 or not isinstance(dim, int):
                break
            first, last, _ = slice(start, end, 1).indices(dim)
            pads[axis], pads[rank + axis] = first, dim - max(last, first)
        else:
            made: ir.Value = to.Pad(call.dy, pads)
            made.shape = call.x.shape
            return made
    return _slice_by_indices(to, call, axes)


def _by_positions(to: Writer, call: Call, write: Callable[[ir.Value], ir.Value]) -> ir.Value:
    """For a node that copies elements: by what it makes of their positions."""
    zero, one = to.constant(0, ir.DataType.INT64), to.constant(1, ir.DataType.INT64)
    shape, size = to.shape(call.x), to.Size(call.x)
    read = write(to.Reshape(to.Range(zero, size, one), shape, allowzero=1))
    rows = [to.Reshape(one, [-1]) for one in (call.dy, read)]
    whole = to.Reshape(size, [1])
    (flat,) = to.own("GatherGrad", *rows, whole, types=[call.dy.dtype], axis=0)
    made: ir.Value = to.Reshape(flat, shape, allowzero=1)
    made.shape = call.x.shape
    return made


def _slice_by_indices(to: Writer, call: Call, axes: list[int] | None) -> ir.Value:
    """Scatters along one axis after the other."""
    rank = len(call.dims(0))
    count = len(dims_of(call.input(1).shape) or ())
    lengths = dims_of(call.input(1).shape)
    if count != 1 or lengths is None or not isinstance(lengths[0], int):
        return _by_positions(to, call, lambda at: to.Slice(at, *call.node.inputs[1:]))
    chosen = [axis % rank for axis in axes] if axes else list(range(lengths[0]))
    grad: ir.Value = call.dy
    # Of the last axis first: what is undone has the extents of the input along later axes.
    for position in reversed(range(len(chosen))):
        axis = chosen[position]
        extent = to.extent(call.x, axis)
        every = to.Range(
            to.constant(0, ir.DataType.INT64),
            to.Squeeze(extent),
            to.constant(1, ir.DataType.INT64),
        )
        parts = [_item(to, call.input(index), position) for index in (1, 2)]
        step = call.optional(4)
        tail = [] if step is None else [_item(to, step, position)]
        rows = to.Slice(every, *parts, [0], *tail)
        before = to.Shape(grad, end=axis) if axis else None
        behind = to.Shape(grad, start=axis + 1) if axis + 1 < rank else None
        shape = [one for one in (before, extent, behind) if one is not None]
        wide = to.Concat(*shape, axis=0) if len(shape) > 1 else extent
        grad = to.own("GatherGrad", grad, rows, wide, types=[call.dy.dtype], axis=axis)[0]
    grad.shape = call.x.shape
    return grad


def _item(to: Writer, value: ir.Value, position: int) -> ir.Value:
    item: ir.Value = to.Slice(value, [position], [position + 1])
    return to.cast(item, ir.DataType.INT64)


@gradient("Pad")
def _pad(to: Writer, call: Call) -> Grads:
    mode = call.string("mode", "constant")
    rank = len(call.dims(0))
    given = _numbers(call.input(1))
    axes = _numbers(call.optional(3)) if call.optional(3) is not None else list(range(rank))
    if mode == "constant":
        d_x = _pad_constant(to, call, rank, given, axes)
        d_value = None
        if call.wants(2):
            total = to.ReduceSum(call.dy, keepdims=0)
            d_value = to.Sub(total, to.ReduceSum(d_x, keepdims=0))
            d_value = to.Reshape(d_value, to.shape(call.input(2)))
        return [d_x, None, d_value]
    extents = call.dims(0)
    if (
        given is None
        or axes is None
        or any(pad < 0 for pad in given)
        or any(not isinstance(extents[axis], int) for axis in axes)
    ):
        more = [None, call.optional(3)] if call.optional(3) is not None else []
        return [_by_positions(to, call, lambda at: to.Pad(at, call.input(1), *more, mode=mode))]
    # Which element each one is a copy of, along one axis after the other.
    grad: ir.Value = call.dy
    for position, axis in enumerate(axes):
        low, high = given[position], given[position + len(axes)]
        extent = int(str(extents[axis]))
        if not low and not high:
            continue
        rows = numpy.pad(numpy.arange(extent), (low, high), _PADDING[mode])
        parts = [to.Shape(grad, end=axis % rank)] if axis % rank else []
        parts.append(to.ints([extent]))
        if axis % rank + 1 < rank:
            parts.append(to.Shape(grad, start=axis % rank + 1))
        wide = to.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]
        grad = to.own(
            "GatherGrad", grad, to.ints(rows), wide, types=[call.dy.dtype], axis=axis % rank
        )[0]
    return [grad]


_PADDING: dict[str, Any] = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def _pad_constant(
    to: Writer, call: Call, rank: int, given: list[int] | None, axes: list[int] | None
) -> ir.Value:
    if given is None or axes is None:
        # What is padded is cut off, and what is cut off is padded.
        chosen = call.optional(3)
        rows = to.Reshape(call.input(1), [2, -1])
        begin, end = (to.Gather(rows, to.constant(i, ir.DataType.INT64), axis=0) for i in (0, 1))
        extents = to.Shape(call.dy)
        if chosen is not None:
            extents = to.Gather(extents, chosen, axis=0)
        axes_of_slice = to.ints(range(rank)) if chosen is None else chosen
        kept = to.Slice(
            call.dy, to.Max(begin, [0]), to.Sub(extents, to.Max(end, [0])), axes_of_slice
        )
        missing = to.Concat(*(to.Max(to.Neg(one), [0]) for one in (begin, end)), axis=0)
        made: ir.Value = to.Pad(kept, missing, *([] if chosen is None else [None, chosen]))
    else:
        made = to.Pad(
            call.dy, [-pad for pad in given], *([None, list(axes)] if len(axes) != rank else [])
        )
    made.shape = call.x.shape
    return made


@gradient("Tile")
def _tile(to: Writer, call: Call) -> ir.Value:
    """The sum over the repetitions, which are axes of their own."""
    rank = len(call.dims(0))
    both = to.Concat(to.Unsqueeze(call.input(1), [1]), to.Unsqueeze(to.shape(call.x), [1]), axis=1)
    apart = to.Reshape(call.dy, to.Reshape(both, [-1]))
    return to.sum_over(apart, [2 * axis for axis in range(rank)])


@gradient("DepthToSpace")
def _depth_to_space(to: Writer, call: Call) -> ir.Value:
    size = call.integer("blocksize", 1)
    if call.string("mode", "DCR") == "DCR":
        return to.SpaceToDepth(call.dy, blocksize=size)
    n, c = to.extent(call.x, 0), to.extent(call.x, 1)
    h, w = to.extent(call.x, 2), to.extent(call.x, 3)
    depth = to.Div(c, [size * size])
    apart = to.Reshape(call.dy, to.Concat(n, depth, h, [size], w, [size], axis=0))
    return to.Reshape(to.Transpose(apart, perm=[0, 1, 3, 5, 2, 4]), to.shape(call.x))


@gradient("SpaceToDepth")
def _space_to_depth(to: Writer, call: Call) -> ir.Value:
    size = call.integer("blocksize", 1)
    return to.DepthToSpace(call.dy, blocksize=size, mode=call.string("mode", "DCR"))


@gradient("Trilu")
def _trilu(to: Writer, call: Call) -> ir.Value:
    return to.Trilu(call.dy, call.optional(1), upper=call.integer("upper", 1))


@gradient("ReverseSequence")
def _reverse_sequence(to: Writer, call: Call) -> ir.Value:
    return to.ReverseSequence(
        call.dy,
        call.input(1),
        batch_axis=call.integer("batch_axis", 1),
        time_axis=call.integer("time_axis", 0),
    )


@gradient("Resize")
def _resize(to: Writer, call: Call) -> ir.Value:
    rank = len(call.dims(0))
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    policy = call.string("keep_aspect_ratio_policy", "stretch")
    scales = call.optional(2)
    if scales is not None and dims_of(scales.shape) == (0,):
        scales = None
    if policy != "stretch" and scales is None:
        # The smallest factor of all axes, or the largest one.
        extents = to.shape(call.x)
        if call.ints("axes") is not None:
            extents = to.Gather(extents, to.ints(axis % rank for axis in call.ints("axes") or []))
        both = [to.cast(one, ir.DataType.FLOAT) for one in (call.input(3), extents)]
        chosen = (to.ReduceMin if policy == "not_larger" else to.ReduceMax)(to.Div(*both))
        scales = to.Expand(chosen, to.Shape(both[0]))
    attributes.pop("keep_aspect_ratio_policy", None)
    inputs = [call.dy, to.shape(call.x), call.optional(1), scales]
    return to.own_like("ResizeGrad", *inputs, like=call.x, **attributes)


@expansion("Upsample")
def _upsample(to: Writer, call: Call) -> ir.Value:
    return to.Resize(
        call.x,
        None,
        call.input(1),
        mode=call.string("mode", "nearest"),
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
