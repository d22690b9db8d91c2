"""Integers, of which OpenVINO's CPU computes few as ONNX says."""

from __future__ import annotations

import numpy as np
import pytest

import mx
from mx.graph import PartitionedPlan, Plan
from tests.graph.build import graph_of

LEAST, MOST = -(2**31), 2**31 - 1
# float32 has none of the odd ones of these.
INT32 = [0, 1, -1, 7, 2**24 + 1, -(2**24) - 3, 2**30 + 1, MOST - 1, MOST, LEAST + 1, LEAST, 5]
OTHER = [3, 1, -2, -7, 2**24, 2**24 + 3, 2**30, MOST, MOST - 1, LEAST, LEAST + 1, -5]
INT64 = [max(number, LEAST + 1) for number in INT32]
WIDE = [2**31, LEAST, LEAST - 1, 2**32, 2**32 + 5, 2**63 - 1, -(2**63), 2**53 + 1]


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


# What the device does with int64: types and extents of an output, and nodes.
MOVES = {
    "a mask": "float[1,12] y { a = Constant<value_ints = [0]>() u = Unsqueeze(x, a) "
    "y = Cast<to = 1>(u) }",
    "to bool": "bool[12] y { y = Cast<to = 9>(x) }",
    "to int32": "int32[12] y { y = Cast<to = 6>(x) }",
    "an output": "int64[1,12] y { a = Constant<value_ints = [0]>() y = Unsqueeze(x, a) }",
    "as many as there are": "int64[9] y { b = Constant<value_ints = [3]>() "
    "e = Constant<value_ints = [9223372036854775807]>() y = Slice(x, b, e) }",
    "beside a weight": "int64[13] y { w = Constant<value_ints = [2147483647]>() "
    "y = Concat<axis = 0>(x, w) }",
    "one of two": "int64[12] y { w = Constant<value_ints = [-3]>() c = Cast<to = 9>(x) "
    "y = Where(c, x, w) }",
    "some": "int64[2] y { i = Constant<value_ints = [7, 2]>() y = Gather(x, i) }",
    "in rows": "int64[3,4] y { s = Constant<value_ints = [4, 3]>() r = Reshape(x, s) "
    "y = Transpose(r) }",
}


@pytest.mark.parametrize("text", MOVES.values(), ids=MOVES)
def test_int64(ctx, text) -> None:
    outputs, _, body = text.partition("{")
    graph = graph_of(f"g (int64[12] x) => ({outputs}) {{{body}")
    plan = PartitionedPlan(graph, ctx, optimize=False, fallback="error")
    check_same(plan, Plan(graph), np.array(INT64, "int64"))


@pytest.mark.parametrize("number", WIDE)
@pytest.mark.parametrize("text", MOVES.values(), ids=MOVES)
def test_int64_that_no_int32_is(ctx, text, number) -> None:
    """The CPU executes that run, and the plan of who wants an error raises one."""
    outputs, _, body = text.partition("{")
    graph = graph_of(f"g (int64[12] x) => ({outputs}) {{{body}")
    x = np.array([*INT64[:11], number], "int64")
    with pytest.warns(mx.AccFallbackWarning, match=f"input 0 has {number}, "):
        check_same(PartitionedPlan(graph, ctx, optimize=False), Plan(graph), x)
    strict = PartitionedPlan(graph, ctx, optimize=False, fallback="error")
    with pytest.raises(NotImplementedError, match=f"infer: input 0 has {number}, "):
        strict(x)
    check_same(strict, Plan(graph), np.array(INT64, "int64"))


def test_indices_that_no_int32_is(ctx) -> None:
    """An end far behind the last element, of which the low half is -1."""
    graph = graph_of(
        "g (float[5] x, int64[1] b, int64[1] e) => (float[N] y) { y = Slice(x, b, e) }"
    )
    plan, x = PartitionedPlan(graph, ctx), np.arange(5, dtype="float32")
    assert plan.placement().is_whole
    check_same(plan, Plan(graph), x, np.array([1]), np.array([4]))
    with pytest.warns(mx.AccFallbackWarning, match="input 2 has 9223372036854775807, "):
        check_same(plan, Plan(graph), x, np.array([1]), np.array([2**63 - 1]))


@pytest.mark.parametrize("number", WIDE)
@pytest.mark.parametrize("node", ["Concat<axis = 0>(x, w)", "Gather(w, x)", "Where(c, x, w)"])
def test_weights_that_no_int32_is(ctx, node, number) -> None:
    graph = graph_of(
        f"g (int64[1] x) => (int64[N] y) {{ w = Constant<value_ints = [{number}]>() "
        f"c = Cast<to = 9>(x) y = {node} }}"
    )
    plan = PartitionedPlan(graph, ctx, optimize=False)
    row = plan.explain()[-1]
    assert row.where == "cpu" and "'w' has integers that OpenVINO replaces" in row.why
    check_same(plan, Plan(graph), np.array([0]))
