"""The array class of the ctypes path."""

from __future__ import annotations

from typing import Any

import numpy

import ffi

from .. import _dtypes
from ._install import install


class ndarray(ffi.NDArray):
    """An array of numbers of one type, over memory that views of it share."""

    __slots__ = ()

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The element type. ImportError for bfloat16 without ml_dtypes."""
        return _dtypes.as_numpy(super().dtype)


ndarray.__module__ = "mx.np"
install(ndarray)
