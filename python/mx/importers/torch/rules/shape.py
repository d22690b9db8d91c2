"""What moves elements without computing: views, joins, slices, repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from .._builder import Builder, Size, dtype_of, rank_of, shape_of, static
from .._rule import Unsupported, rule

_LAST = 2**63 - 1


@rule("view", "reshape", "_unsafe_view", "_reshape_copy")
def view(b: Builder, x: ir.Value, size: Sequence[Size]) -> ir.Value:
    return b.reshape(x, size)


@rule("permute")
def permute(b: Builder, x: ir.Value, dims: Sequence[int]) -> ir.Value:
    return b.transpose(x, [dim % rank_of(x) for dim in dims])


@rule("transpose.int")
def transpose(b: Builder, x: ir.Value, dim0: int, dim1: int) -> ir.Value:
    order = list(range(rank_of(x)))
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return b.transpose(x, order)


@rule("t")
def turned(b: Builder, x: ir.Value) -> ir.Value:
    return b.transpose(x, list(range(rank_of(x)))[::-1])


@rule("squeeze", "squeeze.dim", "squeeze.dims")
def squeeze(b: Builder, x: ir.Value, dim: int | Sequence[int] | None = None) -> ir.Value:
    shape = shape_of(x)
    axes = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    ones = sorted({axis % len(shape) for axis in axes if shape[axis] == 1}) if shape else []
    return b.Squeeze(x, ones) if ones else x


@rule("unsqueeze")
def unsqueeze(b: Builder, x: ir.Value, dim: int) -> ir.Value:
    return b.Unsqueeze(x, [dim])


@rule("expand")
def expand(b: Builder, x: ir.Value, size: Sequence[Size], *, implicit: bool = False) -> ir.Value:
    new = len(size) - rank_of(x)
    # -1 keeps a length, and so does 1 in ONNX.
    wanted = [1 if length == -1 else length for length in size]
    own = shape_of(x)
    wanted = [
        own_length
        if i >= new and isinstance(own_length := own[i - new], int) and own_length != 1
        else length
        for i, length in enumerate(wanted)
    ]
    return b.expand(x, wanted)


@rule("cat")
def cat(b: Builder, tensors: Sequence[ir.Value], dim: int = 0) -> ir.Value:
    # torch leaves 1-d tensors without elements out, whatever the others' rank is.
    kept = [x for x in tensors if list(shape_of(x)) != [0]] or list(tensors[:1])
    values = [b.cast(x, b.out) for x in kept]
    return values[0] if len(values) == 1 else b.Concat(*values, axis=dim)


@rule("stack")
def stack(b: Builder, tensors: Sequence[ir.Value], dim: int = 0) -> ir.Value:
    return b.Concat(*(b.Unsqueeze(b.cast(x, b.out), [dim]) for x in tensors), axis=dim)


@rule("split_with_sizes")
def split_with_sizes(
    b: Builder, x: ir.Value, split_sizes: Sequence[Size], dim: int = 0
) -> Sequence[ir.Value]:
    if len(split_sizes) == 1:
        return (x,)
    return b.op(
        "Split", x, b.vector(split_sizes), axis=dim, outputs=len(split_sizes), dtype=dtype_of(x)
    )


@rule("split.Tensor")
def split(b: Builder, x: ir.Value, split_size: Size, dim: int = 0) -> Sequence[ir.Value]:
    sizes = [b.result_shape(i)[dim] for i in range(len(b.results))]
    known = [size for size in sizes if size is not None]
    if len(known) == len(sizes):
        return split_with_sizes(b, x, known, dim)
    starts = [b.times(split_size, i) for i in range(len(sizes) + 1)]
    return [slice_axis(b, x, dim, starts[i], starts[i + 1]) for i in range(len(sizes))]


@rule("unbind.int", "unbind_copy.int")
def unbind(b: Builder, x: ir.Value, dim: int = 0) -> Sequence[ir.Value]:
    return [b.Gather(x, b.constant(i, ir.DataType.INT64), axis=dim) for i in range(len(b.results))]


def slice_axis(
    b: Builder, x: ir.Value, axis: int, start: Size, end: Size, step: int = 1
) -> ir.Value:
    """Elements from a start to before an end along one axis."""
    return b.Slice(
        x, b.vector([start]), b.vector([end]), b.ints([axis]), None if step == 1 else b.ints([step])
    )


def _bounds(start: Size | None, end: Size | None) -> tuple[Size, Size]:
    first = 0 if start is None else start
    last = _LAST if end is None else end
    return first, last


@rule("slice.Tensor")
def slice_tensor(
    b: Builder,
    x: ir.Value,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: int = 1,
) -> ir.Value:
    first, last = _bounds(start, end)
    length = shape_of(x)[dim]
    whole = isinstance(last, int) and (
        last == _LAST or (isinstance(length, int) and last >= length)
    )
    if first == 0 and whole and step == 1:
        return x
    return slice_axis(b, x, dim, first, last, step)


@rule("select.int")
def select(b: Builder, x: ir.Value, dim: int, index: Size) -> ir.Value:
    return b.Gather(x, b.scalar(index), axis=dim)


@rule("narrow")
def narrow(b: Builder, x: ir.Value, dim: int, start: Size, length: Size) -> ir.Value:
    return slice_axis(b, x, dim, start, b.plus(start, length))


@rule("select_scatter")
def select_scatter(b: Builder, x: ir.Value, src: ir.Value, dim: int, index: Size) -> ir.Value:
    rank = rank_of(x)
    dim %= rank
    src = b.Unsqueeze(b.cast(src, dtype_of(x)), [dim])
    length = b.size(x, dim)
    if isinstance(index, int):
        if isinstance(length, int) and not -length <= index < length:
            raise Unsupported(f"the index {index} is beyond an axis of {length} elements")
        if b.training is None:
            return _with_slice(b, x, src, dim, index, index + 1)
        if index < 0:
            index = b.plus(length, index)
    here = b.Equal(b.range(0, length), b.scalar(index))
    mask = b.reshape(here, [length if axis == dim else 1 for axis in range(rank)])
    return b.Where(mask, src, x)


def _with_slice(b: Builder, x: ir.Value, src: ir.Value, dim: int, first: int, end: int) -> ir.Value:
    """What is before a slice, another one, and what is behind it."""
    length = b.size(x, dim)
    if isinstance(length, int) and first < end > length:
        raise Unsupported(f"elements up to {end} are beyond an axis of {length} elements")
    before = [slice_axis(b, x, dim, 0, first)] if first else []
    after = [] if end in (0, length) else [slice_axis(b, x, dim, end, _LAST)]
    pieces = [*before, src, *after]
    joined = b.Concat(*pieces, axis=dim) if len(pieces) > 1 else src
    # Where x is shorter than the slice, others are made than it has, which is an error then.
    return joined if isinstance(length, int) else b.Reshape(joined, b.Shape(x), allowzero=1)


@rule("slice_scatter")
def slice_scatter(
    b: Builder,
    x: ir.Value,
    src: ir.Value,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: int = 1,
) -> ir.Value:
    first, last = _bounds(start, end)
    src = b.cast(src, dtype_of(x))
    length = b.size(x, dim)
    # What is written tells where it ends, so that ends beyond the last element need no care.
    if isinstance(first, int) and first < 0:
        first = b.plus(length, first)
    count = b.size(src, dim)
    if isinstance(first, int) and isinstance(count, int) and step == 1:
        return _with_slice(b, x, src, dim, first, first + count)
    positions = b.range(first, b.plus(first, b.times(count, step)), step)
    if dim % rank_of(x) == 0:
        return b.ScatterND(x, b.Unsqueeze(positions, [1]), src)
    order = list(range(rank_of(x)))
    order[0], order[dim] = order[dim], order[0]
    written = b.ScatterND(
        b.transpose(x, order), b.Unsqueeze(positions, [1]), b.transpose(src, order)
    )
    return b.transpose(written, order)


@rule("flip")
def flip(b: Builder, x: ir.Value, dims: Sequence[int]) -> ir.Value:
    if not dims or rank_of(x) == 0:
        return x
    count = len(dims)
    return b.Slice(x, [-1] * count, [-_LAST] * count, list(dims), [-1] * count)


@rule("roll")
def roll(b: Builder, x: ir.Value, shifts: Sequence[int], dims: Sequence[int] = ()) -> ir.Value:
    flat = not dims
    result = b.Reshape(x, [-1]) if flat else x
    for shift, dim in zip(static(shifts, "the shift"), dims or [0], strict=True):
        length = b.size(x, dim) if not flat else b.product(b.sizes(x))
        cut: Size  # where what comes first begins
        if isinstance(length, int):
            cut = -shift % length if length else 0
        else:  # it may be less than the shift
            cut = b.Mod(b.scalar(-shift), b.Max(length, 1)) if shift else 0
        if cut != 0:
            first = slice_axis(b, result, dim, cut, _LAST)
            result = b.Concat(first, slice_axis(b, result, dim, 0, cut), axis=dim)
    return b.reshape(result, b.sizes(x)) if flat else result


@rule("repeat")
def repeat(b: Builder, x: ir.Value, repeats: Sequence[Size]) -> ir.Value:
    new = len(repeats) - rank_of(x)
    if new:
        x = b.Unsqueeze(x, list(range(new)))
    return b.Tile(x, b.vector(repeats)) if repeats else x


class _Diagonal:
    """A diagonal of two axes, which become one behind the others."""

    def __init__(self, b: Builder, x: ir.Value, offset: int, dim1: int, dim2: int) -> None:
        shape = shape_of(x)
        rows, columns = static([shape[dim1], shape[dim2]], "the length of the diagonal's axes")
        first, second = (-offset, 0) if offset < 0 else (0, offset)
        count = max(0, min(rows - first, columns - second))
        self.positions = [(first + i) * columns + second + i for i in range(count)]
        turned, self.back = b.axes_last(x, dim1, dim2)
        chosen = (dim1 % len(shape), dim2 % len(shape))
        self.others = [b.size(x, i) for i in range(len(shape)) if i not in chosen]
        self.ends: list[Size] = [rows, columns]
        self.flat = b.reshape(turned, [*self.others, rows * columns])


@rule("diagonal")
def diagonal(b: Builder, x: ir.Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> ir.Value:
    found = _Diagonal(b, x, offset, dim1, dim2)
    return b.Gather(found.flat, found.positions, axis=len(found.others))


@rule("diagonal_scatter")
def diagonal_scatter(
    b: Builder, x: ir.Value, src: ir.Value, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> ir.Value:
    found = _Diagonal(b, x, offset, dim1, dim2)
    positions = b.Expand(b.ints(found.positions), b.Shape(src))
    written = b.ScatterElements(found.flat, positions, b.cast(src, dtype_of(x)), axis=-1)
    return b.transpose(b.reshape(written, [*found.others, *found.ends]), found.back)


@rule("unfold")
def unfold(b: Builder, x: ir.Value, dimension: int, size: int, step: int) -> ir.Value:
    if rank_of(x) == 0:
        return b.Slice(b.Reshape(x, [1]), [0], [size], [0])
    axis = dimension % rank_of(x)
    room = b.minus(b.size(x, axis), size)
    count: Size = (
        room // step + 1 if isinstance(room, int) else b.plus(b.Div(room, b.scalar(step)), 1)
    )
    starts = b.Mul(b.range(0, count), step)
    positions = b.Add(b.Unsqueeze(starts, [1]), b.ints(range(size)))
    gathered = b.Gather(x, positions, axis=axis)
    order = [i for i in range(rank_of(x) + 1) if i != axis + 1] + [axis + 1]
    return b.transpose(gathered, order)


@rule("as_strided")
def as_strided(
    b: Builder,
    x: ir.Value,
    size: Sequence[Size],
    stride: Sequence[Size],
    storage_offset: Size | None = None,
) -> ir.Value:
    fake = x.meta["torch"]
    lengths = static(size, "the shape")
    steps = static(stride, "the strides")
    offset = static([storage_offset or 0], "the offset")[0]
    if not fake.is_contiguous() or fake.storage_offset() != 0:
        raise Unsupported("strides of an array that is a view itself")
    positions = np.array(offset)
    for length, step in zip(lengths, steps, strict=True):
        positions = positions[..., None] + np.arange(length) * step
    return b.Gather(b.Reshape(x, [-1]), b.constant(positions, ir.DataType.INT64), axis=0)


@rule("copy")
def copy(b: Builder, x: ir.Value, src: ir.Value, *_: object) -> ir.Value:
    return b.expand(b.cast(src, dtype_of(x)), b.sizes(x))


@rule("tril")
def tril(b: Builder, x: ir.Value, diagonal: int = 0) -> ir.Value:
    return b.Trilu(x, b.scalar(diagonal), upper=0)


@rule("triu")
def triu(b: Builder, x: ir.Value, diagonal: int = 0) -> ir.Value:
    return b.Trilu(x, b.scalar(diagonal), upper=1)


@rule("pixel_shuffle")
def pixel_shuffle(b: Builder, x: ir.Value, upscale_factor: int) -> ir.Value:
    return _of_images(b, b.DepthToSpace, x, blocksize=upscale_factor, mode="CRD")


def _of_images(b: Builder, write: object, x: ir.Value, **attributes: object) -> ir.Value:
    """Makes an operator of images one of any number of axes before the last three."""
    assert callable(write)
    rank = rank_of(x)
    if rank == 4:
        result: ir.Value = write(x, **attributes)
        return result
    before = b.sizes(x)[:-3]
    images = b.reshape(x, [b.product(before), *b.sizes(x)[-3:]])
    after = [-1 if length is None else length for length in b.result_shape()[-3:]]
    return b.reshape(write(images, **attributes), [*before, *after])
