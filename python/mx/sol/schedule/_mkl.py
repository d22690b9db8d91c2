"""The memory that MKL keeps when it has been called: of each thread, what it packs of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...threads import get_num_threads

# It packs so many terms, and columns of the second factor at most, or as much as the smaller factor
# has where that is less, each with something beside it: bytes that were touched in products of 40
# shapes, MKL 2024.2 on a Xeon, 2026-11-28.
_TERMS, _COLUMNS = 384, 10_000
_BESIDE_COLUMNS, _BESIDE_SMALLER = 420 << 10, 200 << 10


def kept_by_mkl(*plans: Any) -> int:
    """What is kept, from one run to the next, for the products of compiled plans."""
    found = [
        _packed(inputs[0], inputs[1], outputs[0])
        for plan in plans
        for _, kernel, inputs, outputs, _ in plan.steps
        if kernel.startswith("mkl.")
    ]
    return get_num_threads() * max(found, default=0)


def _packed(a: Sequence[int], b: Sequence[int], c: Sequence[int]) -> int:
    """The bytes of one thread for a product, of which each has a part."""
    sizes = [math.prod(shape) for shape in (a, b, c)]
    if 0 in sizes:
        return 0
    rows, columns = math.prod(c[:-1]), c[-1]
    terms = math.isqrt(sizes[0] * sizes[1] // sizes[2])
    if columns > rows:
        columns = math.ceil(columns / get_num_threads())
    by_columns = 4 * min(terms, _TERMS) * min(columns, _COLUMNS) + _BESIDE_COLUMNS
    return min(by_columns, 4 * min(sizes[:2]) + _BESIDE_SMALLER)
