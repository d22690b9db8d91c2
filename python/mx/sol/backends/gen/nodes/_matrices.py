"""Matrices of any type of numbers, without vectors: products of those that are not of float32, and
determinants."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from .._types import FLOATS, type_of
from ._each import coordinates, each, position
from ._movement import Inputs, first

# No operator of ONNX: MatMul for deployments, which have nothing faster for these types.
PLAIN_PRODUCT = "MatMulPlain"


@emits(PLAIN_PRODUCT, since=0)
def _product(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    a, b = first(inputs), inputs[1]
    kind = type_of(a.dtype)
    if b is None or b.dtype != a.dtype or not (kind.is_integer or a.dtype == "float64"):
        raise Declined(f"a product of {a.dtype} and {None if b is None else b.dtype}")
    if not a.shape or not b.shape:
        raise Declined("a scalar among the factors")
    left = (1, *a.shape) if len(a.shape) == 1 else a.shape
    right = (*b.shape, 1) if len(b.shape) == 1 else b.shape
    if left[-1] != right[-2]:
        raise Declined(f"shapes {a.shape} and {b.shape} do not fit")
    batch = numpy.broadcast_shapes(left[:-2], right[:-2])
    rows, depth, columns = left[-2], left[-1], right[-1]
    shape = [*batch, *(rows,) * (len(a.shape) > 1), *(columns,) * (len(b.shape) > 1)]
    out = Spec(tuple(shape), a.dtype)
    # Integers wrap, which only those without a sign may do in C.
    wide = kind.value if kind.is_float else "uint64_t"
    return each(
        "product",
        [out],
        math.prod(batch) * rows,
        [
            f"const {kind.memory} *const a = (const {kind.memory} *)in[0]",
            f"    + ({_matrix(batch, left, rows)} * {rows} + row % {max(rows, 1)}) * {depth};",
            f"const {kind.memory} *const b = (const {kind.memory} *)in[1]",
            f"    + {_matrix(batch, right, rows)} * {depth * columns};",
            f"{kind.memory} *const y = ({kind.memory} *)out[0] + row * {columns};",
            f"for (int64_t j = 0; j < {columns}; ++j) {{",
            f"  {wide} sum = 0;",
            f"  for (int64_t k = 0; k < {depth}; ++k)",
            f"    sum += ({wide})a[k] * ({wide})b[k * {columns} + j];",
            f"  y[j] = ({kind.memory})sum;",
            "}",
        ],
        index="row",
        size=max(depth * columns, 1),
    )


def _matrix(batch: tuple[int, ...], shape: tuple[int, ...], rows: int) -> str:
    """The number of the matrix of a factor that goes into a row of the result."""
    ahead = len(batch) - len(shape[:-2])
    at = coordinates(f"row / {max(rows, 1)}", batch)[ahead:]
    own = ["0" if extent == 1 else one for one, extent in zip(at, shape[:-2], strict=True)]
    return f"({position(own, shape[:-2])})"


@emits("Det")
def _determinant(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    """By elimination with the largest pivot of each column, in double precision."""
    x = first(inputs)
    if x.dtype not in FLOATS or len(x.shape) < 2 or x.shape[-1] != x.shape[-2]:
        raise Declined(f"the determinant of {x.dtype} {list(x.shape)}")
    kind, n = type_of(x.dtype), x.shape[-1]
    element = kind.load(f"((const {kind.memory} *)in[0])[i * {n * n} + j]")
    return each(
        "determinant",
        [Spec(x.shape[:-2], x.dtype)],
        math.prod(x.shape[:-2]),
        [
            "double *const a = work;",
            f"for (int64_t j = 0; j < {n * n}; ++j) a[j] = (double){element};",
            "double product = 1;",
            f"for (int64_t k = 0; k < {n}; ++k) {{",
            "  int64_t top = k;",
            f"  for (int64_t r = k + 1; r < {n}; ++r)",
            f"    if (fabs(a[r * {n} + k]) > fabs(a[top * {n} + k])) top = r;",
            "  if (top != k) {",
            "    product = -product;",
            f"    for (int64_t c = k; c < {n}; ++c) {{",
            f"      const double other = a[k * {n} + c];",
            f"      a[k * {n} + c] = a[top * {n} + c];",
            f"      a[top * {n} + c] = other;",
            "    }",
            "  }",
            f"  const double pivot = a[k * {n} + k];",
            "  product *= pivot;",
            "  if (pivot == 0) break;",
            f"  for (int64_t r = k + 1; r < {n}; ++r) {{",
            f"    const double factor = a[r * {n} + k] / pivot;",
            f"    for (int64_t c = k + 1; c < {n}; ++c) a[r * {n} + c] -= factor * a[k * {n} + c];",
            "  }",
            "}",
            f"(({kind.memory} *)out[0])[i] = {kind.store(f'({kind.value})product')};",
        ],
        size=n**3,
        workspace=-(-max(n * n, 1) * 8 // 64) * 64,
    )
