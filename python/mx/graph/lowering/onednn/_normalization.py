"""Normalizations and softmax."""

from __future__ import annotations

from collections.abc import Sequence

from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import api, as_input, check_float, execute, operand, rule


def _check_elements(x: Value) -> None:
    if x.size == 0 or not x.shape:
        raise Declined("no elements, or no axes")


@rule("LayerNormalization", since=17)
def _layer_normalization(
    to: Lowering,
    x: Value,
    scale: Value,
    bias: Value | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Sequence[Value]:
    check_float(x, scale, bias)
    _check_elements(x)
    if to.num_outputs > 1:
        raise Declined("statistics as outputs")
    first = axis + len(x.shape) if axis < 0 else axis
    normalized = x.shape[first:]
    if scale.shape != normalized or (bias is not None and bias.shape != normalized):
        raise Declined("a scale of another shape than the axes that are normalized")
    source, x = as_input(to, x)
    factor, factor_input = operand(to, scale)
    shift, shift_input = (None, None) if bias is None else operand(to, bias)
    primitive = api().layer_normalization(source, factor, shift, first, epsilon)
    data = [value for value in (x, factor_input, shift_input) if value is not None]
    return [execute(to, primitive, data)]


# No LogSoftmax: its kernel has sixteen times the error of exact logarithms, in the same time.
@rule("Softmax", since=13)
def _softmax(to: Lowering, x: Value, *, axis: int = -1) -> Value:
    check_float(x)
    _check_elements(x)
    source, x = as_input(to, x)
    return execute(to, api().softmax(source, axis), [x])


@rule("LRN", since=1)
def _lrn(
    to: Lowering,
    x: Value,
    *,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
) -> Value:
    check_float(x)
    _check_elements(x)
    source, x = as_input(to, x)
    return execute(to, api().lrn(source, size, alpha, beta, bias), [x])
