"""ConvTranspose of tensors whose channels are last, where taps do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._table import Known
from .._target import Target
from ._epilogue import Operand, Step
from ._inputs import Positions, needed, nothing, operands_of
from ._panels import WORK, Panels, pick
from ._text import fill
from ._tile import Tile, panel, sizes
from .transposed import axes_of

# The name of the operator in groups: an input of (N, H, W, C) gives an output of that kind.
TRANSPOSED_LAST = "ConvTransposeChannelsLast"

_BODY = """\
$tiles
$signature {
  (void)work;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t last = (t + 1) * $step < $lines ? (t + 1) * $step : $lines;
    for (int64_t tap = 0; tap < $taps; ++tap) {
      const float *const b = (const float *)in[$weights] + tap * $tap_size;
      for (int64_t p = 0; p < $panels; ++p) {
        const int64_t n = $start;
        for (int64_t line = t * $step; line < last; ++line)
          for (int64_t column = 0; column < $wide; column += $mr) {
            const float *const a = (const float *)in[$x] + (line * $wide + column) * $depth;
            const int64_t out_line = line * $stride_h + tap / $taps_w;
            const int64_t out_column = column * $stride_w + tap % $taps_w;
            const int64_t at = (out_line * $out_wide + out_column) * $results + n;
            float *const c = (float *)out[0] + at;
$calls          }
      }
    }
  }
}
"""


def transposed_convolution_last(
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
    epilogue: Sequence[Step] = (),
    positions: Positions | None = None,
) -> GenKernel:
    """ConvTranspose with constant weights, which has as many taps as its stride, then the
    epilogue."""
    x, w = needed(inputs, 2)
    positions = positions or Positions.of(inputs, epilogue)
    if 1 not in known:
        raise Declined("weights that are no constant")
    if len(x.shape) != 4 or len(w.shape) != 4 or x.shape[3] != w.shape[0]:
        raise Declined(f"weights of shape {w.shape} for an input of shape {x.shape}")
    first = Spec(tuple(x.shape[axis] for axis in (0, 3, 1, 2)), x.dtype)
    axes = axes_of(first, w, attributes)
    if attributes.get("group", 1) != 1 or any(
        (axis.taps, axis.dilation, axis.pad, axis.out)
        != (axis.stride, 1, 0, axis.size * axis.stride)
        for axis in axes
    ):
        raise Declined("groups, or taps that overlap")
    result = Spec((x.shape[0], *(axis.out for axis in axes), w.shape[1]), "float32")
    steps = list(epilogue)
    bias = inputs[2] if len(inputs) > 2 else None
    if bias is not None:
        steps.insert(0, Step.binary("Add", bias, positions.at[2]))
    operands = operands_of(steps, 2 + (bias is not None), result, -1, 3)
    if not result.size or not x.size:
        return nothing("conv_transpose", (result,))
    high, wide = axes
    depth, results = w.shape[:2]
    mr, vectors = pick(wide.size, results, target)
    panels = Panels.of(results, vectors, target)
    matrices = known[1].astype(numpy.float32, copy=False).transpose(2, 3, 0, 1)
    packed = [panels.pack(one) for one in matrices.reshape(-1, depth, results)]
    lines = x.shape[0] * high.size
    work = wide.size * depth * results * len(packed)
    step = max(1, min(-(-lines // 16), -(-WORK // max(1, work))))
    row = (depth, wide.stride * results)
    functions, calls = _tiles(panels, (wide.size, mr), row, steps, operands)
    text = fill(
        _BODY,
        tiles=functions,
        signature=signature(),
        step=step,
        lines=lines,
        taps=len(packed),
        taps_w=wide.taps,
        weights=positions.count,
        tap_size=panels.padded * depth,
        panels=panels.count,
        start=panels.start_text(),
        wide=wide.size,
        mr=mr,
        x=positions.at[0],
        depth=depth,
        stride_h=high.stride,
        stride_w=wide.stride,
        out_wide=wide.out,
        results=results,
        calls=calls,
    )
    constants = (numpy.concatenate(packed),)
    return make_kernel("conv_transpose", text, -(-lines // step), (result,), constants=constants)


def _tiles(
    panels: Panels,
    extent: tuple[int, int],
    rows: tuple[int, int],
    steps: Sequence[Step],
    operands: Sequence[Operand],
) -> tuple[str, str]:
    """The functions of all register tiles, and the calls that choose among them.

    `extent` is the pixels of a line and of a tile, `rows` how far pixels of the input and of the
    output lie apart.
    """
    functions: list[str] = []
    calls: list[str] = []
    for condition, vectors, lanes in panels.kinds():
        for count, when in sizes(*extent, "column"):
            tile = Tile(
                count,
                panel(vectors, lanes),
                str(rows[0]),
                "1",
                f"({vectors} * VW)",
                str(rows[1]),
                steps=tuple(steps),
                operands=operands,
            )
            name = f"{NAME}_tile{count}x{vectors}" + (f"_{lanes}" if lanes else "")
            functions.append(tile.source(name))
            offsets = {"column": "n", "full": "at"}
            call = tile.call(name, "a", f"b + n * {rows[0]}", "c", offsets, str(rows[0]))
            head = "" if not calls else "else "
            calls.append(f"            {head}if ({condition} && {when}) {call}\n")
    return "\n".join(functions), "".join(calls)
