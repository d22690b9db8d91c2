"""Convolutions of each channel by itself, of tensors whose channels are last."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy

from .._kernel import NAME, GenKernel, make_kernel, signature
from ._epilogue import Operand, apply
from ._kernels import ConvolutionKernel
from ._panels import TILES, WORK
from ._text import fill
from ._tile import split

# Pixels of a row that are computed together.
PIXELS = 8

# The taps of a row that a pixel has: the number of each, and the column of the input that it reads.
Taps = tuple[tuple[int, int], ...]

_BODY = """\
$strips
$signature {
  (void)work;
  const float *const w = (const float *)in[$weights];
  for (int64_t t = begin; t < end; ++t) {
    const int64_t last = (t + 1) * $step < $rows ? (t + 1) * $step : $rows;
    for (int64_t row = t * $step; row < last; ++row) {
      const int64_t h = row % $out_high * $stride - $above;
      const int64_t first = h < 0 ? (-h + $gap - 1) / $gap : 0;
      const int64_t room = ($high - h + $gap - 1) / $gap;
      const int64_t count = (room < $taps ? room : $taps) - first;
      const int64_t top = count > 0 ? h + first * $gap : 0;
      const float *const x =
          (const float *)in[$x_at] + (row / $out_high * $high + top) * $row_size;
      const float *const v = w + (count > 0 ? first : 0) * $w_row;
      const int64_t at = row * $out_row;
$calls    }
  }
}
"""


class DepthwiseLast(ConvolutionKernel):
    """Has vectors of channels for some pixels of a row; taps outside the input are left out."""

    def _prepare(self) -> None:
        self.channels = self.window.groups

    def _taps(self, column: int) -> list[tuple[int, int]]:
        """The taps of a row that are inside for a result, and which column each reads."""
        window = self.window
        begin = column * window.strides[1] - window.pads[1]
        found = [(j, begin + j * window.dilations[1]) for j in range(window.taps_wide)]
        return [(j, at) for j, at in found if 0 <= at < window.wide]

    def kernel(self) -> GenKernel:
        """The kernel."""
        window, lanes = self.window, self.target.lanes
        padded = -(-self.channels // lanes) * lanes
        packed = numpy.zeros((window.taps, padded), numpy.float32)
        packed[:, : self.channels] = self.weights.reshape(self.channels, window.taps).T
        rows = window.batch * window.out_high
        work = window.out_wide * self.channels * window.taps
        step = max(1, min(-(-rows // TILES), -(-WORK // (4 * max(1, work)))))
        strips, calls = self._strips(padded)
        text = fill(
            _BODY,
            strips=strips,
            signature=signature(),
            weights=self.positions.count,
            step=step,
            rows=rows,
            out_high=window.out_high,
            stride=window.strides[0],
            above=window.pads[0],
            gap=window.dilations[0],
            high=window.high,
            taps=window.taps_high,
            x_at=self.positions.at[0],
            row_size=window.wide * self.channels,
            w_row=window.taps_wide * padded,
            out_row=window.out_wide * self.channels,
            calls=calls,
        )
        return make_kernel("depthwise", text, -(-rows // step), (self.output,), constants=(packed,))

    def _strips(self, padded: int) -> tuple[str, str]:
        """The functions for some pixels, and the calls for all of a row."""
        functions: dict[tuple[Taps, ...], str] = {}
        texts: list[str] = []
        runs: list[list[int]] = []  # first pixel, how many in a strip, how many strips
        names: list[str] = []
        first = 0
        for count in split(self.window.out_wide, PIXELS):
            origin = first * self.window.strides[1]
            key = tuple(
                tuple((j, at - origin) for j, at in self._taps(first + p)) for p in range(count)
            )
            if key not in functions:
                functions[key] = f"{NAME}_strip{len(functions)}"
                texts.append(self._strip(functions[key], key, padded))
            if names and names[-1] == functions[key]:
                runs[-1][2] += 1
            else:
                names.append(functions[key])
                runs.append([first, count, 1])
            first += count
        calls = []
        for name, (begin, count, times) in zip(names, runs, strict=True):
            where = f"at + n * {self.channels}"
            given = [
                f"x + n * {self.window.strides[1] * self.channels}",
                "v",
                f"(float *)out[0] + {where}",
                "count",
            ]
            for operand in self.operands:
                shift = {"full": where}.get(operand.kind, "0")
                given.append(f"{operand.source} + {shift}")
            end = begin + count * times
            calls.append(
                f"      for (int64_t n = {begin}; n < {end}; n += {count})\n"
                f"        {name}({', '.join(given)});\n"
            )
        return "\n".join(texts), "".join(calls)

    def _strip(
        self, name: str, pixels: tuple[tuple[tuple[int, int], ...], ...], padded: int
    ) -> str:
        """The function for pixels that lie beside each other."""
        parameters = ["const float *restrict x", "const float *restrict w", "float *restrict c"]
        parameters += ["int64_t count"]
        parameters += [f"const float *e{index}" for index in range(len(self.operands))]
        lines = [f"static void {name}({', '.join(parameters)}) {{"]
        whole = self.channels // self.target.lanes * self.target.lanes
        if whole:
            lines.append(f"  for (int64_t k = 0; k < {whole}; k += VW) {{")
            lines += self._vector(pixels, padded, None)
            lines.append("  }")
        if whole < self.channels:
            lines.append(f"  {{\n    const int64_t k = {whole};")
            lines += self._vector(pixels, padded, str(self.channels - whole))
            lines.append("  }")
        return "\n".join([*lines, "}", ""])

    def _vector(self, pixels: tuple[Taps, ...], padded: int, lanes: str | None) -> list[str]:
        def load(address: str) -> str:
            return f"vf_load({address})" if lanes is None else f"vf_load_n({address}, {lanes})"

        size, row = self.channels, self.window.dilations[0] * self.window.wide * self.channels
        readers: dict[int, list[str]] = {}
        for p, taps in enumerate(pixels):
            for j, at in taps:
                readers.setdefault(at, []).append(f"c{p} += w{j} * v;")
        lines = [f"    vf {', '.join(f'c{p} = {{0}}' for p in range(len(pixels)))};"]
        if readers:
            used = sorted({j for taps in pixels for j, _ in taps})
            lines.append("    for (int64_t i = 0; i < count; ++i) {")
            lines.append(f"      const float *const q = x + i * {row} + k;")
            lines.append(
                f"      const float *const u = w + i * {self.window.taps_wide * padded} + k;"
            )
            lines += [f"      const vf w{j} = vf_load(u + {j * padded});" for j in used]
            lines += [
                f"      {{ const vf v = {load(f'q + {at * size}')}; {' '.join(sums)} }}"
                for at, sums in sorted(readers.items())
            ]
            lines.append("    }")
        else:
            lines.append("    (void)x, (void)w, (void)count;")
        for p in range(len(pixels)):
            operand = functools.partial(self._operand, f"{p * size} + k", load)
            changes = apply(self.steps, self.operands, f"c{p}", operand)
            lines += [f"    {change}" for change in changes]
            to = f"c + {p * size} + k"
            end = f", {lanes}" if lanes else ""
            lines.append(f"    vf_store{'_n' if lanes else ''}({to}, c{p}{end});")
        return lines

    @staticmethod
    def _operand(where: str, load: Callable[[str], str], index: int, operand: Operand) -> str:
        if operand.kind == "scalar":
            return f"vf_set1(e{index}[0])"
        return load(f"e{index} + {where if operand.kind == 'full' else 'k'}")
