"""Element types: NumPy's, and bfloat16 of the package ml_dtypes, which is imported only for it."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from ffi import data_type

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


def _imported() -> Any:
    """ml_dtypes.bfloat16; None where it is not imported, as then nothing is of that type."""
    return getattr(sys.modules.get("ml_dtypes"), "bfloat16", None)


class _BFloat16(type):
    """The class of bfloat16, which stands for ml_dtypes.bfloat16 and is equal to it."""

    @property
    def dtype(cls) -> numpy.dtype[Any]:
        """NumPy, and what uses it, asks for this to read the class as a dtype."""
        found: numpy.dtype[Any] = numpy.dtype(data_type.bfloat16())
        return found

    def __call__(cls, *args: Any) -> Any:
        return data_type.bfloat16()(*args)

    def __instancecheck__(cls, instance: object) -> bool:
        return type(instance) is _imported()

    def __eq__(cls, other: object) -> bool:
        return other is cls or (other is not None and other is _imported())

    def __hash__(cls) -> int:
        try:
            return hash(data_type.bfloat16())
        except ImportError:
            return super().__hash__()


class bfloat16(metaclass=_BFloat16):  # noqa: N801  named as NumPy names its scalar types
    """The data type of 16 bits with the exponent of float32; its scalars are those of ml_dtypes.

    It is a data type wherever one is expected, also without ml_dtypes. That is imported when a
    scalar is made, or NumPy is to have such elements: ImportError where it is not installed.
    """

    __module__ = "mx.np"
    # The element type for C++, without ml_dtypes.
    __ffi_dtype__ = data_type.BFLOAT16


_known = {name: numpy.dtype(name) for name in (*NAMES, "bool")}


def as_numpy(name: str) -> numpy.dtype[Any]:
    """The NumPy dtype that an array's element type has."""
    found = _known.get(name)
    if found is None:
        if name not in data_type.BY_NAME:
            raise TypeError(f"{name} has no counterpart in NumPy")
        found = _known[name] = data_type.to_numpy(data_type.BY_NAME[name])
    return found
