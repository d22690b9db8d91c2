"""One product of matrices, or a batch of them, as the emitters of several operators describe it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy

from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._target import Target
from ._epilogue import Operand, Step
from ._panels import (
    ALIASED,
    DEPTH,
    FAR_DEPTH,
    FAR_RESULTS,
    FEW_ROWS,
    PACKED_DEPTH,
    ROWS,
    TILES,
    WORK,
    Panels,
    are_far,
    depth_block,
    fetches,
    pick,
    tile_parts,
)
from ._text import fill, table_of
from ._tile import LINE, MOST_ROWS, Tile, panel


@dataclass(frozen=True)
class Product:
    """c[z] = a[z] b[z], of matrices (rows, depth) and (depth, columns), for z in a batch.

    `a_at` and `b_at` say where matrix z begins, in elements, and `weights` has b where it is
    constant: then it is one for the whole batch. A matrix that is transposed lies as
    (depth, rows), or (columns, depth).
    """

    name: str
    rows: int
    columns: int
    depth: int
    outputs: tuple[Spec, ...]
    inputs: int  # that are given to the kernel, before its constants
    a: int = 0  # positions of the operands among those
    b: int = 1
    a_at: Sequence[int] = (0,)
    b_at: Sequence[int] = (0,)
    a_transposed: bool = False
    b_transposed: bool = False
    weights: numpy.ndarray | None = None
    steps: tuple[Step, ...] = ()
    operands: tuple[Operand, ...] = ()
    rounds: bool = False  # whether factors may be rounded to bfloat16


_BODY = """\
$tiles
$tables
$signature {
  const float *const a_all = in[$a], *const b_all = in[$b];
  float *const c_all = out[0];
  (void)work;
  for (int64_t t = begin; t < end; ++t) {
    const int64_t z = t / $parts, part = t % $parts;
    const int64_t mp = part / $n_parts, np = part % $n_parts;
    const int64_t m_begin = mp * $m_step, p_begin = np * $p_step;
    const int64_t m_end = m_begin + $m_step < $rows ? m_begin + $m_step : $rows;
    const int64_t p_end = p_begin + $p_step < $panels ? p_begin + $p_step : $panels;
    const float *const a = a_all + $a_offset, *const b = b_all + $b_offset;
    float *const c = c_all + z * $size;
    (void)z, (void)b;
    for (int64_t k0 = 0; k0 < $loop; k0 += $kc) {
      const int64_t depth = $depth - k0 < $kc ? $depth - k0 : $kc;
$pack_a      for (int64_t p = p_begin; p < p_end; ++p) {
        const int64_t n = $start;
$pack_b$fetched        for (int64_t m = m_begin; m < m_end; m += $mr) {
$calls$on        }
      }
    }
  }
}
"""


class Emission:
    """What the parts of a kernel's text share."""

    def __init__(self, target: Target, product: Product) -> None:
        self.target, self.product = target, product
        size = product.depth * product.columns if product.weights is not None else 0
        is_aliased = product.depth % ALIASED == 0 and not product.a_transposed
        most_rows = FEW_ROWS if is_aliased else MOST_ROWS
        most = DEPTH if product.weights is None else PACKED_DEPTH
        self.kc = depth_block(product.depth, most=most) or 1
        self.mr, vectors = pick(
            product.rows, product.columns, target, are_far(size), most_rows, self.kc
        )
        self.panels = Panels.of(product.columns, vectors, target)
        self.is_blocked = product.depth > self.kc
        self.batch = len(product.a_at)
        self._cut()
        # A panel of a b that is no constant is copied where several register tiles read it.
        several = self.m_step > 2 * self.mr
        self.packs_b = product.weights is None and (several or product.b_transposed)
        self.packs_a = product.a_transposed
        tiles = -(-min(self.m_step, product.rows) // self.mr)
        self.fetches = fetches(size, self.panels.width, tiles)
        results = product.rows * product.columns * self.batch
        is_far = results > FAR_RESULTS and product.depth >= FAR_DEPTH and not self.is_blocked
        self.vectors_a_line = LINE // target.lanes if is_far else 0

    def _cut(self) -> None:
        """The tiles for threads: blocks of rows, and of panels where those are too few."""
        product, panels = self.product, self.panels
        work = product.rows * product.columns * max(1, product.depth)
        parts = tile_parts(work, 1 << 30)
        block = -(-ROWS // self.mr) * self.mr
        m_parts = max(1, min(-(-product.rows // block), -(-work // WORK)))
        # Where panels are too few for all threads, fewer rows each.
        m_parts = max(m_parts, min(parts, TILES) // (panels.count * self.batch))
        step = -(-product.rows // m_parts)
        self.m_step = -(-step // self.mr) * self.mr
        m_parts = -(-product.rows // self.m_step)
        n_parts = min(panels.count, max(1, -(-parts // (m_parts * self.batch))))
        self.p_step = -(-panels.count // n_parts)
        self.m_parts, self.n_parts = m_parts, -(-panels.count // self.p_step)

    def kernel(self) -> GenKernel:
        """The kernel."""
        product, panels = self.product, self.panels
        a_table, a_offset = table_of(f"{NAME}_a_at", product.a_at)
        b_table, b_offset = table_of(f"{NAME}_b_at", product.b_at)
        constants: list[Callable[[], numpy.ndarray]] = []
        b_position = product.b
        weights = product.weights
        if weights is not None:
            constants.append(lambda: panels.pack(weights.astype(numpy.float32, copy=False)))
            b_position, b_offset, b_table = product.inputs, "0", ""
        functions, calls = self._tiles()
        b_bytes = 4 * self.kc * panels.width if self.packs_b else 0
        a_bytes = 4 * self.kc * self.m_step if self.packs_a else 0
        text = fill(
            _BODY,
            tiles=functions,
            tables=a_table + b_table,
            signature=signature(),
            a=product.a,
            b=b_position,
            parts=self.m_parts * self.n_parts,
            n_parts=self.n_parts,
            m_step=self.m_step,
            p_step=self.p_step,
            rows=product.rows,
            panels=panels.count,
            a_offset=a_offset,
            b_offset=b_offset,
            size=product.rows * product.columns,
            loop=max(1, product.depth),
            kc=self.kc,
            depth=product.depth,
            pack_a=self._pack_a(b_bytes) if self.packs_a else "",
            start=panels.start_text(),
            pack_b=self._pack_b() if self.packs_b else "",
            mr=self.mr,
            calls=calls,
            fetched=self._fetched() if self.fetches else "",
            on=f"          next += {self.fetches} * depth;\n" if self.fetches else "",
        )
        return make_kernel(
            product.name,
            text,
            self.batch * self.m_parts * self.n_parts,
            product.outputs,
            workspace=a_bytes + b_bytes,
            constants=constants,
        )

    def _tiles(self) -> tuple[str, str]:
        """The functions of all register tiles, and the calls that choose among them."""
        product, panels = self.product, self.panels
        rest = product.rows % self.mr
        heights = [(self.mr, "1")]
        if rest:
            heights.insert(0, (rest, f"m + {self.mr} > {product.rows}"))
            if rest == product.rows:
                heights = heights[:1]
        functions: list[str] = []
        calls: list[str] = []
        for condition, vectors, lanes in panels.kinds():
            for height, when in heights:
                name = f"{NAME}_tile{height}x{vectors}" + (f"_{lanes}" if lanes else "")
                function, call = self._function(name, height, vectors, lanes)
                functions.append(function)
                head = "" if not calls else "else "
                calls.append(f"          {head}if ({condition} && {when}) {call}\n")
        return "\n".join(functions), "".join(calls)

    def _function(self, name: str, height: int, vectors: int, lanes: str | None) -> tuple[str, str]:
        """The function of a register tile, and its call."""
        tile = self._tile(height, vectors, lanes)
        call = self._call(tile, name, self._a_text(), self._b_text(vectors), "depth")
        return tile.source(name), call

    def _call(self, tile: Tile, name: str, a: str, b: str, depth: str) -> str:
        columns, size = self.product.columns, self.product.rows * self.product.columns
        at = f"m * {columns} + n"
        return tile.call(
            name,
            a,
            b,
            f"c + {at}",
            {"row": "m", "column": "n", "full": f"z * {size} + {at}"},
            depth,
            f"k0 == 0, k0 + depth == {self.product.depth}",
            fetched="next",
        )

    def _tile(self, height: int, vectors: int, lanes: str | None) -> Tile:
        product = self.product
        columns = panel(vectors, lanes)
        if not (self.packs_b or product.weights is not None) and lanes is not None:
            last = columns[-1]
            columns[-1] = type(last)(last.b, last.c, last.lanes, lanes)
        return Tile(
            height,
            columns,
            *(("1", str(self.mr)) if self.packs_a else (str(product.depth), "1")),
            str(product.columns)
            if not self.packs_b and product.weights is None
            else f"({vectors} * VW)",
            str(product.columns),
            is_blocked=self.is_blocked,
            fetches=self.fetches,
            vectors_a_line=self.vectors_a_line,
            steps=product.steps,
            operands=product.operands,
        )

    def _fetched(self) -> str:
        """Where the weights begin that tiles fetch while they read those in front of them, which
        may be behind the last."""
        return fill(
            "        const float *next = b + n * $depth + (k0 + depth) * $width;\n",
            depth=self.product.depth,
            width=self.panels.width_text(),
        )

    def _a_text(self) -> str:
        if self.packs_a:
            return "packed_a + (m - m_begin) * depth"
        return f"a + m * {self.product.depth} + k0"

    def _b_text(self, vectors: int) -> str:
        if self.packs_b:
            return "packed_b"
        if self.product.weights is not None:
            return f"b + n * {self.product.depth} + k0 * {vectors} * VW"
        return f"b + k0 * {self.product.columns} + n"

    def _pack_a(self, at: int) -> str:
        """Copies the rows of the block, so that those of a register tile lie beside each other."""
        return fill(
            """\
      float *const packed_a = (float *)work + $at;
      for (int64_t m = m_begin; m < m_end; m += $mr) {
        const int64_t high = $rows - m < $mr ? $rows - m : $mr;
        float *const to = packed_a + (m - m_begin) * depth;
        for (int64_t k = 0; k < depth; ++k)
          for (int64_t i = 0; i < high; ++i) to[k * $mr + i] = a[(k0 + k) * $rows + m + i];
      }
""",
            at=at // 4,
            mr=self.mr,
            rows=self.product.rows,
        )

    def _pack_b(self) -> str:
        """Copies the panel's part of a b that is no constant."""
        product, panels = self.product, self.panels
        element = (
            f"b[(n + j) * {product.depth} + k0 + k]"
            if product.b_transposed
            else f"b[(k0 + k) * {product.columns} + n + j]"
        )
        loops = (
            "for (int64_t j = 0; j < used; ++j)\n            for (int64_t k = 0; k < depth; ++k)"
            if product.b_transposed
            else "for (int64_t k = 0; k < depth; ++k)\n"
            "            for (int64_t j = 0; j < used; ++j)"
        )
        return fill(
            """\
        float *const packed_b = work;
        {
          const int64_t width = $width, used = $columns - n < width ? $columns - n : width;
          $loops packed_b[k * width + j] = $element;
        }
""",
            width=panels.width_text(),
            columns=product.columns,
            loops=loops,
            element=element,
        )
