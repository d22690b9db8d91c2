"""Operators of images and of boxes, for which onnx's reference implementations fail, or give
something else than ONNX describes."""

from __future__ import annotations

import itertools
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


OPERATORS = [AffineGrid, DeformConv, Det, NonMaxSuppression]
