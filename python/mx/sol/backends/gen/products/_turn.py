"""C that turns blocks of results: from a row for each pixel to a row for each channel."""

from __future__ import annotations

from .._kernel import NAME
from .._target import Target
from ._text import fill

_TURN = """\
#if defined(__clang__) || __GNUC__ >= 12
#define ${NAME}_pick(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define ${NAME}_pick(a, b, ...) __builtin_shuffle(a, b, (vi){__VA_ARGS__})
#endif
/* Columns of rows that lie `width` apart become rows of c, `used` of them, of `count` elements. */
static void ${NAME}_turn(const float *restrict from, int64_t width, float *restrict c,
                         int64_t used, int64_t count) {
  for (int64_t j = 0; j < used; j += VW) {
    const int64_t high = used - j < VW ? used - j : VW;
    for (int64_t i = 0; i < count; i += VW) {
      const float *const p = from + i * width + j;
      const int64_t wide = count - i < VW ? count - i : VW;
      vf r[VW];
$loads$stages      for (int64_t k = 0; k < high; ++k) {
        float *const to = c + (j + k) * count + i;
        if (wide == VW)
          vf_store(to, r[k]);
        else
          vf_store_n(to, r[k], wide);
      }
    }
  }
}
#undef ${NAME}_pick
"""


def turn_function(target: Target) -> str:
    """The function NAME_turn(from, width, c, used, count); it reads rows up to whole vectors."""
    lanes = target.lanes
    loads = "".join(f"      r[{i}] = vf_load(p + {i} * width);\n" for i in range(lanes))
    stages = []
    step = lanes // 2
    while step:
        low = ", ".join(
            str(lane if not lane & step else lanes + lane - step) for lane in range(lanes)
        )
        high = ", ".join(
            str(lane + step if not lane & step else lanes + lane) for lane in range(lanes)
        )
        for i in range(lanes):
            if not i & step:
                one, other = f"r[{i}]", f"r[{i + step}]"
                stages.append(
                    f"      {{ const vf a = {one}, b = {other};\n"
                    f"        {one} = {NAME}_pick(a, b, {low});\n"
                    f"        {other} = {NAME}_pick(a, b, {high}); }}\n"
                )
        step //= 2
    return fill(_TURN, NAME=NAME, loads=loads, stages="".join(stages))
