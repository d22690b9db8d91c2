"""Numbers of few bits, which stand for floating-point numbers by a scale and a zero point."""

from __future__ import annotations

import numpy
import onnx_ir

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import cast, of_type, widened

_QUANTIZED = ("int8", "uint8", "int16", "uint16")


def _along(to: Lowering, x: Value, scale: Value, axis: int) -> Value:
    """A scale or zero point in a shape that broadcasts: one for all or for each index."""
    if scale.size == 1 and len(scale.shape) < 2:
        return to.reshape(scale, ())
    if len(scale.shape) != 1:
        raise Declined("scales of blocks")
    behind = len(x.shape) - 1 - axis % len(x.shape)
    return to.reshape(scale, (-1, *(1,) * behind))


def quantized(to: Lowering, x: Value, scale: Value | None, zero: Value | None, dtype: str) -> Value:
    """Numbers divided by the scale, if there is one, rounded to even and clamped to the type."""
    if dtype not in _QUANTIZED:
        raise Declined(f"numbers of {dtype}")
    whole = to.call(np.rint, x if scale is None else to.call(np.divide, x, scale))
    if zero is not None:
        whole = to.call(np.add, whole, cast(to, zero, whole.dtype))
    limits = numpy.iinfo(dtype)
    return cast(to, to.call(np.clip, whole, int(limits.min), int(limits.max)), dtype)


@rule("QuantizeLinear", since=10)
def _quantize(
    to: Lowering,
    x: Value,
    scale: Value,
    zero: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> Value:
    if zero is not None:
        dtype = zero.dtype
    else:
        dtype = str(onnx_ir.DataType(output_dtype).numpy()) if output_dtype else "uint8"
    if precision or x.dtype not in ("float32", "int32"):
        raise Declined("a precision of its own")
    zero = None if zero is None else _along(to, x, zero, axis)
    return quantized(to, cast(to, x, "float32"), _along(to, x, scale, axis), zero, dtype)


@rule("DequantizeLinear", since=10)
def _dequantize(
    to: Lowering,
    x: Value,
    scale: Value,
    zero: Value | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Value:
    dtype = str(onnx_ir.DataType(output_dtype).numpy()) if output_dtype else scale.dtype
    if x.dtype not in (*_QUANTIZED, "int32"):
        raise Declined(f"numbers of {x.dtype}")
    whole = cast(to, x, "int32")
    if zero is not None:
        whole = to.call(np.subtract, whole, cast(to, _along(to, x, zero, axis), "int32"))
    factor = widened(to, _along(to, x, scale, axis))
    return cast(to, to.call(np.multiply, cast(to, whole, factor.dtype), factor), dtype)


def _shifted(to: Lowering, x: Value, zero: Value | None, by_row: bool) -> Value:
    """Numbers without their zero point, one for all or for each row or column."""
    whole = cast(to, x, "int32")
    if zero is None:
        return whole
    zero = cast(to, zero, "int32")
    if zero.size == 1:
        zero = to.reshape(zero, ())
    elif by_row and len(zero.shape) == 1:
        zero = to.reshape(zero, (-1, 1))
    made: Value = to.call(np.subtract, whole, zero)
    return made


@rule("MatMulInteger", since=10)
def _matmul_integer(
    to: Lowering, a: Value, b: Value, a_zero: Value | None = None, b_zero: Value | None = None
) -> Value:
    left, right = _shifted(to, a, a_zero, True), _shifted(to, b, b_zero, False)
    return of_type(to.call(np.matmul, left, right), "int32")


@rule("QLinearMatMul", since=10)
def _qlinear_matmul(
    to: Lowering,
    a: Value,
    a_scale: Value,
    a_zero: Value,
    b: Value,
    b_scale: Value,
    b_zero: Value,
    y_scale: Value,
    y_zero: Value,
) -> Value:
    if any(scale.size != 1 for scale in (a_scale, b_scale, y_scale)):
        raise Declined("scales of rows")
    product = _matmul_integer(to, a, b, a_zero, b_zero)
    scales = [widened(to, to.reshape(scale, ())) for scale in (a_scale, b_scale, y_scale)]
    factor = to.call(np.multiply, scales[0], scales[1])
    exact = to.call(np.multiply, cast(to, product, "float32"), factor)
    return quantized(to, exact, scales[2], to.reshape(y_zero, ()), y_zero.dtype)
