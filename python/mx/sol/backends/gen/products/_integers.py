"""Products of 8-bit integers: sums in 32 bits, exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy

from .._kernel import NAME
from .._target import Target
from ._panels import Panels
from ._text import fill
from ._tile import choose

# Elements of a row that are multiplied in one call of a register tile.
DEPTH = 1024

# sum + a0 b0 + a1 b1 + a2 b2 + a3 b3 of the bytes of each lane; those of a are without sign.
_DOT = """\
#if VW == 16 && defined(__AVX512BW__)
MX_INLINE vi ${NAME}_dot(vi sum, vi a, vi b) {
  const __m512i low = _mm512_srai_epi16(_mm512_slli_epi16((__m512i)b, 8), 8);
  const __m512i high = _mm512_srai_epi16((__m512i)b, 8);
  const __m512i even = _mm512_and_si512((__m512i)a, _mm512_set1_epi16(255));
  const __m512i odd = _mm512_srli_epi16((__m512i)a, 8);
  const vi one = (vi)_mm512_madd_epi16(even, low), two = (vi)_mm512_madd_epi16(odd, high);
  return vi_add(sum, vi_add(one, two));
}
#elif VW == 8 && defined(__AVX2__)
MX_INLINE vi ${NAME}_dot(vi sum, vi a, vi b) {
  const __m256i low = _mm256_srai_epi16(_mm256_slli_epi16((__m256i)b, 8), 8);
  const __m256i high = _mm256_srai_epi16((__m256i)b, 8);
  const __m256i even = _mm256_and_si256((__m256i)a, _mm256_set1_epi16(255));
  const __m256i odd = _mm256_srli_epi16((__m256i)a, 8);
  const vi one = (vi)_mm256_madd_epi16(even, low), two = (vi)_mm256_madd_epi16(odd, high);
  return vi_add(sum, vi_add(one, two));
}
#elif VW == 4 && defined(__SSE2__)
MX_INLINE vi ${NAME}_dot(vi sum, vi a, vi b) {
  const __m128i low = _mm_srai_epi16(_mm_slli_epi16((__m128i)b, 8), 8);
  const __m128i high = _mm_srai_epi16((__m128i)b, 8);
  const __m128i even = _mm_and_si128((__m128i)a, _mm_set1_epi16(255));
  const __m128i odd = _mm_srli_epi16((__m128i)a, 8);
  const vi one = (vi)_mm_madd_epi16(even, low), two = (vi)_mm_madd_epi16(odd, high);
  return vi_add(sum, vi_add(one, two));
}
#else
MX_INLINE vi ${NAME}_dot(vi sum, vi a, vi b) {
  for (int i = 0; i < 4; ++i) {
    const vi part = (vi)((vu)b << (24 - 8 * i)) >> 24;
    sum = vi_add(sum, vi_mul((a >> (8 * i)) & 255, part));
  }
  return sum;
}
#endif
/* Instructions that do it in one step, where the processor has them. */
#if VW == 16 && defined(__AVX512F__) && !defined(MX_WITHOUT_CPU_MODEL)
#define ${NAME}_HAS __builtin_cpu_supports("avx512vnni")
#define ${NAME}_ONE __attribute__((target("avx512vnni")))
#define ${NAME}_step(sum, a, b) \\
  (vi) _mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(a), (__m512i)(b))
#endif
MX_INLINE vi ${NAME}_four(const uint8_t *p) {
  int32_t four;
  memcpy(&four, p, sizeof four);
  return vi_set1(four);
}
"""

_PRODUCT = """\
/* sums = or += a b, of `rows` rows of bytes, each $stride long. */
static void ${NAME}_sum(const uint8_t *a, int64_t rows, const int8_t *b_all, int64_t p,
                        int32_t *sums) {
  const int64_t n = $start, width = $width;
  const int8_t *const b = b_all + n * $stride;
  for (int64_t k0 = 0; k0 < $stride; k0 += $block) {
    const int64_t depth = ($stride - k0 < $block ? $stride - k0 : $block) / 4;
    for (int64_t m = 0; m < rows; m += $mr) {
      const int64_t high = rows - m < $mr ? rows - m : $mr;
      const uint8_t *const am = a + m * $stride + k0;
      const int8_t *const bm = b + k0 * width;
      int32_t *const to = sums + m * $padded + n;
$calls    }
  }
}
"""


@dataclass(frozen=True)
class IntegerProduct:
    """Sums of a matrix of bytes without sign, in rows, and a constant matrix of those with sign."""

    rows: int  # at most, of one call
    depth: int
    columns: int
    target: Target

    @property
    def stride(self) -> int:
        """Bytes of a row: the depth, to whole groups of four."""
        return max(4, -(-self.depth // 4) * 4)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and vectors of a register tile."""
        return choose(self.rows, -(-self.columns // self.target.lanes), self.target)

    @property
    def panels(self) -> Panels:
        """Whole vectors of columns."""
        lanes = self.target.lanes
        return Panels.of(-(-self.columns // lanes) * lanes, self.shape[1], self.target)

    def pack(self, matrix: numpy.ndarray) -> numpy.ndarray:
        """A matrix (depth, columns) of int8: for each panel, four elements of each column."""
        padded = numpy.zeros((self.stride, matrix.shape[1]), numpy.int8)
        padded[: self.depth] = matrix
        fours = padded.reshape(-1, 4, matrix.shape[1]).transpose(0, 2, 1)
        words = numpy.ascontiguousarray(fours).view(numpy.int32)[:, :, 0]
        return self.panels.pack(words).view(numpy.int8)

    def source(self, counts: Iterable[int]) -> str:
        """The function NAME_sum(a, rows, b, panel, sums), for any of these numbers of rows."""
        mr, _ = self.shape
        given = sorted(counts)
        heights = sorted({count % mr for count in given} - {0})
        heights += [mr] if given[-1] >= mr else []
        functions: list[str] = []
        calls: list[str] = []
        for condition, vectors, _ in self.panels.kinds():
            for height in heights:
                for is_fast in (True, False):
                    name = f"{NAME}_tile{height}x{vectors}{'_one' if is_fast else ''}"
                    text = self._tile(name, height, vectors, is_fast)
                    call = f"{name}(am, bm, to, depth, k0 == 0);\n"
                    when = f"({condition}) && high == {height}"
                    if is_fast:
                        text = f"#ifdef {NAME}_HAS\n{NAME}_ONE {text}#endif\n"
                        call = (
                            f"#ifdef {NAME}_HAS\n      if ({NAME}_HAS && {when}) {{\n"
                            f"        {call}        continue;\n      }}\n#endif\n"
                        )
                    else:
                        call = f"      if ({when}) {{\n        {call}        continue;\n      }}\n"
                    functions.append(text)
                    calls.append(call)
        return (
            fill(_DOT, NAME=NAME)
            + "\n".join(functions)
            + fill(
                _PRODUCT,
                NAME=NAME,
                start=self.panels.start_text(),
                width=self.panels.width_text(),
                stride=self.stride,
                block=DEPTH,
                mr=mr,
                padded=self.panels.padded,
                calls="".join(calls),
            )
        )

    def _tile(self, name: str, height: int, vectors: int, is_fast: bool) -> str:
        cells = [(i, j) for i in range(height) for j in range(vectors)]
        padded = self.panels.padded
        dot = f"{NAME}_step" if is_fast else f"{NAME}_dot"
        lines = [
            f"static void {name}(const uint8_t *a, const int8_t *b, int32_t *c, "
            "int64_t depth, int first) {",
            f"  vi {', '.join(f'c{i}_{j} = {{0}}' for i, j in cells)};",
            "  if (!first) {",
            *(f"    c{i}_{j} = vi_load(c + {i} * {padded} + {j} * VW);" for i, j in cells),
            "  }",
            "  for (int64_t k = 0; k < depth; ++k) {",
            f"    const int32_t *const q = (const int32_t *)(const void *)b + k * {vectors} * VW;",
            *(f"    const vi b{j} = vi_load(q + {j} * VW);" for j in range(vectors)),
        ]
        for i in range(height):
            sums = " ".join(f"c{i}_{j} = {dot}(c{i}_{j}, s, b{j});" for j in range(vectors))
            four = f"{NAME}_four(a + {i} * {self.stride} + 4 * k)"
            lines.append(f"    {{ const vi s = {four}; {sums} }}")
        lines.append("  }")
        lines += [f"  vi_store(c + {i} * {padded} + {j} * VW, c{i}_{j});" for i, j in cells]
        return "\n".join([*lines, "}", ""])
