"""Operators on one element of each argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Case
from .elements import (
    ABOVE_ONE,
    BFLOAT16,
    POSITIVE,
    REAL,
    SHIFTS,
    SPECIAL,
    UNIT,
    VIEWS,
    WHOLE,
    Maker,
    dtypes_of,
)

UNARY: dict[str, Maker] = {
    **dict.fromkeys(["absolute", "arctan", "ceil", "conjugate", "cos", "cosh", "exp"], REAL),
    **dict.fromkeys(["exp2", "expm1", "floor", "isfinite", "isinf", "isnan"], REAL),
    **dict.fromkeys(["logical_not", "negative", "positive", "relu", "rint", "sigmoid"], REAL),
    **dict.fromkeys(["sign", "sin", "sinh", "softsign", "square", "tan", "tanh", "trunc"], REAL),
    **dict.fromkeys(["copy", "real", "imag", "cbrt", "arcsinh", "invert", "zeros_like"], REAL),
    **dict.fromkeys(["log", "log10", "log1p", "log2", "sqrt", "reciprocal"], POSITIVE),
    **dict.fromkeys(["arccos", "arcsin", "arctanh"], UNIT),
    "arccosh": ABOVE_ONE,
}
BINARY: dict[str, tuple[Maker, Maker]] = {
    **dict.fromkeys(["add", "subtract", "multiply", "maximum", "minimum"], (REAL, WHOLE)),
    **dict.fromkeys(["fmax", "fmin", "arctan2", "hypot", "copysign"], (REAL, WHOLE)),
    **dict.fromkeys(["equal", "not_equal", "less", "less_equal"], (REAL, REAL)),
    **dict.fromkeys(["greater", "greater_equal", "logaddexp"], (REAL, REAL)),
    **dict.fromkeys(["logical_and", "logical_or", "logical_xor"], (REAL, REAL)),
    **dict.fromkeys(["divide", "floor_divide", "remainder"], (WHOLE, POSITIVE)),
    "power": (POSITIVE, UNIT),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], (WHOLE, WHOLE)),
    **dict.fromkeys(["left_shift", "right_shift"], (WHOLE, SHIFTS)),
}


FEW_SHAPES: list[tuple[int, ...]] = [(3, 5)]
SHAPES: list[tuple[int, ...]] = [(), (7,), (2, 3, 4), (0,), (3, 0), (1, 1, 6), (33, 31), (5000,)]
# Whose every layout is tried; of the others, a few.
THOROUGH = {"negative", "exp", "add", "maximum", "less"}

PAIRS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    *(((3, 5), (5,)), ((3, 1), (1, 5)), ((), (3, 5)), ((3, 5), ()), ((0, 5), (1, 5))),
    *(((2, 3, 4), (3, 1)), ((1,), (0,)), ((4, 1, 3), (2, 1))),
]
MIXED = [("float32", "float64"), ("int32", "float32"), ("uint8", "int8"), ("bool", "int32")]
MIXED += [("float16", "float32"), ("int64", "uint64")]
MIXED += [pair for name in BFLOAT16 for pair in ((name, "float32"), ("int32", name))]
SCALARS: list[Any] = [2, 2.5, True, float("inf"), float("nan"), -3]


def unary(thorough: bool) -> Iterator[Case]:
    for name, make in UNARY.items():
        every = name in THOROUGH
        for dtype in dtypes_of(thorough, every):
            for shape in FEW_SHAPES + (SHAPES if every else SHAPES[:3] if thorough else []):
                yield Case(name, str(shape), (make(shape, dtype),))
            if every or (thorough and dtype == "float32"):
                for view, cut in VIEWS.items():
                    yield Case(name, f"(4, 6){view}", (cut(make((4, 6), dtype)),))
        if make is REAL:
            for dtype in ("float32", "float64", *(BFLOAT16 if thorough else ())):
                yield Case(name, "NaN, infinity and zeros", (SPECIAL.astype(dtype),))


def binary(thorough: bool) -> Iterator[Case]:
    for name, (first, second) in BINARY.items():
        every = name in THOROUGH
        for dtype in dtypes_of(thorough, every):
            for shape in FEW_SHAPES + (SHAPES if every else []):
                yield Case(name, str(shape), (first(shape, dtype), second(shape, dtype)))
        if not (thorough or every):
            continue
        for shape, other_shape in PAIRS:
            pair = (first(shape, "float32"), second(other_shape, "float32"))
            yield Case(name, f"{shape} and {other_shape}", pair)
        for one, other in MIXED:
            yield Case(name, "(3, 5)", (first((3, 5), one), second((3, 5), other)))
        for dtype in ("float32", "int32"):
            for scalar in SCALARS:
                array = first((3, 5), dtype)
                yield Case(name, f"(3, 5) and {scalar}", (array, scalar))
                yield Case(
                    name, f"{scalar} and (3, 5)", (scalar, np.abs(array) + array.dtype.type(1))
                )
        for view, cut in VIEWS.items():
            a, b = first((4, 6), "float32"), second((4, 6), "float32")
            yield Case(name, f"(4, 6){view} twice", (cut(a), cut(b)))
            yield Case(name, f"(4, 6){view} and row-major", (cut(a), np.array(cut(b))))
        for dtype in ("float32", "float64"):
            special = SPECIAL.astype(dtype)
            yield Case(name, "NaN, infinity and zeros", (special, special[::-1].copy()))
        if name in ("floor_divide", "remainder", "divide"):
            for dtype in ("int32", "uint8", "float32"):
                zero = np.zeros(4, dtype)
                yield Case(name, "zero divisors", (WHOLE((4,), dtype), zero))
