"""The array class: an extension type on the Cython path, plain Python on the ctypes path."""

from typing import TYPE_CHECKING

import ffi

if TYPE_CHECKING or ffi.backend != "cython":
    from ._portable import ndarray
else:
    from .._cython.ndarray import ndarray

__all__ = ["ndarray"]

ffi.register_object(2, ndarray)
