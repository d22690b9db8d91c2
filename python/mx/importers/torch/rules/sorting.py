"""What puts elements in order."""

from __future__ import annotations

from collections.abc import Sequence

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
    length = b.size(x, dim)
    middle = (length + 1) // 2 if isinstance(length, int) else b.Div(b.plus(length, 1), 2)
    return kthvalue(b, x, middle, dim, keepdim)


@rule("median")
def median_of_all(b: Builder, x: ir.Value) -> ir.Value:
    if rank_of(x) == 0:
        return x
    length = b.product(b.sizes(x))
    middle = (length + 1) // 2 if isinstance(length, int) else b.Div(b.plus(length, 1), 2)
    flat = b.Reshape(x, [-1])
    flat.shape = ir.Shape([length if isinstance(length, int) else None])
    return kthvalue(b, flat, middle, 0)[0]
