"""Operators of windows that move over axes: each element of all windows at once, as a view.

These are for what no library has a kernel for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from .... import numpy as np
from .._lowering import Lowering
from .._small_convolution import small_convolution
from .._value import Declined, Value
from .._windows import extents_out, pads_of
from ._backend import rule
from ._elementwise import FLOATS, cast, of_type, widened
from ._pieces import padded
from ._quantization import quantized
from ._training import add_step, check_float, maker


@dataclass
class Windows:
    """Windows over the axes behind the first two: how they lie, and how many there are."""

    kernel: Sequence[int]
    steps: Sequence[int]
    gaps: Sequence[int]
    pads: Sequence[int]  # beginnings first
    counts: Sequence[int]

    def views(self, to: Lowering, x: Value, element: Any) -> Iterator[Value]:
        """For each element of a window, that of all windows; `element` is what surrounds x."""
        axes = len(self.kernel)
        for axis in range(axes):
            reach = (self.counts[axis] - 1) * self.steps[axis]
            needed = reach + (self.kernel[axis] - 1) * self.gaps[axis] + 1
            before = self.pads[axis]
            after = max(needed - before - x.shape[2 + axis], 0)
            if before or after:
                x = padded(to, x, 2 + axis, before, after, element)
        for offsets in itertools.product(*map(range, self.kernel)):
            index = [slice(None), slice(None)]
            for axis, offset in enumerate(offsets):
                begin = offset * self.gaps[axis]
                end = begin + (self.counts[axis] - 1) * self.steps[axis] + 1
                index.append(slice(begin, end, self.steps[axis]))
            yield to.slices(x, index)


def _windows(
    x: Value,
    kernel: Sequence[int],
    auto_pad: str,
    pads: Sequence[int] | None,
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    ceil_mode: int = 0,
) -> Windows:
    spatial = x.shape[2:]
    axes = len(spatial)
    steps = list(strides or [1] * axes)
    gaps = list(dilations or [1] * axes)
    around = pads_of(auto_pad, pads, spatial, kernel, steps, gaps)
    if min(around, default=0) < 0:
        raise Declined("negative pads")
    counts = list(extents_out(spatial, kernel, steps, gaps, around))
    if ceil_mode and auto_pad in ("NOTSET", ""):
        for axis in range(axes):
            room = spatial[axis] + around[axis] + around[axes + axis]
            count = -(-(room - (kernel[axis] - 1) * gaps[axis] - 1) // steps[axis]) + 1
            # A window may not begin behind the elements and what is in front of them.
            if (count - 1) * steps[axis] >= spatial[axis] + around[axis]:
                count -= 1
            counts[axis] = count
    if min(counts, default=1) < 1:
        raise Declined("no window fits")
    return Windows(kernel, steps, gaps, around, counts)


def _reduced(to: Lowering, views: Iterator[Value], function: Any) -> Value:
    total = next(views, None)
    if total is None:
        raise Declined("a window of no elements")
    for view in views:
        total = to.call(function, total, view)
    return total


def _with_positions(to: Lowering, x: Value, windows: Windows, storage_order: int) -> list[Value]:
    is_wide = x.dtype == "float64"
    if not is_wide:
        check_float(x)
    if x.size == 0:
        raise Declined("no elements")
    given = windows.counts, windows.kernel, windows.steps, windows.pads, windows.gaps
    made, positions = add_step(to, maker("max_pool")(x.shape, *given, is_wide), x)
    return [made, _by_columns(to, positions, x.shape[2:]) if storage_order else positions]


def _by_columns(to: Lowering, positions: Value, spatial: Sequence[int]) -> Value:
    """Positions in planes whose first axis is the one along which elements lie side by side."""
    size = math.prod(spatial)
    left: Value = to.call(np.mod, positions, size)
    found = to.call(np.subtract, positions, left)
    for axis in range(len(spatial) - 1, -1, -1):
        own = to.call(np.multiply, to.call(np.mod, left, spatial[axis]), math.prod(spatial[:axis]))
        found = to.call(np.add, found, own)
        left = to.call(np.floor_divide, left, spatial[axis])
    return of_type(found, "int64")


@rule("MaxPool", since=1)
def _max_pool(
    to: Lowering,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    storage_order: int = 0,
    strides: Sequence[int] | None = None,
) -> Value | list[Value]:
    windows = _windows(x, kernel_shape, auto_pad, pads, strides, dilations, ceil_mode)
    if to.num_outputs > 1:
        return _with_positions(to, x, windows, storage_order)
    lowest = -math.inf if x.dtype in FLOATS else int(numpy.iinfo(x.dtype).min)
    made = _reduced(to, windows.views(to, x, lowest), np.maximum)
    return to.call(np.copy, made) if math.prod(kernel_shape) == 1 else made


@rule("AveragePool", since=7)
def _average_pool(
    to: Lowering,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    windows = _windows(x, kernel_shape, auto_pad, pads, strides, dilations, ceil_mode)
    wide = widened(to, x)
    total = _reduced(to, windows.views(to, wide, 0), np.add)
    counts = _counts(windows, x.shape[2:], bool(count_include_pad))
    return cast(to, to.call(np.divide, total, to.constant(counts.astype(wide.dtype))), x.dtype)


def _counts(windows: Windows, spatial: Sequence[int], with_pads: bool) -> Any:
    """Of how many elements each window is the mean; pads may count, what is behind them never."""
    axes, total = len(spatial), numpy.ones(())
    for axis in range(axes):
        before = windows.pads[axis] if with_pads else 0
        after = windows.pads[axes + axis] if with_pads else 0
        begin = numpy.arange(windows.counts[axis])[:, None] * windows.steps[axis]
        at = begin - windows.pads[axis] + numpy.arange(windows.kernel[axis]) * windows.gaps[axis]
        inside = ((at >= -before) & (at < spatial[axis] + after)).sum(axis=1)
        total = total[..., None] * inside
    return total


@rule("LpPool", since=2)
def _lp_pool(
    to: Lowering,
    x: Value,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    p: int = 2,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    windows = _windows(x, kernel_shape, auto_pad, pads, strides, dilations, ceil_mode)
    return _norm(to, x, p, lambda powers: _reduced(to, windows.views(to, powers, 0), np.add))


@rule("GlobalLpPool")
def _global_lp_pool(to: Lowering, x: Value, *, p: float = 2) -> Value:
    axes = tuple(range(2, len(x.shape)))
    return _norm(to, x, p, lambda powers: to.call(np.sum, powers, axis=axes, keepdims=True))


def _norm(to: Lowering, x: Value, p: float, total: Callable[[Value], Value]) -> Value:
    """The root of order p of what `total` gives of the powers."""
    powers = to.call(np.power, to.call(np.abs, widened(to, x)), float(p))
    return cast(to, to.call(np.power, total(powers), 1 / p), x.dtype)


def _global(function: Any) -> Any:
    def lower(to: Lowering, x: Value) -> Value:
        axes = tuple(range(2, len(x.shape)))
        made: Value = to.call(function, widened(to, x), axis=axes, keepdims=True)
        return cast(to, made, x.dtype)

    return lower


rule("GlobalAveragePool")(_global(np.mean))
rule("GlobalMaxPool")(_global(np.max))


def columns_of(to: Lowering, x: Value, windows: Windows, group: int) -> Value:
    """Each window as a column of a matrix, one matrix for each item and group."""
    n, c = x.shape[:2]
    views = [to.call(np.expand_dims, view, 2) for view in windows.views(to, x, 0)]
    stacked = to.call(np.concatenate, views, axis=2)
    rows = c // group * math.prod(windows.kernel)
    return to.reshape(stacked, (n, group, rows, math.prod(windows.counts)))


@rule("Conv")
def _conv(
    to: Lowering,
    x: Value,
    w: Value,
    b: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    if x.dtype not in FLOATS or len(x.shape) < 3:
        raise Declined(f"{x.dtype}{x.shape}")
    windows = _windows(x, w.shape[2:], auto_pad, pads, strides, dilations)
    given = x, w, b, windows.steps, windows.pads, windows.gaps, group
    small = small_convolution(to, *given, is_last=True)
    if small is not None:
        return small.lower(to)
    made = convolved(to, widened(to, x), widened(to, w), windows, group)
    if b is not None:
        made = to.call(np.add, made, to.reshape(widened(to, b), (-1, *(1,) * len(windows.kernel))))
    return cast(to, made, x.dtype)


def convolved(to: Lowering, x: Value, w: Value, windows: Windows, group: int) -> Value:
    filters = to.reshape(w, (group, w.shape[0] // group, math.prod(w.shape[1:])))
    product = to.call(np.matmul, filters, columns_of(to, x, windows, group))
    return to.reshape(product, (x.shape[0], w.shape[0], *windows.counts))


@rule("ConvInteger", since=10)
def _conv_integer(
    to: Lowering,
    x: Value,
    w: Value,
    x_zero: Value | None = None,
    w_zero: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    windows = _windows(x, w.shape[2:], auto_pad, pads, strides, dilations)
    return of_type(
        convolved(to, _without_zero(to, x, x_zero), _without_zero(to, w, w_zero), windows, group),
        "int32",
    )


def _without_zero(to: Lowering, x: Value, zero: Value | None) -> Value:
    whole = cast(to, x, "int32")
    if zero is None:
        return whole
    made: Value = to.call(np.subtract, whole, cast(to, _of_filters(to, zero, x), "int32"))
    return made


def _of_filters(to: Lowering, numbers: Value, like: Value, axis: int = 0) -> Value:
    """A number for all or for each filter, in a shape that broadcasts."""
    behind = len(like.shape) - 1 - axis
    return to.reshape(numbers, () if numbers.size == 1 else (-1, *(1,) * behind))


@rule("QLinearConv", since=10)
def _qlinear_conv(
    to: Lowering,
    x: Value,
    x_scale: Value,
    x_zero: Value,
    w: Value,
    w_scale: Value,
    w_zero: Value,
    y_scale: Value,
    y_zero: Value,
    b: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Value:
    windows = _windows(x, w.shape[2:], auto_pad, pads, strides, dilations)
    total = convolved(
        to, _without_zero(to, x, x_zero), _without_zero(to, w, w_zero), windows, group
    )
    if b is not None:
        total = to.call(np.add, total, _of_filters(to, b, x, 1))
    scales = [_of_filters(to, widened(to, one), x, 1) for one in (x_scale, w_scale, y_scale)]
    # By one factor, as the reference and generated code do: halves are rounded otherwise.
    factor = to.call(np.divide, to.call(np.multiply, *scales[:2]), scales[2])
    exact = to.call(np.multiply, cast(to, total, "float32"), factor)
    return quantized(to, exact, None, to.reshape(y_zero, ()), y_zero.dtype)
