"""Gradients of operators that read or write elements by index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import onnx_ir as ir

from ....importers._builder import dtype_of
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

INT64 = ir.DataType.INT64
Grads = list[ir.Value | None]
Write = Callable[..., ir.Value]
Read = Callable[[ir.Value], ir.Value]


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
        # The position in the batch, in front of each index.
        rank = len(call.dims(1))
        wide = to.Concat(to.Shape(indices, end=rank - 1), [1], axis=0)
        zero, one = to.constant(0, INT64), to.constant(1, INT64)
        grid = []
        for axis in range(batch):
            row = to.Range(zero, to.Squeeze(to.extent(indices, axis)), one)
            others = [other for other in range(rank) if other != axis]
            grid.append(to.Expand(to.Unsqueeze(row, others), wide))
        indices = to.Concat(*grid, indices, axis=-1)
    return to.ScatterND(to.zeros_like(call.x), indices, call.dy, reduction="add")


@gradient("ScatterElements", "Scatter")
def _scatter_elements(to: Writer, call: Call) -> Grads:
    dims = [call.dims(index) for index in (0, 1)]
    rank = len(dims[0])
    indices, axis = call.input(1), call.integer("axis", 0) % rank

    def write(x: ir.Value, updates: ir.Value, kind: str = "none") -> ir.Value:
        # Scatter has no reductions.
        how = {} if kind == "none" else {"reduction": kind}
        made: ir.Value = to.ScatterElements(x, indices, updates, axis=axis, **how)
        return made

    # Along other axes there may be fewer indices than elements, where they are of the first ones.
    fewer = [other for other in range(rank) if other != axis and dims[0][other] != dims[1][other]]

    def read(x: ir.Value) -> ir.Value:
        if fewer:
            ends = to.Concat(*(to.extent(indices, other) for other in fewer), axis=0)
            x = to.Slice(x, [0] * len(fewer), ends, fewer)
        made: ir.Value = to.GatherElements(x, indices, axis=axis)
        return made

    return _scattered(to, call, write, read)


@gradient("ScatterND")
def _scatter_nd(to: Writer, call: Call) -> Grads:
    indices = call.input(1)

    def write(x: ir.Value, updates: ir.Value, kind: str = "none") -> ir.Value:
        made: ir.Value = to.ScatterND(x, indices, updates, reduction=kind)
        return made

    def read(x: ir.Value) -> ir.Value:
        made: ir.Value = to.GatherND(x, indices)
        return made

    return _scattered(to, call, write, read)


def _scattered(to: Writer, call: Call, write: Write, read: Read) -> Grads:
    """By what writes at the positions, and what reads there."""
    x, updates, dy = call.x, call.input(2), call.dy
    kind = call.string("reduction", "none")
    if kind == "mul":
        return _multiplied(to, call, write, read)
    if kind in ("max", "min"):
        # All that are equal to what came share its gradient, as in torch.
        dtype = dtype_of(x)
        hits = to.cast(to.Equal(x, call.y), dtype)
        hits_of_updates = to.cast(to.Equal(updates, read(call.y)), dtype)
        share = to.Div(dy, write(hits, hits_of_updates, "add"))
        d_updates = to.Mul(read(share), hits_of_updates) if call.wants(2) else None
        return [to.Mul(share, hits), None, d_updates]
    d_x = write(dy, to.zeros_like(updates)) if kind == "none" else dy
    return [d_x, None, read(dy) if call.wants(2) else None]


def _multiplied(to: Writer, call: Call, write: Write, read: Read) -> Grads:
    """The product of the other factors: that of all that are not 0, without the factor itself. It
    is 0 where another one is."""
    x, updates, dtype = call.x, call.input(2), dtype_of(call.x)
    zeros, zero_updates = (to.Equal(one, 0.0) for one in (x, updates))
    counts = write(to.cast(zeros, dtype), to.cast(zero_updates, dtype), "add")
    factors = to.where(to.Not(zeros), x, 1.0)
    other_factors = to.where(to.Not(zero_updates), updates, 1.0)
    total = to.Mul(call.dy, write(factors, other_factors, "mul"))

    def without(
        product: ir.Value, factor: ir.Value, count: ir.Value, is_zero: ir.Value
    ) -> ir.Value:
        alone = to.Equal(count, to.cast(is_zero, dtype))
        return to.where(alone, to.Div(product, factor), 0.0)

    d_updates = None
    if call.wants(2):
        d_updates = without(read(total), other_factors, read(counts), zero_updates)
    return [without(total, factors, counts, zeros), None, d_updates]


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
