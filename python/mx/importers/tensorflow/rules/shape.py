"""What moves elements without computing, and what tells and makes shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from ..._builder import Size, dtype_of, rank_of, shape_of
from ..._layout import behind, inverse, permuted
from .._call import Builder, Call, Unsupported, known, rule

_INT64 = ir.DataType.INT64


def vector(b: Builder, call: Call, index: int) -> ir.Value:
    """An input as a list of int64."""
    found = call.known(index)
    if found is not None:
        return b.ints(int(one) for one in found.reshape(-1))
    value = b.cast(call[index], _INT64)
    return b.Reshape(value, [1]) if rank_of(value) == 0 else value


@rule("Reshape")
def reshape(b: Builder, call: Call) -> ir.Value:
    shape = call.known(1)
    if shape is None:
        return b.Reshape(call[0], vector(b, call, 1), allowzero=1)
    return b.reshape(call[0], [int(one) for one in shape])


@rule("Transpose")
def transpose(b: Builder, call: Call) -> ir.Value:
    return permuted(b, call[0], call.ints(1, "the order of the axes"))


@rule("ExpandDims")
def expand_dims(b: Builder, call: Call) -> ir.Value:
    (axis,) = call.ints(1, "the axis")
    source, order = behind(call[0])
    rank = len(order)
    axis %= rank + 1
    if source is call[0] or axis == rank:
        return b.Unsqueeze(call[0], [axis])
    # Beside the axis that follows it, wherever that is.
    there = order[axis]
    result = b.Unsqueeze(source, [there])
    lengths = list(shape_of(source))
    result.shape = ir.Shape([*lengths[:there], 1, *lengths[there:]])
    moved = [one + (one >= there) for one in order]
    return permuted(b, result, [*moved[:axis], there, *moved[axis:]])


@rule("Squeeze")
def squeeze(b: Builder, call: Call) -> ir.Value:
    axes = [int(axis) for axis in call.op.get_attr("squeeze_dims")]
    if not axes:
        axes = [i for i, length in enumerate(shape_of(call[0])) if length == 1]
    if not axes:
        return call[0]
    source, order = behind(call[0])
    if source is call[0]:
        return b.Squeeze(call[0], axes)
    rank = len(order)
    axes = [axis % rank for axis in axes]
    there = sorted(order[axis] for axis in axes)
    result = b.Squeeze(source, there)
    left = [i for i in range(rank) if i not in there]
    result.shape = ir.Shape([shape_of(source)[i] for i in left])
    return permuted(b, result, [left.index(order[i]) for i in range(rank) if i not in axes])


def joined(b: Builder, values: Sequence[ir.Value], axis: int) -> ir.Value:
    """Values one after the other along an axis, in the order of axes that one of them has."""
    order = next((behind(x)[1] for x in values if behind(x)[0] is not x), None)
    if order is None:
        return b.Concat(*values, axis=axis)
    rank = len(order)
    back = inverse(order)
    parts = [permuted(b, x, back) for x in values]
    there = order[axis % rank]
    result = b.Concat(*parts, axis=there)
    lengths = [shape_of(part)[there] for part in parts]
    shape = list(shape_of(parts[0]))
    numbers = [length for length in lengths if isinstance(length, int)]
    shape[there] = sum(numbers) if len(numbers) == len(lengths) else ir.SymbolicDim(None)
    result.shape = ir.Shape(shape)
    return permuted(b, result, order)


@rule("ConcatV2")
def concat(b: Builder, call: Call) -> ir.Value:
    (axis,) = call.ints(len(call.inputs) - 1, "the axis")
    values = call.inputs[:-1]
    return joined(b, values, axis) if len(values) > 1 else values[0]


@rule("Pack")
def pack(b: Builder, call: Call) -> ir.Value:
    axis = call.attr("axis")
    parts = [b.Unsqueeze(x, [axis]) for x in call.inputs]
    found = [known(x) for x in call.inputs]
    if all(one is not None for one in found):
        arrays = [one for one in found if one is not None]
        return b.constant(np.stack(arrays, axis), dtype_of(call[0]))
    return b.Concat(*parts, axis=axis) if len(parts) > 1 else parts[0]


@rule("Unpack")
def unpack(b: Builder, call: Call) -> Sequence[ir.Value]:
    axis, count = call.attr("axis"), call.attr("num")
    return [b.Gather(call[0], b.scalar(i), axis=axis) for i in range(count)]


@rule("Split")
def split(b: Builder, call: Call) -> Sequence[ir.Value]:
    (axis,) = call.ints(0, "the axis")
    count = call.attr("num_split")
    return _parts(b, call[1], axis, None, count)


@rule("SplitV")
def split_by_sizes(b: Builder, call: Call) -> Sequence[ir.Value]:
    sizes = call.ints(1, "the sizes of the parts")
    (axis,) = call.ints(2, "the axis")
    if -1 in sizes:
        whole = shape_of(call[0])[axis]
        if not isinstance(whole, int):
            raise Unsupported("the size of a part is what is left of an axis that varies")
        sizes[sizes.index(-1)] = whole - sum(sizes) - 1
    return _parts(b, call[0], axis, sizes, len(sizes))


def _parts(
    b: Builder, x: ir.Value, axis: int, sizes: Sequence[int] | None, count: int
) -> Sequence[ir.Value]:
    """Parts along an axis: of equal size, or of these."""
    if count == 1:
        return [x]
    source, order = behind(x)
    there = order[axis % len(order)]
    results = b.op(
        "Split",
        source,
        None if sizes is None else b.ints(sizes),
        axis=there,
        num_outputs=count if sizes is None else None,
        outputs=count,
        dtype=[dtype_of(x)] * count,
    )
    whole = shape_of(source)[there]
    for i, result in enumerate(results):
        shape = list(shape_of(source))
        if sizes is not None:
            shape[there] = sizes[i]
        else:
            shape[there] = whole // count if isinstance(whole, int) else ir.SymbolicDim(None)
        result.shape = ir.Shape(shape)
    return [permuted(b, result, order) for result in results]


@rule("Pad", "PadV2", "MirrorPad")
def pad(b: Builder, call: Call) -> ir.Value:
    pairs = call.known(1)
    value = call[2] if call.op.type == "PadV2" else None
    mode = str(call.attr("mode")).lower() if call.op.type == "MirrorPad" else "constant"
    if mode == "symmetric":
        raise Unsupported("padding that repeats the edge (mode SYMMETRIC)")
    if pairs is None:
        turned = b.Reshape(b.Transpose(b.cast(call[1], _INT64), perm=[1, 0]), [-1])
        return b.Pad(call[0], turned, value, mode=mode)
    source, order = behind(call[0])
    there = pairs[list(inverse(order))]
    result = b.Pad(source, b.ints(int(one) for one in there.T.reshape(-1)), value, mode=mode)
    result.shape = ir.Shape(
        [
            length + int(low + high) if isinstance(length, int) else None
            for length, (low, high) in zip(shape_of(source), there, strict=True)
        ]
    )
    return permuted(b, result, order)


@rule("Tile")
def tile(b: Builder, call: Call) -> ir.Value:
    return b.Tile(call[0], vector(b, call, 1)) if rank_of(call[0]) else call[0]


@rule("BroadcastTo")
def broadcast(b: Builder, call: Call) -> ir.Value:
    return b.Expand(call[0], vector(b, call, 1))


@rule("BroadcastArgs")
def broadcast_shapes(b: Builder, call: Call) -> ir.Value:
    found = [call.known(0), call.known(1)]
    if found[0] is None or found[1] is None:
        raise Unsupported("shapes that are not known before the model runs")
    shape = np.broadcast_shapes(tuple(found[0]), tuple(found[1]))
    return b.constant(np.array(shape, np.int64), call.out())


@rule("Shape", "ShapeN")
def shape(b: Builder, call: Call) -> Sequence[ir.Value]:
    results = []
    for i, x in enumerate(call.inputs):
        lengths = shape_of(x)
        if all(isinstance(length, int) for length in lengths):
            results.append(b.constant(np.array(lengths, np.int64), call.out(i)))
        else:
            results.append(b.cast(b.vector(b.sizes(x)), call.out(i)))
            results[-1].shape = ir.Shape([len(lengths)])
    return results


@rule("Size")
def size(b: Builder, call: Call) -> ir.Value:
    return b.scalar(b.product(b.sizes(call[0])), call.out())


@rule("Rank")
def rank(b: Builder, call: Call) -> ir.Value:
    return b.constant(rank_of(call[0]), call.out())


@rule("Fill")
def fill(b: Builder, call: Call) -> ir.Value:
    return b.Expand(call[1], vector(b, call, 0))


@rule("Range")
def number_range(b: Builder, call: Call) -> ir.Value:
    found = [call.known(i) for i in range(3)]
    arrays = [one for one in found if one is not None]
    if len(arrays) == 3:
        return b.constant(np.arange(*(one.item() for one in arrays)), call.out())
    return b.Range(*call.inputs)


@rule("InvertPermutation")
def invert(b: Builder, call: Call) -> ir.Value:
    order = call.ints(0, "the permutation")
    return b.constant(np.array(inverse(order), np.int64), call.out())


@rule("ReverseV2")
def reverse(b: Builder, call: Call) -> ir.Value:
    axes = call.ints(1, "the axes")
    count = len(axes)
    if not count:
        return call[0]
    return b.Slice(call[0], [-1] * count, [-(2**63) + 1] * count, axes, [-1] * count)


@rule("Roll")
def roll(b: Builder, call: Call) -> ir.Value:
    x = call[0]
    axes, shifts = call.ints(2, "the axes"), call.ints(1, "the shifts")
    for axis, shift in zip(axes, shifts, strict=True):
        length = shape_of(x)[axis]
        if not isinstance(length, int):
            raise Unsupported("an axis whose length varies")
        shift %= length
        if shift:
            parts = [b.Slice(x, [-shift], [length], [axis]), b.Slice(x, [0], [-shift], [axis])]
            result = b.Concat(*parts, axis=axis)
            result.shape = x.shape
            x = result
    return x


@rule("MatrixBandPart")
def band(b: Builder, call: Call) -> ir.Value:
    (lower,), (upper,) = call.ints(1, "the band"), call.ints(2, "the band")
    x = call[0]
    if upper >= 0:
        x = b.Trilu(x, b.scalar(upper), upper=0)
    if lower >= 0:
        x = b.Trilu(x, b.scalar(-lower), upper=1)
    return x


@rule("SpaceToBatchND")
def space_to_batch(b: Builder, call: Call) -> ir.Value:
    """Blocks of an image as images of a longer batch."""
    block = call.ints(1, "the block")
    pads = call.known(2)
    if pads is None:
        raise Unsupported("padding that is not known before the model runs")
    x, count = call[0], len(block)
    rank = rank_of(x)
    low = [0, *(int(one) for one in pads[:, 0]), *[0] * (rank - count - 1)]
    high = [0, *(int(one) for one in pads[:, 1]), *[0] * (rank - count - 1)]
    if any(low) or any(high):
        lengths = shape_of(x)
        x = b.Pad(x, b.ints([*low, *high]))
        x.shape = ir.Shape(
            [
                n + i + j if isinstance(n, int) else None
                for n, i, j in zip(lengths, low, high, strict=True)
            ]
        )
    sizes = b.sizes(x)
    if not all(isinstance(one, int) for one in sizes[1 : count + 1]):
        raise Unsupported("an image whose size varies")
    split: list[Size] = [sizes[0]]
    for length, step in zip(sizes[1 : count + 1], block, strict=True):
        assert isinstance(length, int)
        split += [length // step, step]
    blocks = b.reshape(x, [*split, *sizes[count + 1 :]])
    inner = [2 * i + 2 for i in range(count)]
    outer = [2 * i + 1 for i in range(count)]
    rest = list(range(2 * count + 1, rank + count))
    turned = b.Transpose(blocks, perm=[*inner, 0, *outer, *rest])
    return b.reshape(turned, [-1, *(split[i] for i in outer), *sizes[count + 1 :]])


@rule("BatchToSpaceND")
def batch_to_space(b: Builder, call: Call) -> ir.Value:
    """Images of a batch as the blocks of larger ones."""
    block = call.ints(1, "the block")
    crops = call.known(2)
    if crops is None:
        raise Unsupported("edges that are not known before the model runs")
    x, count = call[0], len(block)
    rank, sizes = rank_of(x), b.sizes(x)
    if not all(isinstance(one, int) for one in sizes[1 : count + 1]):
        raise Unsupported("an image whose size varies")
    lengths = [one for one in sizes[1 : count + 1] if isinstance(one, int)]
    parts = b.reshape(x, [*block, -1, *sizes[1:]])
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    turned = b.Transpose(parts, perm=[*order, *range(2 * count + 1, rank + count)])
    whole = [length * step for length, step in zip(lengths, block, strict=True)]
    result = b.reshape(turned, [-1, *whole, *sizes[count + 1 :]])
    if not crops.any():
        return result
    starts = [int(one) for one in crops[:, 0]]
    ends = [length - int(one) for length, one in zip(whole, crops[:, 1], strict=True)]
    return b.Slice(result, starts, ends, list(range(1, count + 1)))
