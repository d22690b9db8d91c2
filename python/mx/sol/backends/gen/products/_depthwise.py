"""Convolutions of each channel by itself."""

from __future__ import annotations

import numpy

from .._kernel import NAME, GenKernel, make_kernel, signature
from ._copy import copy_function
from ._epilogue import Operand, apply
from ._kernels import ConvolutionKernel
from ._panels import WORK, Panels
from ._text import fill
from ._window import Rows

_BODY = """\
$copy
$strips
$signature {
  (void)work;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t last = (t + 1) * $step < $images ? (t + 1) * $step : $images;
    for (int64_t image = t * $step; image < last; ++image) {
      const int64_t channel = image % $groups;
      const float *const w = (const float *)in[$weights] + channel * $taps;
      float *const c = (float *)out[0] + image * $pixels;
$x      for (int64_t row = 0; row < $out_high; row += $high)
        for (int64_t p = 0; p < $panels; ++p) {
          const int64_t n = $start;
$calls        }
    }
  }
}
"""


class DepthwiseConvolution(ConvolutionKernel):
    """Convolves each channel on its own."""

    def _prepare(self) -> None:
        target, window = self.target, self.window
        many = target.registers == 32
        self.panels = Panels.of(window.out_wide, 4 if many else 2, target)
        self.high = min(window.out_high, max(1, (16 if many else 6) // self.panels.vectors))
        self.rows = Rows.of(window, may_read_behind=target.name == "avx512")
        self.taps = self.rows.taps(window, window.out_high)
        if not self.rows.is_copied:
            self.taps = [i * window.wide + j for i, j in self._positions()]

    def _positions(self) -> list[tuple[int, int]]:
        window = self.window
        return [
            (i * window.dilations[0], j * window.dilations[1])
            for i in range(window.taps_high)
            for j in range(window.taps_wide)
        ]

    def kernel(self) -> GenKernel:
        """The kernel."""
        window, panels, rows = self.window, self.panels, self.rows
        images = window.batch * window.groups
        work = window.pixels * window.taps
        step = max(1, min(-(-images // 16), -(-WORK // (4 * max(1, work)))))
        plane = rows.plane(window.out_high) if rows.is_copied else 0
        strips, calls = self._strips()
        x = f"(const float *)in[{self.positions.at[0]}] + image * {window.high * window.wide}"
        text = fill(
            _BODY,
            copy=copy_function(window, rows, window.out_high) if rows.is_copied else "",
            strips=strips,
            signature=signature(),
            step=step,
            images=images,
            groups=window.groups,
            weights=self.positions.count,
            taps=window.taps,
            pixels=window.pixels,
            x=f"      float *const x = work;\n      {NAME}_rows({x}, x, 0);\n"
            if rows.is_copied
            else f"      const float *const x = {x};\n",
            out_high=window.out_high,
            high=self.high,
            panels=panels.count,
            start=panels.start_text(),
            calls=calls,
        )
        return make_kernel(
            "depthwise",
            text,
            -(-images // step),
            (self.output,),
            workspace=4 * (plane + 2 * self.target.lanes) if rows.is_copied else 0,
            constants=(self.weights.reshape(-1).astype(numpy.float32, copy=False),),
        )

    def _strips(self) -> tuple[str, str]:
        """The functions for some rows of a panel, and the calls that choose among them."""
        window = self.window
        rest = window.out_high % self.high
        heights = [(self.high, "1")]
        if rest:
            heights.insert(0, (rest, f"row + {self.high} > {window.out_high}"))
        functions: list[str] = []
        calls: list[str] = []
        for condition, vectors, lanes in self.panels.kinds():
            for height, when in heights:
                name = f"{NAME}_strip{height}x{vectors}" + (f"_{lanes}" if lanes else "")
                functions.append(self._strip(name, height, vectors, lanes))
                at = f"row * {window.out_wide} + n"
                given = [f"x + row * {self.rows.wide} + n", "w", f"c + {at}"]
                shifts = {"row": "channel", "full": f"image * {window.pixels} + {at}"}
                for operand in self.operands:
                    given.append(f"{operand.source} + {shifts.get(operand.kind, '0')}")
                head = "" if not calls else "else "
                calls.append(
                    f"          {head}if ({condition} && {when}) {name}({', '.join(given)});\n"
                )
        return "\n".join(functions), "".join(calls)

    def _strip(self, name: str, height: int, vectors: int, lanes: str | None) -> str:
        """Results of `height` rows and `vectors` vectors; each vector of x is read once for all."""
        out_wide, wide = self.window.out_wide, self.rows.wide
        parameters = ["const float *restrict x", "const float *restrict w", "float *restrict c"]
        parameters += [f"const float *e{index}" for index in range(len(self.operands))]
        lines = [f"static void {name}({', '.join(parameters)}) {{"]
        lines += [f"  const vf w{t} = vf_set1(w[{t}]);" for t in range(len(self.taps))]
        cells = [(i, j) for i in range(height) for j in range(vectors)]
        lines.append(f"  vf {', '.join(f'c{i}_{j} = {{0}}' for i, j in cells)};")
        readers: dict[tuple[int, bool], list[str]] = {}
        for i, j in cells:
            for t, tap in enumerate(self.taps):
                is_last = lanes is not None and j == vectors - 1
                at = (tap + i * wide + j * self.target.lanes, is_last)
                readers.setdefault(at, []).append(f"c{i}_{j} += w{t} * v;")
        for (start, is_last), sums in sorted(readers.items()):
            exactly = is_last and not self.rows.is_copied
            load = f"vf_load_n(x + {start}, {lanes})" if exactly else f"vf_load(x + {start})"
            lines.append(f"  {{ const vf v = {load}; {' '.join(sums)} }}")
        for i, j in cells:
            where = f"{i * out_wide + j * self.target.lanes}"
            ragged = lanes if j == vectors - 1 else None

            def load_operand(
                index: int, operand: Operand, where: str = where, ragged: str | None = ragged
            ) -> str:
                if operand.kind != "full":
                    return f"vf_set1(e{index}[0])"
                address = f"e{index} + {where}"
                return (
                    f"vf_load({address})" if ragged is None else f"vf_load_n({address}, {ragged})"
                )

            lines += [
                f"  {change}"
                for change in apply(self.steps, self.operands, f"c{i}_{j}", load_operand)
            ]
            if ragged is None:
                lines.append(f"  vf_store(c + {where}, c{i}_{j});")
            else:
                lines.append(f"  vf_store_n(c + {where}, c{i}_{j}, {ragged});")
        return "\n".join([*lines, "}", ""])
