"""Pooling of tensors whose channels are last: vectors of channels of one window."""

from __future__ import annotations

from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._target import Target
from ._pooling import windows_of

_BODY = """\
static void {name}_window(const float *restrict x, float *restrict y, int64_t rows, int64_t columns,
                          float scale) {{
  (void)scale;
  for (int64_t k = 0; k < {channels}; k += VW) {{
    {lanes}vf sum = vf_set1({start});
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {{
        const float *const from = x + i * {row_gap} + j * {column_gap} + k;
        const vf v = {load};
        sum = {combined};
      }}
    {store}
  }}
}}
{signature} {{
  (void)work;
  for (int64_t row = begin; row < end; ++row) {{
    const int64_t h = row % {out_high} * {step_h} - {above};
    const int64_t first_h = h < 0 ? (-h + {gap_h} - 1) / {gap_h} : 0;
    const int64_t room_h = ({high} - h + {gap_h} - 1) / {gap_h};
    const int64_t end_h = room_h < {taps_h} ? room_h : {taps_h};
    for (int64_t column = 0; column < {out_wide}; ++column) {{
      const int64_t l = column * {step_w} - {left};
      const int64_t first_w = l < 0 ? (-l + {gap_w} - 1) / {gap_w} : 0;
      const int64_t room_w = ({wide} - l + {gap_w} - 1) / {gap_w};
      const int64_t end_w = room_w < {taps_w} ? room_w : {taps_w};
      const int64_t is_empty = first_h >= end_h || first_w >= end_w;
      const int64_t top = is_empty ? 0 : h + first_h * {gap_h};
      const int64_t from = is_empty ? 0 : l + first_w * {gap_w};
{counted}      {name}_window(
          (const float *)in[0] + ((row / {out_high} * {high} + top) * {wide} + from) * {channels},
          (float *)out[0] + (row * {out_wide} + column) * {channels}, end_h - first_h,
          end_w - first_w, {scale});
    }}
  }}
}}
"""
_WITH_PADS = """\
      const int64_t most_h = ({high} + {below} - h + {gap_h} - 1) / {gap_h};
      const int64_t most_w = ({wide} + {right} - l + {gap_w} - 1) / {gap_w};
      const int64_t count = (most_h < {taps_h} ? most_h : {taps_h}) *
                            (most_w < {taps_w} ? most_w : {taps_w});
"""
_WITHOUT_PADS = "      const int64_t count = (end_h - first_h) * (end_w - first_w);\n"


def pool_last(target: Target, x: Spec, attributes: dict[str, Any], is_max: bool) -> GenKernel:
    """MaxPool or AveragePool as ONNX has them, of a tensor (N, H, W, C) of float32."""
    if len(x.shape) != 4 or x.dtype != "float32" or not x.size:
        raise Declined(f"{x.dtype} {list(x.shape)}")
    batch, high, wide, channels = x.shape
    windows = windows_of(Spec((batch, channels, high, wide), x.dtype), attributes)
    named = {
        ("high", "wide"): windows.spatial,
        ("out_high", "out_wide"): windows.counts,
        ("taps_h", "taps_w"): windows.kernel,
        ("step_h", "step_w"): windows.strides,
        ("gap_h", "gap_w"): windows.dilations,
        ("above", "left"): windows.before,
        ("below", "right"): windows.after,
    }
    sizes: dict[str, int] = {}
    for names, values in named.items():
        sizes.update(zip(names, values, strict=True))
    counted = _WITH_PADS if attributes.get("count_include_pad", 0) else _WITHOUT_PADS
    ragged = channels % target.lanes
    lanes = f"const int64_t lanes = {channels} - k < VW ? {channels} - k : VW;\n    "
    stored = "sum" if is_max else "sum * vf_set1(scale)"
    text = _BODY.format(
        name=NAME,
        signature=signature(),
        channels=channels,
        lanes=lanes if ragged else "",
        start="-INFINITY" if is_max else "0.0f",
        row_gap=sizes["gap_h"] * wide * channels,
        column_gap=sizes["gap_w"] * channels,
        load="lanes < VW ? vf_load_n(from, lanes) : vf_load(from)" if ragged else "vf_load(from)",
        combined="vf_maximum(sum, v)" if is_max else "sum + v",
        store=(
            f"if (lanes < VW) vf_store_n(y + k, {stored}, lanes);\n"
            f"    else vf_store(y + k, {stored});"
            if ragged
            else f"vf_store(y + k, {stored});"
        ),
        counted="" if is_max else counted.format(**sizes),
        scale="1.0f" if is_max else "1.0f / (float)count",
        **sizes,
    )
    out = Spec((batch, *windows.counts, channels), x.dtype)
    return make_kernel(
        "max_pool" if is_max else "average_pool", text, batch * windows.counts[0], (out,)
    )
