"""ConvInteger and QLinearConv: the pixels of windows as rows of bytes, and products of those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from .....graph.lowering._value import Declined
from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from .._table import Known, emits
from .._target import Target
from ._inputs import Positions, nothing
from ._integers import IntegerProduct
from ._text import fill
from ._window import window_of
from .quantized import BYTES, scales, zero_of, zeros_of

_ROWS = 48

_BODY = """\
$product
$signature {
  const $x_type *const x_all = in[$x];
  const int8_t *const b_all = in[$weights];
  const int32_t *const base_all = in[$base], *const zeros_all = in[$zeros];
  const int32_t x_zero = $x_zero + $shift;
  uint8_t *const packed = work;
  int32_t *const sums = (int32_t *)(void *)(packed + $packed);
$scales$bias  for (int64_t t = begin; t < end; ++t) {
    const int64_t image = t / $parts, first = t % $parts * $step, group = image % $groups;
    const int64_t rows = $pixels - first < $step ? $pixels - first : $step;
    const $x_type *const x = x_all + image * $image_size;
    for (int64_t m = 0; m < rows; ++m) {
      const int64_t row = (first + m) / $out_wide * $stride_h - $pad_h;
      const int64_t column = (first + m) % $out_wide * $stride_w - $pad_w;
      uint8_t *to = packed + m * $stride;
      for (int64_t c = 0; c < $channels; ++c)
        for (int64_t i = 0; i < $taps_high; ++i) {
          const int64_t h = row + i * $dilation_h;
          for (int64_t j = 0; j < $taps_wide; ++j) {
            const int64_t w = column + j * $dilation_w;
            const int is_in = h >= 0 && h < $high && w >= 0 && w < $wide;
            *to++ = (uint8_t)(is_in ? x[(c * $high + h) * $wide + w] + $shift : x_zero);
          }
        }
      for (int64_t k = $depth; k < $stride; ++k) *to++ = 0;
    }
    for (int64_t p = 0; p < $panels; ++p)
      ${NAME}_sum(packed, rows, b_all + group * $b_size, p, sums);
    const int32_t *const base = base_all + group * $padded;
    const int32_t *const zeros = zeros_all + group * $padded;
    $y_type *const y = ($y_type *)out[0] + image * $results * $pixels + first;
    for (int64_t m = 0; m < rows; ++m) {
      uint32_t total = 0;
      for (int64_t k = 0; k < $depth; ++k) total += packed[m * $stride + k];
      for (int64_t n = 0; n < $results; ++n) {
        const uint32_t moved = (uint32_t)x_zero * (uint32_t)base[n] - total * (uint32_t)zeros[n];
        const uint32_t sum = (uint32_t)sums[m * $padded + n] + moved;
$store      }
    }
  }
}
"""

_STORE_SUM = "        y[n * $pixels + m] = (int32_t)sum;\n"

_STORE_BYTE = """\
        const int64_t o = group * $results + n;
        const float scale = a_scale[0] * b_scale[$scale_at] / y_scale[0];
        const double wide = (double)(int32_t)(sum + $bias_of) * (double)scale;
        const double near = wide < -1e9 ? -1e9 : wide > 1e9 ? 1e9 : wide;
        const double whole = (near + 6755399441055744.0) - 6755399441055744.0 + y_zero;
        y[n * $pixels + m] = ($y_type)(whole < $low ? $low : whole > $high ? $high : whole);
        (void)o;
"""


def _emit(
    name: str,
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
    at: tuple[int, int, int, int],
    quantized: tuple[int, int, int, int] | None,
) -> GenKernel:
    """A convolution of bytes. `at` are the positions of x, its zero point, the weights and theirs;
    `quantized` those of the scales of x, the weights and the result, and of its zero point."""
    positions = Positions.of(inputs)
    x, w = inputs[at[0]], inputs[at[2]]
    if x is None or w is None or x.dtype not in BYTES or w.dtype not in BYTES:
        raise Declined("factors that are not of 8 bits")
    w_zero = inputs[at[3]] if at[3] < len(inputs) else None
    if at[2] not in known or (w_zero is not None and at[3] not in known):
        raise Declined("weights that are no constants")
    window, shape = window_of(x, w.shape, attributes)
    y_type = "int32"
    if quantized is not None:
        y_spec = inputs[quantized[3]]
        y_type = x.dtype if y_spec is None else y_spec.dtype
    result = Spec(shape, y_type)
    if not result.size:
        return nothing(name, (result,))
    groups, results, depth = window.groups, window.results, window.channels * window.taps
    move = 128 if w.dtype == "uint8" else 0
    matrix = known[at[2]].reshape(groups, results, depth).astype(numpy.int32) - move
    zeros = zeros_of(w_zero, known.get(at[3]), groups * results, move).reshape(groups, results)
    step = min(window.pixels, _ROWS)
    product = IntegerProduct(step, depth, results, target)
    padded = product.panels.padded

    def spread(values: numpy.ndarray) -> numpy.ndarray:
        return numpy.pad(values.astype(numpy.int32), ((0, 0), (0, padded - results))).reshape(-1)

    packed = [product.pack(matrix[g].T.astype(numpy.int8)) for g in range(groups)]
    bias = inputs[8] if quantized is not None and len(inputs) > 8 else None
    if bias is not None and bias.dtype != "int32":
        raise Declined("a bias that is not int32")
    if quantized is None:
        store, scale_text = fill(_STORE_SUM, pixels=window.pixels), ""
    else:
        scale = inputs[quantized[1]]
        store = fill(
            _STORE_BYTE,
            results=results,
            pixels=window.pixels,
            scale_at="0" if scale is not None and scale.size == 1 else "o",
            bias_of="(uint32_t)bias[o]" if bias is not None else "0",
            y_type=f"{y_type}_t",
            low=numpy.iinfo(y_type).min,
            high=numpy.iinfo(y_type).max,
        )
        scale_text = scales(inputs, positions, quantized, y_type, groups * results)
    packed_bytes = -(-(step * product.stride) // 64) * 64
    text = fill(
        _BODY,
        NAME=NAME,
        product=product.source({step, window.pixels % step} - {0}),
        signature=signature(),
        x_type=f"{x.dtype}_t",
        x=positions.at[at[0]],
        weights=positions.count,
        base=positions.count + 1,
        zeros=positions.count + 2,
        x_zero=zero_of(inputs, at[1], positions, x.dtype),
        shift=128 if x.dtype == "int8" else 0,
        packed=packed_bytes,
        scales=scale_text,
        bias=f"  const int32_t *const bias = in[{positions.at[8]}];\n" if bias is not None else "",
        parts=-(-window.pixels // step),
        step=step,
        groups=groups,
        pixels=window.pixels,
        image_size=window.channels * window.high * window.wide,
        out_wide=window.out_wide,
        stride_h=window.strides[0],
        stride_w=window.strides[1],
        pad_h=window.pads[0],
        pad_w=window.pads[1],
        stride=product.stride,
        channels=window.channels,
        taps_high=window.taps_high,
        taps_wide=window.taps_wide,
        dilation_h=window.dilations[0],
        dilation_w=window.dilations[1],
        high=window.high,
        wide=window.wide,
        depth=depth,
        panels=product.panels.count,
        b_size=packed[0].size,
        padded=padded,
        y_type=f"{y_type}_t",
        results=results,
        store=store,
    )
    return make_kernel(
        name,
        text,
        window.batch * groups * -(-window.pixels // step),
        (result,),
        workspace=packed_bytes + 4 * step * padded,
        constants=(
            numpy.concatenate(packed),
            spread(depth * zeros - matrix.sum(2, dtype=numpy.int32)),
            spread(zeros),
        ),
    )


@emits("ConvInteger", since=10)
def conv_integer(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    """ConvInteger with constant weights: exact sums."""
    return _emit("conv_integer", target, inputs, attributes, known, (0, 2, 1, 3), None)


@emits("QLinearConv", since=10)
def qlinear_conv(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    """QLinearConv with constant weights: exact sums, rounded to the nearest, halves to even."""
    return _emit("qlinear_conv", target, inputs, attributes, known, (0, 2, 3, 5), (1, 4, 6, 7))
