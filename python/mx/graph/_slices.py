"""Slices of an axis as ONNX has them, as Python's."""

from __future__ import annotations


def python_slice(start: int, end: int, step: int, extent: int) -> slice:
    """A slice of Python for bounds that ONNX clamps to an axis of so many elements: backwards, what
    begins in front of the axis begins at its first element, where Python gives nothing."""
    if step > 0:
        return slice(start, end, step)
    first = start + extent if start < 0 else start
    last = end + extent if end < 0 else end
    return slice(max(min(first, extent - 1), 0), None if last < 0 else last, step)
