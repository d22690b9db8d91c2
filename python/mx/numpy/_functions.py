"""Functions of `mx.np` about arrays rather than on their elements, which need no operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.lib.array_utils import normalize_axis_tuple

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

# Functions of shapes and types alone are NumPy's own.
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
_location = ffi.get_global_func("mx.context.location")


def _described(value: Any) -> Any:
    """The dtype of an array; other values as they are."""
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


def size(a: Any, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements of an array, or of those along one axis or several.

    Raises AxisError for an axis the array has not, ValueError for one given twice.
    """
    extents = shape(a)
    if axis is None:
        return math.prod(extents)
    axes = normalize_axis_tuple(axis, len(extents))
    return math.prod(extents[each] for each in axes)


def array_equal(a1: Any, a2: Any) -> bool:
    """Whether two arrays have the same shape and elements; NaN equals nothing."""
    return shape(a1) == shape(a2) and bool(_equal(a1, a2).all())


class _Layout:
    """Shows NumPy the addresses of an array that it cannot read; nothing is read."""

    def __init__(self, array: ndarray, byte_offset: int) -> None:
        # Far enough from address 0 for what negative strides reach.
        address = (1 << 40) + byte_offset
        self.__array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "typestr": f"|V{array.itemsize}",
            "data": (address, True),
            "strides": array.strides,
        }


def _ask_overlap(question: Callable[[Any, Any], bool], a: Any, b: Any) -> bool:
    """Asks NumPy about the addresses of two arrays, wherever they are."""
    arrays = [x for x in (a, b) if isinstance(x, ndarray) and x.ctx.device_type != "cpu"]
    if not arrays:
        return bool(question(numpy.asarray(a), numpy.asarray(b)))
    if len(arrays) == 1 or a.ctx != b.ctx:
        return False
    locations = [_location(a), _location(b)]
    if locations[0][0] != locations[1][0]:
        return False
    first, second = (_Layout(x, location[1]) for x, location in zip((a, b), locations, strict=True))
    return bool(question(numpy.asarray(first), numpy.asarray(second)))


def may_share_memory(a: Any, b: Any) -> bool:
    """Whether the memory spanned by two arrays overlaps, even if no element is in both."""
    return _ask_overlap(numpy.may_share_memory, a, b)


def shares_memory(a: Any, b: Any) -> bool:
    """Whether two arrays have an element in common."""
    return _ask_overlap(numpy.shares_memory, a, b)
