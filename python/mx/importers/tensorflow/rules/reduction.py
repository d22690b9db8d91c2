"""Operators that reduce axes."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from ..._builder import dtype_of, rank_of, shape_of, static
from ..._layout import behind, permuted
from ..._scans import backwards, logarithms_of_sums
from .._call import Builder, Call, Unsupported, rule

_REDUCTIONS = {
    "Sum": "ReduceSum",
    "Mean": "ReduceMean",
    "Max": "ReduceMax",
    "Min": "ReduceMin",
    "Prod": "ReduceProd",
    "EuclideanNorm": "ReduceL2",
}


def reduce(
    b: Builder,
    x: ir.Value,
    axes: list[int],
    keep: bool,
    write: Callable[[ir.Value, list[int]], ir.Value],
) -> ir.Value:
    """What reduces axes of a value; `write` gets the value with the axes that it has there."""
    rank = rank_of(x)
    axes = sorted({axis % rank for axis in axes}) if rank else []
    if not axes:
        return x
    source, order = behind(x)
    there = sorted(order[axis] for axis in axes)
    result = write(source, there)
    lengths = shape_of(source)
    if keep:
        result.shape = ir.Shape([1 if i in there else lengths[i] for i in range(rank)])
        return permuted(b, result, order)
    left = [i for i in range(rank) if i not in there]
    result.shape = ir.Shape([lengths[i] for i in left])
    # In which order the axes that are left have to be.
    return permuted(b, result, [left.index(order[i]) for i in range(rank) if i not in axes])


def _register(operator: str, name: str) -> None:
    @rule(operator)
    def reduction(b: Builder, call: Call) -> ir.Value:
        keep = bool(call.attr("keep_dims"))
        return reduce(
            b,
            call[0],
            call.ints(1, "the axes that are reduced"),
            keep,
            lambda x, axes: b.op(name, x, axes, keepdims=int(keep))[0],
        )


for _operator, _name in _REDUCTIONS.items():
    _register(_operator, _name)


@rule("All", "Any")
def truth(b: Builder, call: Call) -> ir.Value:
    keep = bool(call.attr("keep_dims"))
    name = "ReduceMin" if call.op.type == "All" else "ReduceMax"

    def write(x: ir.Value, axes: list[int]) -> ir.Value:
        numbers = b.cast(x, ir.DataType.UINT8)
        return b.cast(b.op(name, numbers, axes, keepdims=int(keep))[0], ir.DataType.BOOL)

    return reduce(b, call[0], call.ints(1, "the axes that are reduced"), keep, write)


@rule("ArgMax", "ArgMin")
def argument(b: Builder, call: Call) -> ir.Value:
    (axis,) = call.ints(1, "the axis")
    return b.op(call.op.type, call[0], axis=axis, keepdims=0)[0]


@rule("L2Loss")
def l2_loss(b: Builder, call: Call) -> ir.Value:
    return b.Mul(b.ReduceSumSquare(call[0], keepdims=0), 0.5)


@rule("Cumsum", "Cumprod")
def cumulative(b: Builder, call: Call) -> ir.Value:
    (axis,) = call.ints(1, "the axis")
    write = b.CumSum if call.op.type == "Cumsum" else b.CumProd
    return write(
        call[0],
        b.scalar(axis),
        exclusive=int(call.attr("exclusive")),
        reverse=int(call.attr("reverse")),
    )


@rule("CumulativeLogsumexp")
def cumulative_logarithms(b: Builder, call: Call) -> ir.Value:
    (axis,) = call.ints(1, "the axis")
    if call.attr("exclusive"):
        raise Unsupported("sums without the element itself")
    axis %= rank_of(call[0])
    (length,) = static([b.size(call[0], axis)], "the length of the axis")
    x = backwards(b, call[0], axis) if call.attr("reverse") else call[0]
    result = logarithms_of_sums(b, x, axis, length)
    return backwards(b, result, axis) if call.attr("reverse") else result


@rule("Softmax", "LogSoftmax")
def softmax(b: Builder, call: Call) -> ir.Value:
    return b.op(call.op.type, call[0], axis=-1)[0]


@rule("TopKV2")
def top_k(b: Builder, call: Call) -> list[ir.Value]:
    count = b.Reshape(b.cast(call[1], ir.DataType.INT64), [1])
    return list(
        b.op(
            "TopK",
            call[0],
            count,
            axis=-1,
            sorted=1,
            outputs=2,
            dtype=[dtype_of(call[0]), ir.DataType.INT64],
        )
    )
