"""Operators of shapes: their results are known when a plan is made."""

from __future__ import annotations

from typing import Any

import numpy
import onnx_ir

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule

# Constants up to this size are kept as such, so that what is computed of them is known, too.
_FEW = 1024


@rule("Shape")
def _shape(to: Lowering, x: Value, *, start: int = 0, end: int | None = None) -> Value:
    return to.constant(numpy.array(x.shape[slice(start, end)], "int64"))


@rule("Size")
def _size(to: Lowering, x: Value) -> Value:
    return to.constant(numpy.array(x.size, "int64"))


@rule("Identity")
def _identity(to: Lowering, x: Value) -> Value:
    return x


@rule("ConstantOfShape", since=9)
def _constant_of_shape(to: Lowering, shape: Value, *, value: Any = None) -> Value:
    filled = numpy.zeros(1, "float32") if value is None else numpy.asarray(value)
    extents = to.ints(shape)
    if numpy.prod(extents, dtype=object) <= _FEW:
        return to.constant(numpy.full(extents, filled.reshape(()), filled.dtype))
    made: Value = to.call(np.full, tuple(extents), filled.item(), dtype=str(filled.dtype))
    return made


@rule("Range", since=11)
def _range(to: Lowering, start: Value, limit: Value, delta: Value) -> Value:
    first, last, step = (to.elements(value).item() for value in (start, limit, delta))
    if step == 0 or abs((last - first) / step) > _FEW * _FEW:
        raise Declined("a long range")
    return to.constant(numpy.arange(first, last, step).astype(start.dtype))


@rule("EyeLike", since=9)
def _eye_like(to: Lowering, x: Value, *, dtype: int | None = None, k: int = 0) -> Value:
    name = x.dtype if dtype is None else str(onnx_ir.DataType(dtype).numpy())
    rows, columns = x.shape
    made: Value = to.call(np.eye, rows, columns, k, dtype=name)
    return made
