"""Products whose weights are rounded to bfloat16, half as large as those of float32."""

from __future__ import annotations

import functools

from .._kernel import NAME, GenKernel, make_kernel, signature
from .._target import Target
from . import _row
from ._inputs import nothing
from ._pairs import INSTRUCTIONS, WIDEN, PairTile, pack_pairs
from ._panels import depth_block, fetches
from ._problem import Emission, Product
from ._text import fill, table_of
from ._tile import Tile, panel

# Columns of a tile of threads, each of which rounds the rows that it multiplies.
_COLUMNS = 128
# Of a part of a panel that is made floats, which are to stay in the first cache.
_FLOATS = 6 << 10

_BODY = """\
$functions
$tiles
$tables
$signature {
  const float *const a_all = in[$a];
  const uint32_t *const b = in[$b];
  float *const c_all = out[0];
#ifdef ${NAME}_HAS
  const int is_fast = ${NAME}_HAS;
  int64_t rounded = -1;
#endif
  (void)work;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t z = t / $parts, part = t % $parts;
    const int64_t mp = part / $n_parts, np = part % $n_parts;
    const int64_t m_begin = mp * $m_step, p_begin = np * $p_step;
    const int64_t m_end = m_begin + $m_step < $rows ? m_begin + $m_step : $rows;
    const int64_t p_end = p_begin + $p_step < $panels ? p_begin + $p_step : $panels;
    const float *const a = a_all + $a_offset;
    float *const c = c_all + z * $size;
    (void)z;
    for (int64_t k0 = 0; k0 < $loop; k0 += $kc) {
      const int64_t depth = $depth - k0 < $kc ? $depth - k0 : $kc;
#ifdef ${NAME}_HAS
      uint32_t *const words = work;
      if (is_fast && rounded != (t / $n_parts) * $loop + k0) {
        rounded = (t / $n_parts) * $loop + k0;
        for (int64_t m = m_begin; m < m_end; ++m)
          ${NAME}_round(a + m * $depth + k0, depth, words + (m - m_begin) * $stride);
      }
#endif
      for (int64_t p = p_begin; p < p_end; ++p) {
        const int64_t n = $start;
$widen$fetched        for (int64_t m = m_begin; m < m_end; m += $mr) {
$calls$on        }
      }
    }
  }
}
"""


def emit_product(target: Target, product: Product) -> GenKernel:
    """The kernel of a product, of bfloat16 where it may be and its matrix is known."""
    if not product.rows * product.columns * len(product.a_at):
        return nothing(product.name, product.outputs)
    is_rounded = product.rounds and product.weights is not None and not product.a_transposed
    if not is_rounded and _row.takes(product):
        return _row.row_kernel(target, product)
    return (_RoundedEmission if is_rounded else Emission)(target, product).kernel()


class _RoundedEmission(Emission):
    """As one of float32, of a constant matrix and an a whose rows lie as they are multiplied."""

    def _cut(self) -> None:
        super()._cut()
        width = self.panels.width
        # Where several register tiles read a panel, floats are made of it before.
        self.is_widened = self.m_step > 2 * self.mr
        if self.is_widened:
            self.kc = depth_block(self.product.depth, most=_FLOATS // width) or 1
        self.kc += self.kc % 2
        self.is_blocked = self.product.depth > self.kc
        least = min(self.panels.count, -(-_COLUMNS // width))
        if self.product.rows > self.mr and self.p_step < least:
            self.p_step = least
            self.n_parts = -(-self.panels.count // self.p_step)

    def kernel(self) -> GenKernel:
        """The kernel."""
        product, panels = self.product, self.panels
        assert product.weights is not None
        self.stride = self.kc // 2
        self.pairs = -(-product.depth // 2)
        self.packs_b = self.is_widened
        tiles = -(-min(self.m_step, product.rows) // self.mr)
        # Words that come next, for each row of a panel, of which two are a row of words.
        self.fetches = -(-fetches(self.pairs * product.columns, panels.width, tiles) // 2)
        a_table, a_offset = table_of(f"{NAME}_a_at", product.a_at)
        functions, calls = self._tiles()
        text = fill(
            _BODY,
            NAME=NAME,
            functions=INSTRUCTIONS + (WIDEN if self.packs_b else ""),
            tiles=functions,
            tables=a_table,
            signature=signature(),
            a=product.a,
            b=product.inputs,
            parts=self.m_parts * self.n_parts,
            n_parts=self.n_parts,
            m_step=self.m_step,
            p_step=self.p_step,
            rows=product.rows,
            panels=panels.count,
            a_offset=a_offset,
            size=product.rows * product.columns,
            loop=max(1, product.depth),
            kc=self.kc,
            depth=product.depth,
            stride=self.stride,
            start=panels.start_text(),
            mr=self.mr,
            calls=calls,
            widen=self._widen() if self.packs_b else "",
            fetched=self._fetched() if self.fetches else "",
            on=f"          next += {self.fetches} * (depth + depth % 2);\n" if self.fetches else "",
        )
        words = self.stride * min(self.m_step, product.rows)
        return make_kernel(
            product.name,
            text,
            self.batch * self.m_parts * self.n_parts,
            product.outputs,
            workspace=4 * max(words, self.kc * panels.width if self.packs_b else 0),
            constants=(functools.partial(pack_pairs, panels, product.weights),),
        )

    def _function(self, name: str, height: int, vectors: int, lanes: str | None) -> tuple[str, str]:
        """Those for processors with instructions for it, and for others."""
        b = f"b + n * {self.pairs} + (k0 >> 1) * ({vectors} * VW)"
        words = f"words + (m - m_begin) * {self.stride}"
        fast = self._pair_tile(height, vectors, lanes, True)
        fast_call = self._call(fast, f"{name}_one", words, b, "(depth + 1) >> 1")
        if self.packs_b:
            tile = self._tile(height, vectors, lanes)
            b = "packed_b"
        else:
            tile = self._pair_tile(height, vectors, lanes, False)
        call = self._call(tile, name, self._a_text(), b, "depth")
        text = f"#ifdef {NAME}_HAS\n{fast.source(f'{name}_one')}#endif\n{tile.source(name)}"
        begin = f"{{\n#ifdef {NAME}_HAS\n            if (is_fast) {fast_call} else\n#endif\n"
        return text, f"{begin}            {call}\n          }}"

    def _pair_tile(self, height: int, vectors: int, lanes: str | None, is_fast: bool) -> Tile:
        return PairTile(
            height,
            panel(vectors, lanes),
            str(self.stride if is_fast else self.product.depth),
            "1",
            f"({vectors} * VW)",
            str(self.product.columns),
            is_blocked=self.is_blocked,
            fetches=2 * self.fetches,
            steps=self.product.steps,
            operands=self.product.operands,
            is_fast=is_fast,
            is_odd=self.product.depth % 2 == 1,
        )

    def _widen(self) -> str:
        width = self.panels.width_text()
        return f"""\
        float *const packed_b = work;
#ifdef {NAME}_HAS
        if (!is_fast)
#endif
        {NAME}_widen(b + n * {self.pairs} + (k0 >> 1) * {width}, depth, {width}, packed_b);
"""

    def _fetched(self) -> str:
        return fill(
            """\
        const void *const ahead = b + n * $pairs + ((k0 + depth) >> 1) * $width;
        const float *next = ahead; /* only to fetch */
""",
            pairs=self.pairs,
            width=self.panels.width_text(),
        )
