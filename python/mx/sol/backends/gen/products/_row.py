"""A row times a large constant matrix, which is bound by reading the matrix."""

from __future__ import annotations

import numpy

from .._kernel import NAME, GenKernel, make_kernel, signature
from .._target import Target
from ._panels import Panels, depth_block
from ._problem import Product
from ._text import fill
from ._tile import LINE, Column, Tile, sizes

# Panels, a line of the cache wide, that a tile reads at once: processors fetch what follows of each
# by themselves, and two threads of an AMD EPYC (Zen 3) read 50 GB/s of four, 33 GB/s of one. It is
# so also where sums are more than registers.
_STREAMS = 4
# Weights that are worth a tile of their own, for a thread to take.
_WEIGHTS = 1 << 16
# Terms of a sum, which is added to those before: sums of fewer terms have smaller errors.
_TERMS = 256

_BODY = """\
$tiles
$signature {
  const float *const a = in[$a], *const b = in[$b];
  float *const c = out[0];
  (void)work;
  for (int64_t t = begin * $step; t < end * $step && t < $groups; ++t) {
    const int64_t n = t * $width;
    for (int64_t k0 = 0; k0 < $all; k0 += $kc) {
      const int64_t depth = $all - k0 < $kc ? $all - k0 : $kc;
$calls    }
  }
}
"""


def takes(product: Product) -> bool:
    """Whether a product is one that is computed so."""
    is_row = product.rows == len(product.a_at) == 1 and product.weights is not None
    return is_row and product.depth > 0 and product.columns >= _STREAMS * LINE


def row_kernel(target: Target, product: Product) -> GenKernel:
    """The kernel of such a product."""
    assert product.weights is not None
    weights, depth, columns = product.weights, product.depth, product.columns
    width = _STREAMS * LINE
    groups = -(-columns // width)
    step = max(1, _WEIGHTS // (depth * width))
    kc = depth_block(depth, most=_TERMS)
    panels = Panels(LINE // target.lanes, -(-columns // LINE), 0, target.lanes, target.lanes)
    functions: list[str] = []
    calls: list[str] = []
    for count, when in sizes(columns, width, "n"):
        tile = _tile(target, product, count, depth > kc)
        name = f"{NAME}_tile{count}"
        functions.append(tile.source(name))
        call = tile.call(
            name,
            "a + k0",
            f"b + n * {depth} + k0 * {LINE}",
            "c + n",
            {"column": "n", "full": "n"},
            "depth",
            f"k0 == 0, k0 + depth == {depth}",
        )
        calls.append(f"      {'else ' if calls else ''}if ({when}) {call}\n")
    text = fill(
        _BODY,
        tiles="\n".join(functions),
        signature=signature(),
        a=product.a,
        b=product.inputs,
        step=step,
        groups=groups,
        width=width,
        all=depth,
        kc=kc,
        calls="".join(calls),
    )
    return make_kernel(
        product.name,
        text,
        -(-groups // step),
        product.outputs,
        constants=(lambda: panels.pack(weights.astype(numpy.float32, copy=False)),),
    )


def _tile(target: Target, product: Product, columns: int, is_blocked: bool) -> Tile:
    """Of the panels of so many columns, each of which begins behind the whole one before."""
    lanes = target.lanes
    vectors = []
    for first in range(0, columns, lanes):
        panel, within = divmod(first, LINE)
        some = min(lanes, columns - first)
        vectors.append(
            Column(
                f"{panel * LINE * product.depth + within}",
                str(first),
                None if some == lanes else str(some),
            )
        )
    return Tile(
        1,
        vectors,
        "0",
        "1",
        str(LINE),
        "0",
        is_blocked=is_blocked,
        steps=product.steps,
        operands=product.operands,
    )
