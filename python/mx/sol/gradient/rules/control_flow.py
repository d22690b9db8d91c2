"""The gradient of If: the branches again, with their own gradients behind.

A branch is computed again in the backward pass, from the values around it, which are saved.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ....graph.lowering._node import used_by
from .._copies import Copy, give, writer_inside
from .._differentiate import differentiate, graphs_in
from .._rules import GRAPH_RULES, Call
from .._writer import Writer, is_float

Pairs = list[tuple[ir.Value, ir.Value]]


def _own(graph: ir.Graph) -> set[ir.Value]:
    """The values of a graph, without those around it."""
    found = {*graph.inputs, *graph.initializers.values()}
    for node in graph:
        found.update(node.outputs)
        for inner in graphs_in(node):
            found |= _own(inner)
    return found


def captured(node: ir.Node, active: set[ir.Value]) -> list[ir.Value]:
    """The values around a node that graphs in it read, and that have derivatives."""
    found: dict[ir.Value, None] = {}
    for graph in graphs_in(node):
        own = _own(graph)
        for inner in graph:
            found.update(dict.fromkeys(value for value in used_by(inner) if value not in own))
        found.update(dict.fromkeys(value for value in graph.outputs if value not in own))
    return [value for value in found if value in active and is_float(value)]


def write_node(
    to: Writer,
    operator: str,
    inputs: Sequence[ir.Value | None],
    like: Sequence[ir.Value],
    **attributes: object,
) -> Sequence[ir.Value]:
    """Writes a node with graphs among its attributes, and outputs of the specs of other values."""
    node = ir.node(
        operator,
        inputs,
        {
            key: ir.AttrGraph(key, value)
            if isinstance(value, ir.Graph)
            else ir.convenience.convert_attribute(key, value)  # type: ignore[arg-type]
            for key, value in attributes.items()
        },
        num_outputs=len(like),
        name=to.names.new(f"{to.prefix}.{operator}"),
        metadata_props=dict(to.metadata),
    )
    for index, (output, value) in enumerate(zip(node.outputs, like, strict=True)):
        output.name = to.names.new(f"{node.name}.{index}")
        output.type, output.shape = value.type, value.shape
    to.graph.append(node)
    return node.outputs


def _if(to: Writer, call: Call, active: set[ir.Value]) -> Pairs:
    """If of the same condition, whose branches give the gradients of what both read."""
    values = captured(call.node, active)
    if not values:
        return []
    branches = {}
    for name in ("then_branch", "else_branch"):
        graph = call.node.attributes[name].as_graph()
        inner = writer_inside(to, name)
        copy = Copy(inner, graph, {})
        grads: dict[ir.Value, ir.Value] = {}
        for value, grad in zip(graph.outputs, call.grads, strict=True):
            if grad is not None:
                here = copy.of(value)
                grads[here] = inner.Add(grads[here], grad) if here in grads else grad
        found = differentiate(inner, copy.nodes, grads, values)
        for value in values:
            give(inner, inner.given(found.get(value), value))
        branches[name] = inner.graph
    made = write_node(to, "If", [call.input(0)], values, **branches)
    return list(zip(values, made, strict=True))


GRAPH_RULES["If"] = _if
