"""Normalization in training, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ._describe import Array, operator
from ._inference import FLOAT, Call, Spec


def _batch_norm(call: Call) -> Sequence[Spec]:
    x, mean = call.spec(0), call.spec(3)
    return [x, mean, mean, mean, mean]


@operator("BatchNormTraining", "Y new_mean new_var batch_mean inv_std", _batch_norm)
def batch_norm_training(
    X: Array,
    scale: Array,
    B: Array,
    mean: Array,
    var: Array,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.1,
    unbiased: int = 1,
) -> tuple[Array, ...]:
    """Normalizes each channel (axis 1) by the mean and the variance of the batch.

    Of the running statistics it gives new ones: (1 - momentum) * old + momentum * the batch's, the
    variance of which is divided by one less than the number of elements with unbiased=1.
    batch_mean and inv_std, 1 / sqrt(variance + epsilon), are what the gradient needs.
    """
    axes = (0, *range(2, X.ndim))
    wide = X.astype("float64") if X.dtype == "float64" else X.astype("float32")
    batch_mean, batch_var = wide.mean(axes), wide.var(axes)
    inv_std = 1 / numpy.sqrt(batch_var + wide.dtype.type(epsilon))
    rows = (-1, *[1] * (X.ndim - 2))
    normal = (wide - batch_mean.reshape(rows)) * inv_std.reshape(rows)
    made = normal * scale.reshape(rows) + B.reshape(rows)
    count = X.size // max(X.shape[1], 1)
    correction = count / (count - 1) if unbiased and count > 1 else 1.0
    share = wide.dtype.type(momentum)
    kept = 1 - share
    new_mean = kept * mean + share * batch_mean
    new_var = kept * var + share * (batch_var * wide.dtype.type(correction))
    found = (new_mean, new_var, batch_mean, inv_std)
    return made.astype(X.dtype), *(one.astype(mean.dtype) for one in found)


def _batch_norm_grad(call: Call) -> Sequence[Spec]:
    return [call.spec(1), call.spec(2), call.spec(2)]


@operator("BatchNormGrad", "dX dScale dB", _batch_norm_grad)
def batch_norm_grad(
    dY: Array, X: Array, scale: Array, batch_mean: Array, inv_std: Array
) -> tuple[Array, ...]:
    """The gradients of BatchNormTraining's Y for its inputs, from what that gives besides."""
    axes = (0, *range(2, X.ndim))
    rows = (-1, *[1] * (X.ndim - 2))
    wide = numpy.result_type(X.dtype, "float32")
    given = dY.astype(wide)
    normal = (X.astype(wide) - batch_mean.reshape(rows)) * inv_std.reshape(rows)
    d_scale, d_shift = (given * normal).sum(axes), given.sum(axes)
    count = X.size // max(X.shape[1], 1)
    centered = given - (d_shift / count).reshape(rows) - normal * (d_scale / count).reshape(rows)
    made = centered * (scale * inv_std).reshape(rows)
    return made.astype(X.dtype), d_scale.astype(scale.dtype), d_shift.astype(scale.dtype)


@operator("LayerNormGrad", "dX dScale dB", lambda c: [c.spec(1), c.spec(2), c.spec(2)])
def layer_norm_grad(
    dY: Array, X: Array, scale: Array, mean: Array, inv_std: Array, *, axis: int = -1
) -> tuple[Array, ...]:
    """The gradients of LayerNormalization, whose outputs 2 and 3 are mean and inv_std.

    scale has the shape of the axes of X from `axis` on.
    """
    first = axis % X.ndim
    axes, before = tuple(range(first, X.ndim)), tuple(range(first))
    wide = numpy.result_type(X.dtype, "float32")
    given, factor = dY.astype(wide), scale.astype(wide)
    normal = (X.astype(wide) - mean) * inv_std
    weighted = given * factor
    average = weighted.mean(axes, keepdims=True)
    along = (weighted * normal).mean(axes, keepdims=True)
    made = (weighted - average - normal * along) * inv_std
    d_scale, d_shift = (given * normal).sum(before), given.sum(before)
    return made.astype(X.dtype), d_scale.astype(scale.dtype), d_shift.astype(scale.dtype)


def _rms_norm_training(call: Call) -> Sequence[Spec]:
    x = call.spec(0)
    wide = x.dtype if x.dtype == 11 else FLOAT
    if x.shape is None:
        return [x, Spec(wide, None)]
    first = int(call.attributes["axis"]) % max(len(x.shape), 1)
    kept = (*x.shape[:first], *[1] * (len(x.shape) - first))
    return [x, Spec(wide, kept)]


@operator("RMSNormTraining", "Y inv_rms", _rms_norm_training)
def rms_norm_training(
    X: Array, scale: Array, *, axis: int = -1, epsilon: float = 1e-5
) -> tuple[Array, ...]:
    """RMSNormalization, with 1 / sqrt(mean(X * X) + epsilon) over the axes from `axis` on."""
    axes = tuple(range(axis % X.ndim, X.ndim))
    wide = X.astype(numpy.result_type(X.dtype, "float32"))
    inv_rms = 1 / numpy.sqrt((wide * wide).mean(axes, keepdims=True) + wide.dtype.type(epsilon))
    return (wide * inv_rms * scale).astype(X.dtype), inv_rms


@operator("RMSNormGrad", "dX dScale", lambda c: [c.spec(1), c.spec(2)])
def rms_norm_grad(
    dY: Array, X: Array, scale: Array, inv_rms: Array, *, axis: int = -1
) -> tuple[Array, ...]:
    """The gradients of RMSNormTraining; scale has the shape of the axes from `axis` on."""
    first = axis % X.ndim
    axes, before = tuple(range(first, X.ndim)), tuple(range(first))
    wide = numpy.result_type(X.dtype, "float32")
    given, normal = dY.astype(wide), X.astype(wide) * inv_rms
    weighted = given * scale.astype(wide)
    made = (weighted - normal * (weighted * normal).mean(axes, keepdims=True)) * inv_rms
    return made.astype(X.dtype), (given * normal).sum(before).astype(scale.dtype)
