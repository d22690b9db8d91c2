"""The elements that a kernel goes over: as few axes as its inputs allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....graph.lowering._value import Declined

# Columns that are gone through at once at most, where they can be cut.
_WIDTH = 1024


@dataclass(frozen=True)
class Domain:
    """Axes of the elements, the last one without gaps; and the strides of each tensor along them,
    0 where it is broadcast. The last stride of each is 1 or 0."""

    shape: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]

    @property
    def rows(self) -> int:
        """How often the last axis comes."""
        count = 1
        for extent in self.shape[:-1]:
            count *= extent
        return count

    @property
    def columns(self) -> int:
        """The extent of the last axis."""
        return self.shape[-1]


def strides_in(shape: Sequence[int], whole: Sequence[int]) -> tuple[int, ...]:
    """The strides of a row-major tensor along the axes that it is broadcast to."""
    padded = (1,) * (len(whole) - len(shape)) + tuple(shape)
    strides, step = [], 1
    for extent, full in zip(reversed(padded), reversed(whole), strict=True):
        if extent not in (1, full):
            raise Declined(f"a shape that does not broadcast to {tuple(whole)}")
        strides.append(0 if extent == 1 else step)
        step *= extent
    return tuple(reversed(strides))


def part_of(extent: int) -> int:
    """How many of so many columns are gone through at once, so that all of their rows stay in the
    cache: a part of 128 to 1024 that divides them, or all of them where there is none."""
    return next((n for n in range(min(extent, _WIDTH), 127, -1) if extent % n == 0), extent)


def in_parts(outer: Domain, side: Domain) -> tuple[Domain, Domain]:
    """Rows and their columns, one axis, with the columns cut into parts, which become rows."""
    width = part_of(side.columns)
    if width == side.columns:
        return outer, side
    count = side.columns // width
    strides = tuple(
        (*rows, along[-1] * width) for rows, along in zip(outer.strides, side.strides, strict=True)
    )
    return Domain((*outer.shape, count), strides), Domain((width,), side.strides)


def domain_of(
    whole: Sequence[int],
    shapes: Sequence[tuple[int, ...]],
    axes_taken: Sequence[int] | None = None,
) -> Domain:
    """The domain of all elements of a shape, for tensors of these shapes.

    Axes that all tensors go through in one step become one. `axes_taken` are those that are gone
    through, in that order, by default all.
    """
    strides = [strides_in(shape, whole) for shape in shapes]
    axes: list[tuple[int, tuple[int, ...]]] = []  # extent and strides
    for axis in range(len(whole)) if axes_taken is None else axes_taken:
        extent = whole[axis]
        along = tuple(own[axis] for own in strides)
        if extent == 1:
            continue
        if axes:
            before, steps = axes[-1]
            if all(step == extent * one for step, one in zip(steps, along, strict=True)):
                axes[-1] = (before * extent, along)
                continue
        axes.append((extent, along))
    if not axes:
        axes.append((1, (0,) * len(shapes)))
    return Domain(
        tuple(extent for extent, _ in axes),
        tuple(tuple(along[i] for _, along in axes) for i in range(len(shapes))),
    )
