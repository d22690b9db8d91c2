"""Arrays as text."""

from __future__ import annotations

from typing import Any

import numpy

from ffi import data_type, views

from ._conversion import dtype_name, item, readable

# Types that array() infers from the shown numbers, so that repr does not add dtype=.
IMPLIED_DTYPES = frozenset({"bool", "int64", "float32", "complex64"})
OF_NO_NUMBERS = frozenset({"float32"})


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
    if not self.size:
        return f"array([]{suffix}"
    body = numpy.array2string(readable(self), separator=", ", prefix="array(", suffix=suffix)
    return f"array({body}{suffix}"


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
