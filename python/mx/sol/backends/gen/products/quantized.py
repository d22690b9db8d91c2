"""MatMulInteger, QLinearMatMul and DynamicQuantizeLinear."""

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
from ._panels import WORK
from ._text import fill

BYTES = ("uint8", "int8")
# Rows whose sums are kept before they are stored.
_ROWS = 48

_BODY = """\
$product
typedef double ${NAME}_vd __attribute__((vector_size(8 * VW), unused));
$signature {
  const $a_type *const a_all = in[$a];
  const int8_t *const b = in[$weights];
  const int32_t *const base = in[$base], *const zeros = in[$zeros];
  const int32_t a_zero = $a_zero + $a_shift;
  uint8_t *const packed = work;
  int32_t *const sums = (int32_t *)(void *)(packed + $packed);
  $y_type *const y_all = out[0];
  (void)zeros;
$scales  for (int64_t t = begin; t < end; ++t) {
    const int64_t m_begin = t / $parts * $step, part = t % $parts;
    const int64_t rows = $rows - m_begin < $step ? $rows - m_begin : $step;
    const int64_t p_begin = part * $p_step;
    const int64_t p_end = p_begin + $p_step < $panels ? p_begin + $p_step : $panels;
    for (int64_t m = 0; m < rows; ++m) {
      const $a_type *const from = a_all + (m_begin + m) * $depth;
      uint8_t *const to = packed + m * $stride;
      for (int64_t k = 0; k < $depth; ++k) to[k] = (uint8_t)(from[k] + $a_shift);
      for (int64_t k = $depth; k < $stride; ++k) to[k] = 0;
    }
    for (int64_t p = p_begin; p < p_end; ++p) ${NAME}_sum(packed, rows, b, p, sums);
    const int64_t n_begin = $start, behind = $end;
    const int64_t n_end = behind < $columns ? behind : $columns;
    for (int64_t m = 0; m < rows; ++m) {
      int32_t total = 0;
$total      $y_type *const y = y_all + (m_begin + m) * $columns;
      for (int64_t n = n_begin; n < n_end; n += VW) {
        const int64_t lanes = n_end - n < VW ? n_end - n : VW;
        vi v = vi_add(vi_load(sums + m * $padded + n),
                      vi_mul(vi_set1(a_zero), vi_load(base + n)));
        v = vi_sub(v, vi_mul(vi_set1(total), vi_load(zeros + n)));
$store      }
    }
  }
}
"""

_STORE_SUMS = """\
        if (lanes == VW)
          vi_store(y + n, v);
        else
          vi_store_n(y + n, v, lanes);
"""

_STORE_BYTES = """\
        const vf scale = a_scale[0] * $b_scale / vf_set1(y_scale[0]);
        const ${NAME}_vd wide = MX_CONVERT(v, ${NAME}_vd) * MX_CONVERT(scale, ${NAME}_vd);
        for (int64_t i = 0; i < lanes; ++i) {
          const double near = wide[i] < -1e9 ? -1e9 : wide[i] > 1e9 ? 1e9 : wide[i];
          const double whole = (near + 6755399441055744.0) - 6755399441055744.0 + y_zero;
          y[n + i] = ($y_type)(whole < $low ? $low : whole > $high ? $high : whole);
        }
"""


def zero_of(inputs: Sequence[Spec | None], index: int, positions: Positions, dtype: str) -> str:
    """C of a zero point that is one number; Declined for others."""
    spec = inputs[index] if index < len(inputs) else None
    if spec is None:
        return "0"
    if spec.size != 1 or spec.dtype != dtype:
        raise Declined(f"zero point of shape {spec.shape}, {spec.dtype}")
    return f"((const {dtype}_t *)in[{positions.at[index]}])[0]"


def zeros_of(
    spec: Spec | None, known: numpy.ndarray | None, count: int, move: int
) -> numpy.ndarray:
    """The zero points of so many columns of weights from which `move` has been subtracted."""
    zeros = numpy.full(count, -move, numpy.int32)
    if spec is None or known is None:
        return zeros
    if spec.size not in (1, count):
        raise Declined(f"zero point of shape {spec.shape}")
    return zeros + known.reshape(-1).astype(numpy.int32)


def _emit(
    name: str,
    target: Target,
    inputs: Sequence[Spec | None],
    known: Known,
    at: tuple[int, int, int, int],
    quantized: tuple[int, int, int, int] | None,
) -> GenKernel:
    """A product of bytes. `at` are the positions of a, its zero point, b and its zero point;
    `quantized` those of the scales of a, b and the result, and of the result's zero point."""
    positions = Positions.of(inputs)
    a, b = inputs[at[0]], inputs[at[2]]
    if a is None or b is None or a.dtype not in BYTES or b.dtype not in BYTES:
        raise Declined("factors that are not of 8 bits")
    if len(b.shape) != 2 or len(a.shape) < 2 or a.shape[-1] != b.shape[0]:
        raise Declined(f"shapes {a.shape} and {b.shape}")
    b_zero = inputs[at[3]] if at[3] < len(inputs) else None
    if at[2] not in known or (b_zero is not None and at[3] not in known):
        raise Declined("weights that are no constants")
    depth, columns = b.shape
    rows = a.size // depth if depth else int(numpy.prod(a.shape[:-1]))
    shift = 128 if a.dtype == "int8" else 0
    matrix = known[at[2]].astype(numpy.int32) - (128 if b.dtype == "uint8" else 0)
    move = 128 if b.dtype == "uint8" else 0
    zeros = zeros_of(b_zero, known.get(at[3]), columns, move)
    y_zero = inputs[quantized[3]] if quantized is not None else None
    y_type = "int32" if quantized is None else a.dtype if y_zero is None else y_zero.dtype
    result = Spec((*a.shape[:-1], columns), y_type)
    if not result.size:
        return nothing(name, (result,))
    step = min(rows, _ROWS)
    product = IntegerProduct(step, depth, columns, target)
    panels = product.panels
    m_parts = -(-rows // step)
    work = rows * columns * max(1, depth)
    parts = min(panels.count, max(1, min(-(-16 // m_parts), work // WORK)))
    p_step = -(-panels.count // parts)
    padded = panels.padded

    def spread(values: numpy.ndarray) -> numpy.ndarray:
        return numpy.pad(values.astype(numpy.int32), (0, padded - columns))

    base = depth * zeros - matrix.sum(0, dtype=numpy.int32)
    packed_bytes = -(-(step * product.stride) // 64) * 64
    heights = {step, rows % step} - {0}
    text = fill(
        _BODY,
        NAME=NAME,
        product=product.source(heights),
        signature=signature(),
        a_type=f"{a.dtype}_t",
        a=positions.at[at[0]],
        weights=positions.count,
        base=positions.count + 1,
        zeros=positions.count + 2,
        a_zero=zero_of(inputs, at[1], positions, a.dtype),
        a_shift=shift,
        packed=packed_bytes,
        y_type=f"{y_type}_t",
        scales="" if quantized is None else scales(inputs, positions, quantized, y_type, columns),
        parts=-(-panels.count // p_step),
        step=step,
        rows=rows,
        p_step=p_step,
        panels=panels.count,
        depth=depth,
        stride=product.stride,
        start=panels.start_text("p_begin"),
        end=panels.start_text("p_end"),
        columns=columns,
        padded=padded,
        total=f"      for (int64_t k = 0; k < {depth}; ++k)\n"
        f"        total += packed[m * {product.stride} + k];\n"
        if zeros.any()
        else "",
        store=_STORE_SUMS
        if quantized is None
        else fill(
            _STORE_BYTES,
            NAME=NAME,
            b_scale=_b_scale(inputs[quantized[1]]),
            y_type=f"{y_type}_t",
            low=numpy.iinfo(y_type).min,
            high=numpy.iinfo(y_type).max,
        ),
    )
    return make_kernel(
        name,
        text,
        m_parts * -(-panels.count // p_step),
        (result,),
        workspace=packed_bytes + 4 * step * padded,
        constants=(
            product.pack(matrix.astype(numpy.int8)),
            spread(base),
            spread(zeros),
        ),
    )


def _b_scale(spec: Spec | None) -> str:
    if spec is not None and spec.size == 1:
        return "vf_set1(b_scale[0])"
    return "(lanes == VW ? vf_load(b_scale + n) : vf_load_n(b_scale + n, lanes))"


def scales(
    inputs: Sequence[Spec | None],
    positions: Positions,
    at: tuple[int, int, int, int],
    y_type: str,
    columns: int,
) -> str:
    """C of the scales and the zero point of the result; the weights' may be one for each column."""
    for index, sizes in zip(at, ((1,), (1, columns), (1,)), strict=False):
        spec = inputs[index]
        if spec is None or spec.dtype != "float32" or spec.size not in sizes:
            raise Declined(f"input {index}: a scale of another type or shape")
    pointers = ", ".join(
        f"*const {name} = in[{positions.at[index]}]"
        for name, index in zip(("a_scale", "b_scale", "y_scale"), at, strict=False)
    )
    zero = zero_of(inputs, at[3], positions, y_type)
    return f"  const float {pointers};\n  const int32_t y_zero = {zero};\n"


@emits("MatMulInteger", since=10)
def matmul_integer(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    """MatMulInteger with a constant matrix: exact sums."""
    return _emit("matmul_integer", target, inputs, known, (0, 2, 1, 3), None)


@emits("QLinearMatMul", since=10)
def qlinear_matmul(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    """QLinearMatMul with a constant matrix: exact sums, rounded to the nearest, halves to even."""
    return _emit("qlinear_matmul", target, inputs, known, (0, 2, 3, 5), (1, 4, 6, 7))


_DYNAMIC = """\
$signature {
  const float *const x = in[0];
  uint8_t *const y = out[0];
  (void)work, (void)begin, (void)end;
  vf low = {0}, high = {0};
  int64_t i = 0;
  for (; i + VW <= $size; i += VW) {
    const vf v = vf_load(x + i);
    low = vf_min(low, v), high = vf_max(high, v);
  }
  float least = vf_hmin(low), most = vf_hmax(high);
  for (int64_t j = i; j < $size; ++j) {
    least = x[j] < least ? x[j] : least;
    most = x[j] > most ? x[j] : most;
  }
  const float scale = (most == least ? 1.0f : most - least) / 255.0f;
  const float exact = 0.0f - least / scale;
  const float zero = vf_rint(vf_set1(exact < 0.0f ? 0.0f : exact > 255.0f ? 255.0f : exact))[0];
  *(float *)out[1] = scale;
  *(uint8_t *)out[2] = (uint8_t)zero;
  for (i = 0; i < $size; i += VW) {
    const int64_t lanes = $size - i < VW ? $size - i : VW;
    vf v = vf_rint((lanes == VW ? vf_load(x + i) : vf_load_n(x + i, lanes)) / scale) + zero;
    v = vf_min(vf_max(v, (vf){0}), vf_set1(255.0f));
    const vi whole = vi_from(v);
    if (lanes == VW)
      *(vb_any *)(y + i) = MX_CONVERT(whole, vb);
    else
      for (int64_t j = 0; j < lanes; ++j) y[i + j] = (uint8_t)whole[j];
  }
}
"""


@emits("DynamicQuantizeLinear", since=11)
def dynamic_quantize_linear(
    target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
) -> GenKernel:
    """DynamicQuantizeLinear: the elements as bytes, their scale and zero point."""
    x = inputs[0]
    if x is None or x.dtype != "float32":
        raise Declined("only float32")
    one = Spec((), "float32"), Spec((), "uint8")
    if not x.size:
        raise Declined("no elements")
    text = fill(_DYNAMIC, signature=signature(), size=x.size)
    outputs = (Spec(x.shape, "uint8"), *one)
    return make_kernel("dynamic_quantize", text, 1, outputs)
