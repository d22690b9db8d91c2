"""Arrays of NumPy and of mx of the same memory."""

from __future__ import annotations

from typing import Any

import numpy

from .. import numpy as np

# Bytes that vectors and lines of caches begin at multiples of.
ALIGNMENT = 64


def shared(elements: numpy.ndarray[Any, Any]) -> Any:
    """An array of mx of the memory of one of NumPy, row-major; a copy where that cannot be, as the
    memory is not row-major, or may not be written, or the type is none that is exchanged."""
    if elements.flags.c_contiguous:
        try:
            return np.from_dlpack(elements)
        except (BufferError, TypeError):
            pass
    return np.asarray(elements)


def shared_if_aligned(elements: numpy.ndarray[Any, Any]) -> Any:
    """`shared`, but a copy where the memory does not begin where loads of vectors are fastest."""
    is_aligned = elements.ctypes.data % ALIGNMENT == 0
    return shared(elements) if is_aligned else np.asarray(elements)


def empty(size: int, dtype: Any) -> numpy.ndarray[Any, Any]:
    """So many elements for NumPy in memory of mx, which is aligned, and in large pages where it is
    large: it takes less time to be written first."""
    made: numpy.ndarray[Any, Any] = numpy.asarray(np.empty((size,), dtype=dtype))
    return made
