"""Reductions, and running sums and products."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx_ir as ir

from .._builder import Builder, Number, Size, dtype_of, rank_of
from .._dtypes import FLOATS
from .._promotion import in_type_of, promoted
from .._rule import Unsupported, rule

_BOOL = ir.DataType.BOOL
_INT64 = ir.DataType.INT64
# What ONNX's sums, products and running ones are defined for.
_SUMS = FLOATS | {ir.DataType.INT32, _INT64, ir.DataType.UINT32, ir.DataType.UINT64}
_EXTREMES = _SUMS | {ir.DataType.INT8, ir.DataType.UINT8, _BOOL}

Axes = int | Sequence[int] | None


def _reduce(
    b: Builder, operator: str, x: ir.Value, dim: Axes = None, keepdim: bool = False
) -> ir.Value:
    """Reduces along axes, all of them if there are none given."""
    axes = [dim] if isinstance(dim, int) else list(dim or [])
    if rank_of(x) == 0:
        axes = []
    return b.op(operator, x, axes or None, keepdims=int(keepdim))[0]


@rule("sum", "sum.dim_IntList")
def total(
    b: Builder, x: ir.Value, dim: Axes = None, keepdim: bool = False, *, dtype: object = None
) -> ir.Value:
    x = b.cast(x, b.out)
    return in_type_of(b, lambda v: _reduce(b, "ReduceSum", v, dim, keepdim), _SUMS, _INT64, x)


@rule("mean", "mean.dim")
def mean(
    b: Builder, x: ir.Value, dim: Axes = None, keepdim: bool = False, *, dtype: object = None
) -> ir.Value:
    return _reduce(b, "ReduceMean", b.cast(x, b.out), dim, keepdim)


@rule("prod", "prod.dim_int")
def product(
    b: Builder, x: ir.Value, dim: Axes = None, keepdim: bool = False, *, dtype: object = None
) -> ir.Value:
    x = b.cast(x, b.out)
    return in_type_of(b, lambda v: _reduce(b, "ReduceProd", v, dim, keepdim), _SUMS, _INT64, x)


def _extreme(b: Builder, operator: str, x: ir.Value, dim: Axes, keepdim: bool) -> ir.Value:
    return in_type_of(b, lambda v: _reduce(b, operator, v, dim, keepdim), _EXTREMES, _INT64, x)


@rule("max")
def max_of_all(b: Builder, x: ir.Value) -> ir.Value:
    return amax(b, _some(b, x))


@rule("min")
def min_of_all(b: Builder, x: ir.Value) -> ir.Value:
    return amin(b, _some(b, x))


def _some(b: Builder, x: ir.Value) -> ir.Value:
    if 0 in b.sizes(x):
        raise Unsupported("there are no elements")
    return x


@rule("amax")
def amax(b: Builder, x: ir.Value, dim: Axes = None, keepdim: bool = False) -> ir.Value:
    return _extreme(b, "ReduceMax", x, dim, keepdim)


@rule("amin")
def amin(b: Builder, x: ir.Value, dim: Axes = None, keepdim: bool = False) -> ir.Value:
    return _extreme(b, "ReduceMin", x, dim, keepdim)


@rule("aminmax")
def aminmax(
    b: Builder, x: ir.Value, *, dim: int | None = None, keepdim: bool = False
) -> tuple[ir.Value, ir.Value]:
    return amin(b, x, dim, keepdim), amax(b, x, dim, keepdim)


@rule("max.dim")
def max_dim(b: Builder, x: ir.Value, dim: int, keepdim: bool = False) -> tuple[ir.Value, ir.Value]:
    return _extreme_at(b, amax, argmax, x, dim, keepdim)


@rule("min.dim")
def min_dim(b: Builder, x: ir.Value, dim: int, keepdim: bool = False) -> tuple[ir.Value, ir.Value]:
    return _extreme_at(b, amin, argmin, x, dim, keepdim)


def _extreme_at(
    b: Builder,
    extreme: Callable[..., ir.Value],
    position: Callable[..., ir.Value],
    x: ir.Value,
    dim: int,
    keepdim: bool,
) -> tuple[ir.Value, ir.Value]:
    if rank_of(x) and b.size(x, dim) == 0:
        raise Unsupported(f"the axis {dim} has no elements")
    if b.training is None or dtype_of(x) not in FLOATS or rank_of(x) == 0:
        return extreme(b, x, dim, keepdim), position(b, x, dim, keepdim)
    # Of equal elements that at the index has all of the gradient, where amax has them share it.
    # There are kernels for sums in training, and none for elements at indices.
    indices, axis = position(b, x, dim, True), dim % rank_of(x)
    every = b.range(0, b.size(x, axis))
    every = b.reshape(every, [-1 if n == axis else 1 for n in range(rank_of(x))])
    found = b.Where(b.Equal(every, indices), x, b.scalar(0, dtype_of(x)))
    found.shape = x.shape
    values = _reduce(b, "ReduceSum", found, dim, keepdim)
    return values, indices if keepdim else b.Squeeze(indices, [dim])


@rule("argmax")
def argmax(b: Builder, x: ir.Value, dim: int | None = None, keepdim: bool = False) -> ir.Value:
    return _arg(b, "ArgMax", x, dim, keepdim)


@rule("argmin")
def argmin(b: Builder, x: ir.Value, dim: int | None = None, keepdim: bool = False) -> ir.Value:
    return _arg(b, "ArgMin", x, dim, keepdim)


def _arg(b: Builder, operator: str, x: ir.Value, dim: int | None, keepdim: bool) -> ir.Value:
    rank = rank_of(x)
    if dtype_of(x) == _BOOL:
        x = b.cast(x, ir.DataType.UINT8)
    if rank == 0:
        return b.constant(0, _INT64)
    if dim is None:
        found = b.op(operator, b.Reshape(x, [-1]), axis=0, keepdims=0)[0]
        return b.Reshape(found, [1] * rank) if keepdim else found
    return b.op(operator, x, axis=dim, keepdims=int(keepdim))[0]


@rule("any", "any.dim", "any.dims")
def any_true(b: Builder, x: ir.Value, dim: Axes = None, keepdim: bool = False) -> ir.Value:
    return _reduce(b, "ReduceMax", b.cast(x, _BOOL), dim, keepdim)


@rule("all", "all.dim", "all.dims")
def all_true(b: Builder, x: ir.Value, dim: Axes = None, keepdim: bool = False) -> ir.Value:
    return _reduce(b, "ReduceMin", b.cast(x, _BOOL), dim, keepdim)


def _count(b: Builder, x: ir.Value, dim: Axes) -> Size:
    """How many elements are reduced to one."""
    axes = [dim] if isinstance(dim, int) else list(dim or range(rank_of(x)))
    return b.product(b.size(x, axis) for axis in axes) if rank_of(x) else 1


def variance(
    b: Builder, x: ir.Value, dim: Axes, correction: Number | None, keepdim: bool
) -> tuple[ir.Value, ir.Value]:
    """The variance, and the mean that it is about."""
    average = _reduce(b, "ReduceMean", x, dim, True)
    apart = b.Sub(x, average)
    squares = b.Mul(apart, apart)
    squares.shape = x.shape
    result = _reduce(b, "ReduceMean", squares, dim, keepdim)
    less = 1 if correction is None else correction
    if less:
        count = b.scalar(_count(b, x, dim), dtype_of(x))
        # As torch has it, no number where fewer elements are than the correction wants.
        result = b.Div(b.Mul(result, count), b.Max(b.Sub(count, less), 0))
    return result, average if keepdim else _reduce(b, "ReduceMean", x, dim, False)


@rule("var.correction")
def var(
    b: Builder,
    x: ir.Value,
    dim: Axes = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> ir.Value:
    return variance(b, x, dim, correction, keepdim)[0]


@rule("var.dim", "var")
def var_dim(
    b: Builder, x: ir.Value, dim: Axes = None, unbiased: bool = True, keepdim: bool = False
) -> ir.Value:
    return variance(b, x, dim, int(unbiased), keepdim)[0]


@rule("std.correction")
def std(
    b: Builder,
    x: ir.Value,
    dim: Axes = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> ir.Value:
    return _root(b, variance(b, x, dim, correction, keepdim)[0])


def _root(b: Builder, found: ir.Value) -> ir.Value:
    if b.training is None:
        return b.Sqrt(found)
    # Of equal elements there is no derivative, for which torch has 0.
    is_some = b.Greater(found, 0)
    roots = b.Sqrt(b.Where(is_some, found, b.scalar(1, dtype_of(found))))
    return b.Where(is_some, roots, found)


@rule("var_mean.correction")
def var_mean(
    b: Builder,
    x: ir.Value,
    dim: Axes = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> tuple[ir.Value, ir.Value]:
    return variance(b, x, dim, correction, keepdim)


@rule("std_mean.correction")
def std_mean(
    b: Builder,
    x: ir.Value,
    dim: Axes = None,
    *,
    correction: Number | None = None,
    keepdim: bool = False,
) -> tuple[ir.Value, ir.Value]:
    found, average = variance(b, x, dim, correction, keepdim)
    return _root(b, found), average


@rule("logsumexp")
def logsumexp(b: Builder, x: ir.Value, dim: Axes, keepdim: bool = False) -> ir.Value:
    return _reduce(b, "ReduceLogSumExp", b.cast(x, b.out), dim, keepdim)


@rule("linalg_vector_norm")
def vector_norm(
    b: Builder,
    x: ir.Value,
    ord: Number = 2,
    dim: Axes = None,
    keepdim: bool = False,
    *,
    dtype: object = None,
) -> ir.Value:
    x = b.cast(x, b.out)
    if ord in (1, 2):
        return _reduce(b, f"ReduceL{int(ord)}", x, dim, keepdim)
    shape = x.shape
    x = b.Abs(x) if ord != 0 else b.cast(b.Not(b.Equal(x, 0)), dtype_of(x))
    if abs(ord) not in (0, float("inf")):
        x = power_of_length(b, x, float(ord))
    x.shape = shape
    operator = {float("inf"): "ReduceMax", float("-inf"): "ReduceMin"}.get(ord, "ReduceSum")
    result = _reduce(b, operator, x, dim, keepdim)
    if operator != "ReduceSum" or ord == 0:
        return result
    return power_of_length(b, result, 1 / ord)


@rule("dist")
def dist(b: Builder, x: ir.Value, y: ir.Value, p: Number = 2) -> ir.Value:
    apart = b.Reshape(b.Sub(*promoted(b, x, y, dtype=b.out)), [-1])
    apart.shape = ir.Shape([None])
    return vector_norm(b, apart, p)


def power_of_length(b: Builder, x: ir.Value, exponent: float) -> ir.Value:
    """Pow of what is not negative, with the gradient 0 at 0, where torch's norms have it."""
    if b.training is None:
        return b.Pow(x, exponent)
    is_none = b.Equal(x, 0)
    powers = b.Pow(b.Where(is_none, b.scalar(1, dtype_of(x)), x), exponent)
    return b.Where(is_none, b.constant(0 if exponent > 0 else float("inf"), dtype_of(x)), powers)


@rule("cumsum")
def cumsum(b: Builder, x: ir.Value, dim: int, *, dtype: object = None) -> ir.Value:
    return _running(b, "CumSum", x, dim)


@rule("cumprod")
def cumprod(b: Builder, x: ir.Value, dim: int, *, dtype: object = None) -> ir.Value:
    return _running(b, "CumProd", x, dim)


def _running(b: Builder, operator: str, x: ir.Value, dim: int) -> ir.Value:
    x = b.cast(x, b.out)
    if rank_of(x) == 0:
        return x
    axis = b.constant(dim, _INT64)
    return in_type_of(b, lambda v: b.op(operator, v, axis)[0], _SUMS, _INT64, x)


@rule("count_nonzero", "count_nonzero.dim_IntList")
def count_nonzero(b: Builder, x: ir.Value, dim: Axes = None) -> ir.Value:
    found = b.cast(b.cast(x, _BOOL), _INT64)
    return _reduce(b, "ReduceSum", found, dim)
