"""Convolutions of few results: register tiles read the rows of the input where they lie."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy

from .._kernel import NAME, GenKernel, make_kernel, signature
from .._target import Target
from ._copy import copy_function
from ._kernels import ConvolutionKernel
from ._panels import WORK, Panels
from ._text import fill
from ._tile import Column, Tile, cost, fits, sizes, split
from ._window import Rows, Window

_BODY = """\
$copy
$tiles
$signature {
$x  for (int64_t t = begin; t < end; ++t) {
    const int64_t image = t / $parts, first_row = t % $parts * $part_rows, group = image % $groups;
    const int64_t row_end =
        first_row + $part_rows < $out_high ? first_row + $part_rows : $out_high;
    const float *const image_x = (const float *)in[$x_at] + image * $image_size;
    const float *const a = (const float *)in[$weights] + group * $weights_size;
    float *const c = (float *)out[0] + image * $out_size;
    (void)group, (void)work;
$rows_of    for (int64_t row = first_row; row < row_end; row += $high)
      for (int64_t p = 0; p < $panels; ++p) {
        const int64_t n = $start;
        for (int64_t m = 0; m < $results; m += $mr) {
$calls        }
      }
  }
}
"""


@dataclass(frozen=True)
class Shape:
    """A register tile: results, rows and vectors of a row; and what all of them take, in cycles."""

    results: int
    high: int
    vectors: int
    cycles: float


def _cost(results: int, vectors: int, target: Target, depth: int) -> float:
    """Cycles of a tap: vectors that cross cache lines are read twice, and there is the loop."""
    return max(cost(results, vectors, target, depth=depth), (results + 2 * vectors) / 2) + 1


def shape_of(window: Window, target: Target) -> Shape:
    """The register tile with which all results take the least."""
    total = -(-window.out_wide // target.lanes)
    depth = max(1, window.channels * window.taps)
    best = Shape(1, 1, 1, float("inf"))
    for results in range(1, min(window.results, 16) + 1):
        m_parts = split(window.results, results)
        if m_parts[0] != results:
            continue
        for vectors in range(1, min(total, 8) + 1):
            for high in range(1, min(window.out_high, 8) + 1):
                if not fits(results, vectors * high, target) or (high > 1 and vectors < total):
                    continue
                full, rest = divmod(window.results, results)
                whole, fewer = divmod(window.out_high, high)
                parts = split(total, vectors)
                cycles = sum(
                    _cost(m, vector * h, target, depth) * m_count * h_count
                    for m, m_count in ((results, full), (rest, 1))
                    for h, h_count in ((high, whole), (fewer, 1))
                    for vector in parts
                    if m and h
                )
                if cycles < best.cycles:
                    best = Shape(results, high, vectors, cycles)
    return Shape(best.results, best.high, best.vectors, best.cycles * depth)


class RowConvolution(ConvolutionKernel):
    """Reads rows of the input where they lie."""

    def _prepare(self) -> None:
        target, window = self.target, self.window
        shape = shape_of(window, target)
        self.mr, self.high = shape.results, shape.high
        self.panels = Panels.of(window.out_wide, shape.vectors, target)
        self.rows = Rows.of(window, may_read_behind=target.name == "avx512")
        images = window.batch * window.groups
        work = window.results * window.pixels * max(1, self.depth)
        blocks = -(-window.out_high // self.high)
        parts = max(1, min(blocks, -(-16 // images), work // WORK))
        self.part_rows = -(-blocks // parts) * self.high
        self.parts = -(-window.out_high // self.part_rows)
        self.block_rows = self.part_rows if self.rows.is_copied else window.high - self.rows.more

    def kernel(self) -> GenKernel:
        """The kernel."""
        window, rows = self.window, self.rows
        plane = rows.plane(self.block_rows) if rows.is_copied else window.high * window.wide
        copied = 4 * (window.channels * plane + 8 * self.target.lanes) if rows.is_copied else 0
        if rows.is_copied:
            x = "  float *const x = work;\n"
            rows_of = f"    {NAME}_rows(image_x, x, first_row);\n"
            at = f"x + (row - first_row) * {rows.wide} + n"
        else:
            x, rows_of = "", ""
            at = f"image_x + row * {rows.wide} + n"
        functions, calls = self._tiles(plane, at)
        text = fill(
            _BODY,
            copy=copy_function(window, rows, self.block_rows) if rows.is_copied else "",
            tiles=functions,
            signature=signature(),
            x=x,
            x_at=self.positions.at[0],
            parts=self.parts,
            part_rows=self.part_rows,
            groups=window.groups,
            out_high=window.out_high,
            image_size=window.channels * window.high * window.wide,
            weights=self.positions.count,
            weights_size=window.results * self.depth,
            out_size=window.results * window.pixels,
            rows_of=rows_of,
            high=self.high,
            panels=self.panels.count,
            start=self.panels.start_text(),
            results=window.results,
            mr=self.mr,
            calls=calls,
        )
        return make_kernel(
            "conv",
            text,
            window.batch * window.groups * self.parts,
            (self.output,),
            workspace=copied,
            constants=(functools.partial(pack_results, self.weights, window, self.mr),),
        )

    def _columns(self, high: int, vectors: int, lanes: str | None) -> list[Column]:
        exactly = lanes if not self.rows.is_copied else None
        return [
            Column(
                f"{i * self.rows.wide + j * self.target.lanes}",
                f"{i * self.window.out_wide + j * self.target.lanes}",
                lanes if j == vectors - 1 else None,
                exactly if j == vectors - 1 else None,
            )
            for i in range(high)
            for j in range(vectors)
        ]

    def _tiles(self, plane: int, at: str) -> tuple[str, str]:
        """The functions of all register tiles, and the calls that choose among them."""
        window = self.window
        taps = self.rows.taps(window, self.block_rows)
        functions: list[str] = []
        calls: list[str] = []
        heights = sizes(window.out_high, self.high, "row")
        counts = sizes(window.results, self.mr, "m")
        where = f"m * {window.pixels} + row * {window.out_wide} + n"
        for condition, vectors, lanes in self.panels.kinds():
            for high, is_high in heights:
                for count, is_count in counts:
                    tile = Tile(
                        count,
                        self._columns(high, vectors, lanes),
                        "1",
                        str(count),
                        str(plane),
                        str(window.pixels),
                        taps=taps,
                        steps=self.steps,
                        operands=self.operands,
                    )
                    name = f"{NAME}_tile{count}x{high}x{vectors}" + (f"_{lanes}" if lanes else "")
                    functions.append(tile.source(name))
                    offsets = {
                        "row": f"group * {window.results} + m",
                        "full": f"image * {window.results * window.pixels} + {where}",
                    }
                    call = tile.call(
                        name,
                        f"a + m * {self.depth}",
                        at,
                        f"c + {where}",
                        offsets,
                        str(window.channels),
                    )
                    head = "" if not calls else "else "
                    calls.append(
                        f"          {head}if ({condition} && {is_high} && {is_count}) {call}\n"
                    )
        return "\n".join(functions), "".join(calls)


def pack_results(weights: numpy.ndarray, window: Window, mr: int) -> numpy.ndarray:
    """For each group and tile of `mr` results, the elements of all at a depth side by side."""
    matrix = weights.reshape(window.groups, window.results, -1)
    parts = [
        numpy.ascontiguousarray(matrix[g, m : m + mr].T).reshape(-1)
        for g in range(window.groups)
        for m in range(0, window.results, mr)
    ]
    packed: numpy.ndarray = numpy.concatenate(parts).astype(numpy.float32, copy=False)
    return packed
