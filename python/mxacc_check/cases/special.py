"""Special values in every type, integers that no float holds, and sums in short floats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ffi.data_type import bfloat16

from ..plugin import Array
from .case import Case, shapes_of
from .elements import BFLOAT16, POSITIVE, REAL, SPECIAL
from .elementwise import BINARY, UNARY
from .reductions import ARGUMENTS, REDUCTIONS

FLOATS = ["float32", "float64", "float16", *BFLOAT16]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
QUICK = ["float32", "float16"]

# Whose results are exact, and so the same on every machine.
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
EXACT_UNARY = ["negative", "absolute", "copy", "positive", "relu", "sign"]
EXACT_BINARY = ["add", "subtract", "maximum", "minimum", *COMPARISONS]
# Of which -0 is not as good as 0.
KEEPS_SIGNS = {"negative", "copy", "positive", "absolute", "copysign"}


def _pairs(values: Array) -> tuple[Array, Array]:
    """Each value with each."""
    size = len(values)
    return np.repeat(values, size), np.tile(values, size)


# ---- NaN, infinities, zeros, extremes, subnormal numbers ----

# These are tried in float32 and float64 with the other cases.
_ELSEWHERE = {"float32", "float64"}
NAME = "NaN, infinity and zeros"


def special(thorough: bool) -> Iterator[Case]:
    for dtype in FLOATS if thorough else QUICK:
        values = SPECIAL.astype(dtype)
        if dtype not in _ELSEWHERE or thorough:
            yield from _not_numbers(values, thorough)
        yield from _extremes(_largest(dtype), thorough)
        # Processors' instructions for bfloat16 take these for 0.
        if dtype != "bfloat16":
            yield from _tiny(_subnormal(dtype), thorough)
    for dtype in INTEGERS if thorough else ["int32"]:
        yield from _extremes_of_integers(dtype, thorough)


def _not_numbers(values: Array, thorough: bool) -> Iterator[Case]:
    for name, make in UNARY.items():
        if make is REAL:
            yield Case(name, NAME, (values,), signed_zeros=name in KEEPS_SIGNS)
    pair = _pairs(values)
    for name in BINARY if thorough else EXACT_BINARY:
        if "shift" not in name and "bitwise" not in name:
            yield Case(name, f"{NAME}, each with each", pair, signed_zeros=name in KEEPS_SIGNS)
    for name in [*REDUCTIONS, *ARGUMENTS]:
        yield Case(name, NAME, (values,), is_sum=True)
        yield Case(name, NAME, (np.stack([values, values[::-1]]),), {"axis": 0}, is_sum=True)
    yield Case("softmax", NAME, (np.stack([values, np.abs(values)]),))
    yield Case("matmul", NAME, (values[:, None], values[None]), is_sum=True)
    rows: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("where", (values.astype("float64") > 0, values, -values), {}),
        ("concatenate", ([values, values],), {"axis": 0}),
        ("take", (values, np.array([0, 1, 4, 0])), {"mode": "clip"}),
        ("clip", (values,), {"a_min": -1, "a_max": 1}),
        ("astype", (values[3:],), {"dtype": "int32"}),
        ("astype", (values,), {"dtype": "float64"}),
        ("astype", (values,), {"dtype": "bool"}),
    ]
    for name, arguments, keywords in rows:
        yield Case(name, NAME, arguments, keywords)


def _largest(dtype: str) -> Array:
    """The largest numbers of a type, and the smallest that are not subnormal."""
    if dtype == "bfloat16":
        bits = np.array([0x7F7F, 0xFF7F, 0x0080, 0x8080, 0x3F80, 0x4000], "uint16")
        return bits.view(bfloat16())
    info = np.finfo(dtype)
    return np.array([info.max, info.min, info.tiny, -info.tiny, 1, 2], dtype)


def _extremes(values: Array, thorough: bool) -> Iterator[Case]:
    for name in EXACT_UNARY:
        yield Case(name, "extremes", (values,), signed_zeros=name in KEEPS_SIGNS)
    for name in ["floor", "ceil", "trunc", "sqrt", "isfinite", "isinf"] if thorough else []:
        yield Case(name, "extremes", (np.abs(values),))
    for name in EXACT_BINARY:
        yield Case(name, "extremes, each with each", _pairs(values))
    for name in ("max", "min", *ARGUMENTS):
        yield Case(name, "extremes", (values,))


def _subnormal(dtype: str) -> Array:
    """Numbers that are too small for all their bits, and one that just is not."""
    bits = np.array([1, 2, 3, 77, 127, 100, 0, 64], "uint64")
    size = np.dtype(dtype).itemsize
    signs = np.array([0, 1, 0, 1, 0, 0, 1, 0], "uint64") << np.uint64(8 * size - 1)
    values: Array = (bits | signs).astype(f"uint{8 * size}").view(dtype)
    return values


def _tiny(values: Array, thorough: bool) -> Iterator[Case]:
    name = "subnormal numbers"
    for operator in EXACT_UNARY:
        signs = operator in KEEPS_SIGNS
        yield Case(operator, name, (values,), is_tiny=True, signed_zeros=signs)
    for operator in EXACT_BINARY:
        yield Case(operator, name, (values, values[::-1].copy()), is_tiny=True)
    yield Case("multiply", name, (values, np.full(len(values), 3, values.dtype)), is_tiny=True)
    for operator in ("sum", "max", "min"):
        yield Case(operator, name, (values,), is_tiny=True)
    if thorough:
        yield Case("concatenate", name, ([values, values],), {"axis": 0}, is_tiny=True)
        yield Case("where", name, (values > 0, values, -values), is_tiny=True)


def _extremes_of_integers(dtype: str, thorough: bool) -> Iterator[Case]:
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max, 0, 1, info.min + 1, info.max - 1, 7], dtype)
    for name in [*EXACT_UNARY, "square", "invert"] if thorough else EXACT_UNARY:
        yield Case(name, "extremes", (values,))
    for name in [*EXACT_BINARY, "multiply", "bitwise_xor"] if thorough else EXACT_BINARY:
        yield Case(name, "extremes, each with each", _pairs(values))
    for name in ("sum", "max", "min", *ARGUMENTS):
        yield Case(name, "extremes", (values,))
    if thorough:
        for other in INTEGERS:
            yield Case("astype", "extremes", (values,), {"dtype": other})


# ---- integers beyond 2^53 ----


def integers(thorough: bool) -> Iterator[Case]:
    """Numbers of 64 bits, of which a float64 would lose the last."""
    steps = np.arange(1, 13, dtype="int64") * 1234567
    signed = np.where(steps % 2 == 0, 1, -1) * ((1 << 53) + 2 * steps + 1)
    large = {"int64": signed, "uint64": (signed.astype("uint64") >> np.uint64(1)) | np.uint64(1)}
    large["uint64"] = large["uint64"] + np.uint64(1 << 63)
    for dtype in ("int64", "uint64"):
        values = large[dtype].astype(dtype)
        other = values[::-1].copy() + np.asarray(2, dtype)
        yield from _large_integers(values, other, thorough)


def _large_integers(values: Array, other: Array, thorough: bool) -> Iterator[Case]:
    name = "beyond 2^53"
    following = values + np.asarray(1, values.dtype)
    unary = ["negative", "absolute", "square", "sign", "invert", "copy"]
    for operator in unary if thorough else unary[:2]:
        yield Case(operator, name, (values,))
    binary = ["add", "subtract", "multiply", "maximum", "minimum", *COMPARISONS]
    more = ["bitwise_and", "bitwise_or", "bitwise_xor", "floor_divide", "remainder"]
    for operator in binary + more if thorough else binary:
        yield Case(operator, name, (values, other))
        yield Case(operator, f"{name}, and the next", (values, following))
    for operator in ("add", "subtract", "multiply"):
        yield Case(operator, f"{name}, and 3", (values, 3))
    for operator in ("sum", "max", "min", *ARGUMENTS, "cumsum", "sort"):
        yield Case(operator, name, (values,))
    a, b = values.reshape(3, 4), other.reshape(4, 3)
    for operator in ("matmul", "dot", "tensordot"):
        yield Case(operator, name, (a, b), {"axes": 1} if operator == "tensordot" else {})
    yield Case("sum", name, (a,), {"axis": 0})
    yield Case("where", name, (values > other, values, other))
    yield Case("take", name, (values, np.array([3, 0, 11])), {"mode": "clip"})
    yield Case("concatenate", name, ([values, other],), {"axis": 0})
    yield Case("astype", name, (values,), {"dtype": "int64"})
    yield Case("astype", name, (values,), {"dtype": "uint64"})
    yield Case("clip", name, (values,), {"a_min": 5, "a_max": (1 << 53) + 7})


# ---- sums in short floats ----


def accumulation(thorough: bool) -> Iterator[Case]:
    """Sums of so many numbers that a total of two bytes would stop growing."""
    for dtype in ("float16", *BFLOAT16) if thorough else ("float16",):
        long, table = POSITIVE((4999,), dtype), POSITIVE((3, 2500), dtype)
        column = POSITIVE((2500, 2), dtype)
        rows: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
            *((name, (long,), {}) for name in ("sum", "mean", "std")),
            ("sum", (table,), {"axis": 1}),
            ("sum", (column,), {"axis": 0}),
            ("mean", (column,), {"axis": 0}),
            ("matmul", (table, column), {}),
            ("dot", (long, np.full(4999, 0.5, dtype)), {}),
            ("dot", (table, column), {}),
            ("inner", (table, table), {}),
            ("tensordot", (table, column), {"axes": 1}),
            ("softmax", (table,), {}),
        ]
        for name, arguments, keywords in rows:
            yield Case(name, shapes_of(arguments), arguments, keywords, is_sum=True)
