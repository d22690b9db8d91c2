"""Convolutions of 3 x 3 by Winograd's F(2 x 2, 3 x 3), of tensors whose channels are last.

Four results take 16 multiplications for each channel instead of 36: elements of the input and the
weights are brought to another basis, in which a convolution is 16 products of matrices, of tiles by
channels and of channels by results; sums of those are brought back.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy

import ffi

from .....graph._shared import shared
from .._kernel import NAME, GenKernel, make_kernel, signature
from .._target import Target
from ._epilogue import Operand, apply
from ._kernels import ConvolutionKernel
from ._panels import MOST_WEIGHTS, Panels, depth_block, fetches, pick
from ._pixel_tile import tile_shape
from ._text import fill
from ._tile import Tile, choose, cost, panel, split
from ._window import Window

# Elements of a tile in the other basis, and so products of matrices.
ELEMENTS = 16
# Tiles that are done at once: their elements and sums stay in the first caches.
_TILES = 18
# The same where weights are read from the third cache or from memory: fewer times by more tiles.
_MORE_TILES = 36
# Channels that are summed up one after the other; sums of these are added, so that errors stay as
# small as those of sums of few.
_DEPTH = 64
# As many parts keep the threads of a usual processor busy.
_PARTS = 32
# Cycles to bring a vector of channels of a tile to the other basis, or sums back.
_CHANGE = 24
# Of the cycles of a convolution as it is, what this one may take at most: estimates are not exact.
_WORTH = 0.9

_pack = ffi.get_global_func("mx.graph.pack_winograd_weights")

_BODY = """\
$tiles
$inward
$outward
$signature {
  const float *const x = in[$x_at], *const b_all = in[$weights];
  float *const v = work, *const sums = v + $v_size, *const c = out[0];
  int64_t held = -1;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t source = t / $p_parts, p_begin = t % $p_parts * $p_step;
    const int64_t p_end = p_begin + $p_step < $panels ? p_begin + $p_step : $panels;
    const int64_t first = source * $step;
    const int64_t count = $total - first < $step ? $total - first : $step;
    if (source != held) ${NAME}_in(x, v, first, count);
    held = source;
    for (int64_t p = p_begin; p < p_end; ++p) {
      const int64_t n = $start;
      const float *b = b_all + n * $depth;
      for (int e = 0; e < $elements; ++e) {
        const float *const a = v + e * $v_plane;
        float *const to = sums + e * $sums_plane;
        for (int64_t k = 0; k < $channels; k += $kc) {
          const int64_t depth = $channels - k < $kc ? $channels - k : $kc;
$fetched          for (int64_t m = 0; m < count; m += $mr) {
$calls$on          }
          b += depth * $width;
        }
      }
$outs    }
  }
}
"""

# Tiles `first` on in the other basis: B^T d B, a row of all channels for each.
_IN = """\
static void ${NAME}_in(const float *restrict x, float *restrict v, int64_t first, int64_t count) {
  static const float zeros[$channels] = {0};
  for (int64_t q = 0; q < count; ++q, v += $row) {
    const int64_t image = (first + q) / $per_image, tile = (first + q) % $per_image;
    const int64_t h = tile / $across * 2 - $above, w = tile % $across * 2 - $left;
    const float *const from = x + image * $image_size;
    const float *p[$elements];
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        const int is_inside = h + i >= 0 && h + i < $high && w + j >= 0 && w + j < $wide;
        p[4 * i + j] = is_inside ? from + ((h + i) * $wide + w + j) * $channels : zeros;
      }
$whole$rest  }
}
"""

# Results of tiles `first` on, for the columns of a panel: A^T m A, and the epilogue.
_OUT = """\
static void $name($parameters) {
  for (int64_t q = 0; q < count; ++q, m += $width) {
    const int64_t image = (first + q) / $per_image, tile = (first + q) % $per_image;
    const int64_t h = tile / $across * 2, w = tile % $across * 2;
    const int64_t at = ((image * $out_high + h) * $out_wide + w) * $results + n;
$vectors  }
}
"""


@dataclass(frozen=True)
class Blocks:
    """How tiles and panels are cut."""

    mr: int  # tiles of a register tile
    panels: Panels
    step: int  # tiles of a block
    p_step: int  # panels of a part
    kc: int  # channels that are summed up in registers


def takes(window: Window) -> bool:
    """Whether a convolution is one that can be computed so."""
    return (
        (window.taps_high, window.taps_wide) == (3, 3)
        and window.strides == window.dilations == (1, 1)
        and window.groups == 1
    )


def is_faster(window: Window, target: Target) -> bool:
    """Whether it is expected to take less than to multiply elements as they are."""
    return part(window, target) < _WORTH


def part(window: Window, target: Target) -> float:
    """What it is expected to take, as a part of what to multiply elements as they are takes; at
    most 1, which it is where a convolution cannot be computed so, or had better not be."""
    if not takes(window) or min(window.channels, window.results) < target.lanes:
        return 1.0
    high, across = _tiles(window)
    total = window.batch * high * across
    if _weights_bytes(window) > MOST_WEIGHTS and total < _MORE_TILES:
        return 1.0
    blocks = blocks_of(window, target)
    change = -(-window.channels // target.lanes) * -(-blocks.panels.count // blocks.p_step)
    change += -(-window.results // target.lanes)
    products = sum(
        cost(rows, blocks.panels.size(p), target, depth=blocks.kc)
        for rows in split(blocks.step, blocks.mr)
        for p in range(blocks.panels.count)
    )
    cycles = ELEMENTS * window.channels * products / blocks.step + _CHANGE * change
    return min(1.0, cycles * high * across / tile_shape(window, target).cycles)


def _weights_bytes(window: Window) -> int:
    return 4 * ELEMENTS * window.channels * window.results


def _tiles(window: Window) -> tuple[int, int]:
    """Tiles of an image: rows and columns."""
    return -(-window.out_high // 2), -(-window.out_wide // 2)


@functools.lru_cache(maxsize=1024)
def blocks_of(window: Window, target: Target) -> Blocks:
    """The cut with which caches hold what is read again."""
    high, across = _tiles(window)
    total = window.batch * high * across
    is_large = _weights_bytes(window) > MOST_WEIGHTS and total >= 2 * _MORE_TILES
    rows = min(total, _TILES)
    panels = Panels.of(window.results, pick(rows, window.results, target)[1], target)
    mr, _ = choose(rows, panels.vectors, target)  # panels may be narrower than they could be
    step = min(total, (_MORE_TILES if is_large else _TILES) // mr * mr)
    parts = min(panels.count, -(-_PARTS // -(-total // step)))
    kc = depth_block(window.channels, most=_DEPTH)
    return Blocks(mr, panels, step, -(-panels.count // parts), kc)


def _padded(channels: int, target: Target) -> int:
    return -(-channels // target.lanes) * target.lanes


def _plane(rows: int, row: int) -> int:
    """Elements of a plane of rows; planes do not begin in the same lines of a cache."""
    return ((rows * row + 15) // 16 | 1) * 16


class WinogradConvolution(ConvolutionKernel):
    """Reads and writes channels last."""

    def _prepare(self) -> None:
        window = self.window
        self.blocks = blocks_of(window, self.target)
        self.panels = self.blocks.panels
        self.high, self.across = _tiles(window)
        self.total = window.batch * self.high * self.across
        self.row = _padded(window.channels, self.target)
        size = ELEMENTS * window.channels * window.results
        tiles = -(-min(self.blocks.step, self.total) // self.blocks.mr)
        self.fetches = fetches(size, self.panels.width, tiles)

    def kernel(self) -> GenKernel:
        """The kernel."""
        window, blocks, panels = self.window, self.blocks, self.panels
        v_plane, sums_plane = (_plane(blocks.step, size) for size in (self.row, panels.width))
        sources = -(-self.total // blocks.step)
        p_parts = -(-panels.count // blocks.p_step)
        functions, calls = self._tiles()
        outward, outs = self._outward(sums_plane)
        text = fill(
            _BODY,
            tiles=functions,
            inward=self._inward(v_plane),
            outward=outward,
            signature=signature(),
            NAME=NAME,
            x_at=self.positions.at[0],
            weights=self.positions.count,
            v_size=ELEMENTS * v_plane,
            p_parts=p_parts,
            p_step=blocks.p_step,
            panels=panels.count,
            step=blocks.step,
            total=self.total,
            start=panels.start_text(),
            depth=ELEMENTS * window.channels,
            channels=window.channels,
            elements=ELEMENTS,
            v_plane=v_plane,
            sums_plane=sums_plane,
            mr=blocks.mr,
            calls=calls,
            width=panels.width_text(),
            kc=blocks.kc,
            fetched=f"          const float *next = b + depth * {panels.width_text()};\n"
            if self.fetches
            else "",
            on=f"            next += {self.fetches} * depth;\n" if self.fetches else "",
            outs=outs,
        )
        return make_kernel(
            "winograd",
            text,
            sources * p_parts,
            (self.output,),
            workspace=4 * ELEMENTS * (v_plane + sums_plane),
            constants=(self._packed,),
        )

    def _packed(self) -> numpy.ndarray:
        """Weights in the other basis: for each panel a matrix (channels, columns) an element."""
        window, panels = self.window, self.panels
        weights = self.weights.reshape(window.results, window.channels, 3, 3)
        widths = [panels.size(p) * panels.lane_count for p in range(panels.count)]
        packed: numpy.ndarray = numpy.asarray(_pack(shared(weights), widths))
        return packed

    def _tiles(self) -> tuple[str, str]:
        """The functions of all register tiles, and the calls that choose among them."""
        blocks, window = self.blocks, self.window
        functions: list[str] = []
        calls: list[str] = []
        rest = self.total % blocks.step or blocks.step
        heights = [(blocks.mr, "1")]
        for count in sorted({blocks.step % blocks.mr, rest % blocks.mr} - {0}):
            heights.insert(0, (count, f"count - m == {count}"))
        wide = {vectors for _, vectors, _ in self.panels.kinds()}
        for vectors in sorted(wide, reverse=True):
            condition = "1" if vectors == min(wide) else f"p < {self.panels.wide}"
            for height, when in heights:
                tile = Tile(
                    height,
                    panel(vectors),
                    str(self.row),
                    "1",
                    f"({vectors} * VW)",
                    str(self.panels.width),
                    fetches=self.fetches,
                    adds=blocks.kc < window.channels,
                )
                name = f"{NAME}_tile{height}x{vectors}"
                functions.append(tile.source(name))
                call = tile.call(
                    name,
                    f"a + m * {self.row} + k",
                    "b",
                    f"to + m * {self.panels.width}",
                    {},
                    "depth",
                    "k == 0",
                    fetched="next",
                )
                head = "" if not calls else "else "
                calls.append(f"            {head}if ({condition} && {when}) {call}\n")
        return "\n".join(functions), "".join(calls)

    def _inward(self, plane: int) -> str:
        window = self.window
        lanes = self.target.lanes
        whole, rest = divmod(window.channels, lanes)
        loop = f"    for (int64_t i = 0; i < {whole * lanes}; i += VW) {{\n"
        return fill(
            _IN,
            NAME=NAME,
            elements=ELEMENTS,
            channels=window.channels,
            row=self.row,
            per_image=self.high * self.across,
            across=self.across,
            above=window.pads[0],
            left=window.pads[1],
            image_size=window.high * window.wide * window.channels,
            high=window.high,
            wide=window.wide,
            whole=loop + _inward_text("i", plane, None) + "    }\n" if whole else "",
            rest="    {\n" + _inward_text(str(whole * lanes), plane, rest) + "    }\n"
            if rest
            else "",
        )

    def _outward(self, plane: int) -> tuple[str, str]:
        """The functions that store results, and the calls that choose among them."""
        window = self.window
        functions: list[str] = []
        calls: list[str] = []
        # By themselves, so that it is seen which inputs the kernel reads.
        given = ["sums", "c", *(operand.source for operand in self.operands)]
        given += ["first", "count", "n"]
        parameters = ["const float *restrict m", "float *restrict c"]
        parameters += [f"const float *e{index}" for index in range(len(self.operands))]
        parameters += ["int64_t first", "int64_t count", "int64_t n"]
        for condition, vectors, lanes in self.panels.kinds():
            name = f"{NAME}_out{vectors}" + (f"_{lanes}" if lanes else "")
            texts = [
                self._results(plane, j, lanes if j == vectors - 1 else None) for j in range(vectors)
            ]
            functions.append(
                fill(
                    _OUT,
                    name=name,
                    parameters=", ".join(parameters),
                    width=self.panels.width,
                    per_image=self.high * self.across,
                    across=self.across,
                    out_high=window.out_high,
                    out_wide=window.out_wide,
                    results=window.results,
                    vectors="".join(texts),
                )
            )
            head = "else " if calls else ""
            calls.append(f"      {head}if ({condition}) {name}({', '.join(given)});\n")
        return "\n".join(functions), "".join(calls)

    def _results(self, plane: int, j: int, lanes: str | None) -> str:
        """Stores the four results of a tile, for one vector of columns."""
        window = self.window
        lines = ["    {"]
        for k in range(4):
            names = [f"m{i}{k}" for i in range(4)]
            loads = [
                f"{name} = vf_load(m + {(4 * i + k) * plane} + {j} * VW)"
                for i, name in enumerate(names)
            ]
            m0, m1, m2, m3 = names
            lines.append(f"      const vf {', '.join(loads)};")
            lines.append(f"      const vf s0{k} = {m0} + {m1} + {m2}, s1{k} = {m1} - {m2} - {m3};")
        for i in range(2):
            for k in range(2):
                conditions = []
                if i and window.out_high % 2:
                    conditions.append(f"h + 1 < {window.out_high}")
                if k and window.out_wide % 2:
                    conditions.append(f"w + 1 < {window.out_wide}")
                shift = f"{(i * window.out_wide + k) * window.results} + {j} * VW"
                value = f"s{i}0 + s{i}1 + s{i}2" if not k else f"s{i}1 - s{i}2 - s{i}3"
                when = f"if ({' && '.join(conditions)}) " if conditions else ""
                lines.append(f"      {when}{{")
                lines.append(f"        vf r = {value};")

                def load(index: int, operand: Operand, shift: str = shift) -> str:
                    if operand.kind == "scalar":
                        return f"vf_set1(e{index}[0])"
                    where = f"n + {j} * VW" if operand.kind == "column" else f"at + {shift}"
                    return _load(f"e{index} + {where}", lanes)

                changes = apply(self.steps, self.operands, "r", load)
                lines += [f"        {change}" for change in changes]
                store = f"vf_store(c + at + {shift}, r)"
                if lanes is not None:
                    store = f"vf_store_n(c + at + {shift}, r, {lanes})"
                lines += [f"        {store};", "      }"]
        return "\n".join([*lines, "    }", ""])


def _load(address: str, lanes: str | int | None) -> str:
    return f"vf_load({address})" if lanes is None else f"vf_load_n({address}, {lanes})"


def _inward_text(at: str, plane: int, lanes: int | None) -> str:
    """Brings 4 x 4 vectors of channels to the other basis: first along rows, then columns."""
    lines = []
    for j in range(4):
        loads = [f"d{i}{j} = {_load(f'p[{4 * i + j}] + {at}', lanes)}" for i in range(4)]
        lines.append(f"const vf {', '.join(loads)};")
        lines.append(f"const vf t0{j} = d0{j} - d2{j}, t1{j} = d1{j} + d2{j};")
        lines.append(f"const vf t2{j} = d2{j} - d1{j}, t3{j} = d1{j} - d3{j};")
    for i in range(4):
        sums = (
            f"t{i}0 - t{i}2",
            f"t{i}1 + t{i}2",
            f"t{i}2 - t{i}1",
            f"t{i}1 - t{i}3",
        )
        lines += [
            f"vf_store(v + {(4 * i + j) * plane} + {at}, {one});" for j, one in enumerate(sums)
        ]
    return "".join(f"      {line}\n" for line in lines)
