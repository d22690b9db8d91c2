"""Resize: along each axis the elements near a position, weighted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import cast, widened

Positions = Any  # numpy's, of float64


@rule("Resize", since=11)
def _resize(
    to: Lowering,
    x: Value,
    roi: Value | None = None,
    scales: Value | None = None,
    sizes: Value | None = None,
    *,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    axes: Sequence[int] | None = None,
    antialias: int = 0,
    keep_aspect_ratio_policy: str = "stretch",
) -> Value:
    if antialias or coordinate_transformation_mode == "tf_crop_and_resize":
        raise Declined("antialias, or a part of the tensor")
    if keep_aspect_ratio_policy != "stretch" and sizes is not None:
        raise Declined("sizes that are limits")
    chosen = list(range(len(x.shape))) if axes is None else list(axes)
    wanted = _extents(to, [x.shape[axis] for axis in chosen], scales, sizes)
    result = x if mode == "nearest" else widened(to, x)
    for axis, (extent, factor) in zip(chosen, wanted, strict=True):
        if factor == 1 and extent == x.shape[axis]:
            continue
        if not x.shape[axis]:
            raise Declined("nothing to take elements from")
        at = _positions(coordinate_transformation_mode, extent, x.shape[axis], factor)
        if mode == "nearest":
            taps = [(_nearest(nearest_mode, at), None)]
        elif mode == "linear":
            taps = _linear(at)
        elif mode == "cubic":
            taps = _cubic(at, cubic_coeff_a, x.shape[axis], bool(exclude_outside))
        else:
            raise Declined(f"the mode {mode}")
        result = _weighted(to, result, axis, taps)
    return cast(to, result, x.dtype)


@rule("Upsample", since=9)
def _upsample(to: Lowering, x: Value, scales: Value, *, mode: str = "nearest") -> Value:
    return _resize(
        to, x, None, scales, mode=mode, coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )  # fmt: skip


def _extents(
    to: Lowering, extents: Sequence[int], scales: Value | None, sizes: Value | None
) -> list[tuple[int, float]]:
    """The extents of the result, and by what they are larger."""
    if sizes is not None and sizes.shape != (0,):
        found = to.ints(sizes)
        return [(size, size / max(old, 1)) for size, old in zip(found, extents, strict=True)]
    if scales is None:
        raise Declined("neither scales nor sizes")
    factors = [float(factor) for factor in to.elements(scales)]
    return [(int(old * factor), factor) for old, factor in zip(extents, factors, strict=True)]


def _positions(mode: str, extent: int, old: int, factor: float) -> Positions:
    """Where each element of the result lies among the old ones."""
    index = numpy.arange(extent, dtype="float64")
    if mode == "asymmetric":
        return index / factor
    if mode == "align_corners":
        return index * 0 if extent == 1 else index * ((old - 1) / (factor * old - 1))
    if mode == "pytorch_half_pixel" and extent <= 1:
        return index * 0
    if mode == "half_pixel_symmetric":
        share = extent / (factor * old)
        return old / 2 * (1 - share) + (index + 0.5) / factor - 0.5
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return (index + 0.5) / factor - 0.5
    raise Declined(f"the coordinates {mode}")


def _nearest(mode: str, at: Positions) -> Positions:
    if mode == "floor":
        return numpy.floor(at)
    if mode == "ceil":
        return numpy.ceil(at)
    if mode == "round_prefer_ceil":
        return numpy.floor(at + 0.5)
    return numpy.ceil(at - 0.5)


def _linear(at: Positions) -> list[tuple[Positions, Positions]]:
    first = numpy.floor(at)
    return [(first, 1 - (at - first)), (first + 1, at - first)]


def _cubic(
    at: Positions, a: float, old: int, exclude_outside: bool
) -> list[tuple[Positions, Positions]]:
    first = numpy.floor(at)
    taps = []
    for offset in (-1, 0, 1, 2):
        far = numpy.abs(at - first - offset)
        near = ((a + 2) * far - (a + 3)) * far * far + 1
        weight = numpy.where(far <= 1, near, ((a * far - 5 * a) * far + 8 * a) * far - 4 * a)
        index = first + offset
        if exclude_outside:
            weight = numpy.where((index < 0) | (index >= old), 0, weight)
        taps.append((index, weight))
    if exclude_outside:
        total = sum(weight for _, weight in taps)
        taps = [(index, weight / total) for index, weight in taps]
    return taps


def _weighted(
    to: Lowering, x: Value, axis: int, taps: Sequence[tuple[Positions, Positions | None]]
) -> Value:
    """The sum of elements along an axis, each times its weight."""
    total: Value | None = None
    shape = [-1] + [1] * (len(x.shape) - 1 - (axis % len(x.shape)))
    for index, weight in taps:
        clamped = numpy.clip(index, 0, x.shape[axis] - 1).astype("int64")
        part: Value = to.call(np.take, x, to.constant(clamped), axis=axis)
        if weight is not None:
            part = to.call(np.multiply, part, to.constant(weight.astype(x.dtype).reshape(shape)))
        total = part if total is None else to.call(np.add, total, part)
    assert total is not None
    return total
