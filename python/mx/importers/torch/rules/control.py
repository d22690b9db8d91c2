"""Branches and loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from .._builder import Builder, dtype_of
from .._rule import Unsupported, rule

_BOOL = ir.DataType.BOOL
_INT64 = ir.DataType.INT64


def _outputs(b: Builder, results: Sequence[Any]) -> list[ir.Value]:
    """Results as outputs of a body: each a node's of its own."""
    found: list[ir.Value] = []
    for result in results:
        value = result if isinstance(result, ir.Value) else b.constant(result, _INT64)
        made = value.producer()
        if made is None or made.graph is not b.graph or value in found:
            copy = b.Identity(value)
            copy.shape = value.shape
            value = copy
        found.append(value)
    return found


@rule("higher_order.cond")
def cond(
    b: Builder,
    predicate: ir.Value | bool,
    true_graph: Any,
    false_graph: Any,
    operands: Sequence[Any] = (),
) -> Sequence[ir.Value]:
    assert b.inline is not None
    results = b.results
    branches: list[ir.Graph] = []
    for name, module in (("then", true_graph), ("else", false_graph)):
        graph, inner = b.body(name)
        graph.outputs.extend(_outputs(inner, b.inline(module, operands, inner)))
        branches.append(graph)
    condition = b.cast(predicate, _BOOL)
    if condition.shape is not None and len(condition.shape):
        condition = b.Reshape(condition, b.ints([]))
    return b.op(
        "If",
        condition,
        then_branch=branches[0],
        else_branch=branches[1],
        outputs=len(results),
        dtype=[dtype_of(value) for value in branches[0].outputs],
    )


@rule("higher_order.while_loop")
def while_loop(
    b: Builder,
    condition_graph: Any,
    body_graph: Any,
    carried: Sequence[Any],
    additional: Sequence[Any] = (),
) -> Sequence[ir.Value]:
    assert b.inline is not None
    values = [one if isinstance(one, ir.Value) else b.constant(one, _INT64) for one in carried]
    graph, inner = b.body("body")
    inputs = [_input(inner, "iteration", _INT64), _input(inner, "condition", _BOOL)]
    own = []
    for value in values:
        made = _input(inner, "carried", dtype_of(value))
        made.shape = value.shape
        made.meta["torch"] = value.meta.get("torch")
        own.append(made)
    graph.inputs.extend([*inputs, *own])
    after = b.inline(body_graph, [*own, *additional], inner)
    goes_on = b.inline(condition_graph, [*after, *additional], inner)[0]
    graph.outputs.extend(_outputs(inner, [goes_on, *after]))
    first = b.inline(condition_graph, [*values, *additional], b)[0]
    if not isinstance(first, ir.Value):
        first = b.constant(first, _BOOL)
    return b.op(
        "Loop",
        None,
        first,
        *values,
        body=graph,
        outputs=len(values),
        dtype=[dtype_of(value) for value in values],
    )


def _input(b: Builder, name: str, dtype: ir.DataType) -> ir.Value:
    return ir.Value(
        name=b.names.new(f"{b.prefix}.{name}"), type=ir.TensorType(dtype), shape=ir.Shape([])
    )


@rule("higher_order.wrap_with_set_grad_enabled")
def with_gradients(b: Builder, enabled: bool, module: Any, *operands: Any) -> Sequence[Any]:
    assert b.inline is not None
    return b.inline(module, operands, b)


@rule("higher_order.wrap_with_autocast")
def with_autocast(
    b: Builder,
    device: str,
    dtype: object,
    enabled: bool,
    cache: object,
    module: Any,
    *operands: Any,
) -> Sequence[Any]:
    assert b.inline is not None
    if enabled:
        raise Unsupported("automatic casts")
    return b.inline(module, operands, b)
