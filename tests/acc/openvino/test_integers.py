"""Integers, of which OpenVINO's CPU computes few as ONNX says."""

from __future__ import annotations

import numpy as np
import pytest

from mx.graph import PartitionedPlan, Plan
from tests.graph.build import graph_of

LEAST, MOST = -(2**31), 2**31 - 1
# float32 has none of the odd ones of these.
INT32 = [0, 1, -1, 7, 2**24 + 1, -(2**24) - 3, 2**30 + 1, MOST - 1, MOST, LEAST + 1, LEAST, 5]
OTHER = [3, 1, -2, -7, 2**24, 2**24 + 3, 2**30, MOST, MOST - 1, LEAST, LEAST + 1, -5]


def check_same(plan: Plan, expected: Plan, *inputs: np.ndarray) -> None:
    for output, other in zip(plan(*inputs), expected(*inputs), strict=True):
        there, here = output.asnumpy(), other.asnumpy()
        assert there.dtype == here.dtype
        np.testing.assert_array_equal(there, here)


# Nodes of int32, and whether the device executes them.
OPERATORS = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Max", "Min"), ("int32", True)),
    "Div": ("int32", False),
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"), ("bool", False)),
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_int32(ctx, operator) -> None:
    dtype, is_there = OPERATORS[operator]
    graph = graph_of(f"g (int32[12] x, int32[12] y) => ({dtype}[12] z) {{ z = {operator}(x, y) }}")
    plan = PartitionedPlan(graph, ctx)
    assert plan.placement().is_whole == is_there
    check_same(plan, Plan(graph), np.array(INT32, "int32"), np.array(OTHER, "int32"))


@pytest.mark.parametrize("operator", ["Equal", "Less"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_comparisons_of_bytes(ctx, operator, dtype) -> None:
    graph = graph_of(
        f"g ({dtype}[256,1] x, {dtype}[256] y) => (bool[256,256] z) {{ z = {operator}(x, y) }}"
    )
    plan = PartitionedPlan(graph, ctx, fallback="error")
    each = np.arange(256).astype(dtype)
    check_same(plan, Plan(graph), each[:, None], each)


@pytest.mark.parametrize(("to", "is_there"), [("float", True), ("int64", False), ("bool", False)])
def test_casts_of_int32(ctx, to, is_there) -> None:
    number = {"float": 1, "int64": 7, "bool": 9}[to]
    graph = graph_of(f"g (int32[12] x) => ({to}[12] y) {{ y = Cast<to = {number}>(x) }}")
    plan = PartitionedPlan(graph, ctx)
    assert plan.placement().is_whole == is_there
    check_same(plan, Plan(graph), np.array(INT32, "int32"))
