"""Gradients of convolution and pooling: of windows that move over the last axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from ...graph._regions import parts_of_regions
from ._describe import Array, Ints, operator
from ._inference import like, shaped


def _last(parts: tuple[slice | int, ...]) -> tuple[Any, ...]:
    """An index of the last axes."""
    return (Ellipsis, *parts)


def _filled(given: Ints, count: int, value: int) -> list[int]:
    return [value] * count if given is None else [int(item) for item in given]


def _taps(
    kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], out: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each position in a window, and the elements of the padded input that it reads, as slices."""
    for tap in itertools.product(*map(range, kernel)):
        parts = []
        for axis, position in enumerate(tap):
            begin = position * dilations[axis]
            end = begin + (out[axis] - 1) * strides[axis] + 1
            parts.append(slice(begin, max(end, begin), strides[axis]))
        yield tap, tuple(parts)


def _padded(extents: Sequence[int], pads: Sequence[int], least: Sequence[int]) -> list[int]:
    """The extents with padding, enough for windows that begin in it and end behind it."""
    count = len(extents)
    return [max(pads[i] + extents[i] + max(pads[count + i], 0), least[i]) for i in range(count)]


def _reach(
    kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], out: Sequence[int]
) -> list[int]:
    return [
        (out[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 for i in range(len(kernel))
    ]


def _inside(extents: Sequence[int], pads: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(pads[i], pads[i] + extent) for i, extent in enumerate(extents))


@operator("ConvGradInput", "dX", shaped(2), like={0: 2})
def conv_grad_input(
    dY: Array,
    W: Array,
    shape: Array,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    group: int = 1,
) -> Array:
    """The gradient of Conv for its input, whose shape is `shape`. Attributes are those of Conv."""
    batch, channels, *extents = (int(extent) for extent in shape)
    kernel, out, count = W.shape[2:], dY.shape[2:], len(extents)
    steps, gaps = _filled(strides, count, 1), _filled(dilations, count, 1)
    margins = _filled(pads, 2 * count, 0)
    whole = _padded(extents, margins, _reach(kernel, steps, gaps, out))
    made = numpy.zeros((batch, group, channels // group, *whole), dY.dtype)
    given = dY.reshape(batch, group, dY.shape[1] // group, math.prod(out))
    weight = W.reshape(group, W.shape[0] // group, channels // group, *kernel)
    for tap, parts in _taps(kernel, steps, gaps, out):
        share = numpy.matmul(weight[_last(tap)].swapaxes(1, 2), given)
        made[_last(parts)] += share.reshape(batch, group, channels // group, *out)
    inside = made.reshape(batch, channels, *whole)[_last(_inside(extents, margins))]
    return numpy.ascontiguousarray(inside)


@operator("ConvGradWeight", "dW", shaped(2), like={0: 2})
def conv_grad_weight(
    X: Array,
    dY: Array,
    shape: Array,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    group: int = 1,
) -> Array:
    """The gradient of Conv for its weight, whose shape is `shape`. Attributes are those of Conv."""
    filters, depth, *kernel = (int(extent) for extent in shape)
    batch, _, *extents = X.shape
    out, count = dY.shape[2:], len(extents)
    steps, gaps = _filled(strides, count, 1), _filled(dilations, count, 1)
    margins = _filled(pads, 2 * count, 0)
    whole = _padded(extents, margins, _reach(kernel, steps, gaps, out))
    padded = numpy.zeros((batch, X.shape[1], *whole), X.dtype)
    padded[_last(_inside(extents, margins))] = X
    source = padded.reshape(batch, group, depth, *whole)
    given = dY.reshape(batch, group, filters // group, math.prod(out)).transpose(1, 2, 0, 3)
    given = given.reshape(group, filters // group, batch * math.prod(out))
    made = numpy.empty((group, filters // group, depth, *kernel), dY.dtype)
    for tap, parts in _taps(kernel, steps, gaps, out):
        read = source[_last(parts)].reshape(batch, group, depth, math.prod(out))
        read = read.transpose(1, 0, 3, 2).reshape(group, batch * math.prod(out), depth)
        made[_last(tap)] = numpy.matmul(given, read)
    return made.reshape(tuple(int(extent) for extent in shape))


@operator("MaxPoolGrad", "dX", shaped(2), like={0: 2})
def max_pool_grad(dY: Array, Indices: Array, shape: Array) -> Array:
    """The gradient of MaxPool for its input, whose shape is `shape`.

    Indices are those that MaxPool gives: positions in all of X, counted in row-major order.
    """
    size = math.prod(int(extent) for extent in shape)
    made = numpy.zeros(size, dY.dtype)
    numpy.add.at(made, Indices.reshape(-1), dY.reshape(-1))
    return made.reshape(tuple(int(extent) for extent in shape))


@operator("MaxRoiPoolGrad", "dX", like(1))
def max_roi_pool_grad(
    dY: Array, X: Array, rois: Array, *, pooled_shape: Ints = None, spatial_scale: float = 1.0
) -> Array:
    """The gradient of MaxRoiPool for its input: that of a part goes to the first of its largest
    elements. Attributes are those of MaxRoiPool."""
    made = numpy.zeros(X.shape, dY.dtype)
    channels = numpy.arange(X.shape[1])
    for part in parts_of_regions(X.shape, rois, _filled(pooled_shape, 2, 1), spatial_scale):
        region, i, j = part.at
        found = X[part.image, :, part.rows, part.columns]
        row, column = numpy.divmod(found.reshape(len(channels), -1).argmax(axis=1), found.shape[2])
        row, column = row + part.rows.start, column + part.columns.start
        made[part.image, channels, row, column] += dY[region, :, i, j]
    return made


@operator("AveragePoolGrad", "dX", shaped(1), like={0: 1})
def average_pool_grad(
    dY: Array,
    shape: Array,
    *,
    kernel_shape: Ints = None,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    ceil_mode: int = 0,
    count_include_pad: int = 0,
) -> Array:
    """The gradient of AveragePool for its input, whose shape is `shape`.

    Attributes are those of AveragePool. A window counts the elements that lie inside of X, with
    count_include_pad=1 those inside of X and its padding.
    """
    batch, channels, *extents = (int(extent) for extent in shape)
    count, out = len(extents), dY.shape[2:]
    kernel = _filled(kernel_shape, count, 1)
    steps, gaps = _filled(strides, count, 1), _filled(dilations, count, 1)
    margins = _filled(pads, 2 * count, 0)
    whole = _padded(extents, margins, _reach(kernel, steps, gaps, out))
    counted = numpy.zeros(whole)
    ends = [margins[i] + extents[i] + margins[count + i] for i in range(count)]
    inside = _inside(extents, margins)
    counted[tuple(map(slice, ends)) if count_include_pad else inside] = 1
    sizes = numpy.zeros(out)
    for _, parts in _taps(kernel, steps, gaps, out):
        sizes += counted[parts]
    shares = dY / numpy.maximum(sizes, 1).astype(dY.dtype)
    made = numpy.zeros((batch, channels, *whole), dY.dtype)
    for _, parts in _taps(kernel, steps, gaps, out):
        made[_last(parts)] += shares
    return numpy.ascontiguousarray(made[_last(inside)])
