"""Products of matrices."""

from __future__ import annotations

import ffi

from .._lowering import Lowering
from .._rates import Extents, products_by
from .._small_product import small_product
from .._value import Declined, Value
from ._backend import BLAS, Product, rule

_is_thin = ffi.get_global_func("mx.graph.training.thin_product")

# Up to so many products of elements, loops take less time than a call of BLAS.
_FEW = 64

BLAS.cost("Conv", "Gemm", "MatMul")(products_by("blas"))


def check_size(a: Value, b: Value, flips_a: bool, flips_b: bool) -> None:
    """Declined for what the operators of mx compute without BLAS."""
    if len(a.shape) < 2 or len(b.shape) < 2:
        return
    rows, terms = a.shape[-2:][:: -1 if flips_a else 1]
    columns = b.shape[-2 if flips_b else -1]
    if rows * columns * terms <= _FEW and terms:
        raise Declined("left to the operators of mx: few elements")
    if len(a.shape) == 2 == len(b.shape) and terms == 1:
        raise Declined("left to the operators of mx: a column times a row")
    if a.dtype == "float32" and not flips_b and _is_thin(rows, columns, terms):
        raise Declined("left to the operators of mx: few terms")


@rule("MatMul")
def _matmul(to: Lowering, a: Value, b: Value) -> Value:
    check_size(a, b, False, False)
    return Product(a, b).lower(to)


@rule("Gemm", since=7)
def _gemm(
    to: Lowering,
    a: Value,
    b: Value,
    c: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Value:
    if small_product(to, a, b, c, alpha, beta, bool(transA), bool(transB)) is not None:
        raise Declined("left to the operators of mx: a few rows and a small matrix")
    check_size(a, b, bool(transA), bool(transB))
    turns_b = bool(transB)
    if turns_b and b.known is not None and _is_far_row(a, b, bool(transA)):
        b, turns_b = to.constant(b.known.turned()), False
    return Product(a, b, c, bool(transA), turns_b, alpha, beta).lower(to)


def _is_far_row(a: Value, b: Value, turns_a: bool) -> bool:
    """Whether a row is multiplied by a matrix that is read from memory: its rows are added up in
    0.8 of the time in which products of them are, and so from large pages."""
    if len(a.shape) != 2 or len(b.shape) != 2 or a.dtype != "float32":
        return False
    rows, terms = a.shape[:: -1 if turns_a else 1]
    return Extents(a.dtype, 1, rows, b.size // max(1, terms), terms, True).is_far_row
