"""How MaxRoiPool cuts regions of images into parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy

Array: TypeAlias = numpy.ndarray[Any, Any]


@dataclass(frozen=True)
class Part:
    """Elements of which there is at least one: those of an image, for an output."""

    at: tuple[int, int, int]  # of the output: region, row, column
    image: int
    rows: slice
    columns: slice


def parts_of_regions(
    shape: Sequence[int], rois: Array, pooled_shape: Sequence[int], spatial_scale: float
) -> Iterator[Part]:
    """The parts of regions of images of a shape; not those that are outside of their image.

    Corners of regions are scaled and rounded to elements, the last of which belong to them.
    ValueError for an image that there is not, and corners that are no numbers.
    """
    for region, (image, *given) in enumerate(rois):
        if image != int(image) or not 0 <= image < shape[0]:
            raise ValueError(
                f"input 'rois': expected an image of 0 to {shape[0] - 1}, got {image:g}"
            )
        if not numpy.isfinite(given).all():
            raise ValueError(
                f"input 'rois': expected finite corners, got {rois[region].tolist()[1:]}"
            )
        left, top, right, bottom = (_rounded(float(one) * spatial_scale) for one in given)
        rows = _bounds(top, bottom, int(pooled_shape[0]), shape[2])
        columns = _bounds(left, right, int(pooled_shape[1]), shape[3])
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                if row.start < row.stop and column.start < column.stop:
                    yield Part((region, i, j), int(image), row, column)


def _rounded(number: float) -> int:
    """Halves away from zero."""
    return int(numpy.copysign(numpy.floor(abs(number) + 0.5), number))


def _bounds(first: int, last: int, parts: int, extent: int) -> list[slice]:
    """The elements of each part, cut to those that there are."""
    size = max(last - first + 1, 1)

    def cut(position: int) -> int:
        return min(max(first + position, 0), extent)

    return [slice(cut(i * size // parts), cut(-(-(i + 1) * size // parts))) for i in range(parts)]
