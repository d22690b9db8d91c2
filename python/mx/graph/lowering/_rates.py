"""What products of matrices take by each backend: an estimate from their operations and bytes.

The rates are those of two threads of an AMD EPYC with AVX-512 (1 MiB of second cache each, 32 MiB
of third), oneDNN 3 and OpenBLAS 0.3, 2026-11-27: the least times of plans of a MatMul alone, of 1
to 1,024 rows with matrices of 64 x 64 to 4,096 x 4,096, in turns. They were within a factor of 1.5
of what was measured. Other processors have other rates; what backends are ordered by is how they
compare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ffi

if TYPE_CHECKING:
    from ._choice import Layer

_num_threads = ffi.get_global_func("mx.get_num_threads")

# A matrix of more elements does not stay in the second cache; rates are those of the third.
_FAR_WEIGHTS = 1 << 19
# Products of elements that are computed on one thread.
_FEW = 1 << 18
# Microseconds of a product of nothing. What BLAS takes less than that is lost again where nodes
# behind the product, which kernels of oneDNN compute with it, are steps of their own.
_CALL = 1.0


@dataclass(frozen=True)
class Rates:
    """What a backend takes for elements of one type."""

    operations: float  # multiplications and additions of a thread in a nanosecond
    # Nanoseconds for each element of the second matrix, to read it and to bring it to another
    # order: where it is a constant, where it is not, and where the first matrix is a row.
    constant: float
    given: float
    row: float


# By backend and element type.
RATES = {
    ("onednn", "float32"): Rates(250.0, 0.02, 0.09, 0.025),
    ("blas", "float32"): Rates(125.0, 0.19, 0.19, 0.03),
    ("mkl", "float32"): Rates(260.0, 0.19, 0.09, 0.03),
    ("blas", "float64"): Rates(64.0, 0.5, 0.5, 0.1),
}
# Nanoseconds for each element that an operator of mx reads and writes besides.
PASS = 0.2


@dataclass(frozen=True)
class Extents:
    """So many products of rows x terms and terms x columns elements."""

    dtype: str
    count: int
    rows: int
    columns: int
    terms: int
    is_constant: bool  # whether the second matrix is

    @property
    def size(self) -> int:
        """Elements of the result."""
        return self.count * self.rows * self.columns

    @property
    def is_far_row(self) -> bool:
        """Whether it is a row times a constant matrix that is read from memory."""
        is_row = self.rows == self.count == 1 and self.is_constant
        return is_row and self.columns * self.terms > _FAR_WEIGHTS

    def by(self, backend: str) -> float | None:
        """The microseconds that they take; None where the backend has no such type."""
        rates = RATES.get((backend, self.dtype))
        if rates is None:
            return None
        products = self.rows * self.columns * self.terms
        threads = _num_threads() if products > _FEW else 1
        read = rates.constant if self.is_constant else rates.given
        read = rates.row if self.rows == 1 else read
        each = 2 * products / (rates.operations * threads) + self.terms * self.columns * read
        return float(_CALL + self.count * each / 1e3)


def product_of(layer: Layer) -> Extents | None:
    """The products that a layer is; None where it is none that is looked at here."""
    found = _PRODUCTS.get(layer.operator)
    a, b, *_ = (*layer.inputs, None, None)
    return None if found is None or a is None or b is None else found(layer, a, b)


def products_by(backend: str) -> Callable[[Layer], float | None]:
    """The estimate of a backend for layers that are products."""

    def estimate(layer: Layer) -> float | None:
        extents = product_of(layer)
        return None if extents is None else extents.by(backend)

    return estimate


def _matmul(layer: Layer, a: Any, b: Any) -> Extents | None:
    if len(a.shape) < 2 or len(b.shape) < 2:
        return None
    rows, terms = a.shape[-2:]
    columns = b.shape[-1]
    if len(b.shape) == 2:
        return Extents(a.dtype, 1, _size(a.shape[:-1]), columns, terms, b.known is not None)
    count = max(_size(a.shape[:-2]), _size(b.shape[:-2]))
    return Extents(a.dtype, count, rows, columns, terms, b.known is not None)


def _gemm(layer: Layer, a: Any, b: Any) -> Extents | None:
    if len(a.shape) != 2 or len(b.shape) != 2:
        return None
    rows, terms = reversed(a.shape) if layer.attributes.get("transA") else a.shape
    columns = b.shape[0 if layer.attributes.get("transB") else 1]
    return Extents(a.dtype, 1, rows, columns, terms, b.known is not None)


def _convolution(layer: Layer, x: Any, weight: Any) -> Extents | None:
    """Of windows of one element: the matrix of the weights times that of each image."""
    given = layer.attributes
    several = (*weight.shape[2:], *(given.get("strides") or ()), given.get("group", 1))
    if any(extent != 1 for extent in several) or any(given.get("pads") or ()):
        return None
    channels, windows = x.shape[1], _size(x.shape[2:])
    # Images are in the order that kernels want where those around it are of the same backend.
    return Extents(x.dtype, x.shape[0], weight.shape[0], windows, channels, True)


_PRODUCTS = {"Conv": _convolution, "Gemm": _gemm, "MatMul": _matmul}


def _size(shape: Sequence[int]) -> int:
    return math.prod(shape)
