"""Floats as integers of few bits, with a scale and a zero, and back."""

from __future__ import annotations

from typing import Any

import numpy
import onnx_ir

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from .._types import FLOATS, type_of
from ._each import around, each
from ._movement import Inputs

_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32")


def _scale_at(x: Spec, scale: Spec, attributes: dict[str, Any]) -> str:
    """Where the scale of an element is: one for all, for each index along an axis, or for as many
    along it as a block has."""
    if scale.size == 1 and len(scale.shape) <= 1:
        return "0"
    axis, block = attributes.get("axis", 1), attributes.get("block_size", 0)
    if not -len(x.shape) <= axis < len(x.shape):
        raise Declined(f"axis {axis} of {len(x.shape)}")
    axis %= len(x.shape)
    _, extent, behind = around(x.shape, axis)
    extent, behind = max(extent, 1), max(behind, 1)
    if not block:
        if scale.shape != (x.shape[axis],):
            raise Declined(f"scales of shape {scale.shape}")
        return f"i / {behind} % {extent}"
    blocks = -(-x.shape[axis] // block)
    if scale.shape != (*x.shape[:axis], blocks, *x.shape[axis + 1 :]):
        raise Declined(f"scales of shape {scale.shape}")
    row = f"i / {extent * behind} * {blocks}"
    return f"({row} + i / {behind} % {extent} / {block}) * {behind} + i % {behind}"


def _operands(inputs: Inputs) -> tuple[Spec, Spec, Spec | None]:
    x, scale, zero = (*inputs, None, None)[:3]
    if x is None or scale is None or scale.dtype not in FLOATS:
        raise Declined("a scale that is missing, or of another type")
    return x, scale, zero


@emits("DequantizeLinear")
def _dequantize(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, scale, zero = _operands(inputs)
    if x.dtype not in _INTEGERS:
        raise Declined(f"elements of type {x.dtype}")
    wanted = attributes.get("output_dtype", 0)
    dtype = str(onnx_ir.DataType(wanted).numpy()) if wanted else scale.dtype
    a, b, c = type_of(x.dtype), type_of(scale.dtype), type_of(dtype)
    number = "(double)x[i]" if x.dtype == "int32" and b.value == "double" else "(float)x[i]"
    lines = [f"const int64_t at = {_scale_at(x, scale, attributes)};"]
    head = [
        f"const {a.memory} *const x = in[0];",
        f"const {b.memory} *const scale = in[1];",
        f"{c.memory} *const y = out[0];",
    ]
    if zero is not None:
        head += [f"const {a.memory} *const zero = in[2];"]
        number = f"({b.value})((int64_t)x[i] - (int64_t)zero[at])"
    value = f"({c.value})({number} * {b.load('scale[at]')})"
    lines += [f"y[i] = {c.store(value)};"]
    return each("dequantize", [Spec(x.shape, dtype)], x.size, lines, head=head)


@emits("QuantizeLinear")
def _quantize(
    target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known
) -> GenKernel:
    x, scale, zero = _operands(inputs)
    wanted = attributes.get("output_dtype", 0)
    dtype = str(onnx_ir.DataType(wanted).numpy()) if wanted else "uint8"
    dtype = zero.dtype if zero is not None else dtype
    if dtype not in _INTEGERS[:-1] or x.dtype not in (*FLOATS, "int32"):
        raise Declined(f"elements of type {x.dtype} as {dtype}")
    limits = numpy.iinfo(dtype)
    a, b, c = type_of(x.dtype), type_of(scale.dtype), type_of(dtype)
    precision = attributes.get("precision", 0)
    if precision and str(onnx_ir.DataType(precision).numpy()) != scale.dtype:
        raise Declined("a precision that is not the scale's")
    share = f"({b.value})({a.load('x[i]')} / {b.load('scale[at]')})"
    lines = [
        f"const int64_t at = {_scale_at(x, scale, attributes)};",
        f"double v = {b.rounded(share)};",
        f"v = rint(v) + {'(double)zero[at]' if zero is not None else '0'};",
        f"y[i] = ({c.memory})(v > {limits.min} ? v < {limits.max} ? v : {limits.max} :"
        f" {limits.min});",
    ]
    head = [
        f"const {a.memory} *const x = in[0];",
        f"const {b.memory} *const scale = in[1];",
        f"{c.memory} *const y = out[0];",
    ]
    head += [f"const {c.memory} *const zero = in[2];"] if zero is not None else []
    return each("quantize", [Spec(x.shape, dtype)], x.size, lines, head=head)
