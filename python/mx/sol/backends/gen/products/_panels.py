"""How rows and columns are cut: into register tiles, cache blocks and tiles of threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy

from .....graph._shared import empty
from .._target import Target
from ._tile import MOST_ROWS, choose, split

# Of the depth, in one call of a register tile: a panel that high stays in the first cache.
DEPTH = 320
# The same of weights, which are packed beforehand: reading these from the second cache takes less
# than loading and storing sums. Sums of fewer terms, which are added, have smaller errors.
PACKED_DEPTH = 512
# Weights of more bytes, which the second cache does not hold, are to be read as rarely as can be.
MOST_WEIGHTS = 1 << 20
# Weights of fewer bytes stay near the first cache: nothing is fetched ahead.
FEW_WEIGHTS = 1 << 16
# Rows of a that begin a multiple of so many elements apart share a set of lines of the first cache;
# as many rows leave some of them to the weights.
ALIASED = 1024
FEW_ROWS = 8
# More results than these, and what is added to them, are not in the second cache. They are fetched
# while sums are computed, where these have so many terms that it takes as long.
FAR_RESULTS = 1 << 16
FAR_DEPTH = 48
# Rows whose elements of a stay in the second cache beside the panels.
ROWS = 128
# Multiplications that are worth a tile of their own, for a thread to take.
WORK = 1 << 18
# As many tiles keep the threads of a usual processor busy.
TILES = 16
# More tiles than this, threads are busy with counting them.
MOST_TILES = 64


@dataclass(frozen=True)
class Panels:
    """Columns in panels of a few vectors: `wide` many of `vectors`, then those of one vector less.

    `lanes` is what the very last vector holds.
    """

    vectors: int
    wide: int
    narrow: int
    lanes: int
    lane_count: int

    @staticmethod
    def of(columns: int, vectors: int, target: Target) -> Panels:
        """Panels of at most so many vectors."""
        total = -(-columns // target.lanes)
        parts = split(total, vectors)
        narrow = sum(part != parts[0] for part in parts)
        last = columns - (total - 1) * target.lanes
        return Panels(parts[0], len(parts) - narrow, narrow, last, target.lanes)

    @property
    def count(self) -> int:
        """How many panels."""
        return self.wide + self.narrow

    @property
    def width(self) -> int:
        """Columns of a wide panel."""
        return self.vectors * self.lane_count

    @property
    def padded(self) -> int:
        """Columns of all, with the lanes of the last vector that hold none."""
        return self.width * self.count - self.narrow * self.lane_count

    def size(self, index: int) -> int:
        """Vectors of a panel."""
        return self.vectors - (index >= self.wide)

    def start(self, index: int) -> int:
        """The first column of a panel."""
        return index * self.width - max(0, index - self.wide) * self.lane_count

    def kinds(self) -> list[tuple[str, int, str | None]]:
        """Each kind of panel: the C condition on its index p, vectors, lanes of the last vector."""
        ragged = str(self.lanes) if self.lanes < self.lane_count else None
        found: list[tuple[str, int, str | None]] = []
        last_size = self.size(self.count - 1)
        if ragged is not None:
            found.append((f"p == {self.count - 1}", last_size, ragged))
        if self.narrow > (ragged is not None):
            found.append((f"p >= {self.wide}", self.vectors - 1, None))
        if self.wide > (ragged is not None and not self.narrow):
            found.append(("1", self.vectors, None))
        return found

    def start_text(self, p: str = "p") -> str:
        """C for `start`, of a variable."""
        if not self.narrow:
            return f"{p} * {self.width}"
        fewer = f"({p} > {self.wide} ? {p} - {self.wide} : 0) * {self.lane_count}"
        return f"({p} * {self.width} - {fewer})"

    def width_text(self) -> str:
        """C for the width of panel p."""
        if not self.narrow:
            return str(self.width)
        return f"(p < {self.wide} ? {self.width} : {self.width - self.lane_count})"

    def pack(self, matrix: numpy.ndarray) -> numpy.ndarray:
        """A matrix (depth, columns), panel by panel, each row by row, zeros in lanes without.

        Panels lie behind each other: panel p begins at element start(p) * depth.
        """
        depth, columns = matrix.shape
        packed = empty(depth * self.padded, matrix.dtype)
        for p in range(self.count):
            first, width = self.start(p), self.size(p) * self.lane_count
            panel = packed[first * depth : (first + width) * depth].reshape(depth, width)
            some = min(width, columns - first)
            panel[:, :some] = matrix[:, first : first + some]
            panel[:, some:] = 0
        return packed


def depth_block(depth: int, unit: int = 1, most: int = DEPTH) -> int:
    """The depth of a block, a multiple of `unit`: equal parts of at most `most`."""
    units = max(1, depth // unit)
    parts = split(units, max(1, most // unit))
    return parts[0] * unit


def are_far(weights: int) -> bool:
    """Whether so many weights are behind the first cache."""
    return 4 * weights > FEW_WEIGHTS


def fetches(weights: int, width: int, tiles: int) -> int:
    """For each row of a panel of that width that a register tile reads, the elements that come next
    to fetch, so that all tiles that read it fetch as much as they read; 0 where the caches hold as
    many weights."""
    return -(-width // tiles) if are_far(weights) else 0


def tile_parts(total_work: int, most: int) -> int:
    """Into how many parts to cut something of `most` units."""
    return max(1, min(most, MOST_TILES, total_work // WORK))


def pick(
    rows: int,
    columns: int,
    target: Target,
    is_far: bool = False,
    most: int = MOST_ROWS,
    depth: int | None = None,
) -> tuple[int, int]:
    """Rows of a register tile, at most so many, and vectors of a panel, which may be far: behind
    the first cache; for a depth, where it is known."""
    return choose(max(1, rows), max(1, -(-columns // target.lanes)), target, is_far, most, depth)
