"""Operators of `mx.sol` for training that kernels of `src/graph/training` compute, of float32."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ffi

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import cast

DOMAIN = "mxffi.sol"


@functools.cache
def maker(name: str) -> Callable[..., Any]:
    """What makes one of these kernels."""
    found: Callable[..., Any] = ffi.get_global_func(f"mx.graph.training.{name}")
    return found


def check_float(*values: Value | None) -> None:
    """Declined for values of another type than float32."""
    for value in values:
        if value is not None and value.dtype != "float32":
            raise Declined(f"{value.dtype} is left to others")


def add_step(to: Lowering, kernel: Any, *inputs: Value | None) -> list[Value]:
    """The outputs of a kernel, which takes row-major inputs; None for one that is not given."""
    return to.step(kernel, [to.row_major(value) for value in inputs if value is not None])


def axis_of(axis: int, ndim: int) -> int:
    """An axis, counted from the first one."""
    if not -ndim <= axis < ndim:
        raise Declined(f"axis {axis} of {ndim} axes")
    return axis % ndim


def check_lines(x: Value, first: int, *parameters: Value | None) -> None:
    """Declined for parameters of another shape than the axes of x from one on, and for no lines."""
    for parameter in parameters:
        if parameter is not None and parameter.shape != x.shape[first:]:
            raise Declined("a scale of another shape than the axes that are normalized")
    if x.size == 0:
        raise Declined("no elements")


@rule(f"{DOMAIN}::BatchNormTraining")
def _batch_norm(
    to: Lowering,
    x: Value,
    scale: Value,
    shift: Value,
    mean: Value,
    variance: Value,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.1,
    unbiased: int = 1,
) -> list[Value]:
    check_float(x, scale, shift, mean, variance)
    if x.size == 0:
        raise Declined("no elements")
    kernel = maker("batch_norm")(x.shape, 1, epsilon, momentum, bool(unbiased))
    return add_step(to, kernel, x, scale, shift, mean, variance)


@rule(f"{DOMAIN}::BatchNormGrad")
def _batch_norm_grad(
    to: Lowering, dy: Value, x: Value, scale: Value, mean: Value, inv_std: Value
) -> list[Value]:
    check_float(dy, x, scale, mean, inv_std)
    if x.size == 0:
        raise Declined("no elements")
    return add_step(to, maker("batch_norm_grad")(x.shape, 1), dy, x, scale, mean, inv_std)


@rule(f"{DOMAIN}::LayerNormGrad")
def _layer_norm_grad(
    to: Lowering,
    dy: Value,
    x: Value,
    scale: Value,
    mean: Value,
    inv_std: Value,
    *,
    axis: int = -1,
) -> list[Value]:
    check_float(dy, x, scale, mean, inv_std)
    first = axis_of(axis, len(x.shape))
    check_lines(x, first, scale)
    kernel = maker("layer_norm_grad")(x.shape, first)
    return add_step(to, kernel, dy, x, scale, mean, inv_std)


@rule(f"{DOMAIN}::RMSNormTraining")
def _rms_norm(
    to: Lowering, x: Value, scale: Value, *, axis: int = -1, epsilon: float = 1e-5
) -> list[Value]:
    check_float(x, scale)
    first = axis_of(axis, len(x.shape))
    check_lines(x, first, scale)
    return add_step(to, maker("rms_norm")(x.shape, first, epsilon), x, scale)


@rule(f"{DOMAIN}::RMSNormGrad")
def _rms_norm_grad(
    to: Lowering, dy: Value, x: Value, scale: Value, inv_rms: Value, *, axis: int = -1
) -> list[Value]:
    check_float(dy, x, scale, inv_rms)
    first = axis_of(axis, len(x.shape))
    check_lines(x, first, scale)
    return add_step(to, maker("rms_norm_grad")(x.shape, first), dy, x, scale, inv_rms)


@rule(f"{DOMAIN}::ReluGrad")
def _relu_grad(to: Lowering, dy: Value, y: Value) -> Value:
    check_float(dy, y)
    if dy.shape != y.shape:
        raise Declined("other shapes")
    return add_step(to, maker("relu_grad")(y.shape), dy, y)[0]


def _softmax_grad(is_log: bool) -> Any:
    def lower(to: Lowering, dy: Value, y: Value, *, axis: int = -1) -> Value:
        check_float(dy, y)
        kernel = maker("softmax_grad")(y.shape, axis_of(axis, len(y.shape)), is_log)
        return add_step(to, kernel, dy, y)[0]

    return lower


rule(f"{DOMAIN}::SoftmaxGrad")(_softmax_grad(False))
rule(f"{DOMAIN}::LogSoftmaxGrad")(_softmax_grad(True))


@rule(f"{DOMAIN}::SoftmaxCrossEntropyTraining")
def _cross_entropy(
    to: Lowering,
    scores: Value,
    labels: Value,
    weights: Value | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> list[Value]:
    check_float(scores, weights)
    kernel = maker("cross_entropy")(scores.shape, ignore_index, reduction, weights is not None)
    return add_step(to, kernel, scores, cast(to, labels, "int64"), weights)


@rule(f"{DOMAIN}::SoftmaxCrossEntropyGrad")
def _cross_entropy_grad(
    to: Lowering,
    dloss: Value,
    log_prob: Value,
    labels: Value,
    weights: Value | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Value:
    check_float(dloss, log_prob, weights)
    make = maker("cross_entropy_grad")
    kernel = make(log_prob.shape, ignore_index, reduction, weights is not None)
    return add_step(to, kernel, dloss, log_prob, cast(to, labels, "int64"), weights)[0]


@rule(f"{DOMAIN}::MaxPoolGrad")
def _max_pool_grad(to: Lowering, dy: Value, indices: Value, shape: Value) -> Value:
    is_wide = dy.dtype == "float64"
    if not is_wide:
        check_float(dy)
    if indices.dtype != "int64":
        raise Declined("positions that are no int64")
    kernel = maker("max_pool_grad")(to.ints(shape), dy.shape, is_wide)
    return add_step(to, kernel, dy, indices)[0]


@rule(f"{DOMAIN}::GatherGrad")
def _gather_grad(to: Lowering, dy: Value, indices: Value, shape: Value, *, axis: int = 0) -> Value:
    check_float(dy)
    extents = to.ints(shape)
    other = _added_to(to, tuple(extents))
    make = maker("gather_grad")
    kernel = make(extents, indices.shape, axis_of(axis, len(extents)), other is not None)
    return add_step(to, kernel, dy, cast(to, indices, "int64"), other)[0]


def _added_to(to: Lowering, shape: tuple[int, ...]) -> Value | None:
    """The other gradient of the same weight that the node behind adds this one to, as where one is
    the embedding and the last layer; None where there is none."""
    follower = to.followers.get(0)
    if follower is None or follower.operator != "Add":
        return None
    other: Value | None = follower.inputs[1 - follower.position]
    if other is None or other.shape != shape or other.dtype != "float32":
        return None
    to.taken = 1
    return other


@rule(f"{DOMAIN}::DropoutTraining")
def _dropout(to: Lowering, x: Value, seed: Value, *, ratio: float = 0.5) -> list[Value]:
    check_float(x)
    kernel = maker("dropout")(x.shape, seed.shape, ratio)
    return add_step(to, kernel, x, cast(to, seed, "int64"))


@rule(f"{DOMAIN}::DropoutGrad")
def _dropout_grad(to: Lowering, dy: Value, mask: Value, *, ratio: float = 0.5) -> Value:
    check_float(dy)
    return add_step(to, maker("dropout_grad")(dy.shape, ratio), dy, mask)[0]


@rule(f"{DOMAIN}::RandomUniformTraining")
def _random_uniform(
    to: Lowering, seed: Value, shape: Value, *, low: float = 0.0, high: float = 1.0
) -> Value:
    kernel = maker("random_uniform")(to.ints(shape), seed.shape, low, high)
    return add_step(to, kernel, cast(to, seed, "int64"))[0]


@rule(f"{DOMAIN}::RandomNormalTraining")
def _random_normal(
    to: Lowering, seed: Value, shape: Value, *, mean: float = 0.0, scale: float = 1.0
) -> Value:
    kernel = maker("random_normal")(to.ints(shape), seed.shape, mean, scale)
    return add_step(to, kernel, cast(to, seed, "int64"))[0]


@rule(f"{DOMAIN}::SumTo")
def _sum_to(to: Lowering, x: Value, shape: Value) -> Value:
    extents = tuple(to.ints(shape))
    if extents == x.shape:
        return x
    more = len(x.shape) - len(extents)
    axes = [*range(more)]
    for axis, extent in enumerate(extents):
        if extent == 1 and x.shape[more + axis] != 1:
            axes.append(more + axis)
    if not axes:
        return to.reshape(x, extents)
    total: Value = to.call(np.sum, x, axis=tuple(axes), keepdims=True)
    return to.reshape(cast(to, total, x.dtype), extents)


@rule(f"{DOMAIN}::SGDStep")
def _sgd_step(
    to: Lowering,
    w: Value,
    g: Value,
    settings: Value,
    velocity: Value | None = None,
    *,
    nesterov: int = 0,
    maximize: int = 0,
) -> list[Value]:
    check_float(w, g, velocity)
    kernel = maker("sgd_step")(w.shape, velocity is not None, bool(nesterov), bool(maximize))
    return add_step(to, kernel, w, g, settings, velocity)


@rule(f"{DOMAIN}::SGDProductStep")
def _sgd_product_step(
    to: Lowering,
    w: Value,
    a: Value,
    b: Value,
    settings: Value,
    velocity: Value | None = None,
    *,
    nesterov: int = 0,
    maximize: int = 0,
) -> list[Value]:
    check_float(w, a, b, velocity)
    has_velocity, nests, climbs = velocity is not None, bool(nesterov), bool(maximize)
    if maker("thin_product")(*w.shape, a.shape[0]):
        kernel = maker("sgd_product_step")(w.shape, a.shape[0], has_velocity, nests, climbs)
        return add_step(to, kernel, w, a, b, settings, velocity)
    gradient = to.call(np.matmul, to.call(np.transpose, a), b)
    kernel = maker("sgd_step")(w.shape, has_velocity, nests, climbs)
    return add_step(to, kernel, w, gradient, settings, velocity)


@rule(f"{DOMAIN}::AdamStep")
def _adam_step(
    to: Lowering,
    w: Value,
    g: Value,
    settings: Value,
    mean: Value,
    square: Value,
    most: Value | None = None,
    *,
    decoupled: int = 0,
    maximize: int = 0,
) -> list[Value]:
    check_float(w, g, mean, square, most)
    has_most = most is not None
    kernel = maker("adam_step")(w.shape, bool(decoupled), bool(maximize), has_most)
    return add_step(to, kernel, w, g, settings, mean, square, most)
