"""Elements by their index: gathers, scatters, masks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from ..._training import DOMAIN
from .._builder import Builder, Number, Size, dtype_of, rank_of, shape_of
from .._dtypes import FLOATS
from .._promotion import promoted
from .._rule import Unsupported, rule
from .binary import floor_divided

_BOOL = ir.DataType.BOOL
_INT64 = ir.DataType.INT64


@rule("embedding")
def embedding(
    b: Builder,
    weight: ir.Value,
    indices: ir.Value,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> ir.Value:
    if b.training is None:
        return b.Gather(weight, indices)
    if scale_grad_by_freq:
        raise Unsupported("scale_grad_by_freq=True in training")
    rows = b.Gather(weight, indices)
    if padding_idx < 0:
        return rows
    padded = b.Unsqueeze(b.Equal(indices, padding_idx), [-1])
    return b.Where(padded, b.op("StopGradient", rows, domain=DOMAIN)[0], rows)


@rule("index_select")
def index_select(b: Builder, x: ir.Value, dim: int, index: ir.Value) -> ir.Value:
    if rank_of(x) == 0:
        return x
    return b.Gather(x, index if rank_of(index) else b.Reshape(index, [1]), axis=dim)


@rule("gather")
def gather(
    b: Builder, x: ir.Value, dim: int, index: ir.Value, *, sparse_grad: bool = False
) -> ir.Value:
    index = b.cast(index, _INT64)
    if rank_of(x) == 0:
        return b.expand(x, b.sizes(index))
    if rank_of(index) == 0:
        return b.Reshape(b.GatherElements(x, b.Reshape(index, [1]), axis=0), b.ints([]))
    if rank_of(index) != rank_of(x):
        # As torch allows where nothing is taken.
        return b.full(b.sizes(index), 0, dtype_of(x))
    along = dim % rank_of(x)
    # torch reads as far along the other axes as there are indices.
    shorter = [
        axis
        for axis, (own, wanted) in enumerate(zip(shape_of(x), shape_of(index), strict=True))
        if axis != along and own != wanted
    ]
    if shorter:
        ends = b.vector([b.size(index, axis) for axis in shorter])
        x = b.Slice(x, [0] * len(shorter), ends, shorter)
    return b.GatherElements(x, index, axis=along)


class _Indices:
    """Index arrays of some axes, one after another, and what is left of the others."""

    def __init__(self, b: Builder, x: ir.Value, indices: Sequence[ir.Value | None]) -> None:
        given: list[tuple[int, ir.Value, int]] = []
        axis = 0
        self.ranks: list[int] = []
        for index in indices:
            if index is None:
                axis += 1
            elif dtype_of(index) in (_BOOL, ir.DataType.UINT8):
                count = rank_of(index)
                found = b.NonZero(b.cast(index, _BOOL))
                for i in range(count):
                    given.append((axis, b.Gather(found, b.constant(i, _INT64), axis=0), 1))
                    axis += 1
            else:
                given.append((axis, b.cast(index, _INT64), rank_of(index)))
                axis += 1
        self.axes = [axis for axis, _, _ in given]
        self.values = [value for _, value, _ in given]
        # The rank of the indices broadcast together.
        self.rank = max((rank for _, _, rank in given), default=0)
        rest = [axis for axis in range(rank_of(x)) if axis not in self.axes]
        self.order = self.axes + rest
        # torch leaves what is indexed where it is if the axes are neighbours, else it comes first.
        adjacent = self.axes == list(range(self.axes[0], self.axes[0] + len(self.axes)))
        self.first = self.axes[0] if adjacent else 0

    def positions(self, b: Builder) -> ir.Value:
        """The indices as GatherND and ScatterND take them: the last axis has one of each."""
        values = self.values
        shapes = [None if value.shape is None else list(value.shape) for value in values]
        if len(values) > 1 and (shapes[0] is None or any(shape != shapes[0] for shape in shapes)):
            shape = b.Shape(values[0])
            for value in values[1:]:
                shape = _broadcast_shape(b, shape, b.Shape(value))
            values = [b.Expand(value, shape) for value in values]
        columns = [b.Unsqueeze(value, [-1]) for value in values]
        return columns[0] if len(columns) == 1 else b.Concat(*columns, axis=-1)

    def moved(self, rank: int) -> list[int]:
        """The order of axes that moves those of the indices from the front to where they belong."""
        rest = list(range(self.rank, rank))
        return rest[: self.first] + list(range(self.rank)) + rest[self.first :]


def _broadcast_shape(b: Builder, one: ir.Value, other: ir.Value) -> ir.Value:
    """The shape that two shapes broadcast to."""
    kind = b.constant(False, _BOOL)
    return b.Shape(b.Or(b.Expand(kind, one), b.Expand(kind, other)))


@rule("index.Tensor", "_unsafe_index.Tensor")
def index(b: Builder, x: ir.Value, indices: Sequence[ir.Value | None]) -> ir.Value:
    if all(one is None for one in indices):
        return x
    taken = _Indices(b, x, indices)
    if len(taken.axes) == 1:
        return b.Gather(x, taken.values[0], axis=taken.axes[0])
    gathered = b.GatherND(b.transpose(x, taken.order), taken.positions(b))
    rank = taken.rank + rank_of(x) - len(taken.axes)
    return b.transpose(gathered, taken.moved(rank))


@rule("index_put", "_unsafe_index_put")
def index_put(
    b: Builder,
    x: ir.Value,
    indices: Sequence[ir.Value | None],
    values: ir.Value,
    accumulate: bool = False,
    unsafe: bool = False,
) -> ir.Value:
    values = b.cast(values, dtype_of(x))
    given = [one for one in indices if one is not None]
    if not given:
        return b.Add(x, values) if accumulate else b.expand(values, b.sizes(x))
    if len(given) == 1 and dtype_of(given[0]) == _BOOL and rank_of(values) == 0:
        before = next(i for i, one in enumerate(indices) if one is not None)
        after = rank_of(x) - before - rank_of(given[0])
        mask = given[0]
        if after:
            mask = b.Unsqueeze(mask, list(range(rank_of(mask), rank_of(mask) + after)))
        return b.Where(mask, b.Add(x, values) if accumulate else values, x)
    taken = _Indices(b, x, indices)
    rank = taken.rank + rank_of(x) - len(taken.axes)
    positions, base = taken.positions(b), b.transpose(x, taken.order)
    # The shape of what is written, first as torch has it, which is what values broadcast to.
    moved = taken.moved(rank)
    rest = [b.size(x, axis) for axis in taken.order[len(taken.axes) :]]
    of_indices = b.Shape(positions, end=-1)
    shape = b.Concat(of_indices, b.vector(rest), axis=0) if rest else of_indices
    if moved != sorted(moved):
        shape = b.Gather(shape, moved)
    back = sorted(range(rank), key=moved.__getitem__)
    written = b.transpose(b.Expand(values, shape), back)
    result = b.ScatterND(base, positions, written, reduction="add" if accumulate else None)
    return b.transpose(result, sorted(range(rank_of(x)), key=taken.order.__getitem__))


def _scatter(
    b: Builder, x: ir.Value, dim: int, index: ir.Value, src: ir.Value, reduction: str | None
) -> ir.Value:
    index = b.cast(index, _INT64)
    if rank_of(x) == 0:
        scattered = b.ScatterElements(
            b.Reshape(x, [1]), b.Reshape(index, [1]), b.Reshape(src, [1]), reduction=reduction
        )
        return b.Reshape(scattered, b.ints([]))
    if rank_of(index) == 0:
        index, src = b.Reshape(index, [1]), b.Reshape(src, [1])
    elif src.shape is not None and list(src.shape) != list(shape_of(index)):
        # torch reads as much of the source as there are indices.
        rank = rank_of(index)
        src = b.Slice(src, [0] * rank, b.Shape(index), list(range(rank)))
    return b.ScatterElements(
        x, index, b.cast(src, dtype_of(x)), axis=dim % rank_of(x), reduction=reduction
    )


@rule("scatter.src")
def scatter(b: Builder, x: ir.Value, dim: int, index: ir.Value, src: ir.Value) -> ir.Value:
    return _scatter(b, x, dim, index, src, None)


@rule("scatter.value")
def scatter_value(b: Builder, x: ir.Value, dim: int, index: ir.Value, value: Number) -> ir.Value:
    filled = b.Expand(b.cast(value, dtype_of(x)), b.Shape(index))
    filled.shape = index.shape
    return _scatter(b, x, dim, index, filled, None)


@rule("scatter.reduce")
def scatter_reduced(
    b: Builder, x: ir.Value, dim: int, index: ir.Value, src: ir.Value, *, reduce: str
) -> ir.Value:
    return _scatter(b, x, dim, index, src, {"add": "add", "multiply": "mul"}[reduce])


@rule("scatter.value_reduce")
def scatter_value_reduced(
    b: Builder, x: ir.Value, dim: int, index: ir.Value, value: Number, *, reduce: str
) -> ir.Value:
    filled = b.Expand(b.cast(value, dtype_of(x)), b.Shape(index))
    filled.shape = index.shape
    return scatter_reduced(b, x, dim, index, filled, reduce=reduce)


@rule("scatter_add")
def scatter_add(b: Builder, x: ir.Value, dim: int, index: ir.Value, src: ir.Value) -> ir.Value:
    return _scatter(b, x, dim, index, src, "add")


_REDUCTIONS = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}


def _neutral(x: ir.Value, reduce: str) -> Number:
    """What a reduction begins with that leaves out what was there."""
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    sign = -1 if reduce == "amax" else 1
    if dtype_of(x) in FLOATS:
        return sign * float("inf")
    if dtype_of(x) == _BOOL:
        return sign > 0
    limits = np.iinfo(dtype_of(x).numpy())
    return int(limits.min if sign < 0 else limits.max)


@rule("scatter_reduce.two")
def scatter_reduce(
    b: Builder,
    x: ir.Value,
    dim: int,
    index: ir.Value,
    src: ir.Value,
    reduce: str,
    *,
    include_self: bool = True,
) -> ir.Value:
    mean = reduce == "mean"
    if not include_self:
        x = scatter_value(b, x, dim, index, _neutral(x, reduce))
    x.shape = ir.Shape(b.result_shape())
    result = _scatter(b, x, dim, index, src, "add" if mean else _REDUCTIONS[reduce])
    if not mean:
        return result
    one = b.constant(1, dtype_of(x))
    counts = b.Expand(one if include_self else b.constant(0, dtype_of(x)), b.Shape(x))
    counts.shape = x.shape
    ones = b.Expand(one, b.Shape(index))
    ones.shape = index.shape
    counts = b.Max(_scatter(b, counts, dim, index, ones, "add"), 1)
    if dtype_of(x) in (ir.DataType.INT32, _INT64):
        return floor_divided(b, result, counts)
    return b.Div(result, counts)


@rule("index_reduce")
def index_reduce(
    b: Builder,
    x: ir.Value,
    dim: int,
    index: ir.Value,
    source: ir.Value,
    reduce: str,
    *,
    include_self: bool = True,
) -> ir.Value:
    rank = rank_of(x)
    shape = [-1 if axis == dim % rank else 1 for axis in range(rank)] or [1]
    index = b.Expand(b.Reshape(index, shape), b.Shape(source) if rank else [1])
    index.shape = source.shape if rank else ir.Shape([1])
    return scatter_reduce(b, x, dim, index, source, reduce, include_self=include_self)


@rule("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_fill(
    b: Builder, x: ir.Value, dim: int, index: ir.Value, value: ir.Value | Number
) -> ir.Value:
    # By a mask, so that a value has the gradient of each element once.
    rank = rank_of(x)
    length = b.size(x, dim) if rank else 1
    flat = b.Reshape(b.cast(index, _INT64), [-1])
    true = b.Expand(b.constant(True, _BOOL), b.Shape(flat))
    mask = b.ScatterElements(b.full([length], False, _BOOL), flat, true, axis=0)
    mask = b.Reshape(mask, [-1 if axis == dim % rank else 1 for axis in range(rank)] or b.ints([]))
    return b.Where(mask, b.cast(value, dtype_of(x)), x)


@rule("put")
def put(
    b: Builder, x: ir.Value, index: ir.Value, source: ir.Value, accumulate: bool = False
) -> ir.Value:
    flat = [b.Reshape(one, [-1]) for one in (x, b.cast(index, _INT64), source)]
    written = b.ScatterElements(*flat, axis=0, reduction="add" if accumulate else None)
    return b.reshape(written, b.sizes(x)) if rank_of(x) else b.Reshape(written, b.ints([]))


@rule("unique_consecutive")
def unique_consecutive(
    b: Builder,
    x: ir.Value,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> tuple[ir.Value, ir.Value, ir.Value]:
    if dim is not None and rank_of(x) > 1:
        raise Unsupported("dim of an array with several axes")
    flat = b.Reshape(x, [-1])
    differs = b.Not(b.Equal(b.Slice(flat, [1], [2**62], [0]), b.Slice(flat, [0], [-1], [0])))
    size = b.vector([b.product(b.sizes(x))])
    first = b.Expand(b.constant(True, _BOOL), b.Min(size, 1))
    first = b.Concat(first, differs, axis=0)
    inverse = b.Sub(b.CumSum(b.cast(first, _INT64), b.constant(0, _INT64)), 1)
    starts = b.Reshape(b.NonZero(first), [-1])
    ends = b.Concat(b.Slice(starts, [1], [2**62], [0]), size, axis=0)
    counts = b.Sub(b.Slice(ends, [0], b.Shape(starts), [0]), starts)
    return b.Compress(flat, first), b.Reshape(inverse, b.Shape(x)), counts


@rule("nonzero")
def nonzero(b: Builder, x: ir.Value) -> ir.Value:
    if rank_of(x) == 0:
        raise Unsupported("the nonzero elements of a 0-d array")
    return b.Transpose(b.NonZero(x), perm=[1, 0])


@rule("masked_select")
def masked_select(b: Builder, x: ir.Value, mask: ir.Value) -> ir.Value:
    shape = _broadcast_shape(b, b.Shape(x), b.Shape(mask))
    flat = [b.Reshape(b.Expand(one, shape), [-1]) for one in (x, mask)]
    return b.Compress(*flat)


@rule("masked_scatter")
def masked_scatter(b: Builder, x: ir.Value, mask: ir.Value, source: ir.Value) -> ir.Value:
    x = b.Expand(x, b.Shape(mask))
    mask = b.Expand(mask, b.Shape(x))
    # Where the mask is true the n-th time, the n-th element of the source goes.
    number = b.CumSum(b.cast(b.Reshape(mask, [-1]), _INT64), b.constant(0, _INT64))
    number = b.Max(b.Sub(number, 1), 0)
    flat = b.Reshape(source, [-1])
    chosen = b.Reshape(b.Gather(flat, number), b.Shape(x))
    return b.Where(mask, chosen, x)


@rule("one_hot")
def one_hot(b: Builder, x: ir.Value, num_classes: Size = -1) -> ir.Value:
    if num_classes == -1:
        raise Unsupported("num_classes has to be given")
    if rank_of(x) == 0:  # which OneHot does not take
        made = b.OneHot(b.Reshape(x, [1]), b.scalar(num_classes), b.ints([0, 1]))
        return b.Reshape(made, [num_classes])
    return b.OneHot(x, b.scalar(num_classes), b.ints([0, 1]))


@rule("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(
    b: Builder,
    weight: ir.Value,
    indices: ir.Value,
    offsets: ir.Value,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: ir.Value | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[ir.Value]:
    if padding_idx >= 0:
        raise Unsupported("padding_idx")
    if scale_grad_by_freq and b.training is not None:
        raise Unsupported("scale_grad_by_freq=True in training")
    rows = b.Gather(weight, indices)
    if per_sample_weights is not None:
        rows = b.Mul(rows, b.Unsqueeze(per_sample_weights, [1]))
    offsets = b.cast(offsets, _INT64)
    # The bag of an index is the number of offsets up to it, less one.
    positions = b.range(0, b.size(indices, 0))
    reached = b.LessOrEqual(b.Unsqueeze(offsets, [0]), b.Unsqueeze(positions, [1]))
    bag = b.Sub(b.ReduceSum(b.cast(reached, _INT64), [1], keepdims=1), 1)
    count = b.size(offsets, 0)
    bags = b.minus(count, 1) if include_last_offset else count
    width = b.size(weight, 1)
    sums = b.full([bags, width], 0, dtype_of(weight))
    if mode == 2:
        low = b.full([bags, width], float("-inf"), dtype_of(weight))
        highest = b.ScatterND(low, bag, rows, reduction="max")
        return (b.Where(b.IsInf(highest), sums, highest),)
    sums = b.ScatterND(sums, bag, rows, reduction="add")
    if mode == 0:
        return (sums,)
    ones = b.Expand(b.constant(1, dtype_of(weight)), b.Shape(indices))
    counts = b.ScatterND(b.full([bags], 0, dtype_of(weight)), bag, ones, reduction="add")
    return (b.Div(sums, b.Unsqueeze(b.Max(counts, 1), [1])),)


@rule("bucketize.Tensor")
def bucketize(
    b: Builder, x: ir.Value, boundaries: ir.Value, *, out_int32: bool = False, right: bool = False
) -> ir.Value:
    x, boundaries = promoted(b, x, boundaries)
    return _passed(b, x, _without_nan(b, boundaries), right)


def _without_nan(b: Builder, boundaries: ir.Value) -> ir.Value:
    """The last number instead of NaN, which is behind it: what is after that is after NaN, too."""
    if dtype_of(boundaries) not in FLOATS or shape_of(boundaries)[-1] == 0:
        return boundaries
    unknown = b.IsNaN(boundaries)
    least = b.constant(float("-inf"), dtype_of(boundaries))
    last = b.ReduceMax(b.Where(unknown, least, boundaries), [-1], keepdims=1)
    return b.Where(unknown, last, boundaries)


def _passed(b: Builder, x: ir.Value, boundaries: ir.Value, right: bool) -> ir.Value:
    """How many boundaries are before each element, those equal to it too where `right` is true.

    NaN is after all of them, as torch's are in order.
    """
    operator = "Greater" if right else "GreaterOrEqual"
    passed = b.Not(b.op(operator, boundaries, b.Unsqueeze(x, [-1]))[0])
    return b.ReduceSum(b.cast(passed, _INT64), [-1], keepdims=0)


@rule("searchsorted.Tensor")
def searchsorted(
    b: Builder,
    boundaries: ir.Value,
    x: ir.Value,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: ir.Value | None = None,
) -> ir.Value:
    if sorter is not None:
        raise Unsupported("sorter")
    rank = rank_of(boundaries)
    x, boundaries = promoted(b, x, boundaries)
    boundaries = _without_nan(b, boundaries)
    return _passed(
        b, x, b.Unsqueeze(boundaries, [-2]) if rank > 1 else boundaries, right or side == "right"
    )


@rule("_unique2")
def unique(
    b: Builder,
    x: ir.Value,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[ir.Value, ir.Value, ir.Value]:
    values, _, inverse, counts = b.op(
        "Unique", x, sorted=1, outputs=4, dtype=[dtype_of(x), _INT64, _INT64, _INT64]
    )
    return values, b.Reshape(inverse, b.Shape(x)), counts


@rule("unique_dim")
def unique_dim(
    b: Builder,
    x: ir.Value,
    dim: int,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[ir.Value, ir.Value, ir.Value]:
    values, _, inverse, counts = b.op(
        "Unique", x, sorted=1, axis=dim, outputs=4, dtype=[dtype_of(x), _INT64, _INT64, _INT64]
    )
    return values, inverse, counts
