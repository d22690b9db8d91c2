"""Normalizations, of means and variances."""

from __future__ import annotations

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import of_type


@rule("BatchNormalization", since=9)
def _batch_normalization(
    to: Lowering,
    x: Value,
    scale: Value,
    bias: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Value:
    if training_mode:
        raise Declined("training")
    shape = (1, -1) + (1,) * (len(x.shape) - 2) if len(x.shape) > 1 else (-1,)
    deviation = to.call(np.sqrt, to.call(np.add, variance, epsilon))
    factor = to.call(np.divide, scale, deviation)
    shift = to.call(np.subtract, bias, to.call(np.multiply, mean, factor))
    scaled = to.call(np.multiply, x, to.reshape(factor, shape))
    return of_type(to.call(np.add, scaled, to.reshape(shift, shape)), x.dtype)
