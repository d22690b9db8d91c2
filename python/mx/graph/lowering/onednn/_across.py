"""Products of which oneDNN may read a matrix across, again for each block of rows: others take half
of the time."""

from __future__ import annotations

import ffi

_cpu_level = ffi.get_global_func("mx.cpu_level")

# How many times as long as BLAS it takes then.
ACROSS = 2.0
# Elements of a matrix that are too many for the second cache, and rows that make up for a copy.
_MANY = 1 << 21
_FEW_ROWS = 64
# Elements of pages: where rows are so many apart, or a multiple, half of a cache is left for them.
_PAGE = 1024
# With AVX2 it copies a matrix only where 1 / rows + 1 / columns is smaller. To read it as it lies
# costs little with fewer rows or columns than _NOT_FEW (two threads of an EPYC, oneDNN 3.2,
# 2026-11-30).
_COPIES = 0.0038
_NOT_FEW = 16


def is_across(
    rows: int, columns: int, terms: int, *, is_constant: bool, turns_a: bool, turns_b: bool
) -> bool:
    """Whether it may for the product of (rows, terms) and (terms, columns) elements.

    With `turns_a` the first factor is stored as (terms, rows), with `turns_b` the second one as
    (columns, terms), unless it `is_constant`: plans store those as (terms, columns).
    """
    level = _cpu_level()
    if level == "avx512":
        return not is_constant and not turns_b and _is_large(rows, columns, terms)
    if level != "avx2" or min(rows, columns) < _NOT_FEW or 1 / rows + 1 / columns < _COPIES:
        return False
    return (turns_a and _collides(rows)) or ((is_constant or not turns_b) and _collides(columns))


def _is_large(rows: int, columns: int, terms: int) -> bool:
    """Whether on a Xeon it takes twice as long. On an EPYC it does not, which tuning finds out.

    It copies a matrix that many rows are multiplied by only where its own rows are as long as a
    power of two.
    """
    most = _MANY if columns % _PAGE else _MANY // 2
    return terms * columns >= most and rows >= _FEW_ROWS and columns & (columns - 1) != 0


def _collides(length: int) -> bool:
    """Whether rows of so many elements drive one another out of caches."""
    return length >= _PAGE and length % (_PAGE // 2) == 0
