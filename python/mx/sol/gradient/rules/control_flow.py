"""Graphs in nodes once more, with their gradients behind; the gradient of If is made of that.

A branch is computed again in the backward pass, from the values around it, which are saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from ....graph.lowering._program import _used_by as used_by
from .._differentiate import differentiate
from .._rules import GRAPH_RULES, Call, Declined
from .._writer import Writer, is_float

Pairs = list[tuple[ir.Value, ir.Value]]


def _inside(node: ir.Node) -> list[ir.Graph]:
    return [
        attribute.as_graph()
        for attribute in node.attributes.values()
        if attribute.type == ir.AttributeType.GRAPH
    ]


def _own(graph: ir.Graph) -> set[ir.Value]:
    """The values of a graph, without those around it."""
    found = {*graph.inputs, *graph.initializers.values()}
    for node in graph:
        found.update(node.outputs)
        for inner in _inside(node):
            found |= _own(inner)
    return found


def captured(node: ir.Node, active: set[ir.Value]) -> list[ir.Value]:
    """The values around a node that graphs in it read, and that have derivatives."""
    found: dict[ir.Value, None] = {}
    for graph in _inside(node):
        own = _own(graph)
        for inner in graph:
            found.update(dict.fromkeys(value for value in used_by(inner) if value not in own))
        found.update(dict.fromkeys(value for value in graph.outputs if value not in own))
    return [value for value in found if value in active and is_float(value)]


class Copy:
    """The nodes of a graph once more, in another one."""

    def __init__(self, to: Writer, graph: ir.Graph, given: Mapping[ir.Value, ir.Value]) -> None:
        self._to = to
        self._values: dict[ir.Value, ir.Value] = dict(given)
        self.nodes: list[ir.Node] = []
        for value in graph.initializers.values():
            if value.const_value is None:
                raise Declined(f"the weight {value.name!r} in it has no elements")
            node = ir.node("Constant", [], {"value": value.const_value})
            self._add(node, [value])
        for node in graph:
            if _inside(node):
                raise Declined("a graph in it has graphs in it, too")
            inputs = [None if one is None else self.of(one) for one in node.inputs]
            made = ir.node(
                node.op_type,
                inputs,
                dict(node.attributes),
                domain=node.domain,
                num_outputs=len(node.outputs),
                metadata_props=dict(node.metadata_props),
            )
            self._add(made, node.outputs)

    def of(self, value: ir.Value) -> ir.Value:
        """What a value of the graph is here; one from around it stays."""
        return self._values.get(value, value)

    def _add(self, node: ir.Node, outputs: Sequence[ir.Value]) -> None:
        node.name = self._to.names.new(f"{self._to.prefix}.{node.op_type}")
        for old, new in zip(outputs, node.outputs, strict=True):
            new.name = self._to.names.new(f"{self._to.prefix}.{old.name}") if old.name else ""
            new.type, new.shape = old.type, old.shape
            self._values[old] = new
        self._to.graph.append(node)
        self.nodes.append(node)


def writer_inside(to: Writer, name: str) -> Writer:
    """What writes a graph that will be in a node."""
    graph = ir.Graph([], [], nodes=[], name=to.names.new(f"{to.prefix}.{name}"))
    return Writer(graph, to.names, prefix=f"{to.prefix}.{name}")


def parameter(to: Writer, name: str, like: ir.Value, dims: Sequence[object] | None) -> ir.Value:
    """An input of a graph, of the type of a value."""
    shape = None if dims is None else ir.Shape(dims)  # type: ignore[arg-type]
    value = ir.Value(name=to.names.new(f"{to.prefix}.{name}"), type=like.type, shape=shape)
    to.graph.inputs.append(value)
    return value


def give(to: Writer, value: ir.Value) -> None:
    """Makes a value an output of a graph, by a name of its own."""
    copy: ir.Value = to.Identity(value)
    copy.type, copy.shape = value.type, value.shape
    to.graph.outputs.append(copy)


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
