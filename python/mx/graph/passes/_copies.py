"""The nodes of a graph that is in a node once more, around that node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx_ir

from .._summary import label_of
from ._pass import is_onnx

GRAPH = onnx_ir.AttributeType.GRAPH
# What gives something else each time.
_RANDOM = """
    Bernoulli Dropout Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
""".split()


class Names:
    """Names that no value of a model has yet."""

    def __init__(self, model: onnx_ir.Model) -> None:
        self._taken = set(model.graph.initializers)
        self._take(model.graph)
        for node in onnx_ir.traversal.RecursiveGraphIterator(model.graph):
            self._taken.update(value.name or "" for value in node.outputs)
            for attribute in node.attributes.values():
                if attribute.type == GRAPH:
                    self._take(attribute.as_graph())

    def _take(self, graph: onnx_ir.Graph) -> None:
        self._taken.update(graph.initializers)
        self._taken.update(value.name or "" for value in graph.inputs)

    def new(self, wanted: str) -> str:
        """A name; the wanted one, or one with a number behind it."""
        name, count = wanted, 0
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name

    def node(
        self,
        like: onnx_ir.Node,
        operator: str,
        inputs: Sequence[onnx_ir.Value],
        attributes: Mapping[str, Any] | None = None,
        outputs: int = 1,
    ) -> onnx_ir.Node:
        """A node that stands for another one, or for a part of it."""
        made = onnx_ir.node(operator, inputs, attributes, num_outputs=outputs)
        made.name = self.new(f"{label_of(like)}.{operator}")
        made.metadata_props.update(like.metadata_props)
        for value in made.outputs:
            value.name = self.new(f"{made.name}.out")
        return made


def can_copy(graph: onnx_ir.Graph) -> bool:
    """Whether nodes give the same however many of them there are, and what they need is there."""
    if any(value.const_value is None for value in graph.initializers.values()):
        return False
    for node in graph:
        if is_onnx(node, *_RANDOM) or node.domain not in ("", "ai.onnx"):
            return False
        inside = [one for one in node.attributes.values() if one.type == GRAPH]
        if not all(can_copy(one.as_graph()) for one in inside):
            return False
    return True


def copied(
    graph: onnx_ir.Graph, given: Mapping[onnx_ir.Value, onnx_ir.Value], prefix: str, names: Names
) -> tuple[list[onnx_ir.Node], list[onnx_ir.Value]]:
    """Nodes that give what a graph does for what is given, and the values that are its outputs."""
    copy = _Copy(given, prefix, names)
    nodes = copy.weights(graph) + [copy.node(one) for one in graph]
    return nodes, [copy.value(one) for one in graph.outputs]


class _Copy:
    """Copies of nodes, and of the values that they give."""

    def __init__(
        self, given: Mapping[onnx_ir.Value, onnx_ir.Value], prefix: str, names: Names
    ) -> None:
        self._values = dict(given)
        self._prefix, self._names = prefix, names

    def value(self, value: onnx_ir.Value) -> onnx_ir.Value:
        """A copy; a value from around the graph stays."""
        return self._values.get(value, value)

    def weights(self, graph: onnx_ir.Graph) -> list[onnx_ir.Node]:
        """Nodes that give the weights of a graph."""
        made = []
        for value in graph.initializers.values():
            node = onnx_ir.node("Constant", [], {"value": value.const_value})
            node.name = self._names.new(f"{self._prefix}.{value.name}")
            self._give(value, node.outputs[0])
            made.append(node)
        return made

    def node(self, node: onnx_ir.Node) -> onnx_ir.Node:
        """A copy, with copies of the graphs in it."""
        made = onnx_ir.Node(
            node.domain,
            node.op_type,
            [None if one is None else self.value(one) for one in node.inputs],
            [self._attribute(one) for one in node.attributes.values()],
            num_outputs=len(node.outputs),
            name=self._names.new(f"{self._prefix}.{label_of(node)}"),
            metadata_props=dict(node.metadata_props),
        )
        for old, new in zip(node.outputs, made.outputs, strict=True):
            self._give(old, new)
        return made

    def _give(self, old: onnx_ir.Value, new: onnx_ir.Value) -> None:
        new.name = self._names.new(f"{self._prefix}.{old.name}") if old.name else ""
        new.type = old.type
        # What an extent is called says nothing around the graph.
        if old.shape is not None and old.shape.is_static():
            new.shape = old.shape
        self._values[old] = new

    def _attribute(self, attribute: onnx_ir.Attr) -> onnx_ir.Attr:
        if attribute.type != GRAPH:
            return attribute
        graph = attribute.as_graph()
        inputs = [self._parameter(value) for value in graph.inputs]
        nodes = self.weights(graph) + [self.node(one) for one in graph]
        outputs = [self.value(one) for one in graph.outputs]
        made = onnx_ir.Graph(inputs, outputs, nodes=nodes, name=graph.name)
        return onnx_ir.AttrGraph(attribute.name, made)

    def _parameter(self, value: onnx_ir.Value) -> onnx_ir.Value:
        made = onnx_ir.Value(name="")
        self._give(value, made)
        return made


def let_go(node: onnx_ir.Node) -> None:
    """Has the graphs in a node that is gone use nothing of what is around them any more."""
    for attribute in node.attributes.values():
        if attribute.type == GRAPH:
            for inner in onnx_ir.traversal.RecursiveGraphIterator(attribute.as_graph()):
                for index in range(len(inner.inputs)):
                    inner.replace_input_with(index, None)
