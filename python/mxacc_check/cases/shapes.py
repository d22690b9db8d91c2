"""Operators that move elements, and those that make arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Case, flat
from .elements import BFLOAT16, DTYPES, POSITIVE, REAL, WHOLE


def shapes(thorough: bool) -> Iterator[Case]:
    for dtype in ("float32", "int64", "bool"):
        a, b = WHOLE((4, 6), dtype), REAL((4, 6), dtype)
        c, flags = WHOLE((2, 3, 4), dtype), WHOLE((4, 6), "bool")
        rows: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
            ("reshape", (a,), {"shape": (3, 8)}),
            ("reshape", (a.T,), {"shape": (24,)}),
            ("transpose", (c,), {"axes": (2, 0, 1)}),
            ("expand_dims", (a,), {"axis": 1}),
            ("squeeze", (a[None],), {"axis": 0}),
            ("swapaxes", (c,), {"axis1": 0, "axis2": 2}),
            ("moveaxis", (c,), {"source": 0, "destination": -1}),
            ("ravel", (a.T,), {}),
            ("flatten", (a.T,), {}),
            ("concatenate", ([a, b],), {"axis": 0}),
            ("concatenate", ([a, b[:, :2], a[:, :0]],), {"axis": 1}),
            ("concatenate", ([a, b],), {"axis": None}),
            ("stack", ([a, b, a],), {"axis": 1}),
            ("vstack", ([a, b],), {}),
            ("hstack", ([a, b],), {}),
            ("split", (a,), {"indices_or_sections": 2, "axis": 1}),
            ("split", (a,), {"indices_or_sections": (1, 3), "axis": 0}),
            ("flip", (a,), {"axis": 1}),
            ("flip", (c,), {"axis": None}),
            ("roll", (a,), {"shift": 2, "axis": 1}),
            ("roll", (a,), {"shift": -3}),
            ("tile", (a,), {"reps": (2, 3)}),
            ("repeat", (a,), {"repeats": 2, "axis": 0}),
            ("broadcast_to", (a[:1],), {"shape": (3, 4, 6)}),
            ("where", (flags, a, b), {}),
            ("where", (flags, a, 2), {}),
            ("where", (flags[:1], a, b[:, :1]), {}),
            ("take", (a, np.array([3, 0, -1])), {"axis": 0}),
            ("take", (a[0].copy(), np.array([[3, 0], [-1, 1]])), {"mode": "raise"}),
            ("take", (a, np.array([[9, 0], [-7, 2]])), {"axis": 1, "mode": "clip"}),
            ("take", (a, np.array([9, 0, -7])), {"axis": 1, "mode": "wrap"}),
            ("clip", (a,), {"a_min": -2, "a_max": 7}),
            ("clip", (a,), {"a_min": None, "a_max": 3}),
            ("clip", (a, b), {"a_max": 5}),
            ("tril", (a,), {"k": 1}),
            ("triu", (a,), {"k": -1}),
            ("diag", (a[0],), {}),
            ("diagonal", (c,), {"axis1": 1, "axis2": 2}),
            ("trace", (a,), {}),
            ("round", (b,), {"decimals": 1}),
            ("full_like", (a,), {"fill_value": 3}),
            ("ones_like", (a,), {}),
            ("argsort", (a,), {"axis": 1}),
            ("array_split", (a,), {"indices_or_sections": 3, "axis": 1}),
        ]
        for name, arguments, keywords in rows:
            shapes = [str(one.shape) for one in flat(arguments) if isinstance(one, np.ndarray)]
            yield Case(name, " and ".join(shapes), arguments, keywords)
    for one in DTYPES:
        for other in ("float32", "float64", "float16", *BFLOAT16, "int32", "int8", "bool"):
            yield Case("astype", "(3, 5)", (POSITIVE((3, 5), one),), {"dtype": other})


def creation(thorough: bool) -> Iterator[Case]:
    for dtype in ("float32", "int32"):
        for name in ("zeros", "ones"):
            for shape in ((), (3, 4), (0, 2)):
                yield Case(name, "", (), {"shape": shape, "dtype": dtype})
        yield Case("full", "", (), {"shape": (2, 3), "fill_value": 7, "dtype": dtype})
        yield Case("arange", "", (), {"start": 1, "stop": 9, "step": 2, "dtype": dtype})
        yield Case("identity", "", (), {"n": 4, "dtype": dtype})
        yield Case("tri", "", (), {"N": 3, "M": 5, "k": -1, "dtype": dtype})
        yield Case("eye", "", (), {"N": 3, "M": 4, "k": 1, "dtype": dtype})
    yield Case("linspace", "", (), {"start": 0, "stop": 1, "num": 7, "dtype": "float64"})
