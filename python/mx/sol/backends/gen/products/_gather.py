"""Convolutions as products: what a panel of results reads is copied side by side."""

from __future__ import annotations

import functools

from .._kernel import NAME, GenKernel, make_kernel, signature
from .._target import Target
from ._copy import copy_function
from ._kernels import ConvolutionKernel
from ._panels import TILES, WORK, Panels, depth_block, pick
from ._rows import pack_results
from ._text import fill
from ._tile import Tile, cost, panel
from ._window import Rows, Window

# Bytes of panels that are made at once: the second cache holds them beside the weights of a block.
PANEL_BYTES = 3 << 17
# Bytes of panels of the whole depth that may be kept.
KEPT_BYTES = 3 << 19

# The pixels of panel p, which begins at pixel n: vectors to copy, from x + taps + from[i] to to[i].
_PACK = """\
static void ${NAME}_pack(const float *restrict x, float *restrict to, int64_t channels, int64_t n,
                         int64_t end, int64_t width) {
  static const int32_t taps[$taps_count] = {$taps};
  int64_t from[$most], at[$most], ${lengths}count = 0;
  for (int64_t pixel = n; pixel < end;) {
    const int64_t row = pixel / $out_wide, column = pixel % $out_wide;
    const int64_t length = $out_wide - column < end - pixel ? $out_wide - column : end - pixel;
    for (int64_t i = 0; i < length; i += VW) {
      from[count] = row * $wide + column + i;
$left      at[count++] = pixel - n + i;
    }
    pixel += length;
  }
$last  for (int64_t channel = 0; channel < channels; ++channel, x += $plane)
    for (int t = 0; t < $taps_count; ++t, to += width) {
      const float *const q = x + taps[t];
      for (int64_t i = 0; i < $copied; ++i) vf_store(to + at[i], $load);
$rest    }
}
"""

_BODY = """\
$copy
$pack
$tiles
$signature {
  float *const packed = work;
$copied  int64_t held = -1;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t source = t / $m_parts, mp = t % $m_parts;
    const int64_t image = source / $p_parts, pp = source % $p_parts;
    const int64_t m_begin = mp * $m_step, p_begin = pp * $p_step;
    const int64_t m_end = m_begin + $m_step < $rows ? m_begin + $m_step : $rows;
    const int64_t p_end = p_begin + $p_step < $panels ? p_begin + $p_step : $panels;
    const int64_t group = image % $groups;
    const float *const image_x = (const float *)in[$x] + image * $image_size;
    const float *const a = (const float *)in[$weights] + group * $weights_size;
    float *const c = (float *)out[0] + image * $out_size;
    (void)group, (void)held;
$rows_of    for (int64_t k0 = 0; k0 < $loop; k0 += $kc) {
      const int64_t depth = $depth - k0 < $kc ? $depth - k0 : $kc;
      float *to = packed$kept;
      for (int64_t p = p_begin; p < p_end; ++p) {
        const int64_t n = $start, width = $width;
        const int64_t n_end = n + width < $columns ? n + width : $columns;
        if ($fresh)
          ${NAME}_pack(x + k0 / $taps_count * $plane, to, depth / $taps_count, n - $shift,
                       n_end - $shift, width);
        for (int64_t m = m_begin; m < m_end; m += $mr) {
$calls        }
        to += $kc * width;
      }
    }
    held = source;
  }
}
"""


class GatherConvolution(ConvolutionKernel):
    """Gathers what the windows see into panels."""

    def _prepare(self) -> None:
        target, window = self.target, self.window
        self.mr, vectors = pick(window.results, window.pixels, target)
        self.panels = Panels.of(window.pixels, vectors, target)
        self.kc = depth_block(self.depth, window.taps) or 1
        self.is_blocked = self.depth > self.kc
        self.rows = Rows.of(window, may_read_behind=target.name == "avx512")
        self._cut()

    def _cut(self) -> None:
        """The tiles for threads: blocks of panels, and of results where those are too few."""
        window, panels = self.window, self.panels
        images = window.batch * window.groups
        work = window.results * window.pixels * max(1, self.depth)
        parts = max(1, -(-work // WORK))
        most = max(1, PANEL_BYTES // (4 * self.kc * panels.width))
        p_parts = max(-(-panels.count // most), min(panels.count, -(-TILES // images), parts))
        self.p_step = -(-panels.count // p_parts)
        self.p_parts = -(-panels.count // self.p_step)
        m_tiles = -(-window.results // self.mr)
        m_parts = max(1, min(m_tiles, -(-TILES // (images * self.p_parts)), parts // self.p_parts))
        # Panels of the whole depth are kept for all blocks of results, where memory is no matter.
        whole = 4 * self.p_step * self.depth * panels.width
        self.keeps = self.is_blocked and whole <= KEPT_BYTES and m_parts > 1
        self.m_step = -(-m_tiles // m_parts) * self.mr
        self.m_parts = -(-window.results // self.m_step)
        blocks = [
            (
                panels.start(p),
                min(window.pixels, panels.start(last) + panels.size(last) * lanes) - 1,
            )
            for lanes in [self.target.lanes]
            for p in range(0, panels.count, self.p_step)
            for last in [min(p + self.p_step, panels.count) - 1]
        ]
        wide = window.out_wide
        self.block_rows = max(last // wide - first // wide + 1 for first, last in blocks)
        if not self.rows.is_copied:
            self.block_rows = window.high - self.rows.more

    def kernel(self) -> GenKernel:
        """The kernel."""
        window, panels, rows = self.window, self.panels, self.rows
        functions, calls = self._tiles()
        plane = rows.plane(self.block_rows) if rows.is_copied else window.high * window.wide
        images = window.batch * window.groups
        kept = self.kc * -(-max(1, self.depth) // self.kc) if self.keeps else self.kc
        packed = 4 * (self.p_step * kept * panels.width + self.target.lanes)
        packed = -(-packed // 64) * 64
        copied = 4 * (window.channels * plane + 2 * self.target.lanes) if rows.is_copied else 0
        first_row = f"p_begin_pixel / {window.out_wide}"
        text = fill(
            _BODY,
            NAME=NAME,
            copy=copy_function(window, rows, self.block_rows) if rows.is_copied else "",
            pack=self._pack(plane),
            tiles=functions,
            signature=signature(),
            copied=f"  float *const x = packed + {packed // 4};\n" if rows.is_copied else "",
            m_parts=self.m_parts,
            p_parts=self.p_parts,
            m_step=self.m_step,
            p_step=self.p_step,
            rows=window.results,
            panels=panels.count,
            groups=window.groups,
            x=self.positions.at[0],
            image_size=window.channels * window.high * window.wide,
            weights=self.positions.count,
            weights_size=window.results * self.depth,
            out_size=window.results * window.pixels,
            rows_of=fill(
                """\
    const int64_t p_begin_pixel = ${start};
    const int64_t first_row = $first_row;
    if (source != held) ${NAME}_rows(image_x, x, first_row);
""",
                NAME=NAME,
                start=panels.start_text("p_begin"),
                first_row=first_row,
            )
            if rows.is_copied
            else "    const float *const x = image_x;\n",
            loop=max(1, self.depth),
            kc=self.kc,
            depth=self.depth,
            start=panels.start_text(),
            width=panels.width_text(),
            columns=window.pixels,
            kept=f" + k0 * {self.p_step * panels.width}" if self.keeps else "",
            fresh="1" if self.is_blocked and not self.keeps else "source != held",
            taps_count=window.taps,
            plane=plane,
            shift=f"first_row * {window.out_wide}" if rows.is_copied else "0",
            mr=self.mr,
            calls=calls,
        )
        return make_kernel(
            "conv",
            text,
            images * self.p_parts * self.m_parts,
            (self.output,),
            workspace=packed + copied,
            constants=(functools.partial(pack_results, self.weights, window, self.mr),),
        )

    def _pack(self, plane: int) -> str:
        """The function that copies pixels."""
        window, rows, lanes = self.window, self.rows, self.target.lanes
        out_wide, wide = window.out_wide, rows.wide
        if wide == out_wide:  # rows follow each other
            out_wide = wide = window.pixels
        most = self.panels.width // min(lanes, max(1, out_wide)) + self.panels.vectors + 2
        is_one_row = out_wide == window.pixels
        last = rest = ""
        if not rows.is_copied and is_one_row:
            last = "  const int64_t rest = end - n - at[count - 1];\n"
            rest = (
                "      vf_store(to + at[count - 1], rest < VW ? "
                "vf_load_n(q + from[count - 1], rest) : vf_load(q + from[count - 1]));\n"
            )
        exactly = not rows.is_copied and not is_one_row
        return fill(
            _PACK,
            NAME=NAME,
            taps_count=window.taps,
            taps=", ".join(map(str, rows.taps(window, self.block_rows))),
            most=most,
            out_wide=out_wide,
            wide=wide,
            plane=plane,
            lengths=f"lengths[{most}], " if exactly else "",
            left="      lengths[count] = length - i < VW ? length - i : VW;\n" if exactly else "",
            load="vf_load_n(q + from[i], lengths[i])" if exactly else "vf_load(q + from[i])",
            last=last,
            copied="count - 1" if rest else "count",
            rest=rest,
        )

    def _tiles(self) -> tuple[str, str]:
        """The functions of all register tiles, and the calls that choose among them."""
        window = self.window
        rest = window.results % self.mr
        heights = [(self.mr, "1")]
        if rest:
            heights.insert(0, (rest, f"m + {self.mr} > {window.results}"))
            if rest == window.results:
                heights = heights[:1]
        functions: list[str] = []
        calls: list[str] = []
        for condition, vectors, lanes in self.panels.kinds():
            for height, when in heights:
                tile = Tile(
                    height,
                    panel(vectors, lanes),
                    "1",
                    str(height),
                    f"({vectors} * VW)",
                    str(window.pixels),
                    is_blocked=self.is_blocked,
                    steps=self.steps,
                    operands=self.operands,
                )
                name = f"{NAME}_tile{height}x{vectors}" + (f"_{lanes}" if lanes else "")
                functions.append(tile.source(name))
                call = tile.call(
                    name,
                    f"a + m * {self.depth} + k0 * {height}",
                    "to",
                    f"c + m * {window.pixels} + n",
                    {
                        "row": f"group * {window.results} + m",
                        "full": f"image * {window.results * window.pixels} + "
                        f"m * {window.pixels} + n",
                    },
                    "depth",
                    f"k0 == 0, k0 + depth == {self.depth}",
                )
                head = "" if not calls else "else "
                calls.append(f"          {head}if ({condition} && {when}) {call}\n")
        return "\n".join(functions), "".join(calls)


def cycles_of(window: Window, target: Target) -> float:
    """What all results take: the products, and copying pixels, which the rows cut."""
    mr, vectors = pick(window.results, window.pixels, target)
    panels = Panels.of(window.pixels, vectors, target)
    full, rest = divmod(window.results, mr)
    heights = [(mr, full), (rest, 1)] if rest else [(mr, full)]
    depth = depth_block(max(1, window.channels * window.taps), window.taps)
    products = sum(
        cost(height, panels.size(p), target, depth=depth) * count
        for p in range(panels.count)
        for height, count in heights
    )
    wide = Rows.of(window, may_read_behind=False).wide
    row = window.pixels if wide == window.out_wide else window.out_wide
    copies = window.pixels / min(row, target.lanes) + window.pixels / row + panels.count
    return (products + 2 * copies) * max(1, window.channels * window.taps)
