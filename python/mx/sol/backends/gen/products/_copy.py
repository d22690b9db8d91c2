"""C that copies the rows of an input that windows read, with zeros around them."""

from __future__ import annotations

from .._kernel import NAME
from ._text import fill
from ._window import Rows, Window

# Rows from `first` on of all channels of an image, and as many as results of `rows` rows read.
_COPY = """\
static void ${NAME}_rows(const float *restrict x, float *restrict to, int64_t first) {
  for (int64_t channel = 0; channel < $channels; ++channel, x += $size) {
$phases  }
}
"""

_PHASE = """\
    for (int64_t r = 0; r < $rows; ++r, to += $wide) {
      const int64_t h = (first + r) * $stride + $low;
      if (h < 0 || h >= $high) {
        memset(to, 0, $wide * sizeof(float));
        continue;
      }
      const float *const row = x + h * $row;
      (void)row;
$before$middle$behind    }
"""


def copy_function(window: Window, rows: Rows, count: int) -> str:
    """The function NAME_rows(x, to, first), for results of `count` rows."""
    phases = []
    for low, left in rows.phases:
        shift = left - window.pads[1]
        step = window.strides[1]
        begin = min(rows.wide, max(0, -(shift // step)))
        end = max(begin, min(rows.wide, -((shift - window.wide) // step)))
        middle = (
            f"memcpy(to + {begin}, row + {begin + shift}, {end - begin} * sizeof(float));"
            if step == 1
            else f"for (int64_t i = {begin}; i < {end}; ++i) to[i] = row[i * {step} + ({shift})];"
        )
        zeros = "      memset(to + {}, 0, {} * sizeof(float));\n"
        phases.append(
            fill(
                _PHASE,
                rows=count + rows.more,
                wide=rows.wide,
                stride=window.strides[0],
                low=low - window.pads[0],
                high=window.high,
                row=window.wide,
                before=zeros.format(0, begin) if begin else "",
                middle=f"      {middle}\n" if begin < end else "",
                behind=zeros.format(end, rows.wide - end) if end < rows.wide else "",
            )
        )
    return fill(
        _COPY,
        NAME=NAME,
        channels=window.channels,
        size=window.high * window.wide,
        phases="".join(phases),
    )
