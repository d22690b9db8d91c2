"""Pools."""

from __future__ import annotations

from collections.abc import Sequence

from .._lowering import Lowering
from .._value import Declined, Value
from .._windows import pads_of
from ._backend import api, as_input, check_float, execute, rule


def _pool(
    to: Lowering,
    x: Value,
    kind: str,
    kernel: Sequence[int],
    auto_pad: str,
    pads: Sequence[int] | None,
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    ceil_mode: int,
    count_include_pad: int = 0,
) -> Value:
    check_float(x)
    spatial = x.shape[2:]
    steps = list(strides or [1] * len(spatial))
    gaps = list(dilations or [1] * len(spatial))
    around = pads_of(auto_pad, pads, spatial, kernel, steps, gaps)
    source, x = as_input(to, x)
    primitive = api().pooling(
        source, kind, list(kernel), steps, around, gaps, bool(ceil_mode), bool(count_include_pad)
    )
    return execute(to, primitive, [x])


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
) -> Value:
    if to.num_outputs > 1:
        raise Declined("positions of the largest elements")
    return _pool(to, x, "max", kernel_shape, auto_pad, pads, strides, dilations, ceil_mode)


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
    return _pool(
        to, x, "avg", kernel_shape, auto_pad, pads, strides, dilations, ceil_mode,
        count_include_pad,
    )  # fmt: skip


def _global_pool(to: Lowering, x: Value, kind: str) -> Value:
    check_float(x)
    if len(x.shape) < 3:
        raise Declined("no axes to pool over")
    source, x = as_input(to, x)
    return execute(to, api().pooling(source, kind), [x])


@rule("GlobalAveragePool")
def _global_average_pool(to: Lowering, x: Value) -> Value:
    return _global_pool(to, x, "avg")


@rule("GlobalMaxPool")
def _global_max_pool(to: Lowering, x: Value) -> Value:
    return _global_pool(to, x, "max")
