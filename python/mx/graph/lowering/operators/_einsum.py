"""Einsum, by products of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .... import numpy as np
from ..._einsum import NotWritten, terms_of
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import cast, widened


@rule("Einsum", since=12)
def _einsum(to: Lowering, *inputs: Value, equation: str) -> Value:
    try:
        operands, wanted = terms_of(equation, [len(x.shape) for x in inputs])
    except NotWritten as error:
        raise Declined(str(error)) from None
    extents: dict[str, int] = {}
    for labels, x in zip(operands, inputs, strict=True):
        if len(set(labels)) != len(labels):
            raise Declined("a diagonal")
        for label, extent in zip(labels, x.shape, strict=True):
            if extents.setdefault(label, extent) != extent:
                raise Declined("axes of different extents")
    have, result = operands[0], widened(to, inputs[0])
    for position in range(1, len(inputs)):
        later = {label for labels in (wanted, *operands[position + 1 :]) for label in labels}
        right = widened(to, inputs[position])
        have, result = _product(to, have, result, operands[position], right, later, extents)
    result = _summed(to, have, result, set(wanted))
    have = [label for label in have if label in wanted]
    made = to.call(np.transpose, result, tuple(have.index(label) for label in wanted))
    return cast(to, made, inputs[0].dtype)


def _summed(to: Lowering, labels: Sequence[str], x: Value, kept: set[str]) -> Value:
    axes = tuple(axis for axis, label in enumerate(labels) if label not in kept)
    return to.call(np.sum, x, axis=axes, dtype=x.dtype) if axes else x


def _product(
    to: Lowering,
    left: Sequence[str],
    a: Value,
    right: Sequence[str],
    b: Value,
    later: set[str],
    extents: dict[str, int],
) -> tuple[list[str], Value]:
    """The product of two operands: what both have and nobody needs later is summed."""
    a = _summed(to, left, a, later | set(right))
    left = [label for label in left if label in later or label in right]
    b = _summed(to, right, b, later | set(left))
    right = [label for label in right if label in later or label in left]
    both = [label for label in left if label in right and label in later]
    inner = [label for label in left if label in right and label not in later]
    rows = [label for label in left if label not in right]
    columns = [label for label in right if label not in left]

    def arranged(x: Value, have: Sequence[str], *groups: Sequence[str]) -> Value:
        order = [label for group in (both, *groups) for label in group]
        moved = to.call(np.transpose, x, tuple(have.index(label) for label in order))
        sizes = [math.prod(extents[label] for label in group) for group in groups]
        return to.reshape(moved, [*(extents[label] for label in both), *sizes])

    made = to.call(np.matmul, arranged(a, left, rows, inner), arranged(b, right, inner, columns))
    labels = [*both, *rows, *columns]
    return labels, to.reshape(made, [extents[label] for label in labels])
