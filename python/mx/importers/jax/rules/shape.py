"""Primitives that move elements, and those that make arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from ..._builder import Size, dtype_of, rank_of, shape_of
from ..._layout import behind, inverse, permuted
from .._call import Builder, Equation, Unsupported, rule
from .indexing import fill_of, gather_windows

_INT64 = ir.DataType.INT64
_LAST = 2**63 - 1


@rule("broadcast_in_dim")
def broadcast(b: Builder, call: Equation) -> ir.Value:
    x, shape = call[0], list(call.param("shape"))
    axes = list(call.param("broadcast_dimensions"))
    own = list(shape_of(x))
    wide = [1] * len(shape)
    for axis, length in zip(axes, own, strict=True):
        wide[axis] = length if isinstance(length, int) else -1
    narrow = x
    if len(own) != len(shape):
        narrow = b.reshape(x, wide)
        narrow.shape = ir.Shape(wide)
    if wide == shape:
        return narrow
    result = b.Expand(narrow, b.ints(shape))
    result.shape = ir.Shape(shape)
    # What computes elements needs it no wider than this.
    result.meta["narrow"] = x if not own else narrow
    return result


@rule("reshape")
def reshape(b: Builder, call: Equation) -> ir.Value:
    if call.param("dimensions") is not None:
        raise Unsupported("a reshape that permutes")
    return b.reshape(call[0], list(call.param("new_sizes")))


@rule("transpose")
def transpose(b: Builder, call: Equation) -> ir.Value:
    return permuted(b, call[0], call.param("permutation"))


@rule("squeeze")
def squeeze(b: Builder, call: Equation) -> ir.Value:
    axes = list(call.param("dimensions"))
    return b.Squeeze(call[0], axes) if axes else call[0]


@rule("expand_dims")
def expand(b: Builder, call: Equation) -> ir.Value:
    return b.Unsqueeze(call[0], list(call.param("dimensions")))


@rule("concatenate")
def concatenate(b: Builder, call: Equation) -> ir.Value:
    axis = int(call.param("dimension"))
    if len(call.inputs) == 1:
        return call[0]
    order = next((behind(x)[1] for x in call.inputs if behind(x)[0] is not x), None)
    if order is None:
        return b.Concat(*call.inputs, axis=axis)
    back = inverse(order)
    result = b.Concat(*(permuted(b, x, back) for x in call.inputs), axis=order[axis])
    shape = call.shape()
    result.shape = ir.Shape([shape[one] for one in back])
    return permuted(b, result, order)


@rule("stack")
def stack(b: Builder, call: Equation) -> ir.Value:
    axis = int(call.param("axis"))
    parts = [b.Unsqueeze(x, [axis]) for x in call.inputs]
    return b.Concat(*parts, axis=axis) if len(parts) > 1 else parts[0]


@rule("tile")
def tile(b: Builder, call: Equation) -> ir.Value:
    return b.Tile(call[0], b.ints(call.param("reps")))


@rule("slice")
def slice_(b: Builder, call: Equation) -> ir.Value:
    starts, ends = list(call.param("start_indices")), list(call.param("limit_indices"))
    steps = list(call.param("strides") or [1] * len(starts))
    lengths = shape_of(call[0])
    axes = [
        axis
        for axis, length in enumerate(lengths)
        if (starts[axis], ends[axis], steps[axis]) != (0, length, 1)
    ]
    if not axes:
        return call[0]
    chosen = [[one[axis] for axis in axes] for one in (starts, ends, steps)]
    return b.Slice(call[0], chosen[0], chosen[1], axes, chosen[2])


@rule("dynamic_slice")
def dynamic_slice(b: Builder, call: Equation) -> ir.Value:
    sizes = list(call.param("slice_sizes"))
    starts = _starts(b, call[0], call.inputs[1:], sizes)
    return b.Slice(call[0], starts, b.Add(starts, b.ints(sizes)), b.ints(range(len(sizes))))


def _starts(b: Builder, x: ir.Value, starts: Sequence[ir.Value], sizes: Sequence[int]) -> ir.Value:
    """Where a part begins, moved so that it is inside, as JAX does."""
    most = [int(str(length)) - size for length, size in zip(shape_of(x), sizes, strict=True)]
    parts = [b.Reshape(b.cast(one, _INT64), [1]) for one in starts]
    given = b.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]
    return b.Max(b.Min(given, b.ints(most)), b.ints([0] * len(most)))


@rule("dynamic_update_slice")
def dynamic_update_slice(b: Builder, call: Equation) -> ir.Value:
    x, update = call[0], call[1]
    sizes = [int(str(length)) for length in shape_of(update)]
    starts = _starts(b, x, call.inputs[2:], sizes)
    positions = np.stack(list(np.indices(sizes)), -1).astype(np.int64)
    return b.ScatterND(x, b.Add(b.constant(positions, _INT64), starts), update)


@rule("pad")
def pad(b: Builder, call: Equation) -> ir.Value:
    config = list(call.param("padding_config"))
    x = call[0]
    for axis, (_, _, inner) in enumerate(config):
        if inner:
            x = _spread(b, x, axis, inner, call[1])
    source, order = behind(x)
    there = [config[axis] for axis in inverse(order)]
    pads = [low for low, _, _ in there] + [high for _, high, _ in there]
    result = b.Pad(source, b.ints(pads), call[1])
    shape = call.shape()
    result.shape = ir.Shape([shape[axis] for axis in inverse(order)])
    return permuted(b, result, order)


def _spread(b: Builder, x: ir.Value, axis: int, inner: int, value: ir.Value) -> ir.Value:
    """An array with so many elements of a value between those along an axis."""
    shape = [int(str(length)) for length in shape_of(x)]
    length = shape[axis] * (inner + 1)
    pads = [0] * (2 * len(shape) + 2)
    pads[len(shape) + 2 + axis] = inner
    apart = b.Pad(b.Unsqueeze(x, [axis + 1]), b.ints(pads), value)
    joined = b.reshape(apart, [*shape[:axis], length, *shape[axis + 1 :]])
    shape[axis] = max(length - inner, 0)
    result = b.Slice(joined, [0], [shape[axis]], [axis])
    result.shape = ir.Shape(shape)
    return result


@rule("rev")
def reverse(b: Builder, call: Equation) -> ir.Value:
    axes = list(call.param("dimensions"))
    count = len(axes)
    return b.Slice(call[0], [-1] * count, [-_LAST] * count, axes, [-1] * count)


@rule("iota")
def iota(b: Builder, call: Equation) -> ir.Value:
    shape, axis = call.shape(), call.param("dimension")
    numbers = np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    numbered = b.constant(numbers, call.out())
    if list(numbers.shape) == shape:
        return numbered
    result = b.Expand(numbered, b.ints(shape))
    result.shape = ir.Shape(shape)
    result.meta["narrow"] = numbered
    return result


@rule("split")
def split(b: Builder, call: Equation) -> Sequence[ir.Value]:
    sizes = list(call.param("sizes"))
    if len(sizes) == 1:
        return [call[0]]
    return b.op(
        "Split",
        call[0],
        b.ints(sizes),
        axis=call.param("axis"),
        outputs=len(sizes),
        dtype=[dtype_of(call[0])] * len(sizes),
    )


@rule("gather")
def gather(b: Builder, call: Equation) -> ir.Value:
    """Gathers whole slices by positions along some axes."""
    x, indices = call[0], b.cast(call[1], _INT64)
    numbers, sizes = call.param("dimension_numbers"), list(call.param("slice_sizes"))
    axes = list(numbers.start_index_map)
    lengths = [int(str(length)) for length in shape_of(x)]
    rest = [axis for axis in range(rank_of(x)) if axis not in axes]
    is_whole = all(sizes[axis] == lengths[axis] for axis in rest)
    if (
        numbers.operand_batching_dims
        or sorted(numbers.collapsed_slice_dims) != sorted(axes)
        or not is_whole
    ):
        return gather_windows(b, call)
    limits = b.ints(lengths[axis] - 1 for axis in axes)
    mode = str(call.param("mode")).upper()
    inside = b.Max(b.Min(indices, limits), b.ints([0] * len(axes)))
    if len(axes) == 1:
        flat = b.Squeeze(inside, [-1])
        flat.shape = ir.Shape(list(shape_of(indices))[:-1])
        # Positions first, then the slices.
        result = b.Gather(permuted(b, x, [*axes, *rest]), flat, axis=0)
    else:
        result = b.GatherND(permuted(b, x, [*axes, *rest]), inside)
    batch = rank_of(indices) - 1
    shape = call.shape()
    offsets = list(numbers.offset_dims)
    others = [axis for axis in range(len(shape)) if axis not in offsets]
    order = [*others, *offsets]
    result.shape = ir.Shape([shape[axis] for axis in order])
    if "FILL" in mode:
        fits = b.Equal(b.ReduceMin(b.cast(b.Equal(inside, indices), _INT64), [-1], keepdims=0), 1)
        wide: list[Size] = [*b.sizes(indices)[:-1], *[1] * len(offsets)]
        filled = call.param("fill_value")
        if filled is None:
            filled = fill_of(dtype_of(x))
        chosen = b.reshape(fits, wide) if offsets else fits
        result, narrow = b.Where(chosen, result, b.constant(filled, dtype_of(x))), result
        result.shape = narrow.shape
    assert batch == len(others)
    return permuted(b, result, inverse(order))
