"""Register tiles of weights in bfloat16: sums in float32 of pairs that lie beside each other.

A weight is half of a word of 32 bits, whose low half is of an even depth, whose high half of the
one behind it. Processors with instructions for bfloat16 multiply both by a pair of a's elements,
rounded; for others each half is made a float, and a's elements are as exact as they come.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy

from ..... import numpy as np
from .._kernel import NAME
from ._panels import Panels
from ._tile import Tile

# Whether the processor that runs the code has the instructions, and does more with them than
# without, which Intel's do not; and what rounds by them.
INSTRUCTIONS = f"""\
#if VW == 16 && defined(__AVX512BW__) && defined(__AVX512VL__) && \\
    (defined(__clang__) || __GNUC__ >= 11) && !defined(MX_WITHOUT_CPU_MODEL)
#define {NAME}_HAS (__builtin_cpu_supports("avx512bf16") && !__builtin_cpu_is("intel"))
#define {NAME}_ONE __attribute__((target("avx512bf16")))
/* Numbers rounded to the nearest, of two to the even one; 0 behind the last of an odd count. */
{NAME}_ONE static void {NAME}_round(const float *a, int64_t count, uint32_t *to) {{
  int64_t k = 0;
  for (; k + VW <= count; k += VW, to += VW / 2)
    _mm256_storeu_si256((__m256i *)(void *)to, (__m256i)_mm512_cvtneps_pbh((__m512)vf_load(a + k)));
  if (k < count) {{
    const __mmask8 words = (__mmask8)((1u << ((count - k + 1) / 2)) - 1);
    const vf rest = vf_load_n(a + k, count - k);
    _mm256_mask_storeu_epi32(to, words, (__m256i)_mm512_cvtneps_pbh((__m512)rest));
  }}
}}
#endif
"""

# Makes floats of a part of a panel.
WIDEN = f"""\
static void {NAME}_widen(const uint32_t *b, int64_t depth, int64_t width, float *to) {{
  for (int64_t k = 0; k < depth; k += 2, b += width, to += 2 * width)
    for (int64_t j = 0; j < width; j += VW) {{
      const vu words = (vu)vi_load((const int32_t *)(const void *)(b + j));
      vf_store(to + j, (vf)(words << 16));
      vf_store(to + width + j, (vf)(words & 0xffff0000u));
    }}
}}
"""


def pack_pairs(panels: Panels, matrix: numpy.ndarray) -> numpy.ndarray:
    """A matrix (depth, columns) in bfloat16, as words: panel by panel, pairs of rows in order."""
    depth, columns = matrix.shape
    padded = numpy.zeros((-(-depth // 2) * 2, columns), numpy.uint32)
    padded[:depth] = rounded_bits(matrix)
    return panels.pack(padded[::2] | padded[1::2] << 16)


def rounded_bits(values: numpy.ndarray) -> numpy.ndarray:
    """The bits of numbers as bfloat16, as operators of the CPU round to it."""
    rounded = np.array(values, dtype="float32").astype("bfloat16")
    return numpy.asarray(rounded.view("uint16")).astype(numpy.uint32)


@dataclass(frozen=True)
class PairTile(Tile):
    """A tile of such weights: `b_step` is from one pair of rows to the next.

    With `is_fast` elements of a are words of two as well, and `depth` is the number of those; the
    function has to be compiled for the instructions. Else a is of floats, of which `depth` counts
    each, and `is_odd` says that the last of all is alone.
    """

    is_fast: bool = False
    is_odd: bool = False

    def parameters(self) -> list[str]:
        """The parameters of the function, in C."""
        names = super().parameters()
        if self.is_fast:
            names[0] = "const uint32_t *restrict a"
        names[1] = "const uint32_t *restrict b"
        return names

    def source(self, name: str) -> str:
        """The function."""
        return (f"{NAME}_ONE " if self.is_fast else "") + super().source(name)

    def _walk(self) -> list[str]:
        if self.is_fast:
            return ["  for (int64_t k = 0; k < depth; ++k) {", *self._words("k"), "  }"]
        lines = ["  for (int64_t k = 0; k + 2 <= depth; k += 2) {", *self._halves("k"), "  }"]
        if self.is_odd:
            lines += ["  if (depth & 1) {", "    const int64_t k = depth - 1;"]
            lines += [*self._halves("k", 1), "  }"]
        return lines

    def _words(self, k: str) -> list[str]:
        lines = [f"    const uint32_t *const q = b + {k} * {self.b_step};", *self._fetching()]
        for j, column in enumerate(self.columns):
            lines.append(f"    const __m512bh b{j} = (__m512bh){_load(column.b)};")
        for i in range(self.rows):
            sums = " ".join(
                f"c{i}_{j} = (vf)_mm512_dpbf16_ps((__m512)c{i}_{j}, s, b{j});"
                for j in range(len(self.columns))
            )
            word = f"vi_set1((int32_t)a[{i} * {self.a_row} + {k}])"
            lines.append(f"    {{ const __m512bh s = (__m512bh){word}; {sums} }}")
        return lines

    def _halves(self, k: str, count: int = 2) -> list[str]:
        lines = [f"    const uint32_t *const q = b + ({k} >> 1) * {self.b_step};"]
        lines += self._fetching()
        for half in range(count):
            lines.append("    {")
            for j, column in enumerate(self.columns):
                word = f"(vu){_load(column.b)}"
                text = f"{word} & 0xffff0000u" if half else f"{word} << 16"
                lines.append(f"      const vf b{j} = (vf)({text});")
            for i in range(self.rows):
                sums = " ".join(f"c{i}_{j} += s * b{j};" for j in range(len(self.columns)))
                at = f"a[{i} * {self.a_row} + {k} + {half}]"
                lines.append(f"      {{ const vf s = vf_set1({at}); {sums} }}")
            lines.append("    }")
        return lines


def _load(column: str) -> str:
    return f"vi_load((const int32_t *)(const void *)(q + {column}))"
