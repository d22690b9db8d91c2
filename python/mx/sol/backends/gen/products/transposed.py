"""ConvTranspose: products of all taps, which are added up where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._table import Known, emits
from .._target import Target
from ._epilogue import Step
from ._finish import finish_call, finish_function
from ._inputs import Positions, needed, nothing, operands_of
from ._panels import Panels, depth_block, pick
from ._text import fill
from ._tile import Tile, panel
from ._window import ints

# Bytes of products that are made before they are added up.
_BLOCK_BYTES = 1 << 19


@dataclass(frozen=True)
class Axis:
    """One spatial dimension: its input, its output, and where taps go."""

    size: int
    out: int
    taps: int
    stride: int
    dilation: int
    pad: int

    def range_of(self, tap: int) -> tuple[int, int, int]:
        """Which elements of the input a tap brings into the output, and where the first goes."""
        shift = tap * self.dilation - self.pad
        begin = max(0, -(shift // self.stride))
        end = min(self.size, -((shift - self.out) // self.stride))
        return begin, max(begin, end), begin * self.stride + shift


def axes_of(x: Spec, w: Spec, attributes: dict[str, Any]) -> list[Axis]:
    """The spatial dimensions of a ConvTranspose of ONNX. Declined for shapes that do not fit."""
    count = len(x.shape) - 2
    strides = ints(attributes.get("strides"), count, 1)
    dilations = ints(attributes.get("dilations"), count, 1)
    pads = ints(attributes.get("pads"), 2 * count, 0)
    more = ints(attributes.get("output_padding"), count, 0)
    wanted = attributes.get("output_shape")
    auto = attributes.get("auto_pad", "NOTSET")
    auto = auto.decode() if isinstance(auto, bytes) else auto
    axes = []
    for i in range(count):
        size, taps = x.shape[2 + i], w.shape[2 + i]
        whole = (size - 1) * strides[i] + more[i] + (taps - 1) * dilations[i] + 1
        if wanted is not None or auto in ("SAME_UPPER", "SAME_LOWER"):
            out = int(list(wanted)[-count:][i]) if wanted is not None else size * strides[i]
            total = max(0, whole - out)
            before = total // 2 if auto == "SAME_UPPER" else total - total // 2
        else:
            before = 0 if auto == "VALID" else pads[i]
            out = whole - (0 if auto == "VALID" else pads[i] + pads[count + i])
        if before < 0 or size < 1 or taps < 1 or out < 0:
            raise Declined(f"a window of {taps} taps, pads {pads}, of {size} elements")
        axes.append(Axis(size, out, taps, strides[i], dilations[i], before))
    return axes


_BODY = """\
$tiles
static void ${NAME}_add(const float *restrict from, float *restrict to) {
$adds}

$finish
$signature {
  float *const packed = work, *const products = packed + $packed;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t image = t / $parts, group = image % $groups;
    const int64_t o_begin = t % $parts * $step;
    const int64_t o_end = o_begin + $step < $results ? o_begin + $step : $results;
    const int64_t m_end = (o_end - o_begin) * $taps;
    const float *const x = (const float *)in[$x] + image * $image_size;
    const float *const a = (const float *)in[$weights] +
                           (group * $results + o_begin) * $taps * $depth;
    (void)group;
    for (int64_t k0 = 0; k0 < $loop; k0 += $kc) {
      const int64_t depth = $depth - k0 < $kc ? $depth - k0 : $kc;
      for (int64_t p = 0; p < $panels; ++p) {
        const int64_t n = $start, width = $width;
        const int64_t used = $pixels - n < width ? $pixels - n : width;
        for (int64_t k = 0; k < depth; ++k)
          memcpy(packed + k * width, x + (k0 + k) * $pixels + n, (size_t)used * sizeof(float));
        for (int64_t m = 0; m < m_end; m += $mr) {
          const float *const am = a + m * $depth + k0;
$calls        }
      }
    }
    for (int64_t o = o_begin; o < o_end; ++o) {
      float *const c = (float *)out[0] + (image * $results + o) * $out_size;
      memset(c, 0, $out_size * sizeof(float));
      ${NAME}_add(products + (o - o_begin) * $taps * $row, c);
      $finish_call
    }
  }
}
"""

_ADD = """\
  for (int64_t h = $h_begin; h < $h_end; ++h) {
    const float *const f = from + $tap * $row + h * $wide;
    float *const o = to + ((h - $h_begin) * $h_stride + $h_at) * $out_wide + $w_at;
    for (int64_t w = $w_begin; w < $w_end; ++w) o[(w - $w_begin) * $w_stride] += f[w];
  }
"""


@emits("ConvTranspose", since=1)
def transposed_convolution(
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
    epilogue: Sequence[Step] = (),
    positions: Positions | None = None,
) -> GenKernel:
    """ConvTranspose of one or two spatial dimensions with constant weights, then the epilogue."""
    x, w = needed(inputs, 2)
    positions = positions or Positions.of(inputs, epilogue)
    if 1 not in known:
        raise Declined("weights that are no constant")
    if len(x.shape) not in (3, 4) or len(w.shape) != len(x.shape):
        raise Declined(f"only 1 or 2 spatial dimensions, got shape {x.shape}")
    groups = int(attributes.get("group", 1))
    if groups < 1 or x.shape[1] != w.shape[0] or w.shape[0] % groups:
        raise Declined(f"weights of shape {w.shape} for {x.shape[1]} channels")
    axes = axes_of(x, w, attributes)
    shape = (x.shape[0], w.shape[1] * groups, *(axis.out for axis in axes))
    result = Spec(shape, "float32")
    steps = list(epilogue)
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None:
        spec = Spec((bias.shape[0], *(1,) * (len(shape) - 2)), bias.dtype)
        steps.insert(0, Step.binary("Add", spec, positions.at[2]))
    operands = operands_of(steps, 2 + (bias is not None), result, 1)
    if not result.size:
        return nothing("conv_transpose", (result,))
    if len(axes) == 1:
        axes.insert(0, Axis(1, 1, 1, 1, 1, 0))
    high, wide = axes
    channels, results, taps = w.shape[0] // groups, w.shape[1], high.taps * wide.taps
    pixels, out_size = high.size * wide.size, high.out * wide.out

    mr, vectors = pick(results * taps, pixels, target)
    # Products have room for whole vectors.
    panels = Panels.of(-(-pixels // target.lanes) * target.lanes, vectors, target)
    kc = depth_block(channels) or 1
    row = panels.padded
    fitting = max(1, _BLOCK_BYTES // (4 * taps * row))
    step = min(results, fitting, max(1, -(-results // 8)))
    if step * taps >= mr:  # whole register tiles, where several results make one
        while step < results and (step * taps) % mr and step < fitting:
            step += 1
    matrix = known[1].reshape(groups, channels, results * taps).transpose(0, 2, 1)
    packed_size = -(-(kc * panels.width) // 16) * 16
    text = fill(
        _BODY,
        NAME=NAME,
        tiles=_tiles(step, results, taps, mr, panels, row, channels)[0],
        calls=_tiles(step, results, taps, mr, panels, row, channels)[1],
        adds="".join(
            _add(i, j, high, wide, row) for i in range(high.taps) for j in range(wide.taps)
        ),
        finish=finish_function(f"{NAME}_finish", steps, operands) if steps else "",
        finish_call=finish_call(
            f"{NAME}_finish",
            "c",
            operands,
            f"group * {results} + o",
            f"(image * {results} + o) * {out_size}",
            str(out_size),
        )
        if steps
        else "",
        signature=signature(),
        packed=packed_size,
        parts=-(-results // step),
        groups=groups,
        step=step,
        results=results,
        taps=taps,
        image_size=channels * pixels,
        weights=positions.count,
        x=positions.at[0],
        depth=channels,
        loop=max(1, channels),
        kc=kc,
        panels=panels.count,
        start=panels.start_text(),
        width=panels.width_text(),
        pixels=pixels,
        mr=mr,
        out_size=out_size,
        row=row,
    )
    return make_kernel(
        "conv_transpose",
        text,
        x.shape[0] * groups * -(-results // step),
        (result,),
        workspace=4 * (packed_size + step * taps * row),
        constants=(numpy.ascontiguousarray(matrix, numpy.float32),),
    )


def _tiles(
    step: int, results: int, taps: int, mr: int, panels: Panels, row: int, depth: int
) -> tuple[str, str]:
    """The functions of all register tiles, and the calls that choose among them."""
    counts = {step * taps, (results - (-(-results // step) - 1) * step) * taps}
    rests = sorted({count % mr for count in counts} - {0})
    heights = [(rest, f"m_end - m == {rest}") for rest in rests]
    heights += [(mr, f"m_end - m >= {mr}")] if max(counts) >= mr else []
    functions: list[str] = []
    calls: list[str] = []
    for condition, vectors, _ in panels.kinds():
        for height, when in heights:
            tile = Tile(
                height,
                panel(vectors),
                str(depth),
                "1",
                f"({vectors} * VW)",
                str(row),
                is_blocked=True,
            )
            name = f"{NAME}_tile{height}x{vectors}"
            functions.append(tile.source(name))
            call = tile.call(
                name, "am", "packed", f"products + m * {row} + n", {}, "depth", "k0 == 0, 0"
            )
            head = "" if not calls else "else "
            calls.append(f"          {head}if ({condition} && {when}) {call}\n")
    return "\n".join(functions), "".join(calls)


def _add(i: int, j: int, high: Axis, wide: Axis, row: int) -> str:
    """Adds what a tap gives to the output."""
    h_begin, h_end, h_at = high.range_of(i)
    w_begin, w_end, w_at = wide.range_of(j)
    if h_begin >= h_end or w_begin >= w_end:
        return ""
    return fill(
        _ADD,
        h_begin=h_begin,
        h_end=h_end,
        h_at=h_at,
        h_stride=high.stride,
        w_begin=w_begin,
        w_end=w_end,
        w_at=w_at,
        w_stride=wide.stride,
        tap=i * wide.taps + j,
        row=row,
        wide=wide.size,
        out_wide=wide.out,
    )
