"""Operators of `mx.sol` for training: gradients of convolutions, pools and normalizations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ffi

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import Blocked, api, as_input, check_float, execute, operand, reorder, rule

_relu_gradient = ffi.get_global_func("mx.graph.training.relu_grad")
_batch_norm = ffi.get_global_func("mx.graph.training.batch_norm")
_batch_norm_gradient = ffi.get_global_func("mx.graph.training.batch_norm_grad")
_depthwise_weight_gradient = ffi.get_global_func("mx.graph.training.depthwise_weight_grad")

DOMAIN = "mxffi.sol"
Ints = Sequence[int] | None


def _zeros(to: Lowering, shape: Sequence[int]) -> Value:
    made: Value = to.call(np.zeros, tuple(shape), dtype="float32")
    return made


def _is_empty(*shapes: Sequence[int]) -> bool:
    return any(0 in shape for shape in shapes)


def _check_pads(pads: Ints) -> None:
    if min(pads or [0]) < 0:
        raise Declined("negative pads")


@rule(f"{DOMAIN}::ConvGradInput")
def _conv_grad_input(
    to: Lowering,
    dy: Value,
    weight: Value,
    shape: Value,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    group: int = 1,
) -> Value:
    check_float(dy, weight)
    _check_pads(pads)
    extents = to.ints(shape)
    if _is_empty(dy.shape, weight.shape, extents):
        return _zeros(to, extents)
    gradient, dy = as_input(to, dy)
    packed, weight_input = operand(to, weight)
    primitive = api().convolution_data_gradient(
        gradient, packed, extents, strides, pads, dilations, group
    )
    return execute(to, primitive, [dy] if weight_input is None else [dy, weight_input])


def _order_behind(to: Lowering, rank: int) -> list[int] | None:
    """The order of axes of the Transpose behind, as where weights have their channels last; None
    where there is none."""
    follower = to.followers.get(0)
    if follower is None or follower.operator != "Transpose":
        return None
    return list(follower.attributes.get("perm") or reversed(range(rank)))


@rule(f"{DOMAIN}::ConvGradWeight")
def _conv_grad_weight(
    to: Lowering,
    x: Value,
    dy: Value,
    shape: Value,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    group: int = 1,
) -> Value:
    check_float(x, dy)
    _check_pads(pads)
    extents = to.ints(shape)
    if _is_empty(x.shape, dy.shape, extents):
        return _zeros(to, extents)
    source, x = as_input(to, x)
    gradient, dy = as_input(to, dy)
    order = _order_behind(to, len(extents))
    primitive = api().convolution_weight_gradient(
        source, gradient, extents, strides, pads, dilations, group, order
    )
    if "gemm" in primitive.implementation and x.shape[1] == group == extents[0]:
        # By a matrix that is made for each channel, which takes a hundred times as long.
        made = _depthwise_gradient(to, x, dy, extents, strides, pads, dilations)
        if made is not None:
            return made
    made = execute(to, primitive, [x, dy])
    if order is not None:
        to.taken = 1
    return made


def _depthwise_gradient(
    to: Lowering,
    x: Value,
    dy: Value,
    extents: Sequence[int],
    strides: Ints,
    pads: Ints,
    dilations: Ints,
) -> Value | None:
    """The gradient of a weight for each channel, where an image has its channels in blocks."""
    if len(extents) != 4 or extents[3] not in (3, 5, 7):
        return None
    # Images of one shape are brought to one layout, others have to be in blocks of their own.
    try:
        if x.shape == dy.shape:
            block, _, (x, dy) = _in_blocks(to, x, dy)
            blocks = {block}
        else:
            blocks = {_in_blocks(to, value)[0] for value in (x, dy)}
    except Declined:
        return None
    if blocks != {16}:
        return None
    kernel = _depthwise_weight_gradient(
        x.shape, dy.shape, extents[2:], strides or (1, 1), (pads or (0, 0))[:2], dilations or (1, 1)
    )
    made: Value = to.step(kernel, [x, dy])[0]
    return made


@rule(f"{DOMAIN}::AveragePoolGrad")
def _average_pool_grad(
    to: Lowering,
    dy: Value,
    shape: Value,
    *,
    kernel_shape: Ints = None,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    ceil_mode: int = 0,
    count_include_pad: int = 0,
) -> Value:
    check_float(dy)
    _check_pads(pads)
    extents = to.ints(shape)
    if _is_empty(dy.shape, extents):
        return _zeros(to, extents)
    kernel = list(kernel_shape or [1] * (len(extents) - 2))
    gradient, dy = as_input(to, dy)
    primitive = api().mean_pooling_gradient(
        gradient, extents, kernel, strides, pads, dilations, bool(ceil_mode),
        bool(count_include_pad),
    )  # fmt: skip
    return execute(to, primitive, [dy])


def _in_blocks(to: Lowering, *values: Value) -> tuple[int, Any, list[Value]]:
    """How many channels lie side by side, that layout, and values brought to it.

    Declined where none is in such blocks.
    """
    for value in values:
        if value.layout is None:
            continue
        shape = value.shape
        order = "".join("abcdef"[axis] if axis != 1 else "B" for axis in range(len(shape)))
        for block in (16, 8):
            if value.layout.layout.text == f"{order}{block}b f32":
                return block, value.layout, _brought(to, value.layout, values)
    raise Declined("left to the kernel of mx: no input has channels in blocks")


def _brought(to: Lowering, blocked: Blocked, values: Sequence[Value]) -> list[Value]:
    return [
        value if value.layout == blocked else reorder(to, value, blocked.layout) for value in values
    ]


@rule(f"{DOMAIN}::BatchNormTraining")
def _batch_norm_training(
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
    vectors = (scale, shift, mean, variance)
    check_float(x, *vectors)
    block, blocked, (x,) = _in_blocks(to, x)
    kernel = _batch_norm(x.shape, block, epsilon, momentum, bool(unbiased))
    return to.step(kernel, [x, *map(to.row_major, vectors)], [blocked])


@rule(f"{DOMAIN}::BatchNormGrad")
def _batch_norm_grad(
    to: Lowering, dy: Value, x: Value, scale: Value, mean: Value, inv_std: Value
) -> list[Value]:
    vectors = (scale, mean, inv_std)
    check_float(dy, x, *vectors)
    block, blocked, both = _in_blocks(to, dy, x)
    kernel = _batch_norm_gradient(x.shape, block)
    return to.step(kernel, [*both, *map(to.row_major, vectors)], [blocked])


def _slope(kind: str, of_result: bool) -> Any:
    def lower(to: Lowering, dy: Value, at: Value) -> Value:
        return _eltwise_gradient(to, dy, at, kind, of_result=of_result)

    return lower


def _eltwise_gradient(
    to: Lowering,
    dy: Value,
    at: Value,
    kind: str,
    alpha: float | None = None,
    beta: float | None = None,
    of_result: bool = False,
) -> Value:
    check_float(dy, at)
    if dy.size == 0 or dy.shape != at.shape:
        raise Declined("no elements, or other shapes")
    gradient, dy = as_input(to, dy)
    point, at = as_input(to, at)
    primitive = api().eltwise_gradient(gradient, point, kind, alpha, beta, of_result)
    return execute(to, primitive, [dy, at])


@rule(f"{DOMAIN}::ReluGrad")
def _relu_grad(to: Lowering, dy: Value, y: Value) -> Value:
    check_float(dy, y)
    blocked = dy.layout or y.layout
    if blocked is None or dy.shape != y.shape:
        raise Declined("left to the kernel of mx: no input is in blocks")
    both = _brought(to, blocked, (dy, y))
    kernel = _relu_gradient(dy.shape, blocked.layout.bytes)
    return to.step(kernel, both, [blocked])[0]


rule(f"{DOMAIN}::SigmoidGrad")(_slope("sigmoid", True))
rule(f"{DOMAIN}::TanhGrad")(_slope("tanh", True))


@rule(f"{DOMAIN}::GeluGrad")
def _gelu_grad(to: Lowering, dy: Value, x: Value, *, approximate: str = "none") -> Value:
    kind = "gelu_tanh" if approximate == "tanh" else "gelu_erf"
    return _eltwise_gradient(to, dy, x, kind)


@rule(f"{DOMAIN}::SwishGrad")
def _swish_grad(to: Lowering, dy: Value, x: Value, *, alpha: float = 1.0) -> Value:
    if not math.isfinite(alpha):
        raise Declined("a factor that is no number")
    return _eltwise_gradient(to, dy, x, "swish", alpha)
