"""Convolutions and their transposes."""

from __future__ import annotations

from collections.abc import Sequence

from .._lowering import Lowering
from .._small_convolution import small_convolution
from .._value import Declined, Value
from .._windows import extents_out, pads_of
from ._backend import api, as_input, check_float, execute, operand, rounds, rule
from ._posts import Posts, may_take


@rule("Conv", since=1)
def _conv(
    to: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    check_float(x, weight, bias)
    spatial, kernel = x.shape[2:], weight.shape[2:]
    steps = list(strides or [1] * len(spatial))
    gaps = list(dilations or [1] * len(spatial))
    around = pads_of(auto_pad, pads, spatial, kernel, steps, gaps)
    small = small_convolution(to, x, weight, bias, steps, around, gaps, group)
    if small is not None and (small.pools or not may_take(to, small.taken)):
        raise Declined("left to the operators of mx: small images of few channels")
    shape = (x.shape[0], weight.shape[0], *extents_out(spatial, kernel, steps, gaps, around))
    rounded = rounds(to, weight)
    source, x = (api().Input(x.shape, "bfloat16"), x) if rounded else as_input(to, x)
    packed, weight_input = operand(to, weight)
    added, bias_input = (None, None) if bias is None else operand(to, bias)
    posts = Posts(to, shape)
    primitive = api().convolution(
        source, packed, added, steps, around, gaps, group, posts.ops or None, "float32"
    )
    data = [value for value in (x, weight_input, bias_input) if value is not None]
    return execute(to, primitive, [*data, *posts.inputs], rounded)


@rule("ConvTranspose", since=1)
def _conv_transpose(
    to: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    check_float(x, weight, bias)
    if auto_pad not in ("NOTSET", "VALID") or output_shape:
        raise Declined("a padding that follows from the shape of the output")
    axes = len(x.shape) - 2
    source, x = as_input(to, x)
    packed, weight_input = operand(to, weight)
    added, bias_input = (None, None) if bias is None else operand(to, bias)
    primitive = api().deconvolution(
        source,
        packed,
        added,
        list(strides or [1] * axes),
        list(pads or [0] * (2 * axes)) if auto_pad == "NOTSET" else [0] * (2 * axes),
        list(dilations or [1] * axes),
        group,
        list(output_padding or [0] * axes),
    )
    data = [value for value in (x, weight_input, bias_input) if value is not None]
    return execute(to, primitive, data)
