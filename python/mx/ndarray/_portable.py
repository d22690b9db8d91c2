"""The array class of the ctypes path."""

from __future__ import annotations

from typing import Any

import numpy

import ffi

from .. import _dtypes
from ._conversion import MADE_BY
from ._install import install


class ndarray(ffi.NDArray):
    """An array of numbers of one type, over memory that views of it share."""

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(MADE_BY)

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The element type. ImportError for bfloat16 without ml_dtypes."""
        return _dtypes.as_numpy(super().dtype)


ndarray.__module__ = "mx.np"
install(ndarray)
