"""The array class: an extension type on the Cython path, plain Python on the ctypes path."""

import ffi

if ffi.backend == "cython":
    from .._cython.ndarray import ndarray
else:
    from ._portable import ndarray

__all__ = ["ndarray"]

ffi.register_object(2, ndarray)
