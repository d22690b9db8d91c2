"""Normalizations, of means and variances."""

from __future__ import annotations

from collections.abc import Sequence

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import cast, of_type, widened
from ._training import add_step, check_float, check_lines, maker


@rule("BatchNormalization", since=7)
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
    factor = to.call(np.divide, scale, to.call(np.sqrt, to.call(np.add, variance, epsilon)))
    shift = to.call(np.subtract, bias, to.call(np.multiply, mean, factor))
    scaled = to.call(np.multiply, x, to.reshape(factor, shape))
    return of_type(to.call(np.add, scaled, to.reshape(shift, shape)), x.dtype)


def _standardized(
    to: Lowering, x: Value, axes: Sequence[int], epsilon: float
) -> tuple[Value, Value, Value]:
    """Elements of mean 0 and variance 1 along axes; the mean, and 1 by the root of the variance."""
    if any(x.shape[axis] == 0 for axis in axes):
        raise Declined("a mean of nothing")
    mean = to.call(np.mean, x, axis=tuple(axes), keepdims=True)
    centred = to.call(np.subtract, x, mean)
    variance = to.call(np.mean, to.call(np.square, centred), axis=tuple(axes), keepdims=True)
    root = to.call(np.sqrt, to.call(np.add, variance, epsilon))
    inverse = to.call(np.reciprocal, root)
    return to.call(np.multiply, centred, inverse), mean, inverse


def _normalized_lines(
    to: Lowering, x: Value, scale: Value, bias: Value | None, first: int, epsilon: float
) -> list[Value]:
    """By one kernel, with the statistics, which training needs."""
    check_float(x, scale, bias)
    check_lines(x, first, scale, bias)
    kernel = to.kernel(maker("layer_norm"), x.shape, first, epsilon, bias is not None)
    return add_step(to, kernel, x, scale, bias)


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
) -> list[Value]:
    first = axis + len(x.shape) if axis < 0 else axis
    try:
        return _normalized_lines(to, x, scale, bias, first, epsilon)
    except Declined:
        pass
    whole, mean, inverse = _standardized(to, widened(to, x), range(first, len(x.shape)), epsilon)
    made = to.call(np.multiply, cast(to, whole, x.dtype), scale)
    if bias is not None:
        made = to.call(np.add, made, bias)
    if stash_type != 1 and to.num_outputs > 1:
        raise Declined("a mean that is no float32")
    return [of_type(made, x.dtype), cast(to, mean, "float32"), cast(to, inverse, "float32")]


@rule("RMSNormalization", since=23)
def _rms_normalization(
    to: Lowering,
    x: Value,
    scale: Value,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Value:
    first = axis + len(x.shape) if axis < 0 else axis
    axes = tuple(range(first, len(x.shape)))
    wide = widened(to, x)
    mean = to.call(np.mean, to.call(np.square, wide), axis=axes, keepdims=True)
    root = to.call(np.sqrt, to.call(np.add, mean, epsilon))
    whole = cast(to, to.call(np.divide, wide, root), x.dtype)
    if scale.dtype != x.dtype:
        whole, scale = cast(to, whole, wide.dtype), cast(to, scale, wide.dtype)
    return cast(to, to.call(np.multiply, whole, scale), x.dtype)


def _per_channel(to: Lowering, x: Value, scale: Value, bias: Value) -> Value:
    """Elements times a scale, and a bias added, one of each for a channel, which is axis 1."""
    shape = (-1,) + (1,) * (len(x.shape) - 2)
    scaled = to.call(np.multiply, x, to.reshape(scale, shape))
    made: Value = to.call(np.add, scaled, to.reshape(bias, shape))
    return made


@rule("InstanceNormalization", since=6)
def _instance_normalization(
    to: Lowering, x: Value, scale: Value, bias: Value, *, epsilon: float = 1e-5
) -> Value:
    whole, _, _ = _standardized(to, widened(to, x), range(2, len(x.shape)), epsilon)
    return of_type(_per_channel(to, cast(to, whole, x.dtype), scale, bias), x.dtype)


def _in_groups(to: Lowering, x: Value, num_groups: int, epsilon: float) -> Value:
    n, c, *extents = x.shape
    grouped = to.reshape(widened(to, x), (n, num_groups, c // num_groups, *extents))
    whole, _, _ = _standardized(to, grouped, range(2, len(grouped.shape)), epsilon)
    return cast(to, whole, x.dtype)


@rule("GroupNormalization", since=18)
def _group_normalization_18(
    to: Lowering,
    x: Value,
    scale: Value,
    bias: Value,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
) -> Value:
    whole = _in_groups(to, x, num_groups, epsilon)
    return of_type(to.reshape(_per_channel(to, whole, scale, bias), x.shape), x.dtype)


@rule("GroupNormalization", since=21)
def _group_normalization(
    to: Lowering,
    x: Value,
    scale: Value,
    bias: Value,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Value:
    whole = to.reshape(_in_groups(to, x, num_groups, epsilon), x.shape)
    return of_type(_per_channel(to, whole, scale, bias), x.dtype)


@rule("MeanVarianceNormalization", since=9)
def _mean_variance_normalization(
    to: Lowering, x: Value, *, axes: Sequence[int] = (0, 2, 3)
) -> Value:
    wide = widened(to, x)
    mean = to.call(np.mean, wide, axis=tuple(axes), keepdims=True)
    centred = to.call(np.subtract, wide, mean)
    variance = to.call(np.mean, to.call(np.square, centred), axis=tuple(axes), keepdims=True)
    divisor = to.call(np.add, to.call(np.sqrt, variance), 1e-9)
    return cast(to, to.call(np.divide, centred, divisor), x.dtype)


@rule("LpNormalization", since=1)
def _lp_normalization(to: Lowering, x: Value, *, axis: int = -1, p: int = 2) -> Value:
    wide = widened(to, x)
    if p == 1:
        norm = to.call(np.sum, to.call(np.abs, wide), axis=axis, keepdims=True)
    else:
        squares = to.call(np.sum, to.call(np.square, wide), axis=axis, keepdims=True)
        norm = to.call(np.sqrt, squares)
    is_zero = to.call(np.equal, norm, 0)
    whole = to.call(np.divide, wide, to.call(np.where, is_zero, 1.0, norm))
    return cast(to, whole, x.dtype)


@rule("LRN", since=1)
def _lrn(
    to: Lowering,
    x: Value,
    *,
    size: int,
    alpha: float = 0.0001,
    beta: float = 0.75,
    bias: float = 1.0,
) -> Value:
    wide = widened(to, x)
    squares = to.call(np.square, wide)
    before, after = (size - 1) // 2, size // 2
    n, c, *extents = x.shape
    edges = [to.call(np.zeros, (n, width, *extents), dtype=wide.dtype) for width in (before, after)]
    padded = to.call(np.concatenate, [edges[0], squares, edges[1]], axis=1)
    total = None
    for shift in range(size):
        index = [slice(None), slice(shift, shift + c), *[slice(None)] * len(extents)]
        part = to.slices(padded, index)
        total = part if total is None else to.call(np.add, total, part)
    scaled = to.call(np.add, to.call(np.multiply, total, alpha / size), bias)
    return cast(to, to.call(np.divide, wide, to.call(np.power, scaled, beta)), x.dtype)
