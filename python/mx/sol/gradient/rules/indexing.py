"""Gradients of operators that read or write elements by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import onnx_ir as ir

from ....importers._builder import dtype_of
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

INT64 = ir.DataType.INT64
Grads = list[ir.Value | None]


@gradient("Gather")
def _gather(to: Writer, call: Call) -> ir.Value:
    axis = call.integer("axis", 0) % len(call.dims(0))
    index = ir.convenience.get_const_tensor(call.input(1))
    extent = call.dims(0)[axis]
    if index is not None and index.size == 1 and isinstance(extent, int):
        # One row, with nothing before and behind it.
        first = int(index.numpy().reshape(())) % max(extent, 1)
        row = call.dy if index.shape.rank() else to.Unsqueeze(call.dy, [axis])
        if index.shape.rank() <= 1:
            return to.part(row, call.x, axis, first, first + 1)
    return to.own_like(
        "GatherGrad", call.dy, call.input(1), to.shape(call.x), like=call.x, axis=axis
    )


@gradient("GatherElements")
def _gather_elements(to: Writer, call: Call) -> ir.Value:
    zeros = to.zeros_like(call.x)
    axis = call.integer("axis", 0)
    return to.ScatterElements(zeros, call.input(1), call.dy, axis=axis, reduction="add")


@gradient("GatherND")
def _gather_nd(to: Writer, call: Call) -> ir.Value:
    indices, batch = call.input(1), call.integer("batch_dims", 0)
    if batch:
        dims = call.dims(1)[:-1]
        known = [dim for dim in dims if isinstance(dim, int)]
        if len(known) < len(dims):
            raise Declined("batch_dims with indices of a shape that varies")
        # The position in the batch, in front of each index.
        grid = numpy.indices(known)[:batch]
        indices = to.Concat(to.constant(numpy.moveaxis(grid, 0, -1), INT64), indices, axis=-1)
    return to.ScatterND(to.zeros_like(call.x), indices, call.dy, reduction="add")


@gradient("ScatterElements", "Scatter")
def _scatter_elements(to: Writer, call: Call) -> Grads:
    indices, axis = call.input(1), call.integer("axis", 0)
    kind = call.string("reduction", "none")
    if kind not in ("none", "add"):
        raise Declined(f"reduction={kind}")
    d_x = call.dy
    if kind == "none":
        d_x = to.ScatterElements(call.dy, indices, to.zeros_like(call.input(2)), axis=axis)
    d_updates = to.GatherElements(call.dy, indices, axis=axis) if call.wants(2) else None
    return [d_x, None, d_updates]


@gradient("ScatterND")
def _scatter_nd(to: Writer, call: Call) -> Grads:
    indices = call.input(1)
    kind = call.string("reduction", "none")
    if kind not in ("none", "add"):
        raise Declined(f"reduction={kind}")
    d_x = call.dy
    if kind == "none":
        d_x = to.ScatterND(call.dy, indices, to.zeros_like(call.input(2)))
    return [d_x, None, to.GatherND(call.dy, indices) if call.wants(2) else None]


@gradient("TopK")
def _top_k(to: Writer, call: Call) -> ir.Value:
    zeros, indices = to.zeros_like(call.x), call.node.outputs[1]
    axis = call.integer("axis", -1)
    return to.ScatterElements(zeros, indices, call.dy, axis=axis, reduction="add")


@gradient("Compress")
def _compress(to: Writer, call: Call) -> ir.Value:
    return _taken(to, call, to.Squeeze(to.NonZero(call.input(1)), [0]))


def _taken(to: Writer, call: Call, rows: ir.Value) -> ir.Value:
    """The gradient where elements at these positions, or slices along an axis, were taken."""
    if call.node.attributes.get("axis") is None:
        flat = to.own(
            "GatherGrad",
            call.dy,
            rows,
            to.Reshape(to.Size(call.x), [1]),
            types=[call.dy.dtype],
            axis=0,
        )[0]
        return to.Reshape(flat, to.shape(call.x), allowzero=1)
    axis = call.integer("axis", 0)
    return to.own_like("GatherGrad", call.dy, rows, to.shape(call.x), like=call.x, axis=axis)


@expansion("Unique")
def _with_positions(to: Writer, call: Call) -> Sequence[ir.Value]:
    """The same node, which tells where the first one of equal elements is."""
    node = call.node
    if len(node.outputs) > 1 and node.outputs[1].name:
        raise Declined("it does already")
    attributes: dict[str, Any] = {name: one.value for name, one in node.attributes.items()}
    types = [dtype_of(call.x), INT64, INT64, INT64]
    made = to.op("Unique", call.x, outputs=4, dtype=types, **attributes)
    return made[: len(node.outputs)]


@gradient("Unique")
def _unique(to: Writer, call: Call) -> ir.Value:
    """The first one of equal elements, or slices, is the one that was taken."""
    return _taken(to, call, call.node.outputs[1])


@gradient("OneHot")
def _one_hot(to: Writer, call: Call) -> Grads:
    """For the two values: the sum of what is where the first one stands, and of the rest."""
    assert call.dy.dtype is not None
    numbers = to.constant([0.0, 1.0], call.dy.dtype)
    hot = to.OneHot(call.input(0), call.input(1), numbers, axis=call.integer("axis", -1))
    on = to.ReduceSum(to.Mul(call.dy, hot), keepdims=0)
    off = to.Sub(to.ReduceSum(call.dy, keepdims=0), on)
    return [None, None, to.Concat(to.Reshape(off, [1]), to.Reshape(on, [1]), axis=0)]


@gradient("Range")
def _range(to: Writer, call: Call) -> Grads:
    """Element i is start + i * step."""
    assert call.dy.dtype is not None
    number = to.CumSum(to.Add(to.Mul(call.dy, 0.0), 1.0), to.constant(0, INT64), exclusive=1)
    d_step = to.ReduceSum(to.Mul(call.dy, number), keepdims=0) if call.wants(2) else None
    return [to.ReduceSum(call.dy, keepdims=0), None, d_step]


@gradient("TensorScatter")
def _tensor_scatter(to: Writer, call: Call) -> Grads:
    """What came is 0 for what was written over, and is read where it was written."""
    update, begin = call.input(1), call.optional(2)
    rank = len(call.dims(0))
    axis, mode = call.integer("axis", -2) % rank, call.string("mode", "linear")
    d_x = None
    if call.wants(0):
        zeros = to.zeros_like(update)
        d_x = to.TensorScatter(call.dy, zeros, begin, axis=axis, mode=mode)
    if not call.wants(1):
        return [d_x, None]
    one, zero = to.constant(1, INT64), to.constant(0, INT64)
    rows = to.Unsqueeze(to.Range(zero, to.Squeeze(to.extent(update, axis)), one), [0])
    nothing = to.constant([0], INT64)
    first = to.Expand(nothing, to.extent(update, 0)) if begin is None else begin
    rows = to.Add(to.Unsqueeze(first, [1]), rows)
    if mode == "circular":
        rows = to.Mod(rows, to.extent(call.x, axis))
    order = [0, axis, *(other for other in range(1, rank) if other != axis)]
    moved = to.transpose(call.dy, order)
    read = to.GatherND(moved, to.Unsqueeze(rows, [2]), batch_dims=1)
    return [d_x, to.transpose(read, sorted(range(rank), key=order.__getitem__))]
