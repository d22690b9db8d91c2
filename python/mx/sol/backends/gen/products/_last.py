"""Convolutions whose results have their channels last: vectors of channels for each pixel."""

from __future__ import annotations

import dataclasses

import numpy

from .._kernel import NAME, GenKernel, make_kernel, signature
from ._copy import copy_function
from ._kernels import ConvolutionKernel
from ._panels import MOST_WEIGHTS, TILES, WORK, Panels, fetches
from ._pixel_tile import tile_shape
from ._text import fill
from ._tile import Tile, panel, sizes
from ._window import Rows

# Bytes of rows that are copied at once: the second cache holds them beside a panel of weights.
COPIED_BYTES = 3 << 17
# The same where all rows read weights that the second cache does not hold.
MOST_COPIED_BYTES = 1 << 20
# So many elements of the input that lie behind each other are walked before the next tap.
MANY = 32

_BODY = """\
$copy
$tiles
$signature {
  int64_t held = -1;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t source = t / $p_parts, image = source / $row_parts;
    const int64_t r_begin = source % $row_parts * $row_step, p_begin = t % $p_parts * $p_step;
    const int64_t r_end = r_begin + $row_step < $out_high ? r_begin + $row_step : $out_high;
    const int64_t p_end = p_begin + $p_step < $panels ? p_begin + $p_step : $panels;
    const float *const image_x = (const float *)in[$x_at] + image * $image_size;
    const float *const b = (const float *)in[$weights];
    float *const c_all = (float *)out[0];
    (void)work, (void)held;
$rows_of    held = source;
    for (int64_t p = p_begin; p < p_end; ++p) {
      const int64_t n = $start;
$fetched      for (int64_t row = r_begin; row < r_end; row += $high)
        for (int64_t column = 0; column < $out_wide; column += $wide) {
          const float *const a = x + (row - $origin) * $row_stride + column * $column_stride;
          const int64_t at = ((image * $out_high + row) * $out_wide + column) * $results + n;
$calls$on        }
    }
  }
}
"""

# Rows from `first` on of an image with zeros around it, whose channels are last.
_COPY = """\
static void ${NAME}_rows(const float *restrict x, float *restrict to, int64_t first) {
  for (int64_t r = 0; r < $rows; ++r, to += $wide) {
    const int64_t h = first + r - $above;
    if (h < 0 || h >= $high) {
      memset(to, 0, $wide * sizeof(float));
      continue;
    }
$parts  }
}
"""


class LastConvolution(ConvolutionKernel):
    """Has vectors of channels for each pixel; the input has its channels first or last."""

    has_last_input = True

    def _prepare(self) -> None:
        target, window = self.target, self.window
        self.shape = tile_shape(window, target)
        self.panels = Panels.of(window.results, self.shape.vectors, target)
        self.is_copied = not window.is_inside
        self._cut()
        self._strides()
        high, wide = self.shape.high, self.shape.wide
        tiles = -(-min(self.row_step, self.window.out_high) // high)
        tiles *= -(-self.window.out_wide // wide)
        self.fetches = fetches(self.depth * self.window.results, self.panels.width, tiles)

    def _reach(self, axis: int) -> int:
        taps = (self.window.taps_high, self.window.taps_wide)[axis]
        return (taps - 1) * self.window.dilations[axis] + 1

    def _cut(self) -> None:
        """The tiles for threads: blocks of rows, and of panels where those are too few."""
        window, high = self.window, self.shape.high
        self.x_wide = window.wide
        step = window.out_high
        if self.is_copied:
            self.x_wide = (window.out_wide - 1) * window.strides[1] + self._reach(1)
            row_bytes = 4 * self.x_wide * window.channels
            is_large = 4 * self.depth * window.results > MOST_WEIGHTS
            step = (
                (MOST_COPIED_BYTES if is_large else COPIED_BYTES) // row_bytes - self._reach(0)
            ) // window.strides[0] + 1
        work = window.results * window.pixels * max(1, self.depth)
        # Each block of rows reads all weights: those of many are read by few.
        parts = 1 if self.depth * window.results > 1 << 18 else TILES // max(1, window.batch)
        parts = max(1, min(parts, work // WORK))
        step = min(step, -(-window.out_high // parts), window.out_high)
        self.row_step = max(1, -(-step // high)) * high
        self.row_parts = -(-window.out_high // self.row_step)
        sources = window.batch * self.row_parts
        p_parts = max(1, min(self.panels.count, -(-TILES // sources), work // (WORK * sources)))
        self.p_step = -(-self.panels.count // p_parts)
        self.p_parts = -(-self.panels.count // self.p_step)
        rows = min(self.row_step, window.out_high)
        self.x_high = (rows - 1) * window.strides[0] + self._reach(0)
        if not self.is_copied:
            self.x_high = window.high

    def _strides(self) -> None:
        """How far elements of the input lie apart: of channels, of columns and of rows."""
        window = self.window
        taps = [
            (i * window.dilations[0], j * window.dilations[1])
            for i in range(window.taps_high)
            for j in range(window.taps_wide)
        ]
        matrix = self.weights.reshape(
            window.results, window.channels, window.taps_high, window.taps_wide
        )
        if not self.has_last_input:
            self.column, self.row = 1, self.x_wide
            self.channel, self.count = self.x_high * self.x_wide, window.channels
            matrix = matrix.transpose(1, 2, 3, 0)
        else:
            self.column, self.row = window.channels, self.x_wide * window.channels
            self.channel, self.count = 1, window.channels
            matrix = matrix.transpose(1, 2, 3, 0)
            if window.dilations[1] == 1:  # the taps of a row lie behind each other
                taps = [(i * window.dilations[0], 0) for i in range(window.taps_high)]
                self.count *= window.taps_wide
                matrix = matrix.transpose(2, 0, 1, 3)
        self.walks_taps = self.channel == 1 and self.count >= MANY
        if self.walks_taps:
            matrix = matrix.reshape(self.count, len(taps), window.results).transpose(1, 0, 2)
        self.taps = [i * self.row + j * self.column for i, j in taps]
        self.matrix = matrix.reshape(-1, window.results)

    def kernel(self) -> GenKernel:
        """The kernel."""
        window, panels, shape = self.window, self.panels, self.shape
        functions, calls = self._tiles()
        copied = self.x_high * self.x_wide * window.channels if self.is_copied else 0
        text = fill(
            _BODY,
            copy=self._copy() if self.is_copied else "",
            tiles=functions,
            signature=signature(),
            p_parts=self.p_parts,
            row_parts=self.row_parts,
            row_step=self.row_step,
            p_step=self.p_step,
            out_high=window.out_high,
            out_wide=window.out_wide,
            panels=panels.count,
            x_at=self.positions.at[0],
            image_size=window.channels * window.high * window.wide,
            weights=self.positions.count,
            rows_of=(
                f"    float *const x = work;\n    if (source != held) "
                f"{NAME}_rows(image_x, x, r_begin * {window.strides[0]});\n"
            )
            if self.is_copied
            else "    const float *const x = image_x;\n",
            start=panels.start_text(),
            high=shape.high,
            wide=shape.wide,
            origin="r_begin" if self.is_copied else "0",
            row_stride=window.strides[0] * self.row,
            column_stride=window.strides[1] * self.column,
            results=window.results,
            calls=calls,
            fetched=f"      const float *next = b + (n + {panels.width_text()}) * {self.depth};\n"
            if self.fetches
            else "",
            on=f"          next += {self.fetches * self.depth};\n" if self.fetches else "",
        )
        return make_kernel(
            "conv",
            text,
            window.batch * self.row_parts * self.p_parts,
            (self.output,),
            workspace=4 * copied,
            constants=(lambda: panels.pack(self.matrix.astype(numpy.float32, copy=False)),),
        )

    def _copy(self) -> str:
        window = self.window
        if not self.has_last_input:
            whole = dataclasses.replace(window, strides=(1, 1))
            return copy_function(whole, Rows(self.x_wide, ((0, 0),), 0, True), self.x_high)
        left = min(self.x_wide, window.pads[1])
        middle = max(0, min(window.wide, self.x_wide - left))
        size, parts = window.channels, []
        if left:
            parts.append(f"memset(to, 0, {left * size} * sizeof(float));")
        if middle:
            source = f"x + h * {window.wide * size}"
            parts.append(f"memcpy(to + {left * size}, {source}, {middle * size} * sizeof(float));")
        if rest := self.x_wide - left - middle:
            begin = (left + middle) * size
            parts.append(f"memset(to + {begin}, 0, {rest * size} * sizeof(float));")
        return fill(
            _COPY,
            NAME=NAME,
            rows=self.x_high,
            wide=self.x_wide * size,
            above=window.pads[0],
            high=window.high,
            parts="".join(f"    {part}\n" for part in parts),
        )

    def _tiles(self) -> tuple[str, str]:
        """The functions of all register tiles, and the calls that choose among them."""
        window, shape = self.window, self.shape
        functions: list[str] = []
        calls: list[str] = []
        heights = sizes(window.out_high, shape.high, "row")
        widths = sizes(window.out_wide, shape.wide, "column")
        for condition, vectors, lanes in self.panels.kinds():
            for high, is_high in heights:
                for across, is_wide in widths:
                    at = [
                        i * window.strides[0] * self.row + j * window.strides[1] * self.column
                        for i in range(high)
                        for j in range(across)
                    ]
                    tile = Tile(
                        high * across,
                        panel(vectors, lanes),
                        "0",
                        str(self.channel),
                        f"({vectors} * VW)",
                        str(window.results),
                        taps=self.taps,
                        a_at=at,
                        walks_taps=self.walks_taps,
                        fetches=self.fetches,
                        steps=self.steps,
                        operands=self.operands,
                    )
                    name = f"{NAME}_tile{high}x{across}x{vectors}" + (f"_{lanes}" if lanes else "")
                    functions.append(tile.source(name))
                    call = tile.call(
                        name,
                        "a",
                        f"b + n * {self.depth}",
                        "c_all + at",
                        {"column": "n", "full": "at"},
                        str(self.count),
                        fetched="next",
                    )
                    head = "" if not calls else "else "
                    calls.append(
                        f"          {head}if ({condition} && {is_high} && {is_wide}) {call}\n"
                    )
        return "\n".join(functions), "".join(calls)


class FirstToLastConvolution(LastConvolution):
    """Reads an input whose channels are first."""

    has_last_input = False
