"""Products of matrices."""

from __future__ import annotations

import ffi

from .... import numpy as np
from .._choice import Layer
from .._lowering import Lowering
from .._rates import PASS, product_of
from .._small_product import small_product
from .._value import Declined, Value
from ._backend import OPERATORS, rule
from ._elementwise import FLOATS, cast, widened

_is_thin = ffi.get_global_func("mx.graph.training.thin_product")

# Elements from which the loops for few terms write a result past the caches.
_MANY = 1 << 20


def _product(to: Lowering, a: Value, b: Value) -> Value:
    made: Value = to.call(np.multiply if _is_outer(a, b) else np.matmul, a, b)
    return made


def _is_outer(a: Value, b: Value) -> bool:
    """Whether it is a column times a row, and a product of elements the fastest way to it."""
    if len(a.shape) != 2 or len(b.shape) != 2 or not a.shape[1] == 1 == b.shape[0]:
        return False
    rows, columns = a.shape[0], b.shape[1]
    is_streamed = a.dtype == "float32" and rows * columns >= _MANY
    return not (is_streamed and _is_thin(rows, columns, 1))


@rule("MatMul")
def _matmul(to: Lowering, a: Value, b: Value) -> Value:
    return cast(to, _product(to, widened(to, a), widened(to, b)), a.dtype)


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
    if a.dtype not in FLOATS:
        raise Declined(f"products of {a.dtype}")
    small = small_product(to, a, b, c, alpha, beta, bool(transA), bool(transB))
    if small is not None:
        return small.lower(to)
    dtype, a, b = a.dtype, widened(to, a), widened(to, b)
    left = to.call(np.transpose, a) if transA else a
    right = to.call(np.transpose, b) if transB else b
    result = _product(to, left, right)
    if alpha != 1:
        result = to.call(np.multiply, result, alpha)
    if c is not None and beta != 0:
        c = widened(to, c)
        added = c if beta == 1 else to.call(np.multiply, c, beta)
        result = to.call(np.add, result, added)
    return cast(to, result, dtype)


@OPERATORS.cost("Gemm", "MatMul")
def _cost(layer: Layer) -> float | None:
    """What BLAS takes, and what operators of their own for factors and what is added do."""
    extents = product_of(layer)
    made = None if extents is None else extents.by("blas")
    if extents is None or made is None or layer.operator == "MatMul":
        return made
    given = layer.attributes
    adds = len(layer.inputs) > 2 and layer.inputs[2] is not None and given.get("beta", 1) != 0
    passes = int(adds) + int(given.get("alpha", 1) != 1)
    return made + passes * extents.size * PASS / 1e3
