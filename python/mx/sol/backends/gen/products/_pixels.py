"""Convolutions of small images: vectors of results of one pixel, elements of the input for all."""

from __future__ import annotations

import dataclasses

import numpy

from .._kernel import NAME, GenKernel, make_kernel, signature
from .._target import Target
from ._copy import copy_function
from ._finish import finish_call, finish_function
from ._kernels import ConvolutionKernel
from ._panels import WORK, Panels, depth_block
from ._pixel_tile import Shape, tile_shape
from ._text import fill
from ._tile import Tile, panel, sizes
from ._turn import turn_function
from ._window import Rows, Window

MOST_PIXELS = 1024

_BODY = """\
$copy
$tiles
$turn
$finish
$signature {
  float *const sums = work;
$copied  int64_t held = -1;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t image = t / $parts, part = t % $parts, group = image % $groups;
    const int64_t p_begin = part * $step;
    const int64_t p_end = p_begin + $step < $panels ? p_begin + $step : $panels;
    const float *const image_x = (const float *)in[$x_at] + image * $image_size;
    const float *const w = (const float *)in[$weights] + group * $weights_size;
    (void)group, (void)held;
$rows_of    held = image;
    for (int64_t p = p_begin; p < p_end; ++p) {
      const int64_t n = $start, width = $width;
      const int64_t used = $results - n < width ? $results - n : width;
      for (int64_t k0 = 0; k0 < $loop; k0 += $kc) {
        const int64_t depth = $channels - k0 < $kc ? $channels - k0 : $kc;
        const float *const b = w + n * $depth + k0 * $taps * width;
        for (int64_t row = 0; row < $out_high; row += $high)
          for (int64_t column = 0; column < $out_wide; column += $wide) {
            const float *const a = x + k0 * $plane + row * $row_step + column * $column_step;
            float *const to = sums + (row * $out_wide + column) * width;
$calls          }
      }
      float *const c = (float *)out[0] + (image * $results + n) * $pixels;
      ${NAME}_turn(sums, width, c, used, $pixels);
$finish_call    }
  }
}
"""


def pixel_shape(window: Window, target: Target) -> Shape:
    """The register tile with which all results take the least; its cycles with those of turning
    results."""
    shape = tile_shape(window, target)
    total = -(-window.results // target.lanes)
    turned = 8 * target.lanes * total * -(-window.pixels // target.lanes)
    return dataclasses.replace(shape, cycles=shape.cycles + turned)


def has_tiles(window: Window, target: Target) -> bool:
    """Whether there are tiles enough for several threads, where there is work for them."""
    work = window.results * window.pixels * window.channels * window.taps
    panels = -(-window.results // (target.lanes * pixel_shape(window, target).vectors))
    images = window.batch * window.groups
    return images * panels >= min(8, images * (work // (8 * WORK)))


class PixelConvolution(ConvolutionKernel):
    """Has vectors of results for each pixel."""

    def _prepare(self) -> None:
        target, window = self.target, self.window
        self.shape = pixel_shape(window, target)
        # As many columns as vectors hold, so that no last vector is another one.
        lanes = target.lanes
        self.panels = Panels.of(-(-window.results // lanes) * lanes, self.shape.vectors, target)
        self.kc = (depth_block(self.depth, window.taps) or window.taps) // window.taps
        self.is_blocked = window.channels > self.kc
        images = window.batch * window.groups
        work = window.results * window.pixels * max(1, self.depth)
        parts = max(1, min(self.panels.count, -(-16 // images), work // WORK))
        self.step = -(-self.panels.count // parts)
        self.parts = -(-self.panels.count // self.step)
        # The input as windows of stride 1 see it, where they reach beyond it.
        self.whole = dataclasses.replace(window, strides=(1, 1))
        high = (window.out_high - 1) * window.strides[0] + self._reach(0)
        wide = (window.out_wide - 1) * window.strides[1] + self._reach(1)
        self.is_copied = not window.is_inside
        self.padded = (high, wide) if self.is_copied else (window.high, window.wide)

    def _reach(self, axis: int) -> int:
        taps = (self.window.taps_high, self.window.taps_wide)[axis]
        return (taps - 1) * self.window.dilations[axis] + 1

    def kernel(self) -> GenKernel:
        """The kernel."""
        window, panels, shape = self.window, self.panels, self.shape
        high, wide = self.padded
        plane = high * wide
        functions, calls = self._tiles(plane)
        sums = (window.pixels + self.target.lanes) * panels.width
        sums = -(-sums // 16) * 16
        copied = window.channels * plane if self.is_copied else 0
        rows = Rows(wide, ((0, 0),), 0, True)
        text = fill(
            _BODY,
            NAME=NAME,
            copy=copy_function(self.whole, rows, high) if self.is_copied else "",
            tiles=functions,
            turn=turn_function(self.target),
            finish=finish_function(f"{NAME}_finish", self.steps, self.operands)
            if self.steps
            else "",
            signature=signature(),
            copied=f"  float *const x = sums + {sums};\n" if self.is_copied else "",
            parts=self.parts,
            groups=window.groups,
            step=self.step,
            panels=panels.count,
            x_at=self.positions.at[0],
            image_size=window.channels * window.high * window.wide,
            weights=self.positions.count,
            weights_size=panels.padded * self.depth,
            rows_of=f"    if (image != held) {NAME}_rows(image_x, x, 0);\n"
            if self.is_copied
            else "    const float *const x = image_x;\n",
            start=panels.start_text(),
            width=panels.width_text(),
            results=window.results,
            loop=max(1, window.channels),
            kc=self.kc,
            channels=window.channels,
            depth=self.depth,
            taps=window.taps,
            out_high=window.out_high,
            out_wide=window.out_wide,
            high=shape.high,
            wide=shape.wide,
            plane=plane,
            row_step=window.strides[0] * wide,
            column_step=window.strides[1],
            calls=calls,
            pixels=window.pixels,
            finish_call=self._finish(),
        )
        return make_kernel(
            "conv",
            text,
            window.batch * window.groups * self.parts,
            (self.output,),
            workspace=4 * (sums + copied),
            constants=(self._pack,),
        )

    def _pack(self) -> numpy.ndarray:
        groups, results = self.window.groups, self.window.results
        matrix = self.weights.reshape(groups, results, self.depth).astype(numpy.float32)
        parts = [self.panels.pack(matrix[g].T) for g in range(groups)]
        packed: numpy.ndarray = numpy.concatenate(parts)
        return packed

    def _finish(self) -> str:
        if not self.steps:
            return ""
        pixels = self.window.pixels
        call = finish_call(
            f"{NAME}_finish",
            f"c + o * {pixels}",
            self.operands,
            f"group * {self.window.results} + n + o",
            f"(image * {self.window.results} + n + o) * {pixels}",
            str(pixels),
        )
        return f"      for (int64_t o = 0; o < used; ++o) {call}\n"

    def _tiles(self, plane: int) -> tuple[str, str]:
        """The functions of all register tiles, and the calls that choose among them."""
        window, shape, wide = self.window, self.shape, self.padded[1]
        taps = [
            i * window.dilations[0] * wide + j * window.dilations[1]
            for i in range(window.taps_high)
            for j in range(window.taps_wide)
        ]
        functions: list[str] = []
        calls: list[str] = []
        heights = sizes(window.out_high, shape.high, "row")
        widths = sizes(window.out_wide, shape.wide, "column")
        for condition, vectors, _ in self.panels.kinds():
            for high, is_high in heights:
                for across, is_wide in widths:
                    at = [
                        i * window.strides[0] * wide + j * window.strides[1]
                        for i in range(high)
                        for j in range(across)
                    ]
                    width = f"({vectors} * VW)"
                    tile = Tile(
                        high * across,
                        panel(vectors),
                        "0",
                        str(plane),
                        width,
                        width,
                        taps=taps,
                        a_at=at,
                        is_blocked=self.is_blocked,
                    )
                    name = f"{NAME}_tile{high}x{across}x{vectors}"
                    functions.append(tile.source(name))
                    call = tile.call(name, "a", "b", "to", {}, "depth", "k0 == 0, 0")
                    head = "" if not calls else "else "
                    calls.append(
                        f"            {head}if ({condition} && {is_high} && {is_wide}) {call}\n"
                    )
        return "\n".join(functions), "".join(calls)
