"""Operators of ONNX that onnx's reference implementations lack, or give something else for.

Imported where a node is computed by those, as they take long to import.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy
import onnx
from onnx.reference.op_run import OpRun

from . import _reference_images, _reference_losses, _reference_texts
from ._regions import parts_of_regions
from ._slices import python_slice

Array: TypeAlias = numpy.ndarray[Any, Any]


class GatherElements(OpRun):
    """Elements by indices along an axis, which may be counted from the last one. Along the others
    there may be fewer indices than elements."""

    op_domain = ""

    def _run(self, x: Array, indices: Array, axis: int = 0) -> tuple[Array]:
        axis %= x.ndim
        chosen = [numpy.arange(extent) for extent in indices.shape]
        where = list(numpy.ix_(*chosen))
        where[axis] = indices
        return (x[tuple(where)],)


class MaxRoiPool(OpRun):
    """The largest element of each part of regions of images; 0 for a part outside of its image."""

    op_domain = ""

    def _run(self, x: Array, rois: Array, pooled_shape: Any, spatial_scale: float) -> tuple[Array]:
        made = numpy.zeros((len(rois), x.shape[1], *map(int, pooled_shape)), x.dtype)
        for part in parts_of_regions(x.shape, rois, pooled_shape, spatial_scale):
            region, row, column = part.at
            found = x[part.image, :, part.rows, part.columns]
            made[region, :, row, column] = found.max(axis=(1, 2))
        return (made,)


class Multinomial(OpRun):
    """Numbers of classes drawn by their unnormalized logarithms of probabilities."""

    op_domain = ""

    def _run(
        self, x: Array, dtype: int, sample_size: int, seed: float | None = None
    ) -> tuple[Array]:
        random = numpy.random.default_rng(None if seed is None else _bits(seed))
        # The largest sum of a logarithm and a number of Gumbel's distribution is of a class as
        # often as is its probability.
        noise = random.gumbel(size=(len(x), sample_size, x.shape[1]))
        drawn = numpy.argmax(x.astype("float64")[:, None, :] + noise, axis=2)
        return (drawn.astype(onnx.helper.tensor_dtype_to_np_dtype(dtype)),)


def _bits(seed: float) -> int:
    """A seed of a generator, another for each number."""
    return int(numpy.float32(seed).view("uint32"))


class ScatterElements(OpRun):
    """Elements by indices along an axis replaced by updates, or reduced with them. NaN is the
    largest and the smallest element."""

    op_domain = ""

    def _run(
        self, x: Array, indices: Array, updates: Array, axis: int = 0, reduction: str = "none"
    ) -> tuple[Array]:
        where: list[Array] = list(numpy.indices(indices.shape))
        where[axis] = indices
        updates = updates[tuple(map(slice, indices.shape))]
        made = x.copy()
        if reduction == "none":
            made[tuple(where)] = updates
        else:
            _REDUCTIONS[reduction].at(made, tuple(where), updates)
        return (made,)


_REDUCTIONS = {
    "add": numpy.add,
    "mul": numpy.multiply,
    "max": numpy.maximum,
    "min": numpy.minimum,
}


class Slice(OpRun):
    """Every so many elements between bounds, which are clamped to those that there are."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        starts: Any,
        ends: Any,
        axes: Any = None,
        steps: Any = None,
    ) -> tuple[Array]:
        index = [slice(None)] * x.ndim
        chosen = range(len(starts)) if axes is None else [int(axis) for axis in axes]
        taken = [1] * len(starts) if steps is None else [int(step) for step in steps]
        for start, end, axis, step in zip(
            map(int, starts), map(int, ends), chosen, taken, strict=True
        ):
            index[axis] = python_slice(start, end, step, x.shape[axis])
        return (x[tuple(index)],)


class Unique(OpRun):
    """What occurs in a tensor, or along an axis, sorted or in the order of the first of each."""

    op_domain = ""

    def _run(self, x: Array, axis: int | None = None, sorted: int = 1) -> tuple[Array, ...]:  # noqa: A002
        _, first, inverse, counts = numpy.unique(x, True, True, True, axis=axis)
        inverse = inverse.reshape(-1)
        if not sorted:
            order = numpy.argsort(first)
            ranks = numpy.empty_like(order)
            ranks[order] = numpy.arange(len(order))
            first, inverse, counts = first[order], ranks[inverse], counts[order]
        values = numpy.take(x, first, axis=axis)
        found = (values, *(one.astype("int64") for one in (first, inverse, counts)))
        return found[: len(self.onnx_node.output)]


OPERATORS = [GatherElements, MaxRoiPool, Multinomial, ScatterElements, Slice, Unique]
for _more in (_reference_images, _reference_losses, _reference_texts):
    OPERATORS += _more.OPERATORS
