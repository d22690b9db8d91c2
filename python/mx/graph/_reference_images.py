"""Operators of images and of boxes, for which onnx's reference implementations fail, or give
something else than ONNX describes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy
from onnx.reference.op_run import OpRun

Array: TypeAlias = numpy.ndarray[Any, Any]


class AffineGrid(OpRun):
    """Positions that a matrix makes of those of an image's elements, of the type of the matrix.

    Where corners are aligned, an axis of one element is at -1, as ONNX has it for depths.
    """

    op_domain = ""

    def _run(self, theta: Array, size: Array, align_corners: int = 0) -> tuple[Array]:
        extents = [int(one) for one in size[2:]]
        axes = []
        for extent in extents:
            if align_corners:
                axes.append(numpy.arange(extent) * 2.0 / max(extent - 1, 1) - 1)
            else:
                axes.append((numpy.arange(extent) * 2.0 + 1) / extent - 1)
        # The last axis is the first coordinate.
        positions = numpy.meshgrid(*axes, indexing="ij")[::-1]
        every = numpy.stack([*positions, numpy.ones(extents)], axis=-1)
        wide = theta.astype("float64")
        made = numpy.einsum("...j,nij->n...i", every, wide)
        return (made.astype(theta.dtype),)


class DeformConv(OpRun):
    """A convolution that reads its image at positions which are moved by offsets."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        w: Array,
        offset: Array,
        b: Array | None = None,
        mask: Array | None = None,
        dilations: Sequence[int] | None = None,
        group: int = 1,
        kernel_shape: Sequence[int] | None = None,
        offset_group: int = 1,
        pads: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> tuple[Array]:
        if x.ndim != 4:
            raise ValueError(f"input 'X': expected images of 2 axes, got {x.ndim - 2}")
        n, channels, *image = x.shape
        filters, depth, *kernel = w.shape
        out = offset.shape[2:]
        around = list(pads or [0] * 4)
        gaps, steps = list(dilations or [1, 1]), list(strides or [1, 1])
        expected = tuple(
            (image[i] + around[i] + around[2 + i] - (kernel[i] - 1) * gaps[i] - 1) // steps[i] + 1
            for i in range(2)
        )
        if tuple(out) != expected:
            raise ValueError(f"input 'offset': expected images of {expected}, got {tuple(out)}")
        offsets = offset.astype("float64").reshape(n, offset_group, *kernel, 2, *out)
        shares = numpy.ones((n, offset_group, *kernel, *out))
        if mask is not None:
            shares = mask.astype("float64").reshape(shares.shape)
        wide = x.astype("float64").reshape(n, offset_group, channels // offset_group, *image)
        filters_of = w.astype("float64").reshape(group, filters // group, depth, *kernel)
        made = numpy.zeros((n, group, filters // group, *out))
        for tap in itertools.product(*map(range, kernel)):
            of_tap: Any = (slice(None), slice(None), *tap)
            at = [
                numpy.arange(out[i]).reshape([-1, 1] if i == 0 else [1, -1]) * steps[i]
                - around[i]
                + tap[i] * gaps[i]
                + offsets[of_tap][:, :, i]
                for i in range(2)
            ]
            taken = _interpolated(wide, at) * shares[of_tap][:, :, None]
            taken = taken.reshape(n, group, depth, *out)
            own: Any = (slice(None), slice(None), slice(None), *tap)
            made += numpy.einsum("ngdhw,gfd->ngfhw", taken, filters_of[own])
        made = made.reshape(n, filters, *out)
        if b is not None:
            made += b.astype("float64").reshape(-1, 1, 1)
        return (made.astype(x.dtype),)


def _interpolated(x: Array, at: Sequence[Array]) -> Array:
    """Images (n, groups, channels, height, width) at positions (n, groups, rows, columns) between
    their elements; 0 is around them."""
    extents = x.shape[-2:]
    low = [numpy.floor(one) for one in at]
    total: Any = 0
    batch = numpy.arange(x.shape[0])[:, None, None, None]
    groups = numpy.arange(x.shape[1])[None, :, None, None]
    for corner in itertools.product((0, 1), repeat=2):
        share: Any = 1
        inside: Any = True
        index = []
        for axis, step in enumerate(corner):
            position = low[axis] + step
            share = share * (1 - numpy.abs(at[axis] - position))
            inside = inside & (position >= 0) & (position < extents[axis])
            index.append(numpy.where(inside, position, 0).astype("int64"))
        taken = numpy.moveaxis(x[batch, groups, :, index[0], index[1]], -1, 2)
        total = total + numpy.where(inside[:, :, None], taken * share[:, :, None], 0)
    found: Array = total
    return found


class Det(OpRun):
    """Determinants, of all types of floats."""

    op_domain = ""

    def _run(self, x: Array) -> tuple[Array]:
        return (numpy.asarray(numpy.linalg.det(x.astype("float64")), dtype=x.dtype),)


class GridSample(OpRun):
    """Images, or volumes, at positions between their elements: those of onnx's own implementation,
    computed for all at once. Nothing is at a position that is NaN."""

    op_domain = ""

    def _run(
        self,
        x: Array,
        grid: Array,
        mode: str | None = None,
        padding_mode: str | None = None,
        align_corners: int | None = None,
    ) -> tuple[Array]:
        n, c, *extents = x.shape
        padding, aligned = padding_mode or "zeros", bool(align_corners)
        rank, points = len(extents), grid.reshape(n, math.prod(grid.shape[1:-1]), len(extents))
        made: Array = numpy.zeros((n, c, points.shape[1]), "float64")
        if not made.size or not x.size:
            return (made.reshape(n, c, *grid.shape[1:-1]).astype(x.dtype),)
        points = points.astype(numpy.result_type(numpy.float32, grid.dtype))
        with numpy.errstate(all="ignore"):
            taps = [
                # The last axis is the first coordinate.
                _Axis(extent, padding, aligned).taps(points[..., rank - 1 - axis], mode or "linear")
                for axis, extent in enumerate(extents)
            ]
            flat = x.reshape(n, c, math.prod(extents))
            for chosen in itertools.product(*taps):
                index: Any = 0
                share: Any = 1.0
                inside: Any = True
                for (at, weight), extent in zip(chosen, extents, strict=True):
                    is_there = (at >= 0) & (at < extent)
                    index = index * extent + numpy.where(is_there, at, 0).astype("int64")
                    share, inside = share * weight, inside & is_there
                taken = numpy.take_along_axis(flat, index[:, None], 2).astype("float64")
                made += numpy.where(inside[:, None], taken, 0) * share[:, None]
        return (made.reshape(n, c, *grid.shape[1:-1]).astype(x.dtype),)


# The coefficient of cubic convolution that ONNX takes.
_CUBIC = -0.75


class _Axis:
    """An axis of images, of which elements are taken at positions from -1 to 1."""

    def __init__(self, extent: int, padding: str, aligned: bool) -> None:
        self._extent, self._padding, self._aligned = extent, padding, aligned
        # The middles of the outer elements, or their outer ends.
        self._low, self._high = (0.0, extent - 1.0) if aligned else (-0.5, extent - 0.5)

    def taps(self, at: Array, mode: str) -> list[tuple[Array, Array]]:
        """The positions of elements, and the weight of each."""
        if self._aligned:
            at = (at + 1) / 2 * (self._extent - 1)
        else:
            at = ((at + 1) * self._extent - 1) / 2
        if mode == "nearest":
            at = numpy.rint(at)
        outside = (at < self._low) | (at > self._high)
        if self._padding == "border":
            at = numpy.where(outside, numpy.clip(at, 0, self._extent - 1), at)
        elif self._padding == "reflection":
            at = numpy.where(outside, self._reflected(at), at)
        if mode == "nearest":
            return [(self._inside(at), numpy.ones_like(at))]
        first = numpy.floor(at)
        part = at - first
        weights = [1 - part, part] if mode == "linear" else _cubic(part)
        begin = 0 if mode == "linear" else -1
        return [(self._inside(first + begin + i), one) for i, one in enumerate(weights)]

    def _inside(self, at: Array) -> Array:
        """Whole positions, moved to where there is an element unless zeros are around."""
        if self._padding == "border":
            return numpy.clip(at, 0, self._extent - 1)
        if self._padding == "reflection":
            outside = (at < self._low) | (at > self._high)
            return numpy.where(outside, numpy.trunc(self._reflected(at)), at)
        return at

    def _reflected(self, at: Array) -> Array:
        """Positions reflected at both ends until they are inside."""
        length = self._high - self._low
        if not length:
            return numpy.where(numpy.isnan(at), at, self._low)
        far = numpy.where(at < self._low, self._low - at, at - self._low)
        count = numpy.floor(far / length)
        rest = far - count * length
        return self._low + numpy.where(numpy.fmod(count, 2) == 0, rest, length - rest)


def _cubic(part: Array) -> list[Array]:
    """The weights of four elements, by how far a position is behind the second of them."""

    def near(x: Array) -> Array:
        return ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((_CUBIC * x - 5 * _CUBIC) * x + 8 * _CUBIC) * x - 4 * _CUBIC

    return [far(part + 1), near(part), near(1 - part), far(2 - part)]


class NonMaxSuppression(OpRun):
    """Of boxes that overlap those with the largest scores."""

    op_domain = ""

    def _run(
        self,
        boxes: Array,
        scores: Array,
        most: Array | None = None,
        iou_threshold: Array | None = None,
        score_threshold: Array | None = None,
        center_point_box: int = 0,
    ) -> tuple[Array]:
        count = 0 if most is None else int(numpy.asarray(most).reshape(()))
        overlap = 0.0 if iou_threshold is None else float(numpy.asarray(iou_threshold).reshape(()))
        least = None
        if score_threshold is not None:
            least = numpy.asarray(score_threshold).reshape(())
        chosen: list[tuple[int, int, int]] = []
        for batch, of_class in itertools.product(*map(range, scores.shape[:2])):
            low, high = _corners(boxes[batch], bool(center_point_box))
            own = scores[batch, of_class]
            left = [
                int(box)
                for box in numpy.argsort(-own, kind="stable")
                if least is None or own[box] > least
            ]
            taken: list[int] = []
            for box in left:
                if len(taken) >= count:
                    break
                if not any(_overlap(low, high, box, other) > overlap for other in taken):
                    taken.append(box)
            chosen += [(batch, of_class, box) for box in taken]
        return (numpy.array(chosen, "int64").reshape(-1, 3),)


def _corners(boxes: Array, is_centred: bool) -> tuple[Array, Array]:
    """The lowest and the highest coordinates of boxes."""
    if is_centred:
        half = boxes[:, 2:] / 2
        return boxes[:, :2] - half, boxes[:, :2] + half
    return numpy.minimum(boxes[:, :2], boxes[:, 2:]), numpy.maximum(boxes[:, :2], boxes[:, 2:])


def _overlap(low: Array, high: Array, one: int, other: int) -> float:
    """The area that two boxes share, as a part of that of both; 0 where one has none."""
    sides = numpy.minimum(high[one], high[other]) - numpy.maximum(low[one], low[other])
    areas = [numpy.prod(high[box] - low[box]) for box in (one, other)]
    if not (sides > 0).all() or min(areas) <= 0:
        return 0.0
    shared = numpy.prod(sides)
    return float(shared / (areas[0] + areas[1] - shared))


OPERATORS = [AffineGrid, DeformConv, Det, GridSample, NonMaxSuppression]
