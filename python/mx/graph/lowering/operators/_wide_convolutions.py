"""Transposed convolutions, and gradients of convolutions of float64, as products of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy

from .... import numpy as np
from .._lowering import Lowering
from .._small_convolution import small_convolution
from .._value import Declined, Value
from ._backend import rule
from ._elementwise import FLOATS, cast, widened
from ._pieces import axis_slice, padded
from ._training import DOMAIN
from ._windows import Windows, columns_of, convolved

Ints = Sequence[int] | None


def _check(*values: Value | None) -> None:
    if any(value is not None and value.dtype != "float64" for value in values):
        raise Declined("types other than float64 are left to others")
    if any(value is not None and value.size == 0 for value in values):
        raise Declined("no elements")


def _windows(
    kernel: Sequence[int], out: Sequence[int], strides: Ints, pads: Ints, dilations: Ints
) -> Windows:
    count = len(kernel)
    given = list(pads or [0] * 2 * count)
    if min(given, default=0) < 0:
        raise Declined("negative pads")
    return Windows(
        kernel, list(strides or [1] * count), list(dilations or [1] * count), given, list(out)
    )


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
    _check(x, dy)
    filters, _, *kernel = extents = to.ints(shape)
    windows = _windows(kernel, dy.shape[2:], strides, pads, dilations)
    columns = columns_of(to, x, windows, group)
    given = to.reshape(
        to.row_major(dy), (x.shape[0], group, filters // group, math.prod(windows.counts))
    )
    made = to.call(np.matmul, given, to.call(np.swapaxes, columns, 2, 3))
    return to.reshape(to.call(np.sum, made, axis=0), tuple(extents))


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
    _check(dy, weight)
    windows = _windows(weight.shape[2:], dy.shape[2:], strides, pads, dilations)
    return _spread(to, dy, weight, to.ints(shape), windows, group)


@rule("ConvTranspose", since=1)
def _conv_transpose(
    to: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints = None,
    group: int = 1,
    kernel_shape: Ints = None,
    output_padding: Ints = None,
    output_shape: Ints = None,
    pads: Ints = None,
    strides: Ints = None,
) -> Value:
    if x.dtype not in FLOATS or 0 in (*x.shape[2:], *weight.shape[2:]):
        raise Declined(f"{x.dtype}, or no elements")
    around = None if auto_pad == "VALID" else pads
    windows = _windows(weight.shape[2:], x.shape[2:], strides, around, dilations)
    count = len(windows.kernel)
    more = list(output_padding or [0] * count)
    whole = [
        (x.shape[2 + i] - 1) * windows.steps[i] + (windows.kernel[i] - 1) * windows.gaps[i] + 1
        for i in range(count)
    ]
    if output_shape or auto_pad.startswith("SAME"):
        fitted = [x.shape[2 + i] * windows.steps[i] for i in range(count)]
        out = list(output_shape[-count:] if output_shape else fitted)
        # What is too much is taken off at both ends, the odd element behind for SAME_UPPER; what
        # lacks is added behind.
        excess = [whole[i] + more[i] - out[i] for i in range(count)]
        odd = 0 if auto_pad == "SAME_UPPER" else 1
        before = [(max(one, 0) + odd) // 2 for one in excess]
        windows.pads = [*before, *(a - b for a, b in zip(excess, before, strict=True))]
    else:
        apart = _apart_windows(to, x, weight, bias, windows, [*more, group - 1])
        if apart is not None:
            return apart
        around = windows.pads
        out = [whole[i] + more[i] - around[i] - around[count + i] for i in range(count)]
    if min(out, default=1) < 1:
        raise Declined("no elements")
    shape = [x.shape[0], weight.shape[1] * group, *out]
    wide = widened(to, x)
    if 0 in (*x.shape, *weight.shape):
        made = to.call(np.zeros, tuple(shape), dtype=wide.dtype)
    else:
        made = _spread(to, wide, widened(to, weight), shape, windows, group)
    if bias is not None:
        ones = (1,) * count
        made = to.call(np.add, made, to.reshape(widened(to, bias), (bias.size, *ones)))
    return cast(to, made, x.dtype)


def _apart_windows(
    to: Lowering,
    x: Value,
    weight: Value,
    bias: Value | None,
    windows: Windows,
    others: Sequence[int],
) -> Value | None:
    """A transposed convolution whose windows touch and do not overlap: each element of an image
    makes one window, which is a convolution by windows of one element. None where they do, or
    `others` are not all 0."""
    kernel = list(windows.kernel)
    if len(kernel) != 2 or kernel != list(windows.steps) or any((*windows.pads, *others)):
        return None
    if weight.known is None or weight.dtype != "float32" or max(windows.gaps) > 1:
        return None
    if bias is not None and (bias.known is None or bias.shape != (weight.shape[1],)):
        return None
    channels, filters = weight.shape[:2]
    of_window = math.prod(kernel)
    turned = to.elements(weight).reshape(channels, filters * of_window).T
    single = to.constant(numpy.ascontiguousarray(turned).reshape(-1, channels, 1, 1))
    repeated = None
    if bias is not None:
        repeated = to.constant(numpy.repeat(to.elements(bias), of_window))
    ones = [1, 1]
    made = small_convolution(to, x, single, repeated, ones, [0] * 4, ones, 1, True, False)
    if made is None:
        return None
    n, _, rows, columns = x.shape
    parts = to.reshape(made.lower(to), (n, filters, *kernel, rows, columns))
    woven = to.row_major(to.call(np.transpose, parts, (0, 1, 4, 2, 5, 3)))
    return to.reshape(woven, (n, filters, rows * kernel[0], columns * kernel[1]))


def _spread(
    to: Lowering, dy: Value, weight: Value, shape: Sequence[int], windows: Windows, group: int
) -> Value:
    """The gradient of a convolution for its input: a convolution of what came, with zeros between
    its elements, by the weights turned around."""
    count = len(windows.kernel)
    given = to.row_major(dy)
    for i in range(count):
        axis, reach = 2 + i, (windows.kernel[i] - 1) * windows.gaps[i]
        given = _apart(to, given, axis, windows.steps[i])
        before = reach - windows.pads[i]
        given = _fitted(to, given, axis, before, shape[axis] + reach - before - given.shape[axis])
    filters, depth = weight.shape[:2]
    turned = to.reshape(to.row_major(weight), (group, filters // group, *weight.shape[1:]))
    turned = to.call(np.swapaxes, turned, 1, 2)
    for axis in range(3, 3 + count):
        turned = to.call(np.flip, turned, axis)
    turned = to.reshape(
        to.call(np.copy, turned), (group * depth, filters // group, *windows.kernel)
    )
    ones = Windows(windows.kernel, [1] * count, windows.gaps, [0] * 2 * count, list(shape[2:]))
    return convolved(to, given, turned, ones, group)


def _apart(to: Lowering, x: Value, axis: int, step: int) -> Value:
    """The elements along an axis `step` apart, with zeros between them."""
    if step == 1:
        return x
    extent = x.shape[axis]
    wide = padded(to, to.call(np.expand_dims, x, axis + 1), axis + 1, 0, step - 1, 0)
    shape = (*x.shape[:axis], extent * step, *x.shape[axis + 1 :])
    return axis_slice(to, to.reshape(wide, shape), axis, slice(0, (extent - 1) * step + 1))


def _fitted(to: Lowering, x: Value, axis: int, before: int, after: int) -> Value:
    """More zeros at both ends of an axis, or, where that is negative, fewer elements."""
    if min(before, after) < 0:
        part = slice(max(-before, 0), x.shape[axis] - max(-after, 0))
        x = axis_slice(to, x, axis, part)
    before, after = max(before, 0), max(after, 0)
    return padded(to, x, axis, before, after, 0) if before or after else x
