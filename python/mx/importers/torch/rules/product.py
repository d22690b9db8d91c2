"""Products of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from .._builder import Builder, Number, dtype_of, rank_of
from .._dtypes import FLOATS
from .._promotion import in_type_of
from .._rule import Unsupported, rule
from .reduction import power_of_length

_PRODUCTS = FLOATS | {ir.DataType.INT32, ir.DataType.INT64, ir.DataType.UINT32, ir.DataType.UINT64}


@rule("mm", "bmm", "matmul", "mv", "dot", "vdot")
def matmul(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    return in_type_of(b, b.MatMul, _PRODUCTS, ir.DataType.INT64, x, y)


@rule("linear")
def linear(b: Builder, x: ir.Value, weight: ir.Value, bias: ir.Value | None = None) -> ir.Value:
    if rank_of(x) == 2 and rank_of(weight) == 2 and dtype_of(x) in FLOATS:
        return b.Gemm(x, weight, bias, transB=1)
    turned = b.Transpose(weight, perm=[1, 0]) if rank_of(weight) == 2 else weight
    product = matmul(b, x, turned)
    return product if bias is None else b.Add(product, bias)


@rule("addmm")
def addmm(
    b: Builder, bias: ir.Value, x: ir.Value, y: ir.Value, *, beta: Number = 1, alpha: Number = 1
) -> ir.Value:
    if dtype_of(x) in FLOATS:
        return b.Gemm(x, y, bias, beta=float(beta), alpha=float(alpha))
    return _scaled_sum(b, bias, matmul(b, x, y), beta, alpha)


@rule("baddbmm", "addmv")
def baddbmm(
    b: Builder, bias: ir.Value, x: ir.Value, y: ir.Value, *, beta: Number = 1, alpha: Number = 1
) -> ir.Value:
    return _scaled_sum(b, bias, matmul(b, x, y), beta, alpha)


@rule("addbmm")
def addbmm(
    b: Builder, bias: ir.Value, x: ir.Value, y: ir.Value, *, beta: Number = 1, alpha: Number = 1
) -> ir.Value:
    total = b.ReduceSum(matmul(b, x, y), [0], keepdims=0)
    return _scaled_sum(b, bias, total, beta, alpha)


def _scaled_sum(
    b: Builder, bias: ir.Value, product: ir.Value, beta: Number, alpha: Number
) -> ir.Value:
    product = product if alpha == 1 else b.Mul(product, alpha)
    if beta == 0:
        return b.Expand(product, b.Shape(product))
    return b.Add(product, bias if beta == 1 else b.Mul(bias, beta))


@rule("einsum")
def einsum(
    b: Builder, equation: str, operands: Sequence[ir.Value], path: Sequence[int] | None = None
) -> ir.Value:
    """One node, from which passes write products with the axes that are matrices."""

    def sums(*values: ir.Value) -> ir.Value:
        return b.Einsum(*values, equation=equation.replace(" ", ""))

    return in_type_of(b, sums, _PRODUCTS, ir.DataType.INT64, *operands)


@rule("_cdist_forward")
def cdist(
    b: Builder, x: ir.Value, y: ir.Value, p: float, compute_mode: int | None = None
) -> ir.Value:
    apart = b.Abs(b.Sub(b.Unsqueeze(x, [-2]), b.Unsqueeze(y, [-3])))
    # The largest of no coordinates is 0, as their sum is.
    return _norm(b, apart, 1 if b.size(x, -1) == 0 else p)


def _norm(b: Builder, apart: ir.Value, p: float) -> ir.Value:
    """The p-norm along the last axis of what is not negative."""
    if p == float("inf"):
        return b.ReduceMax(apart, [-1], keepdims=0)
    if p == 0:
        return b.ReduceSum(b.cast(b.Greater(apart, 0), dtype_of(apart)), [-1], keepdims=0)
    if p in (1, 2):
        return b.op(f"ReduceL{int(p)}", apart, b.ints([-1]), keepdims=0)[0]
    sums = b.ReduceSum(power_of_length(b, apart, p), [-1], keepdims=0)
    return power_of_length(b, sums, 1 / p)


@rule("_pdist_forward")
def pdist(b: Builder, x: ir.Value, p: float = 2.0) -> ir.Value:
    rows = b.size(x, 0)
    if not isinstance(rows, int):
        raise Unsupported("the number of rows is not known before the model runs")
    pairs = [(i, j) for i in range(rows) for j in range(i + 1, rows)]
    if not pairs:
        return b.full([0], 0, dtype_of(x))
    first, second = (b.Gather(x, [pair[side] for pair in pairs], axis=0) for side in (0, 1))
    return _norm(b, b.Abs(b.Sub(first, second)), p)


@rule("_trilinear")
def trilinear(
    b: Builder,
    x: ir.Value,
    y: ir.Value,
    z: ir.Value,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> ir.Value:
    operands = [
        b.Unsqueeze(one, sorted(axes)) if axes else one
        for one, axes in ((x, expand1), (y, expand2), (z, expand3))
    ]
    return b.ReduceSum(
        b.Mul(b.Mul(operands[0], operands[1]), operands[2]), list(sumdim), keepdims=0
    )


@rule("_linalg_det")
def determinant(b: Builder, x: ir.Value) -> tuple[ir.Value]:
    return (b.Det(x),)
