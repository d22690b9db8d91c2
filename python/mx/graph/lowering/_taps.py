"""Of which elements, and by what weights, each element of a resized axis is made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy

from ._value import Declined

Positions = Any  # numpy's


class Kind(NamedTuple):
    """How Resize computes: attributes of it."""

    mode: str
    coordinates: str
    nearest: str
    cubic_coefficient: float
    exclude_outside: bool
    antialias: bool = False

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Kind:
        """What the attributes of a node say. Declined for a part of the tensor, whose corners are
        an input."""
        coordinates = attributes.get("coordinate_transformation_mode", "half_pixel")
        if coordinates == "tf_crop_and_resize":
            raise Declined("tf_crop_and_resize, a part of the tensor")
        return cls(
            attributes.get("mode", "nearest"),
            coordinates,
            attributes.get("nearest_mode", "round_prefer_floor"),
            attributes.get("cubic_coeff_a", -0.75),
            bool(attributes.get("exclude_outside", 0)),
            bool(attributes.get("antialias", 0)),
        )


def extents_of(
    extents: Sequence[int],
    sizes: Sequence[int] | None,
    factors: Sequence[float] | None,
    policy: str = "stretch",
) -> list[tuple[int, float]]:
    """The extents of axes that are resized, and by what they are larger. Declined without sizes
    and factors."""
    if sizes is not None:
        if policy != "stretch" and 0 not in extents:
            limit = min if policy == "not_larger" else max
            factor = limit(size / old for size, old in zip(sizes, extents, strict=True))
            return [(math.floor(factor * old + 0.5), factor) for old in extents]
        return [(size, size / max(old, 1)) for size, old in zip(sizes, extents, strict=True)]
    if factors is None:
        raise Declined("neither scales nor sizes")
    return [(extent_of(old, one), one) for old, one in zip(extents, factors, strict=True)]


def extent_of(old: int, factor: float) -> int:
    """The extent of an axis that is made larger by a factor."""
    return int(old * factor)


def taps_of(
    kind: Kind, extent: int, old: int, factor: float
) -> list[tuple[Positions, Positions | None]]:
    """Indices into an axis of `old` elements, one for each of `extent`, and their weights.

    There are several where an element is made of several; None stands for weights of one. Declined
    for what is none of ONNX's kinds.
    """
    if not old:
        raise Declined("nothing to take elements from")
    at = _positions(kind.coordinates, extent, old, factor)
    if kind.antialias and kind.mode == "nearest":
        raise Declined("antialias of the nearest elements")
    taps: list[tuple[Positions, Positions | None]]
    if kind.mode == "nearest":
        taps = [(_nearest(kind.nearest, at), None)]
    elif kind.antialias and kind.mode in _REACH:
        taps = [*_of_all_near(kind, at, old, factor)]
    elif kind.mode == "linear":
        taps = [*_linear(at)]
    elif kind.mode == "cubic":
        taps = [*_cubic(at, kind.cubic_coefficient, old, kind.exclude_outside)]
    else:
        raise Declined(f"the mode {kind.mode}")
    return [(numpy.clip(index, 0, old - 1).astype("int64"), weight) for index, weight in taps]


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
    if mode == "tf_half_pixel_for_nn":
        return (index + 0.5) / factor
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


# How far the elements are that one is made of, at most.
_REACH = {"linear": 1, "cubic": 2}


def _of_all_near(
    kind: Kind, at: Positions, old: int, factor: float
) -> list[tuple[Positions, Positions]]:
    """With antialias: where there become fewer elements, each is made of as many more."""
    scale = min(factor, 1.0)
    reach = math.ceil(_REACH[kind.mode] / scale)
    first = numpy.floor(at)
    taps = []
    for offset in range(1 - reach, 1 + reach):
        index, far = first + offset, numpy.abs(first + offset - at) * scale
        if kind.mode == "linear":
            weight = numpy.maximum(1 - far, 0)
        else:
            weight = _cubic_weight(far, kind.cubic_coefficient)
        if kind.exclude_outside:
            weight = numpy.where((index < 0) | (index >= old), 0, weight)
        taps.append((index, weight))
    total = sum(weight for _, weight in taps)
    return [(index, weight / total) for index, weight in taps]


def _cubic_weight(far: Positions, a: float) -> Positions:
    """The weight of an element by its distance."""
    near = ((a + 2) * far - (a + 3)) * far * far + 1
    rest = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    return numpy.where(far <= 1, near, numpy.where(far < 2, rest, 0))


def _linear(at: Positions) -> list[tuple[Positions, Positions]]:
    first = numpy.floor(at)
    return [(first, 1 - (at - first)), (first + 1, at - first)]


def _cubic(
    at: Positions, a: float, old: int, exclude_outside: bool
) -> list[tuple[Positions, Positions]]:
    first = numpy.floor(at)
    taps = []
    for offset in (-1, 0, 1, 2):
        weight = _cubic_weight(numpy.abs(at - first - offset), a)
        index = first + offset
        if exclude_outside:
            weight = numpy.where((index < 0) | (index >= old), 0, weight)
        taps.append((index, weight))
    if exclude_outside:
        total = sum(weight for _, weight in taps)
        taps = [(index, weight / total) for index, weight in taps]
    return taps
