"""Primitives that reduce axes, and those that compute along one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from ..._builder import dtype_of, shape_of
from ..._layout import behind, permuted
from ..._scans import backwards, logarithms_of_sums, scan
from .._call import Builder, Equation, Unsupported, rule

_REDUCTIONS = {
    "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd",
    "reduce_sum": "ReduceSum",
}


def _reduced(b: Builder, name: str, x: ir.Value, axes: Sequence[int]) -> ir.Value:
    source, order = behind(x)
    there = sorted(order[axis] for axis in axes)
    result = b.op(name, source, there, keepdims=0)[0]
    left = [i for i in range(len(order)) if i not in there]
    result.shape = ir.Shape([shape_of(source)[i] for i in left])
    return permuted(b, result, [left.index(order[i]) for i in range(len(order)) if i not in axes])


def _register(primitive: str, name: str) -> None:
    @rule(primitive)
    def reduction(b: Builder, call: Equation) -> ir.Value:
        axes = [int(axis) for axis in call.param("axes")]
        return _reduced(b, name, call[0], axes) if axes else call[0]


for _primitive, _name in _REDUCTIONS.items():
    _register(_primitive, _name)


@rule("reduce_and", "reduce_or")
def truth(b: Builder, call: Equation) -> ir.Value:
    if dtype_of(call[0]) != ir.DataType.BOOL:
        raise Unsupported("bits of numbers")
    name = "ReduceMin" if call.eqn.primitive.name == "reduce_and" else "ReduceMax"
    axes = [int(axis) for axis in call.param("axes")]
    if not axes:  # which ONNX takes for all
        return call[0]
    numbers = b.cast(call[0], ir.DataType.UINT8)
    return b.cast(b.op(name, numbers, axes, keepdims=0)[0], ir.DataType.BOOL)


@rule("argmax", "argmin")
def argument(b: Builder, call: Equation) -> ir.Value:
    name = {"argmax": "ArgMax", "argmin": "ArgMin"}[call.eqn.primitive.name]
    (axis,) = call.param("axes")
    return b.op(name, call[0], axis=int(axis), keepdims=0)[0]


@rule("cumsum")
def cumulative_sum(b: Builder, call: Equation) -> ir.Value:
    axis = b.scalar(int(call.param("axis")))
    return b.CumSum(call[0], axis, reverse=int(call.param("reverse")) or None)


@rule("cumprod")
def cumulative_product(b: Builder, call: Equation) -> ir.Value:
    axis = b.scalar(int(call.param("axis")))
    return b.CumProd(call[0], axis, reverse=int(call.param("reverse")) or None)


@rule("cummax", "cummin", "cumlogsumexp")
def running(b: Builder, call: Equation) -> ir.Value:
    axis, is_reversed = int(call.param("axis")), call.param("reverse")
    x = backwards(b, call[0], axis) if is_reversed else call[0]
    length = call.shape()[axis]
    name = call.eqn.primitive.name
    if name == "cumlogsumexp":
        result = logarithms_of_sums(b, x, axis, length)
    else:
        combine = b.Max if name == "cummax" else b.Min
        (result,) = scan(b, [x], axis, length, lambda one, two: [combine(*one, *two)])
    return backwards(b, result, axis) if is_reversed else result


@rule("sort")
def sort(b: Builder, call: Equation) -> Sequence[ir.Value]:
    """By the first key, and where that is the same by the next: each order keeps what is the same
    as it was, so that the last key comes first."""
    axis, keys = call.param("dimension"), call.param("num_keys")
    values, whole = _sorted(b, call[keys - 1], axis)
    for number in reversed(range(keys - 1)):
        key = b.GatherElements(call[number], whole, axis=axis)
        key.shape = call[number].shape
        values, order = _sorted(b, key, axis)
        whole = b.GatherElements(whole, order, axis=axis)
    return [values, *(b.GatherElements(x, whole, axis=axis) for x in call.inputs[1:])]


def _sorted(b: Builder, x: ir.Value, axis: int) -> Sequence[ir.Value]:
    """The elements along an axis in order, and where they were."""
    return b.op(
        "TopK",
        x,
        b.vector([b.size(x, axis)]),
        axis=axis,
        largest=0,
        outputs=2,
        dtype=[dtype_of(x), ir.DataType.INT64],
    )


@rule("top_k")
def top_k(b: Builder, call: Equation) -> Sequence[ir.Value]:
    return b.op(
        "TopK",
        call[0],
        b.ints([int(call.param("k"))]),
        axis=int(call.param("axis", -1)),
        outputs=2,
        dtype=[dtype_of(call[0]), ir.DataType.INT64],
    )


@rule("reduce_window_max", "reduce_window_sum")
def window(b: Builder, call: Equation) -> ir.Value:
    """Pooling: the channels are the axis whose window is one element, the last such."""
    sizes, strides = list(call.param("window_dimensions")), list(call.param("window_strides"))
    pads, dilation = list(call.param("padding")), list(call.param("window_dilation"))
    if set(call.param("base_dilation")) != {1}:
        raise Unsupported("gaps between elements")
    rank = len(sizes)
    plain = [
        axis
        for axis in range(rank)
        if (sizes[axis], strides[axis], tuple(pads[axis])) == (1, 1, (0, 0))
    ]
    if len(plain) < 2 or rank < 3:
        raise Unsupported("windows over all but one of the axes")
    outer = [plain[0], plain[-1]]
    images = [axis for axis in range(rank) if axis not in outer]
    order = [*outer, *images]
    x = permuted(b, call[0], order)
    shared = {
        "kernel_shape": [sizes[axis] for axis in images],
        "strides": [strides[axis] for axis in images],
        "pads": [pads[axis][side] for side in (0, 1) for axis in images],
        "dilations": [dilation[axis] for axis in images],
    }
    if call.eqn.primitive.name == "reduce_window_max":
        if not dtype_of(x).is_floating_point():
            raise Unsupported("the largest of integers")
        result = b.MaxPool(x, **shared)
    else:
        count = int(np.prod(shared["kernel_shape"]))
        result = b.Mul(b.AveragePool(x, count_include_pad=1, **shared), count)
    shape = call.shape()
    result.shape = ir.Shape([shape[axis] for axis in order])
    return permuted(b, result, np.argsort(order).tolist())
