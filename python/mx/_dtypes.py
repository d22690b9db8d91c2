"""Element types: NumPy's, and bfloat16 of the package ml_dtypes, which is imported only for it."""

from __future__ import annotations

from typing import Any

import numpy

from ffi.data_type import bfloat16 as bfloat16

NAMES = (
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)

SCALAR_TYPES: dict[str, Any] = {name: getattr(numpy, name) for name in NAMES}
SCALAR_TYPES["bool"] = SCALAR_TYPES["bool_"] = numpy.bool_

_known = {name: numpy.dtype(name) for name in (*NAMES, "bool")}


def as_numpy(name: str) -> numpy.dtype[Any]:
    """The NumPy dtype that an array's element type has."""
    found = _known.get(name)
    if found is None:
        found = _known[name] = numpy.dtype(bfloat16())
    return found
