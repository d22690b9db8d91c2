"""Functions of `mx.np` about arrays rather than on their elements, which need no operator."""

from __future__ import annotations

from typing import Any

import numpy

from ..ndarray import ndarray

__all__ = [
    "can_cast",
    "isscalar",
    "may_share_memory",
    "ndim",
    "promote_types",
    "result_type",
    "shape",
    "shares_memory",
    "size",
]

can_cast = numpy.can_cast
isscalar = numpy.isscalar
promote_types = numpy.promote_types


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


def may_share_memory(a: Any, b: Any) -> bool:
    """Whether the memory spanned by two arrays overlaps, even if no element is in both."""
    return bool(numpy.may_share_memory(numpy.asarray(a), numpy.asarray(b)))


def shares_memory(a: Any, b: Any) -> bool:
    """Whether two arrays have an element in common."""
    return bool(numpy.shares_memory(numpy.asarray(a), numpy.asarray(b)))
