"""Operators that reduce elements along axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Case
from .elements import BFLOAT16, REAL, SPECIAL, UNIT, VIEWS, WHOLE, dtypes_of

AXES: list[Any] = [None, 0, -1, (0, 2)]
REDUCTIONS = ["sum", "mean", "prod", "max", "min", "all", "any", "std", "var"]
ARGUMENTS = ["argmax", "argmin"]


def reductions(thorough: bool) -> Iterator[Case]:
    for name in REDUCTIONS + ARGUMENTS:
        axes = [axis for axis in AXES if name in REDUCTIONS or not isinstance(axis, tuple)]
        for dtype in dtypes_of(thorough, False):
            array = UNIT((3, 4, 5), dtype) if name == "prod" else WHOLE((3, 4, 5), dtype)
            for axis in axes:
                for keep in (False, True):
                    options = {"axis": axis, "keepdims": keep}
                    yield Case(name, "(3, 4, 5)", (array,), options, is_sum=True)
            yield Case(name, "(3, 4, 5).T", (array.T,), {"axis": 0}, is_sum=True)
        long = UNIT((4096,), "float32")
        yield Case(name, "(4096,)", (long + np.float32(name == "prod"),), is_sum=True)
        yield Case(name, "()", (WHOLE((), "float32"),), is_sum=True)
        yield Case(name, "(0, 3)", (WHOLE((0, 3), "float32"),), {"axis": 0}, is_sum=True)
        yield Case(name, "NaN, infinity and zeros", (SPECIAL.astype("float32"),), is_sum=True)
    for dtype in ("float32", "int32"):
        for axis in (None, 0, 1):
            array = WHOLE((4, 5), dtype)
            yield Case("cumsum", "(4, 5)", (array,), {"axis": axis}, is_sum=True)
            yield Case("cumprod", "(4, 5)", (UNIT((4, 5), dtype),), {"axis": axis}, is_sum=True)
            yield Case("sort", "(4, 5)", (array,), {"axis": axis})
    yield Case("sum", "(3, 4)", (WHOLE((3, 4), "float32"),), {"dtype": "float64"}, is_sum=True)


def softmaxes(thorough: bool) -> Iterator[Case]:
    for name in ("softmax", "log_softmax"):
        for dtype in dtypes_of(thorough, False):
            array = REAL((3, 4, 5), dtype)
            for axis in (0, 1, -1):
                yield Case(name, "(3, 4, 5)", (array,), {"axis": axis})
            yield Case(name, "(3, 4, 5).T", (array.T,), {"axis": 0})
            yield Case(name, "(3, 4, 5)", (array,), {"temperature": 0.5})
            for other in ("float32", "float64", "float16", *BFLOAT16):
                yield Case(name, "(3, 4, 5)", (array,), {"dtype": other})
        shapes: list[tuple[int, ...]] = [(), (1,), (0,), (0, 3), (3, 0), (4096,), (2, 20000)]
        for shape in shapes:
            yield Case(name, str(shape), (REAL(shape, "float32"),))
        for shape in ((300, 70), (20000, 2), (2, 9, 30), (3, 40, 500)):
            yield Case(name, str(shape), (REAL(shape, "float32"),), {"axis": -2})
        for view, cut in VIEWS.items():
            for axis in (0, 1):
                yield Case(name, f"(4, 6){view}", (cut(REAL((4, 6), "float32")),), {"axis": axis})
        for temperature in (-1.5, 1e-3, 4):
            options = {"axis": 0, "temperature": temperature}
            yield Case(name, "(4, 6)", (REAL((4, 6), "float32"),), options)
        for dtype in ("float32", "float64"):
            lines = np.stack([SPECIAL, np.where(SPECIAL < np.inf, SPECIAL, 0), -np.abs(SPECIAL)])
            ends = [np.full(8, -np.inf), np.arange(8.0), [-np.inf] * 4 + [3e4, 1, -3e4, 0]]
            several = np.concatenate([lines, ends]).astype(dtype)
            yield Case(name, "NaN, infinity and zeros", (several,))
            yield Case(name, "NaN, infinity and zeros", (several.T.copy(),), {"axis": 0})
