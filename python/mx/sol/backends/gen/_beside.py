"""Rows that lie side by side, with an element of each in an array of the thread."""

from __future__ import annotations

from collections.abc import Callable

from ._body import block
from ._domain import part_of
from ._frame import Frame


def extents(shape: tuple[int, ...], axis: int) -> tuple[int, int, int, int]:
    """A shape around an axis: elements in front of it, its own, and those behind it as so many
    parts of so many elements."""
    before, behind = 1, 1
    for extent in shape[:axis]:
        before *= extent
    for extent in shape[axis + 1 :]:
        behind *= extent
    width = part_of(behind)
    return before, shape[axis], behind // max(1, width), width


def filled(frame: Frame, name: str, value: float) -> list[str]:
    """Statements that give all elements of an array of the thread a value."""
    text = frame.number(value)
    return [block(f"for (int64_t i = 0; i < {frame.width}; ++i)", [f"{name}[i] = {text};"])]


def updated(
    frame: Frame, name: str, index: str, rest: str | None, change: Callable[[str], str]
) -> str:
    """The statement that changes elements of such an array, as many as a vector has."""
    at = f"{name} + {index}"
    if not frame.is_vector:
        return f"*({at}) = {change(f'*({at})')};"
    if rest is None:
        return f"vf_store({at}, {change(f'vf_load({at})')});"
    return f"vf_store_n({at}, {change(f'vf_load_n({at}, {rest})')}, {rest});"
