"""Which pixels and channels of a convolution are computed together, in registers."""

from __future__ import annotations

import dataclasses
import functools

from .._target import Target
from ._tile import cost, fits, split
from ._window import Window


@dataclasses.dataclass(frozen=True)
class Shape:
    """A register tile: rows and columns of pixels, vectors of results; and cycles of all."""

    high: int
    wide: int
    vectors: int
    cycles: float


@functools.lru_cache(maxsize=1024)
def tile_shape(window: Window, target: Target) -> Shape:
    """The register tile with which all results take the least."""
    total = -(-window.results // target.lanes)
    depth = max(1, window.channels * window.taps)
    best = Shape(1, 1, 1, float("inf"))
    for vectors in range(1, min(total, 8) + 1):
        parts = split(total, vectors)
        if parts[0] != vectors:
            continue
        for columns in range(1, min(window.out_wide, target.registers) + 1):
            wide = split(window.out_wide, columns)[0]
            if wide != columns or not fits(wide, vectors, target):
                continue
            most = (target.registers - 1 - vectors) // (vectors * wide)
            high = min(window.out_high, max(1, most)) if wide == window.out_wide else 1
            whole, rest = divmod(window.out_wide, wide)
            full, fewer = divmod(window.out_high, high)
            cycles = sum(
                (cost(h * w, v, target, depth=depth) + 0.5) * h_count * w_count
                for v in parts
                for h, h_count in ((high, full), (fewer, 1))
                for w, w_count in ((wide, whole), (rest, 1))
                if h and w
            )
            if cycles < best.cycles:
                best = Shape(high, wide, vectors, cycles)
    return dataclasses.replace(best, cycles=best.cycles * depth)
