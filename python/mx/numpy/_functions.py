"""Functions of `mx.np` about arrays rather than on their elements, which need no operator."""

from __future__ import annotations

from typing import Any

import numpy

import ffi

from .._registry import front_end
from ..ndarray import ndarray

__all__ = [
    "array_equal",
    "broadcast_shapes",
    "can_cast",
    "dtype",
    "finfo",
    "from_dlpack",
    "iinfo",
    "isscalar",
    "issubdtype",
    "may_share_memory",
    "ndim",
    "promote_types",
    "result_type",
    "shape",
    "shares_memory",
    "size",
]

# What is about shapes and types alone is NumPy's own.
broadcast_shapes = numpy.broadcast_shapes
can_cast = numpy.can_cast
dtype = numpy.dtype
finfo = numpy.finfo
iinfo = numpy.iinfo
isscalar = numpy.isscalar
issubdtype = numpy.issubdtype
promote_types = numpy.promote_types

from_dlpack = ffi.from_dlpack


_equal = front_end("equal")


def _described(value: Any) -> Any:
    """An array's dtype, anything else as it is."""
    return value.dtype if isinstance(value, ndarray) else value


def result_type(*arrays_and_dtypes: Any) -> numpy.dtype[Any]:
    """The dtype that NumPy's promotion gives for the arguments; Python numbers are weak."""
    return numpy.result_type(*map(_described, arrays_and_dtypes))


def shape(a: Any) -> tuple[int, ...]:
    """The extents of an array or of what makes one."""
    extents: tuple[int, ...] = a.shape if isinstance(a, ndarray) else numpy.shape(a)
    return extents


def ndim(a: Any) -> int:
    """The number of axes of an array or of what makes one."""
    return len(shape(a))


def size(a: Any, axis: int | None = None) -> int:
    """The number of elements of an array, or its extent along one axis."""
    return int(numpy.prod(shape(a))) if axis is None else shape(a)[axis]


def array_equal(a1: Any, a2: Any) -> bool:
    """Whether two arrays have the same shape and elements; NaN equals nothing."""
    return shape(a1) == shape(a2) and bool(_equal(a1, a2).all())


def may_share_memory(a: Any, b: Any) -> bool:
    """Whether the memory spanned by two arrays overlaps, even if no element is in both."""
    return bool(numpy.may_share_memory(numpy.asarray(a), numpy.asarray(b)))


def shares_memory(a: Any, b: Any) -> bool:
    """Whether two arrays have an element in common."""
    return bool(numpy.shares_memory(numpy.asarray(a), numpy.asarray(b)))
