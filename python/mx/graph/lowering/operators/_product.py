"""Products of matrices."""

from __future__ import annotations

from .... import numpy as np
from .._choice import Layer
from .._lowering import Lowering
from .._rates import PASS, product_of
from .._small_product import small_product
from .._value import Declined, Value
from ._backend import OPERATORS, rule
from ._elementwise import FLOATS, cast, widened


def _product(to: Lowering, a: Value, b: Value) -> Value:
    # A column times a row is a product of elements, which no other way to compute it is as fast as.
    is_outer = len(a.shape) == 2 and len(b.shape) == 2 and a.shape[1] == 1 == b.shape[0]
    made: Value = to.call(np.multiply if is_outer else np.matmul, a, b)
    return made


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
