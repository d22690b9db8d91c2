"""Which node of a graph uses the results of which, and parts of a graph by their nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy
import onnx_ir

from .._errors import GraphError
from .._proto import elements_of
from ..lowering._node import used_by


@dataclass
class Part:
    """Some nodes of a graph; a graph itself to who executes it."""

    nodes: list[onnx_ir.Node]
    inputs: list[onnx_ir.Value]
    outputs: list[onnx_ir.Value]
    weights: list[onnx_ir.Value]
    constants: list[onnx_ir.Node] = field(default_factory=list)

    @cached_property
    def initializers(self) -> dict[str, onnx_ir.Value]:
        """The weights that are no nodes' results, by name."""
        return {value.name or "": value for value in self.weights if value.is_initializer()}

    def __iter__(self) -> Iterator[onnx_ir.Node]:
        return iter([*self.constants, *self.nodes])


class Wiring:
    """The nodes of a graph and what connects them; Constant nodes are weights here."""

    def __init__(self, graph: onnx_ir.Graph) -> None:
        self.graph = graph
        everything = list(graph)
        self.nodes = [node for node in everything if not _is_constant(node)]
        self._constants = {
            value: node for node in everything if _is_constant(node) for value in node.outputs
        }
        self._initializers = set(graph.initializers.values())
        self._makers = {
            value: position for position, node in enumerate(self.nodes) for value in node.outputs
        }
        self._used = [list(dict.fromkeys(used_by(node))) for node in self.nodes]
        self._users: dict[onnx_ir.Value, list[int]] = {}
        for position, used in enumerate(self._used):
            for value in used:
                self._users.setdefault(value, []).append(position)
        self._results = set(graph.outputs)

    def is_weight(self, value: onnx_ir.Value) -> bool:
        """Whether the elements of a value are part of the graph."""
        return value in self._initializers or value in self._constants

    def elements(self, value: onnx_ir.Value) -> numpy.ndarray[Any, Any]:
        """Those of a weight."""
        if value in self._constants:
            return _constant_of(self._constants[value])
        if value.const_value is None:
            raise GraphError(f"the weight {value.name!r} has no elements")
        return elements_of(value.const_value)

    def sources(self) -> list[list[int]]:
        """For each node the positions of those whose results it uses."""
        return [
            sorted({self._makers[value] for value in used if value in self._makers})
            for used in self._used
        ]

    def used(self, position: int) -> list[onnx_ir.Value]:
        """The values that a node uses, each once."""
        return self._used[position]

    def maker(self, value: onnx_ir.Value) -> int | None:
        """The position of the node whose result a value is."""
        return self._makers.get(value)

    def is_result(self, value: onnx_ir.Value) -> bool:
        """Whether a value is an output of the graph."""
        return value in self._results

    def part(self, positions: Iterable[int]) -> Part:
        """The part of a graph that has these nodes, which are in order."""
        members = list(positions)
        inside = set(members)
        nodes = [self.nodes[position] for position in members]
        made = {value for node in nodes for value in node.outputs}
        inputs: dict[onnx_ir.Value, None] = {}
        weights: dict[onnx_ir.Value, None] = {}
        for position in members:
            for value in self._used[position]:
                if self.is_weight(value):
                    weights[value] = None
                elif value not in made and self._is_outer(value):
                    inputs[value] = None
        outputs = [
            value
            for node in nodes
            for value in node.outputs
            if value in self._results or not inside.issuperset(self._users.get(value, ()))
        ]
        constants = dict.fromkeys(
            self._constants[value] for value in weights if value in self._constants
        )
        return Part(nodes, list(inputs), outputs, list(weights), list(constants))

    def _is_outer(self, value: onnx_ir.Value) -> bool:
        """Whether a value is one of the graph itself, and not of a subgraph."""
        return value in self._makers or value.is_graph_input() and value.graph is self.graph

    def last_uses(self, parts: Iterable[Part]) -> dict[onnx_ir.Value, int]:
        """The number of the last part that reads each value."""
        last: dict[onnx_ir.Value, int] = {}
        for number, part in enumerate(parts):
            last.update(dict.fromkeys(part.inputs, number))
        return last


def _is_constant(node: onnx_ir.Node) -> bool:
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return False
    return "sparse_value" not in node.attributes


def _constant_of(node: onnx_ir.Node) -> numpy.ndarray[Any, Any]:
    name, attribute = next(iter(node.attributes.items()))
    if name == "value":
        return elements_of(attribute.as_tensor())
    types = {"value_float": "float32", "value_floats": "float32", "value_int": "int64"}
    types |= {"value_ints": "int64"}
    return numpy.asarray(attribute.value, types.get(name, "O"))
