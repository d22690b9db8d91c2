"""The nodes of a graph or a function once more, in another graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from ...graph._proto import SMALL, const_tensor
from ...graph._spec import dims_of
from ._rules import Declined
from ._writer import Writer


class Copy:
    """The nodes of a graph once more, in another one."""

    def __init__(
        self, to: Writer, graph: ir.Graph | ir.Function, given: Mapping[ir.Value, ir.Value | None]
    ) -> None:
        self._to = to
        self._values: dict[ir.Value, ir.Value | None] = dict(given)
        self.nodes: list[ir.Node] = []
        weights = graph.initializers if isinstance(graph, ir.Graph) else {}
        for value in weights.values():
            if value.const_value is None:
                raise Declined(f"the weight {value.name!r} in it has no elements")
            node = ir.node("Constant", [], {"value": value.const_value})
            self._add(node, [value])
        for node in graph:
            inputs = [None if one is None else self._read(one) for one in node.inputs]
            made = ir.node(
                node.op_type,
                inputs,
                {name: self._attribute(one) for name, one in node.attributes.items()},
                domain=node.domain,
                num_outputs=len(node.outputs),
                metadata_props=dict(node.metadata_props),
            )
            made.meta.update(node.meta)
            self._add(made, node.outputs)

    def _attribute(self, attribute: ir.Attr) -> ir.Attr:
        """An attribute, or a copy of the graph that it is."""
        if attribute.type != ir.AttributeType.GRAPH:
            return attribute
        graph = attribute.as_graph()
        inner = writer_inside(self._to, attribute.name)
        for value in graph.inputs:
            self._values[value] = parameter(inner, value.name or "", value, dims_of(value.shape))
        copy = Copy(inner, graph, self._values)
        for value in graph.outputs:
            give(inner, copy.of(value))
        return ir.AttrGraph(attribute.name, inner.graph)

    def _read(self, value: ir.Value) -> ir.Value | None:
        """What a node here reads; a copy of a small constant around it, which inference sees."""
        found = self._values.get(value, value)
        if found is None or found.graph is None or found.graph is self._to.graph:
            return found
        tensor = const_tensor(found)
        if tensor is None or tensor.size > SMALL or tensor.dtype == ir.DataType.STRING:
            return found
        return self._to.constant(tensor.numpy(), tensor.dtype)

    def of(self, value: ir.Value) -> ir.Value:
        """What a value of the graph is here; one from around it stays."""
        found = self._values.get(value, value)
        if found is None:
            raise Declined(f"the value {value.name!r} in it is missing")
        return found

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
    # Inference will find the type where it is not known yet.
    (copy,) = to.op("Identity", value, dtype=value.dtype or ir.DataType.UNDEFINED)
    copy.type, copy.shape = value.type, value.shape
    to.graph.outputs.append(copy)


def let_go(node: ir.Node) -> None:
    """Has the graphs in a node that goes use nothing of what is around them any more."""
    for attribute in node.attributes.values():
        if attribute.type == ir.AttributeType.GRAPH:
            for inner in ir.traversal.RecursiveGraphIterator(attribute.as_graph()):
                for index in range(len(inner.inputs)):
                    inner.replace_input_with(index, None)
