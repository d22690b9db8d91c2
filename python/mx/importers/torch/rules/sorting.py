"""What puts elements in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from .._builder import Builder, Size, dtype_of, rank_of
from .._rule import rule

_INT64 = ir.DataType.INT64


def _top(
    b: Builder, x: ir.Value, k: Size, dim: int, largest: bool, in_order: bool = True
) -> Sequence[ir.Value]:
    own = dtype_of(x)
    if rank_of(x) == 0:
        return x, b.constant(0, _INT64)
    if own == ir.DataType.BOOL:
        x = b.cast(x, ir.DataType.UINT8)
    values, indices = b.op(
        "TopK",
        x,
        b.vector([k]),
        axis=dim,
        largest=int(largest),
        sorted=int(in_order),
        outputs=2,
        dtype=[dtype_of(x), _INT64],
    )
    return b.cast(values, own), indices


@rule("topk")
def topk(
    b: Builder, x: ir.Value, k: Size, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Sequence[ir.Value]:
    return _top(b, x, k, dim, largest, sorted)


@rule("sort")
def sort(b: Builder, x: ir.Value, dim: int = -1, descending: bool = False) -> Sequence[ir.Value]:
    return _top(b, x, b.size(x, dim) if rank_of(x) else 1, dim, descending)


@rule("sort.stable")
def sort_stable(
    b: Builder,
    x: ir.Value,
    *,
    stable: bool | None = None,
    dim: int = -1,
    descending: bool = False,
) -> Sequence[ir.Value]:
    return sort(b, x, dim, descending)


@rule("argsort")
def argsort(b: Builder, x: ir.Value, dim: int = -1, descending: bool = False) -> ir.Value:
    return sort(b, x, dim, descending)[1]


@rule("argsort.stable")
def argsort_stable(
    b: Builder, x: ir.Value, *, stable: bool, dim: int = -1, descending: bool = False
) -> ir.Value:
    return sort(b, x, dim, descending)[1]


@rule("kthvalue")
def kthvalue(
    b: Builder, x: ir.Value, k: Size, dim: int = -1, keepdim: bool = False
) -> Sequence[ir.Value]:
    if rank_of(x) == 0:
        return x, b.constant(0, _INT64)
    position = b.vector([b.minus(k, 1)]) if keepdim else b.scalar(b.minus(k, 1))
    return [b.Gather(one, position, axis=dim) for one in _top(b, x, k, dim, False)]


@rule("median.dim")
def median(b: Builder, x: ir.Value, dim: int, keepdim: bool = False) -> Sequence[ir.Value]:
    if rank_of(x) == 0:
        return x, b.constant(0, _INT64)
    if not dtype_of(x).is_floating_point():
        length = b.size(x, dim)
        return kthvalue(b, x, _middle(b, length), dim, keepdim)
    return _median(b, x, dim, keepdim, with_nan=True)


@rule("nanmedian.dim")
def nanmedian(b: Builder, x: ir.Value, dim: int, keepdim: bool = False) -> Sequence[ir.Value]:
    if rank_of(x) == 0 or not dtype_of(x).is_floating_point():
        return median(b, x, dim, keepdim)
    return _median(b, x, dim, keepdim, with_nan=False)


def _middle(b: Builder, length: Size) -> Size:
    return (length + 1) // 2 if isinstance(length, int) else b.Div(b.plus(length, 1), 2)


def _median(b: Builder, x: ir.Value, dim: int, keepdim: bool, with_nan: bool) -> Sequence[ir.Value]:
    """The middle one of those that are numbers; the first NaN where there is one that counts, and
    where there is nothing else."""
    unknown = b.IsNaN(x)
    # In order NaN is behind all numbers.
    values, indices = _top(b, x, b.size(x, dim), dim, False)
    missing = b.ReduceSum(b.cast(unknown, _INT64), [dim], keepdims=1)
    numbers = b.Sub(b.scalar(b.size(x, dim)), missing)
    middle = b.Div(b.Sub(b.Max(numbers, 1), 1), 2)
    if with_nan:
        middle = b.Where(b.Greater(missing, 0), numbers, middle)
    axis = dim % rank_of(x)
    taken = [b.GatherElements(one, middle, axis=axis) for one in (values, indices)]
    return taken if keepdim else [b.Squeeze(one, [axis]) for one in taken]


@rule("median")
def median_of_all(b: Builder, x: ir.Value) -> ir.Value:
    return _of_all(b, x, median)


@rule("nanmedian")
def nanmedian_of_all(b: Builder, x: ir.Value) -> ir.Value:
    return _of_all(b, x, nanmedian)


def _of_all(b: Builder, x: ir.Value, of_axis: Callable[..., Sequence[ir.Value]]) -> ir.Value:
    if rank_of(x) == 0:
        return x
    length = b.product(b.sizes(x))
    flat = b.Reshape(x, [-1])
    flat.shape = ir.Shape([length if isinstance(length, int) else None])
    result = of_axis(b, flat, 0)[0]
    if b.training is None or not dtype_of(x).is_floating_point():
        return result
    # All that are equal to it share its gradient.
    same = b.Equal(flat, result)
    count = b.ReduceSum(b.cast(same, dtype_of(x)), keepdims=0)
    total = b.ReduceSum(b.Where(same, flat, b.constant(0, dtype_of(x))), keepdims=0)
    return b.Where(b.Greater(count, 0), b.Div(total, b.Max(count, 1)), result)
