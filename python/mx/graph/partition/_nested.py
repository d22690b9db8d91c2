"""Bodies of branches and loops: the host decides which is executed, and how often; of the nodes in
them the device executes what it can."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy
import onnx
import onnx_ir
from onnx_ir import serde

from ...context import cpu
from .._errors import GraphError
from .._graph import Graph
from ..lowering._contents import Environment
from ..lowering._lowering import ARRAY_DTYPES
from ..lowering._node import subgraphs_of, used_by
from ..lowering._program import Program

if TYPE_CHECKING:
    from ._placement import Placement

# A body that is executed for more shapes, as of a sequence that grows, is left to the CPU for
# those: the library would have to compile it for each.
_MOST_PLACEMENTS = 8

MakePlacement = Callable[[Graph], "Placement"]


class Body:
    """The body of a branch or a loop, with a placement for each shape of what it reads."""

    def __init__(self, graph: onnx_ir.Graph, program: Program, make: MakePlacement) -> None:
        """`program` is what executes it on the CPU; `make` makes placements."""
        self._graph = graph
        self._program = program
        self._make = make
        self._outer = [value for value in _outer_values(graph) if value not in program.weights]
        self._placements: dict[Any, Placement | None] = {}
        self._placing = threading.Lock()

    def run(self, inputs: Sequence[Any], outer: Environment) -> list[Any]:
        """The outputs for these inputs; `outer` has the values of the graphs around it."""
        given = [*inputs, *(outer.get(value) for value in self._outer)]
        placement = self._placed(given)
        if placement is None:
            return self._program.run(inputs, outer)
        return placement.run(dict(zip(placement.inputs, given, strict=True)))

    def placements(self) -> list[Placement]:
        """Those that the device has a part in, so far."""
        with self._placing:
            return [each for each in self._placements.values() if each is not None]

    def _placed(self, given: Sequence[Any]) -> Placement | None:
        """None where the device executes nothing of it."""
        if any(str(getattr(content, "dtype", None)) not in ARRAY_DTYPES for content in given):
            return None
        key = tuple((tuple(content.shape), str(content.dtype)) for content in given)
        with self._placing:
            if key not in self._placements and len(self._placements) < _MOST_PLACEMENTS:
                self._placements[key] = self._new(given)
            return self._placements.get(key)

    def _new(self, given: Sequence[Any]) -> Placement | None:
        graph = Graph(self._alone(given))
        try:
            graph.infer(None)
        except GraphError:
            return None  # as of its nodes nobody knows the shapes
        placement = self._make(graph)
        has_part = bool(placement.models()) or any(
            any(True for _ in subgraphs_of(node)) for node in placement.nodes
        )
        return placement if has_part else None

    def _alone(self, given: Sequence[Any]) -> onnx_ir.Model:
        """The body as a model of its own, which is given what it reads of the graphs around it."""
        proto = serde.serialize_graph(self._graph)
        declared = [value.name or "" for value in (*self._program.inputs, *self._outer)]
        del proto.input[:]
        for name, content in zip(declared, given, strict=True):
            dtype = onnx_ir.DataType.from_numpy(numpy.dtype(content.dtype))
            proto.input.append(
                onnx.helper.make_tensor_value_info(name, int(dtype), list(content.shape))
            )
        for value in _outer_values(self._graph):
            if value in self._program.weights:
                elements = numpy.asarray(self._program.weights[value].elements)
                proto.initializer.append(onnx.numpy_helper.from_array(elements, value.name))
        model = onnx.ModelProto(ir_version=10, graph=proto)
        opset = self._program.opset.items()
        model.opset_import.extend(onnx.helper.make_opsetid(*item) for item in opset)
        made: onnx_ir.Model = onnx_ir.from_proto(model)
        return made


class Bodies:
    """Makes what executes the bodies of one graph, and knows them as long as they are there."""

    def __init__(self, make: MakePlacement) -> None:
        self._make = make
        # Programs have the bodies. References from here would make circles, and models of the
        # device stay until the garbage collector finds these.
        self._made: list[weakref.ref[Body]] = []

    def __call__(self, graph: onnx_ir.Graph, program: Program) -> Body:
        body = Body(graph, program, self._make)
        self._made.append(weakref.ref(body))
        return body

    def placements(self) -> list[Placement]:
        """Of all bodies those that the device has a part in, so far."""
        bodies = [reference() for reference in self._made]
        return [each for body in bodies if body is not None for each in body.placements()]


def on_host(outputs: Sequence[Any]) -> list[Any]:
    """What control flow reads."""
    return [one.to_device(cpu()) if hasattr(one, "to_device") else one for one in outputs]


def _outer_values(graph: onnx_ir.Graph) -> list[onnx_ir.Value]:
    """The values of graphs around a graph that it reads, or gives."""
    inside = set(_graphs_in(graph))
    used = [value for node in graph for value in used_by(node)] + list(graph.outputs)
    return [value for value in dict.fromkeys(used) if _owner(value) not in inside]


def _owner(value: onnx_ir.Value) -> onnx_ir.Graph | None:
    node = value.producer()
    return value.graph if node is None else node.graph


def _graphs_in(graph: onnx_ir.Graph) -> Iterator[onnx_ir.Graph]:
    yield graph
    for node in graph:
        for inner in subgraphs_of(node):
            yield from _graphs_in(inner)
