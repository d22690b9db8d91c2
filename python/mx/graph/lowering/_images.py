"""Images whose channels are last in memory, as oneDNN's kernels like them, seen as such arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ._value import Value

if TYPE_CHECKING:
    from ._lowering import Lowering

# From the axes (N, C, H, W) to (N, H, W, C), and back.
TO_LAST = (0, 2, 3, 1)
TO_FIRST = (0, 3, 1, 2)


def shape_last(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape (N, H, W, C) of one (N, C, H, W)."""
    return tuple(shape[axis] for axis in TO_LAST)


def is_last(value: Value) -> bool:
    """Whether a value is images whose channels are last in memory."""
    return value.layout is not None and bool(value.layout.is_channels_last)


def seen_last(to: Lowering, value: Value) -> Value:
    """Such images as what they are in memory: an array (N, H, W, C)."""
    return to.seen(value, shape_last(value.shape))


def seen_first(to: Lowering, array: Value, like: Value) -> Value:
    """An array (N, H, W, C) as images in the layout of others."""
    shape = tuple(array.shape[axis] for axis in TO_FIRST)
    return replace(to.seen(array, shape), layout=like.layout.channels_last(shape))
