"""Arrays as text."""

from __future__ import annotations

from typing import Any

import numpy

from ffi import data_type, views

from ._conversion import dtype_name, item, readable

# Types that array() infers from the shown numbers, so that repr does not add dtype=.
IMPLIED_DTYPES = frozenset({"bool", "int64", "float32", "complex64"})
OF_NO_NUMBERS = frozenset({"float32"})
# What follows numbers of a type.
SUFFIXES = {
    numpy.dtype(name): ")" if name in IMPLIED_DTYPES else f", dtype={name})"
    for name in (f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64))
    if name != "float8"
}


def representation(self: Any, /) -> str:
    """`array([[0., 0.]])`, with shape, dtype and context where they cannot be seen from that."""
    if dtype_name(self) not in data_type.BY_NAME:
        return views.text_of(self, dtype_name(self))
    notes = [f"shape={self.shape}"] if not self.size and self.shape != (0,) else []
    dtype = dtype_name(self)
    if dtype not in (IMPLIED_DTYPES if self.size else OF_NO_NUMBERS):
        notes.append(f"dtype={dtype}")
    if str(self.ctx) != "cpu(0)":
        notes.append(f"ctx={self.ctx}")
    suffix = "".join(f", {note}" for note in notes) + ")"
    return written(readable(self), suffix) if self.size else f"array([]{suffix}"


def written(elements: numpy.ndarray[Any, Any], suffix: str) -> str:
    """Elements, and what follows them."""
    body = numpy.array2string(elements, separator=", ", prefix="array(", suffix=suffix)
    return f"array({body}{suffix}"


def with_type(elements: numpy.ndarray[Any, Any]) -> str:
    """What `representation` gives of an array of the CPU that has these elements."""
    return written(elements, SUFFIXES[elements.dtype])


def text(self: Any, /) -> str:
    """The elements alone."""
    return str(readable(self))


def formatted(self: Any, spec: str, /) -> str:
    """format(self, spec): of the element of a 0-d array; others take no spec."""
    if not self.ndim:
        return format(item(self), spec)
    if spec:
        raise TypeError("unsupported format string passed to mx.np.ndarray.__format__")
    return text(self)


SPECIAL = {"__repr__": representation, "__str__": text, "__format__": formatted}
