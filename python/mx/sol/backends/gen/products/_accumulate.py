"""C functions that add a product to what is there, for kernels of several products."""

from __future__ import annotations

from collections.abc import Iterable

import numpy

from .._target import Target
from ._panels import Panels, depth_block, pick
from ._text import fill
from ._tile import Tile, panel

_FUNCTION = """\
$tiles
static void $name(const float *a, int64_t rows, const float *b, float *c) {
  for (int64_t k0 = 0; k0 < $depth; k0 += $kc) {
    const int64_t depth = $depth - k0 < $kc ? $depth - k0 : $kc;
    for (int64_t p = 0; p < $panels; ++p) {
      const int64_t n = $start;
      for (int64_t m = 0; m < rows; m += $mr) {
        const int64_t high = rows - m < $mr ? rows - m : $mr;
$calls      }
    }
  }
}
"""


class Accumulation:
    """c += a b, of any of some numbers of rows, and a constant b; columns fill whole vectors."""

    def __init__(
        self, target: Target, name: str, row_counts: Iterable[int], depth: int, columns: int
    ) -> None:
        if columns % target.lanes:
            raise ValueError(f"Accumulation: columns: expected whole vectors, got {columns}")
        counts = sorted(set(row_counts))
        self.name, self.depth, self.columns = name, depth, columns
        self.mr, vectors = pick(counts[-1], columns, target)
        self.panels = Panels.of(columns, vectors, target)
        rests = {count % self.mr for count in counts} - {0}
        self.heights = sorted({self.mr, *rests} if counts[-1] >= self.mr else rests)

    def pack(self, matrix: numpy.ndarray) -> numpy.ndarray:
        """The elements of b, a matrix (depth, columns), as the function reads them."""
        return self.panels.pack(numpy.ascontiguousarray(matrix, numpy.float32))

    def source(self, a_row: int, c_row: int) -> str:
        """The function name(a, rows, b, c), for rows that lie that far from each other."""
        tiles: list[str] = []
        calls: list[str] = []
        for condition, vectors, _ in self.panels.kinds():
            for height in self.heights:
                tile = Tile(
                    height,
                    panel(vectors),
                    str(a_row),
                    "1",
                    f"({vectors} * VW)",
                    str(c_row),
                    is_blocked=True,
                )
                name = f"{self.name}_tile{height}x{vectors}"
                tiles.append(tile.source(name))
                call = tile.call(
                    name,
                    f"a + m * {a_row} + k0",
                    f"b + n * {self.depth} + k0 * {vectors} * VW",
                    f"c + m * {c_row} + n",
                    {},
                    "depth",
                    "0, 0",
                )
                head = "" if not calls else "else "
                calls.append(f"        {head}if ({condition} && high == {height}) {call}\n")
        return fill(
            _FUNCTION,
            tiles="\n".join(tiles),
            name=self.name,
            depth=self.depth,
            kc=depth_block(self.depth) or 1,
            panels=self.panels.count,
            start=self.panels.start_text(),
            mr=self.mr,
            calls="".join(calls),
        )
