"""A graph that computes outputs and gradients, and how it is split into one for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import onnx_ir as ir

from ...graph import Graph, ValueSpec
from ...graph.lowering._node import used_by
from ._copies import let_go


@dataclass(frozen=True)
class Joint:
    """A graph whose inputs and outputs are those of the forward and of the backward pass."""

    graph: Graph
    outputs: tuple[ValueSpec, ...]  # of the forward pass, the first ones of the graph
    given: frozenset[str]  # the inputs that are gradients of outputs
    grads: dict[str, str]  # the outputs with gradients, by the inputs that they are for

    @cached_property
    def nodes(self) -> list[ir.Node]:
        """All nodes, each behind those that it needs."""
        return list(self.graph.model.graph)

    @cached_property
    def backward(self) -> set[ir.Node]:
        """The nodes that depend on gradients of outputs."""
        inputs = self.graph.model.graph.inputs
        reached = {value for value in inputs if value.name in self.given}
        found: set[ir.Node] = set()
        for node in self.nodes:
            if not reached.isdisjoint(used_by(node)):
                found.add(node)
                reached.update(node.outputs)
        return found

    @cached_property
    def forward(self) -> set[ir.Node]:
        """The nodes that the outputs of the forward pass need."""
        wanted = set(self.graph.model.graph.outputs[: len(self.outputs)])
        found: set[ir.Node] = set()
        for node in reversed(self.nodes):
            if not wanted.isdisjoint(node.outputs):
                found.add(node)
                wanted.update(used_by(node))
        return found

    @cached_property
    def free(self) -> set[ir.Value]:
        """The values that both passes have anyway: inputs, weights and what follows from those
        without elements being computed."""
        inside = self.graph.model.graph
        found: set[ir.Value] = set(inside.inputs) | set(inside.initializers.values())
        for node in self.nodes:
            if node.op_type == "Constant" and not node.domain:
                found.update(node.outputs)
        return found

    @cached_property
    def required(self) -> list[ir.Value]:
        """The values of the forward pass, or of neither, that the backward pass reads."""
        found: dict[ir.Value, None] = {}
        for node in self.nodes:
            if node in self.backward:
                found.update(dict.fromkeys(used_by(node)))
        found.update(dict.fromkeys(self.graph.model.graph.outputs[len(self.outputs) :]))
        own = set(self.nodes)
        return [
            value
            for value in found
            if value not in self.free
            and value.producer() in own
            and value.producer() not in self.backward
        ]

    def schedule(self, saved: Iterable[ir.Value]) -> list[ir.Node]:
        """The nodes of the backward pass in the order in which they are executed.

        What is computed again is right before the first node that reads it.
        """
        there = set(saved) | self.free
        order: dict[ir.Node, None] = {}
        own = set(self.nodes)

        def add(node: ir.Node) -> None:
            stack = [node]
            while stack:
                last = stack[-1]
                missing = [
                    producer
                    for value in used_by(last)
                    if value not in there
                    and (producer := value.producer()) in own
                    and producer not in order
                ]
                if missing:
                    stack += [one for one in missing if one is not None]
                else:
                    order.setdefault(stack.pop())

        for node in self.nodes:
            if node in self.backward:
                add(node)
        for value in self.graph.model.graph.outputs[len(self.outputs) :]:
            producer = value.producer()
            if producer is not None and value not in there:
                add(producer)
        return list(order)

    def split(self, saved: Sequence[ir.Value]) -> tuple[Graph, Graph, tuple[str, ...]]:
        """The graphs of both passes, and the names of saved values that are no outputs."""
        outputs = {value.name for value in self.graph.model.graph.outputs[: len(self.outputs)]}
        names = [value.name or "" for value in saved]
        added = tuple(name for name in names if name not in outputs)
        order = [node.name or "" for node in self.schedule(saved)]
        return self._forward(added), self._backward(names, order), added

    def within(self, saved: Sequence[ir.Value]) -> Joint:
        """The same as one graph in which the backward pass computes again what is not saved.

        The nodes that do so are called as those of the forward pass, with ".again" behind it.
        """
        forward, backward, _ = self.split(saved)
        first, second = forward.model.graph, backward.model.graph
        del first.outputs[len(self.outputs) :]
        known = {**_values(first), **first.initializers}
        for value in list(second.inputs):
            second.inputs.remove(value)
            if value.name in self.given:
                first.inputs.append(value)
            else:
                ir.convenience.replace_all_uses_with(
                    value, known[value.name or ""], replace_graph_outputs=True
                )
        for name, value in list(second.initializers.items()):
            del second.initializers[name]
            if name in first.initializers:
                ir.convenience.replace_all_uses_with(value, known[name], replace_graph_outputs=True)
            else:
                first.initializers[name] = value
        gradients = list(second.outputs)
        second.outputs.clear()
        names = {node.name for node in first}
        for node in list(second):
            second.remove(node)
            if node.name in names:
                node.name = f"{node.name}.again"
            for value in node.outputs:
                if value.name in known:
                    value.name = f"{value.name}.again"
            first.append(node)
        first.outputs.extend(gradients)
        first.name = self.graph.model.graph.name
        return Joint(forward, self.outputs, self.given, self.grads)

    def _forward(self, saved: Sequence[str]) -> Graph:
        graph = self.graph.copy()
        inside = graph.model.graph
        del inside.outputs[len(self.outputs) :]
        values = _values(inside)
        inside.outputs.extend(values[name] for name in saved)
        _cut(graph)
        for value in [value for value in inside.inputs if value.name in self.given]:
            inside.inputs.remove(value)
        inside.name = f"{self.graph.name}.forward"
        return graph

    def _backward(self, saved: Sequence[str], order: Sequence[str]) -> Graph:
        graph = self.graph.copy()
        inside = graph.model.graph
        values = _values(inside)
        del inside.outputs[: len(self.outputs)]
        for name in saved:
            old = values[name]
            new = ir.Value(name=name, type=old.type, shape=old.shape)
            ir.convenience.replace_all_uses_with(old, new, replace_graph_outputs=True)
            old.name = f"{name}.computed"
            inside.inputs.append(new)
        _cut(graph)
        nodes = {node.name or "": node for node in inside}
        # What is no longer needed is not there; constants are in front.
        placed = set(order)
        ordered = [node for name, node in nodes.items() if name not in placed]
        ordered += [nodes[name] for name in order if name in nodes]
        for node in ordered:
            inside.remove(node)
        inside.extend(ordered)
        for value in [
            value for value in inside.inputs if not value.uses() and not value.is_graph_output()
        ]:
            inside.inputs.remove(value)
        # Gradients first, then what is saved, then inputs of the forward pass.
        rank = {name: position for position, name in enumerate(saved)}
        inputs = sorted(
            inside.inputs,
            key=lambda v: -1 if v.name in self.given else rank.get(v.name or "", len(rank)),
        )
        inside.inputs.clear()
        inside.inputs.extend(inputs)
        inside.name = f"{self.graph.name}.backward"
        return graph


def _values(graph: ir.Graph) -> dict[str, ir.Value]:
    found = {value.name or "": value for value in graph.inputs}
    for node in graph:
        found.update((value.name or "", value) for value in node.outputs)
    return found


def _cut(graph: Graph) -> None:
    """Removes nodes and weights that no output needs."""
    inside = graph.model.graph
    wanted = set(inside.outputs)
    for node in reversed(list(inside)):
        if wanted.isdisjoint(node.outputs):
            let_go(node)
            inside.remove(node, safe=True)
        else:
            wanted.update(used_by(node))
    for name, value in list(inside.initializers.items()):
        if not value.uses() and not value.is_graph_output():
            del inside.initializers[name]
