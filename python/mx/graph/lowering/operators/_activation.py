"""Activation functions, which mx.np has none of: made of what it has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .... import numpy as np
from .... import numpy_extension as npx
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import FLOATS, cast, of_type, widened
from ._pieces import indices_along


@rule("Relu", since=6)
def _relu(to: Lowering, x: Value) -> Value:
    return of_type(to.call(npx.relu, x), x.dtype)


@rule("LeakyRelu", since=6)
def _leaky_relu(to: Lowering, x: Value, *, alpha: float = 0.01) -> Value:
    scaled = to.call(np.multiply, x, alpha)
    positive = to.call(np.greater_equal, x, 0)
    return of_type(to.call(np.where, positive, x, scaled), x.dtype)


@rule("PRelu", since=9)
def _prelu(to: Lowering, x: Value, slope: Value) -> Value:
    positive = to.call(np.greater_equal, x, 0)
    return of_type(to.call(np.where, positive, x, to.call(np.multiply, x, slope)), x.dtype)


@rule("HardSigmoid", since=6)
def _hard_sigmoid(to: Lowering, x: Value, *, alpha: float = 0.2, beta: float = 0.5) -> Value:
    line = to.call(np.add, to.call(np.multiply, x, alpha), beta)
    return of_type(to.call(np.clip, line, 0, 1), x.dtype)


@rule("HardSwish", since=14)
def _hard_swish(to: Lowering, x: Value) -> Value:
    return of_type(to.call(np.multiply, x, _hard_sigmoid(to, x, alpha=1 / 6)), x.dtype)


@rule("Softplus", since=1)
def _softplus(to: Lowering, x: Value) -> Value:
    return of_type(to.call(np.logaddexp, x, 0), x.dtype)


@rule("Mish", since=18)
def _mish(to: Lowering, x: Value) -> Value:
    return of_type(to.call(np.multiply, x, to.call(np.tanh, _softplus(to, x))), x.dtype)


@rule("Elu", since=6)
def _elu(to: Lowering, x: Value, *, alpha: float = 1.0) -> Value:
    low = to.call(np.multiply, to.call(np.expm1, to.call(np.minimum, x, 0)), alpha)
    return of_type(to.call(np.where, to.call(np.greater, x, 0), x, low), x.dtype)


@rule("Swish", since=24)
def _swish(to: Lowering, x: Value, *, alpha: float = 1.0) -> Value:
    scaled = x if alpha == 1 else to.call(np.multiply, x, alpha)
    return of_type(to.call(np.multiply, x, to.call(npx.sigmoid, scaled)), x.dtype)


@rule("Gelu", since=20)
def _gelu(to: Lowering, x: Value, *, approximate: str = "none") -> Value:
    if approximate != "tanh":
        wide = widened(to, x)
        share = to.call(np.add, to.call(npx.erf, to.call(np.multiply, wide, 0.7071067811865476)), 1)
        return cast(to, to.call(np.multiply, to.call(np.multiply, wide, 0.5), share), x.dtype)
    cubic = to.call(np.multiply, to.call(np.multiply, x, to.call(np.square, x)), 0.044715)
    inner = to.call(np.multiply, to.call(np.add, x, cubic), 0.7978845608028654)
    gate = to.call(np.multiply, to.call(np.add, to.call(np.tanh, inner), 1), 0.5)
    return of_type(to.call(np.multiply, x, gate), x.dtype)


@rule("Erf", since=9)
def _erf(to: Lowering, x: Value) -> Value:
    return of_type(to.call(npx.erf, x), x.dtype)


@rule("Celu", since=12)
def _celu(to: Lowering, x: Value, *, alpha: float = 1.0) -> Value:
    low = to.call(np.expm1, to.call(np.divide, to.call(np.minimum, x, 0), alpha))
    return of_type(
        to.call(np.add, to.call(np.maximum, x, 0), to.call(np.multiply, low, alpha)), x.dtype
    )


@rule("Selu", since=6)
def _selu(
    to: Lowering, x: Value, *, alpha: float = 1.6732631921768188, gamma: float = 1.0507010221481323
) -> Value:
    return of_type(to.call(np.multiply, _elu(to, x, alpha=alpha), gamma), x.dtype)


@rule("ThresholdedRelu", since=10)
def _thresholded_relu(to: Lowering, x: Value, *, alpha: float = 1.0) -> Value:
    return of_type(to.call(np.where, to.call(np.greater, x, alpha), x, 0.0), x.dtype)


@rule("Shrink", since=9)
def _shrink(to: Lowering, x: Value, *, bias: float = 0.0, lambd: float = 0.5) -> Value:
    if x.dtype not in FLOATS:
        raise Declined("integers")
    high = to.call(np.where, to.call(np.greater, x, lambd), to.call(np.subtract, x, bias), 0.0)
    low = to.call(np.less, x, -lambd)
    return of_type(to.call(np.where, low, to.call(np.add, x, bias), high), x.dtype)


@rule("Hardmax", since=13)
def _hardmax(to: Lowering, x: Value, *, axis: int = -1) -> Value:
    first = to.call(np.argmax, x, axis=axis, keepdims=True)
    return cast(to, to.call(np.equal, first, indices_along(to, x.shape, axis)), x.dtype)


@rule("Softmax", since=13)
def _softmax(to: Lowering, x: Value, *, axis: int = -1) -> Value:
    return of_type(to.call(npx.softmax, x, axis=axis), x.dtype)


@rule("LogSoftmax", since=13)
def _log_softmax(to: Lowering, x: Value, *, axis: int = -1) -> Value:
    return of_type(to.call(npx.log_softmax, x, axis=axis), x.dtype)


def _of_matrix(function: Callable[..., Value]) -> Any:
    """As the operators were before version 13: of all elements from an axis on at once."""

    def lower(to: Lowering, x: Value, *, axis: int = 1) -> Value:
        first = axis + len(x.shape) if axis < 0 else axis
        rows, columns = math.prod(x.shape[:first]), math.prod(x.shape[first:])
        return to.reshape(function(to, to.reshape(x, (rows, columns)), axis=1), x.shape)

    return lower


rule("Softmax", since=1)(_of_matrix(_softmax))
rule("LogSoftmax", since=1)(_of_matrix(_log_softmax))
rule("Hardmax", since=1)(_of_matrix(_hardmax))


@rule("Dropout", since=12)
def _dropout(to: Lowering, x: Value, *inputs: Value | None, **attributes: Any) -> Sequence[Value]:
    training = inputs[1] if len(inputs) > 1 else None
    if training is not None and bool(to.elements(training)):
        raise Declined("dropout in training")
    mask = to.constant(True) if not x.shape else to.call(np.ones, x.shape, dtype="bool")
    return [x, mask]


@rule("Dropout", since=10)
def _dropout_10(to: Lowering, x: Value, *, ratio: float = 0.5) -> Sequence[Value]:
    return _dropout(to, x)


@rule("Dropout", since=7)
def _dropout_7(to: Lowering, x: Value, *, ratio: float = 0.5) -> Sequence[Value]:
    _, mask = _dropout(to, x)
    return [x, cast(to, mask, x.dtype)]  # of the type of the elements, before version 10
