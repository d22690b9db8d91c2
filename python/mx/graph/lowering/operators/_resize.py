"""Resize: along each axis the elements near a position, weighted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .... import numpy as np
from .._lowering import Lowering
from .._taps import Kind, Positions, extent_of, extents_of, taps_of
from .._value import Value
from ._backend import rule
from ._elementwise import FLOATS, cast, converted, widened
from ._training import add_step, check_float, maker


@rule("Resize", since=11)
def _resize(
    to: Lowering,
    x: Value,
    roi: Value | None = None,
    scales: Value | None = None,
    sizes: Value | None = None,
    *,
    axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
    **attributes: Any,
) -> Value:
    kind = Kind.of(attributes)
    chosen = list(range(len(x.shape))) if axes is None else list(axes)
    extents = [x.shape[axis] for axis in chosen]
    found = None if sizes is None or sizes.shape == (0,) else to.ints(sizes)
    factors = None if found is not None or scales is None else _numbers(to, scales)
    wanted = extents_of(extents, found, factors, keep_aspect_ratio_policy)
    result = x if kind.mode == "nearest" else _fractions(to, x)
    for axis, (extent, factor) in zip(chosen, wanted, strict=True):
        if factor == 1 and extent == x.shape[axis]:
            continue
        result = _weighted(to, result, axis, taps_of(kind, extent, x.shape[axis], factor))
    return converted(to, result, x.dtype)


def _fractions(to: Lowering, x: Value) -> Value:
    """The elements in a type that has what lies between them."""
    if x.dtype in FLOATS:
        return widened(to, x)
    return cast(to, x, "float32" if x.dtype in ("int8", "uint8", "int16", "uint16") else "float64")


@rule("Upsample", since=9)
def _upsample(to: Lowering, x: Value, scales: Value, *, mode: str = "nearest") -> Value:
    return _resize(
        to, x, None, scales, mode=mode, coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )  # fmt: skip


@rule("Resize", since=10)
def _resize_10(to: Lowering, x: Value, scales: Value, *, mode: str = "nearest") -> Value:
    """The nearest element is the one before an element where there become more, and the one
    behind it where there become fewer, as the tests of that version have it."""
    result = x if mode == "nearest" else _fractions(to, x)
    for axis, factor in enumerate(_numbers(to, scales)):
        extent = extent_of(x.shape[axis], factor)
        if factor == 1:
            continue
        kind = Kind(mode, "asymmetric", "ceil" if factor < 1 else "floor", 0.0, False)
        result = _weighted(to, result, axis, taps_of(kind, extent, x.shape[axis], factor))
    return converted(to, result, x.dtype)


@rule("Upsample", since=7)
def _upsample_7(to: Lowering, x: Value, *, scales: Sequence[float], mode: str = "nearest") -> Value:
    return _upsample(to, x, to.constant(numpy.array(scales, "float32")), mode=mode)


def _numbers(to: Lowering, value: Value) -> list[float]:
    return [float(one) for one in to.elements(value)]


def _weighted(
    to: Lowering, x: Value, axis: int, taps: Sequence[tuple[Positions, Positions | None]]
) -> Value:
    """The sum of elements along an axis, each times its weight."""
    total: Value | None = None
    shape = [-1] + [1] * (len(x.shape) - 1 - (axis % len(x.shape)))
    for index, weight in taps:
        part: Value = to.call(np.take, x, to.constant(index), axis=axis)
        if weight is not None:
            part = to.call(np.multiply, part, to.constant(weight.astype(x.dtype).reshape(shape)))
        total = part if total is None else to.call(np.add, total, part)
    assert total is not None
    return total


@rule("mxffi.sol::ResizeGrad")
def _resize_grad(
    to: Lowering,
    dy: Value,
    shape: Value,
    roi: Value | None = None,
    scales: Value | None = None,
    *,
    axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: str = "stretch",
    **attributes: Any,
) -> Value:
    kind = Kind.of(attributes)
    check_float(dy)
    extents = to.ints(shape)
    resized = list(range(len(extents))) if axes is None else [axis % len(extents) for axis in axes]
    factors = None if scales is None else _numbers(to, scales)
    found = dy
    for number, axis in enumerate(resized):
        old, extent = extents[axis], dy.shape[axis]
        factor = extent / max(old, 1) if factors is None else factors[number]
        if factor == 1 and old == extent:
            continue
        taps = taps_of(kind, extent, old, factor)
        indices = numpy.concatenate([index for index, _ in taps])
        parts = [numpy.ones(extent) if weight is None else weight for _, weight in taps]
        before = [*found.shape[:axis], old, *found.shape[axis + 1 :]]
        kernel = maker("resize_grad")(
            before, axis, extent, indices.tolist(), numpy.concatenate(parts).tolist()
        )
        found = add_step(to, kernel, found)[0]
    return found
