"""The MKL that another library has brought, as a backend: products of matrices of float32.

On a Xeon its large products take 0.93 to 0.97 of the time of oneDNN's and OpenBLAS's where nothing
has been packed before, 2026-11-28; where the second matrix is a constant, oneDNN packs it once.
"""

from __future__ import annotations

import ffi

from .._lowering import Lowering
from .._rates import products_by
from .._table import Backend
from .._value import Declined, Value
from ._backend import Product
from ._product import check_size

_is_there = ffi.get_global_func("mx.graph.has_mkl")

# Products of elements from which threads that are woken for them are worth it.
_LEAST = 1 << 22

MKL = Backend("mkl", is_narrow=True)
MKL.cost("Gemm", "MatMul")(products_by("mkl"))


def _check(a: Value, b: Value, flips_a: bool = False, flips_b: bool = False) -> None:
    """Declined for what it is not the fastest at."""
    if not _is_there():
        raise Declined("no MKL in the process, or no processor of Intel's")
    if a.known is not None or b.known is not None:
        raise Declined("a constant, which others pack once")
    if a.dtype != "float32" or len(a.shape) < 2 or len(b.shape) != 2:
        raise Declined("no product with one matrix of float32")
    if a.size * b.shape[-2 if flips_b else -1] < _LEAST:
        raise Declined("few elements")
    check_size(a, b, flips_a, flips_b)


@MKL.rule("MatMul")
def _matmul(to: Lowering, a: Value, b: Value) -> Value:
    _check(a, b)
    return Product(a, b, by_mkl=True).lower(to)


@MKL.rule("Gemm", since=7)
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
    _check(a, b, bool(transA), bool(transB))
    return Product(a, b, c, bool(transA), bool(transB), alpha, beta, by_mkl=True).lower(to)
