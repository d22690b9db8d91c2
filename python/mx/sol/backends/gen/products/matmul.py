"""MatMul and Gemm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .....graph.lowering._node import PRECISION
from .....graph.lowering._rates import Extents
from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from ._epilogue import Step
from ._inputs import Positions, needed, operands_of
from ._problem import Product
from ._rounded import emit_product

OPERATORS = ("Gemm", "MatMul")
# The most rows, by target, that constant matrices of so many elements are multiplied by in less
# than the time of oneDNN and BLAS: without AVX-512 0.45 to 0.9 of it for 2 to 128 rows and matrices
# of 768 x 768 to 3,072 x 768, two threads of an AMD EPYC; with AVX-512 0.55 to 1.02 for 8 to 128
# rows and matrices of 768 x 768 to 4,096 x 1,024, two threads of an Intel Xeon, 2026-11-29. A row
# takes 0.75 of the time of BLAS with matrices of 784 x 2,048 and 2,048 x 2,048, two threads of an
# AMD EPYC without AVX-512 (Zen 3); with AVX-512 that is not measured.
_MOST_ROWS = {"avx2": 256, "avx512": 128}
_FEWEST_WEIGHTS = 1 << 19
_SAVED = 0.3


def saves(extents: Extents, target: Target) -> float:
    """The part of the time of a product that is expected to be saved, beside libraries: without
    AVX-512 they pack a constant matrix in each run, and with it they do not fetch weights ahead."""
    most = _MOST_ROWS.get(target.name, 0)
    is_one = extents.count == 1 and extents.dtype == "float32" and extents.is_constant
    is_large = extents.columns * extents.terms >= _FEWEST_WEIGHTS
    return _SAVED if is_one and is_large and 1 <= extents.rows <= most else 0.0


def _starts(batch: tuple[int, ...], own: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Where the matrix for each of the batch begins, in a tensor with these batch dimensions."""
    count = int(numpy.prod(own, dtype=numpy.int64))
    indices = numpy.arange(count).reshape(own)
    return tuple(int(i) * size for i in numpy.broadcast_to(indices, batch).reshape(-1))


@emits("MatMul", since=1)
def matmul(
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
    epilogue: Sequence[Step] = (),
    positions: Positions | None = None,
) -> GenKernel:
    """MatMul as ONNX and NumPy have it, then the steps of the epilogue."""
    a, b = needed(inputs, 2)
    positions = positions or Positions.of(inputs, epilogue)
    if not a.shape or not b.shape:
        raise Declined("a scalar among the factors")
    a_shape = (1, *a.shape) if len(a.shape) == 1 else a.shape
    b_shape = (*b.shape, 1) if len(b.shape) == 1 else b.shape
    if a_shape[-1] != b_shape[-2]:
        raise Declined(f"shapes {a.shape} and {b.shape} do not fit")
    try:
        batch = numpy.broadcast_shapes(a_shape[:-2], b_shape[:-2])
    except ValueError:
        raise Declined(f"shapes {a.shape} and {b.shape} do not fit") from None
    rows, depth, columns = a_shape[-2], a_shape[-1], b_shape[-1]
    whole = (*batch, rows, columns)
    shape = tuple(
        extent
        for axis, extent in enumerate(whole)
        if not (axis == len(whole) - 2 and len(a.shape) == 1)
        and not (axis == len(whole) - 1 and len(b.shape) == 1)
    )
    result = Spec(whole, "float32")
    if epilogue and shape != whole:
        raise Declined("a product of vectors with something behind it")
    operands = operands_of(epilogue, 2, result, len(whole) - 2, len(whole) - 1)
    weights = known.get(1)
    one_matrix = numpy.prod(b_shape[:-2], dtype=numpy.int64) == 1
    a_at = _starts(batch, a_shape[:-2], rows * depth)
    b_at = _starts(batch, b_shape[:-2], depth * columns)
    has_rows = any(operand.kind == "row" for operand in operands)
    if one_matrix and a_shape[:-2] == batch and not has_rows:
        rows *= len(a_at)  # the matrices of the batch lie below each other
        a_at, b_at = (0,), (0,)
    return emit_product(
        target,
        Product(
            "matmul",
            rows,
            columns,
            depth,
            (Spec(shape, "float32"),),
            positions.count,
            positions.at[0],
            positions.at[1],
            a_at=a_at,
            b_at=b_at,
            weights=weights.reshape(depth, columns) if weights is not None and one_matrix else None,
            steps=tuple(epilogue),
            operands=operands,
            rounds=attributes.get(PRECISION) == "bfloat16",
        ),
    )


@emits("Gemm", since=7)
def gemm(
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
    epilogue: Sequence[Step] = (),
    positions: Positions | None = None,
) -> GenKernel:
    """Gemm: alpha a b + beta c, of matrices that may be transposed, then the epilogue."""
    a, b = needed(inputs, 2)
    addend = inputs[2] if len(inputs) > 2 else None
    alpha, beta = float(attributes.get("alpha", 1.0)), float(attributes.get("beta", 1.0))
    turn_a, turn_b = bool(attributes.get("transA", 0)), bool(attributes.get("transB", 0))
    rows, depth = a.shape[::-1] if turn_a else a.shape
    b_depth, columns = b.shape[::-1] if turn_b else b.shape
    if depth != b_depth:
        raise Declined(f"shapes {a.shape} and {b.shape} do not fit")
    weights = known.get(1)
    positions = positions or Positions.of(inputs, epilogue)
    steps = list(epilogue)
    if addend is not None and beta != 0.0:
        if beta != 1.0:
            raise Declined(f"beta: only 0 and 1, got {beta}")
        steps.insert(0, Step.binary("Add", addend, positions.at[2]))
    if alpha != 1.0:
        if weights is None:
            raise Declined(f"alpha: only 1 where b is no constant, got {alpha}")
        weights = weights * numpy.float32(alpha)
    result = Spec((rows, columns), "float32")
    operands = operands_of(steps, 2 + (addend is not None), result, 0, 1)
    if weights is not None and turn_b:
        weights = weights.T
    return emit_product(
        target,
        Product(
            "gemm",
            rows,
            columns,
            depth,
            (result,),
            positions.count,
            positions.at[0],
            positions.at[1],
            a_transposed=turn_a,
            b_transposed=turn_b and weights is None,
            weights=weights,
            steps=tuple(steps),
            operands=operands,
            rounds=attributes.get(PRECISION) == "bfloat16",
        ),
    )
