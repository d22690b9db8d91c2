"""Numbers of bytes, and what they are of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy

from ...graph import ValueSpec

# What memory is for, in the order in which pictures stack it.
KINDS = (
    "parameters", "optimizer", "inputs", "outputs", "saved", "gradients", "intermediates",
    "workspace",
)  # fmt: skip


def used_of(columns: Sequence[Mapping[str, int]]) -> list[str]:
    """The kinds of which there is any at any time."""
    return [kind for kind in KINDS if any(one[kind] for one in columns)]


def bytes_of(spec: ValueSpec) -> int:
    """The bytes of a value whose shape is known; 0 where it is not."""
    extents = [extent for extent in spec.shape or () if isinstance(extent, int)]
    if spec.dtype is None or spec.shape is None or len(extents) != len(spec.shape):
        return 0
    item = 2 if spec.dtype == "bfloat16" else numpy.dtype(spec.dtype).itemsize
    return math.prod(extents) * item


def size_text(size: float) -> str:
    """Bytes as people read them."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.2f} GB"
