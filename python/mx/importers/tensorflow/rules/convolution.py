"""Convolutions: channels last or first, kernels with the channels last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from ..._builder import rank_of, shape_of
from ..._layout import permuted
from .._call import Builder, Call, Unsupported, rule


def first(rank: int) -> list[int]:
    """The order of axes that puts the channels second."""
    return [0, rank - 1, *range(1, rank - 1)]


def last(rank: int) -> list[int]:
    """The order of axes that puts the second, the channels, last."""
    return [0, *range(2, rank), 1]


def is_last(call: Call) -> bool:
    """Whether the channels are last."""
    return not str(call.attr("data_format")).startswith("NC")


def spatial(call: Call, name: str) -> list[int]:
    """A setting for each spatial axis, of one for each axis."""
    values = [int(one) for one in call.op.get_attr(name)]
    return values[1:-1] if is_last(call) else values[2:]


def pads_of(call: Call, count: int) -> dict[str, Any]:
    """The attributes that say how images are padded."""
    kind = call.attr("padding")
    if kind == "VALID":
        return {}
    if kind == "SAME":
        return {"auto_pad": "SAME_UPPER"}
    pairs = [int(one) for one in call.op.get_attr("explicit_paddings")]
    pairs = pairs[2:-2] if is_last(call) else pairs[4:]
    return {"pads": [*pairs[0::2], *pairs[1::2]]}


def explicit(
    attributes: dict[str, Any],
    image: Sequence[int | ir.SymbolicDim],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> dict[str, Any]:
    """The attributes with numbers for what SAME means for an image of known size."""
    if "auto_pad" not in attributes or not all(isinstance(one, int) for one in image):
        return attributes
    before, after = [], []
    for length, window, step, gap in zip(image, kernel, strides, dilations, strict=True):
        assert isinstance(length, int)
        reach = (window - 1) * gap + 1
        total = max((-(-length // step) - 1) * step + reach - length, 0)
        before.append(total // 2)
        after.append(total - total // 2)
    rest = {name: value for name, value in attributes.items() if name != "auto_pad"}
    return {**rest, "pads": [*before, *after]}


@rule("Conv2D", "Conv3D")
def convolution(b: Builder, call: Call) -> ir.Value:
    x, weight = call[0], call[1]
    rank = rank_of(x)
    images = permuted(b, x, first(rank)) if is_last(call) else x
    kernel = [_number(one) for one in shape_of(weight)]
    channels = shape_of(images)[1]
    strides, dilations = spatial(call, "strides"), spatial(call, "dilations")
    settings = explicit(
        pads_of(call, rank - 2), shape_of(images)[2:], kernel[:-2], strides, dilations
    )
    result = b.Conv(
        images,
        permuted(b, weight, [rank - 1, rank - 2, *range(rank - 2)]),
        strides=strides,
        dilations=dilations,
        kernel_shape=kernel[:-2],
        group=_number(channels) // kernel[-2],
        **settings,
    )
    return behind_images(b, call, result)


def behind_images(b: Builder, call: Call, result: ir.Value) -> ir.Value:
    """A result with the channels second, in the order of axes that the operator has."""
    shape = call.shape()
    rank = len(shape)
    if not is_last(call):
        result.shape = ir.Shape(shape)
        return result
    result.shape = ir.Shape([shape[axis] for axis in first(rank)])
    return permuted(b, result, last(rank))


@rule("DepthwiseConv2dNative")
def depthwise(b: Builder, call: Call) -> ir.Value:
    x, weight = call[0], call[1]
    images = permuted(b, x, first(4)) if is_last(call) else x
    rows, columns, channels, multiplier = (_number(one) for one in shape_of(weight))
    # The results of one channel lie together.
    filters = b.reshape(
        permuted(b, weight, [2, 3, 0, 1]), [channels * multiplier, 1, rows, columns]
    )
    filters.shape = ir.Shape([channels * multiplier, 1, rows, columns])
    strides, dilations = spatial(call, "strides"), spatial(call, "dilations")
    settings = explicit(pads_of(call, 2), shape_of(images)[2:], [rows, columns], strides, dilations)
    result = b.Conv(
        images,
        filters,
        strides=strides,
        dilations=dilations,
        kernel_shape=[rows, columns],
        group=channels,
        **settings,
    )
    return behind_images(b, call, result)


@rule("Conv2DBackpropInput", "Conv3DBackpropInputV2")
def transposed(b: Builder, call: Call) -> ir.Value:
    weight, x = call[1], call[2]
    rank = rank_of(x)
    images = permuted(b, x, first(rank)) if is_last(call) else x
    kernel = [_number(one) for one in shape_of(weight)]
    strides, dilations = spatial(call, "strides"), spatial(call, "dilations")
    settings = pads_of(call, rank - 2)
    size = [call.shape()[axis] for axis in (first(rank)[2:] if is_last(call) else range(2, rank))]
    lengths = shape_of(images)[2:]
    if all(isinstance(one, int) for one in (*size, *lengths)):
        settings = _pads_of_transposed(settings, lengths, size, kernel, strides, dilations)
    elif any(step > reach for step, reach in zip(strides, kernel, strict=False)):
        raise Unsupported("steps longer than the kernel, of images whose size varies")
    else:
        settings = _pads_of_unknown(settings, kernel, strides, dilations)
    result = b.ConvTranspose(
        images,
        permuted(b, weight, [rank - 1, rank - 2, *range(rank - 2)]),
        strides=strides,
        dilations=dilations,
        kernel_shape=kernel[:-2],
        **settings,
    )
    return behind_images(b, call, result)


def _pads_of_transposed(
    settings: dict[str, Any],
    lengths: Sequence[Any],
    size: Sequence[Any],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> dict[str, Any]:
    """The padding of the convolution that is transposed, and what is left of the result's size."""
    count = len(size)
    given = settings.get("pads", [0] * 2 * count)
    before, after, more = [], [], []
    for i in range(count):
        reach = (kernel[i] - 1) * dilations[i] + 1
        whole = (lengths[i] - 1) * strides[i] + reach
        if "auto_pad" in settings:
            total = max(whole - size[i], 0)
            low, high = total // 2, total - total // 2
        else:
            low, high = given[i], given[count + i]
        before.append(low)
        missing = size[i] - (whole - low - high)
        # A result that is longer than what elements reach is padded; one that is shorter, cut.
        after.append(high - min(missing, 0))
        more.append(max(missing, 0))
    return {"pads": [*before, *after], "output_padding": more}


def _pads_of_unknown(
    settings: dict[str, Any],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> dict[str, Any]:
    """The same for images of any size, whose result has `strides` times their length for SAME, and
    all that elements reach for VALID."""
    if "auto_pad" not in settings:
        return settings
    before, after = [], []
    for step, window, gap in zip(strides, kernel, dilations, strict=False):
        total = (window - 1) * gap + 1 - step
        before.append(total // 2)
        after.append(total - total // 2)
    return {"pads": [*before, *after]}


def _number(length: int | ir.SymbolicDim) -> int:
    if not isinstance(length, int):
        raise Unsupported("a number of channels that varies")
    return length
