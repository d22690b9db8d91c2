"""Elements of arrays that are tried, and their types."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ffi.data_type import bfloat16

from ..plugin import Array


def _why_no_bfloat16() -> str:
    try:
        bfloat16()
    except ImportError as error:
        return str(error)
    return ""


NO_BFLOAT16 = _why_no_bfloat16()
BFLOAT16 = [] if NO_BFLOAT16 else ["bfloat16"]
DTYPES = ["float32", "float64", "float16", *BFLOAT16, "int32", "uint8", "bool"]
MORE_DTYPES = ["int8", "int16", "int64", "uint16", "uint32", "uint64", "complex64"]


def _numbers(shape: tuple[int, ...], dtype: str, low: float, high: float) -> Array:
    size = math.prod(shape)
    values: Array = np.linspace(low, high, max(size, 2))[:size]
    # Neighbours are no neighbours any more, and each run has the same.
    values = np.random.default_rng(size).permutation(values)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return (values > (low + high) / 2).reshape(shape)
    if kind == "u":
        values = np.abs(values)
    if kind == "c":
        values = values + 1j * values[::-1]
    return np.asarray(values, dtype).reshape(shape)


Maker = Callable[[tuple[int, ...], str], Array]


def _between(low: float, high: float) -> Maker:
    return lambda shape, dtype: _numbers(shape, dtype, low, high)


REAL = _between(-3.2, 4.1)
POSITIVE = _between(0.3, 5.0)
UNIT = _between(-0.9, 0.9)
ABOVE_ONE = _between(1.2, 6.0)
WHOLE = _between(-20, 30)
SHIFTS = _between(0, 6)

QUICK_DTYPES = ["float32", "int32"]

VIEWS: dict[str, Callable[[Array], Array]] = {
    ".T": lambda a: a.T,
    "[::2]": lambda a: a[::2],
    "[::-1]": lambda a: a[::-1],
    "[:, 1:4]": lambda a: a[:, 1:4],
    "[..., ::-2]": lambda a: a[..., ::-2],
    "[:1] repeated": lambda a: np.broadcast_to(a[:1], a.shape),
}
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 3e4])


def dtypes_of(thorough: bool, every: bool) -> list[str]:
    return DTYPES + (MORE_DTYPES if every else []) if thorough else QUICK_DTYPES
