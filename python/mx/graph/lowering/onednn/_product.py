"""Products of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

import ffi

from .._choice import Layer
from .._constant import Constant
from .._lowering import Lowering
from .._rates import Extents, product_of, products_by
from .._small_product import small_product
from .._value import Declined, Value
from ._across import ACROSS, is_across
from ._backend import ONEDNN, api, as_input, check_float, execute, operand, rounds, rule
from ._posts import Posts, may_take

_thin_product = ffi.get_global_func("mx.graph.training.thin_product")

# Rows up to which many terms are summed up in parts.
_FEW_ROWS = 64
# Post-ops that add what another kernel has begun, and the values that they read.
Begun = tuple[list[Any], list[Value]]

# Terms of which a kernel makes one sum, and elements of weights beside which a call is little. The
# sums of a few rows are more exact in torch, too.
_MOST_TERMS = 512
_MOST_TERMS_OF_FEW = 256
_VERY_FEW_ROWS = 8
_MANY_WEIGHTS = 1 << 20
# How many times as long as BLAS it takes for a row and a constant matrix that is read from memory:
# 1.1 to 1.75 for 768 x 768 to 4,096 x 1,024 elements, two threads of an AMD EPYC with AVX-512,
# 2026-11-29.
_OF_ROWS = 1.3

ONEDNN.cost("Conv")(products_by("onednn"))


@ONEDNN.cost("Gemm", "MatMul")
def _cost(layer: Layer) -> float | None:
    extents = product_of(layer)
    if extents is None:
        return None
    time = extents.by("onednn")
    blas = extents.by("blas")
    if time is None or blas is None:
        return time
    # What BLAS reads would be in memory besides what a plan for several rows has packed.
    if layer.has_one_shape and extents.is_far_row:
        return max(time, _OF_ROWS * blas)
    return max(time, ACROSS * blas) if _is_across(layer, extents) else time


def _is_across(layer: Layer, extents: Extents) -> bool:
    a, b, *_ = layer.inputs
    if a is None or b is None or a.known or len(b.shape) != 2:
        return False
    return is_across(
        extents.rows,
        extents.columns,
        extents.terms,
        is_constant=extents.is_constant,
        turns_a=bool(layer.attributes.get("transA")),
        turns_b=bool(layer.attributes.get("transB")),
    )


def _check_shapes(a: Value, b: Value, rows: int, columns: int, flip_b: bool = False) -> None:
    """Declined for what BLAS or operators of mx are faster at, where nothing has been packed."""
    if a.known is not None or b.known is not None or len(b.shape) != 2:
        return
    terms = b.size // columns
    if len(a.shape) != 2:
        return
    if rows == 1 or columns == 1 or terms == 1:
        raise Declined("left to BLAS: a vector, and nothing is packed")
    if not flip_b and _thin_product(rows, columns, terms):
        raise Declined("left to the operators of mx: few terms")


def _factor(to: Lowering, a: Value, rounded: bool) -> tuple[Any, Value]:
    """The first factor as makers take it: as it lies, or row-major of bfloat16."""
    return (api().Input(a.shape, "bfloat16"), a) if rounded else as_input(to, a)


def _begun(
    to: Lowering,
    a: Value,
    b: Value,
    make: Callable[[Any, Any, Sequence[Any] | None], Any],
    axes: tuple[int, int],
) -> tuple[Value, Value, Begun]:
    """Of a product with many terms the last part, and what adds the sums of those before it.

    Kernels add one term after the other, so that the error of a sum grows with their number; sums
    of few that are added have smaller ones. They are worth another call where that takes little
    beside reading the weights. `axes` are those of the terms; `make` makes a kernel of the factors
    and the post-ops.
    """
    terms = a.shape[axes[0]]
    rows = a.size // terms
    count = -(-terms // (_MOST_TERMS_OF_FEW if rows <= _VERY_FEW_ROWS else _MOST_TERMS))
    known = b.known
    if known is None or a.known is not None or count == 1 or len(b.shape) != 2:
        return a, b, ([], [])
    if rows > _FEW_ROWS or b.size <= _MANY_WEIGHTS:
        return a, b, ([], [])
    a = to.plain(a)
    begun: Begun = [], []
    *first, last = known.parts(axes[1], count)
    at = 0

    def next_terms(part: Constant) -> Value:
        nonlocal at
        index = [slice(None)] * len(a.shape)
        index[axes[0]] = slice(at, at + part.shape[axes[1]])
        at += part.shape[axes[1]]
        return to.slices(a, index)

    for part in first:
        left, a_input = _factor(to, next_terms(part), False)
        right, _ = operand(to, to.constant(part))
        sums = execute(to, make(left, right, begun[0]), [a_input, *begun[1]])
        given, value = as_input(to, sums)
        begun = [api().PostOp("add", None, None, given)], [value]
    return next_terms(last), to.constant(last), begun


@rule("MatMul")
def _matmul(to: Lowering, a: Value, b: Value) -> Value:
    check_float(a, b)
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise Declined("vectors")
    if a.size == 0 or b.size == 0:
        raise Declined("no elements")
    _check_shapes(a, b, a.shape[-2], b.shape[-1])
    shape = (*numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    rounded = rounds(to, b)

    def make(left: Any, right: Any, ops: Sequence[Any] | None) -> Any:
        return api().matmul(left, right, None, False, False, 1.0, ops or None, dtype="float32")

    begun: Begun = [], []
    if not rounded:
        a, b, begun = _begun(to, a, b, make, (len(a.shape) - 1, 0))
    left, a_input = _factor(to, a, rounded)
    right, b_input = operand(to, b)
    posts = Posts(to, shape)
    data = [value for value in (a_input, b_input) if value is not None]
    primitive = make(left, right, [*begun[0], *posts.ops])
    return execute(to, primitive, [*data, *begun[1], *posts.inputs], rounded)


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
    check_float(a, b, c)
    rows = a.shape[1] if transA else a.shape[0]
    columns = b.shape[0] if transB else b.shape[1]
    if a.size == 0 or b.size == 0:
        raise Declined("no elements")
    small = small_product(to, a, b, c, alpha, beta, bool(transA), bool(transB))
    if small is not None and not may_take(to, small.taken):
        raise Declined("left to the operators of mx: a few rows and a small matrix")
    _check_shapes(a, b, rows, columns, bool(transB))
    bias = None
    if c is not None and beta != 0:
        if beta != 1 or c.shape not in ((columns,), (1, columns)):
            raise Declined("an addend that is no row")
        bias = c if c.shape == (columns,) else to.reshape(c, (columns,))
    rounded = rounds(to, b)

    def make(left: Any, right: Any, ops: Sequence[Any] | None, added: Any = None) -> Any:
        flips = bool(transA), bool(transB)
        return api().matmul(left, right, added, *flips, alpha, ops or None, dtype="float32")

    begun: Begun = [], []
    if not rounded:
        a, b, begun = _begun(to, a, b, make, (0 if transA else 1, 1 if transB else 0))
    left, a_input = _factor(to, a, rounded)
    right, b_input = operand(to, b)
    added, bias_input = (None, None) if bias is None else operand(to, bias)
    posts = Posts(to, (rows, columns))
    data = [value for value in (a_input, b_input, bias_input) if value is not None]
    primitive = make(left, right, [*begun[0], *posts.ops], added)
    return execute(to, primitive, [*data, *begun[1], *posts.inputs], rounded)
