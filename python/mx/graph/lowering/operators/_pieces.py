"""What several rules are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value


def axis_slice(to: Lowering, x: Value, axis: int, part: slice) -> Value:
    """A view of some of the elements along one axis."""
    index = [slice(None)] * len(x.shape)
    index[axis] = part
    return to.slices(x, index)


def padded(to: Lowering, x: Value, axis: int, before: int, after: int, element: Any) -> Value:
    """The elements with some of one number in front of and behind them along an axis."""
    edges = []
    for width in (before, after):
        shape = list(x.shape)
        shape[axis] = width
        edges.append([to.call(np.full, tuple(shape), element, dtype=x.dtype)] if width else [])
    made: Value = to.call(np.concatenate, [*edges[0], x, *edges[1]], axis=axis)
    return made


def indices_along(to: Lowering, shape: Sequence[int], axis: int) -> Value:
    """For each element its index along an axis, in a shape that broadcasts to the given one."""
    extents = [1] * len(shape)
    extents[axis] = shape[axis]
    return to.constant(numpy.arange(shape[axis], dtype="int64").reshape(extents))


def wrapped(to: Lowering, indices: Value, extent: int) -> Value:
    """Indices of which negative ones count from the end, as ones from the beginning."""
    if indices.constant is not None:
        return to.constant(numpy.where(indices.constant < 0, extent, 0) + indices.constant)
    is_negative = to.call(np.less, indices, 0)
    made: Value = to.call(np.where, is_negative, to.call(np.add, indices, extent), indices)
    return made


def check_bounds(indices: Value, extent: int) -> None:
    """Declined for indices that are out of bounds, or that only a run tells, of joined axes."""
    found = indices.constant
    if found is None:
        raise Declined("indices that only a run tells, which it would have to check")
    if found.size and not (-extent <= int(found.min()) and int(found.max()) < extent):
        raise Declined(f"an index is out of bounds for an axis of {extent} elements")


def along_axis(to: Lowering, x: Value, indices: Value, axis: int) -> Value:
    """Elements of a tensor, of which indices give those along an axis, and their own position the
    others. The indices are in bounds.
    """
    axis = axis + len(x.shape) if axis < 0 else axis
    number = to.call(np.astype, wrapped(to, indices, x.shape[axis]), "int64")
    number = to.call(np.multiply, number, math.prod(x.shape[axis + 1 :]))
    for other in range(len(x.shape)):
        if other != axis:
            own = indices_along(to, indices.shape, other)
            step = to.call(np.multiply, own, math.prod(x.shape[other + 1 :]))
            number = to.call(np.add, number, step)
    made: Value = to.call(np.take, to.reshape(x, (x.size,)), number)
    return made
