"""Inference node by node, with what is known of the elements of shapes.

It is slower than onnx's of a whole model, and goes on where that stops: at shapes that are computed
from extents with names. onnx's own way to do so takes memory as large as such a tensor says it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import onnx
import onnx_ir
from onnx_ir import serde

from ._constants import Array, constant_outputs
from ._errors import GraphError
from ._proto import (
    add_tensor,
    elements_of,
    for_inference,
    known_operator,
    small_tensor,
    tensor_of,
)
from ._shapes_as_data import Numbers, follow, is_generated, numbers_of
from ._spec import Dim, dims_of
from ._symbols import Dims, is_known, told_shape

# Takes the model of one node, and the node; gives what onnx infers of it.
Run = Callable[[onnx.ModelProto, list[onnx_ir.Node]], onnx.ModelProto]
# Names of ours begin with this number, which onnx, asked about one node, does not reach.
_FIRST = 1 << 20

Take = Callable[[onnx_ir.Graph, list[onnx_ir.Node], onnx.GraphProto], None]


def finish(
    model: onnx_ir.Model,
    constants: dict[onnx_ir.Value, Array],
    steps: tuple[Run, Take],
    inside: bool,
) -> None:
    """Writes data types and shapes into the values of which something is unknown; with `inside`
    also into those of the graphs in nodes."""
    _Finishing(model, constants, steps, inside).through(model.graph)


class _Finishing:
    """What is known of elements on the way through a graph, and through those in its nodes."""

    def __init__(
        self,
        model: onnx_ir.Model,
        constants: dict[onnx_ir.Value, Array],
        steps: tuple[Run, Take],
        inside: bool,
    ) -> None:
        self._model, self._constants, self._inside = model, constants, inside
        self._run, self._take = steps
        self._numbers: dict[onnx_ir.Value, Numbers] = {}
        self._fresh = _fresh_names(model.graph)

    def through(self, graph: onnx_ir.Graph) -> None:
        """Goes through the nodes of one graph."""
        for node in graph:
            is_unknown = not all(is_known(value) for value in node.outputs if value.name)
            if is_unknown:
                try:
                    self._infer(node)
                except GraphError:
                    # What does not fit in a branch or a loop may be what is never executed.
                    if graph is self._model.graph:
                        raise
            inside = list(graphs_of(node)) if self._inside else []
            for one in inside:
                self.through(one)
            if is_unknown:
                told = told_shape(node, self._read) if node.outputs else None
                if told is not None:
                    node.outputs[0].shape = onnx_ir.Shape(told)
                if inside:
                    _take_inside(node)
                _name_anew(node, self._fresh)
            self._follow(node)

    def _array_of(self, value: onnx_ir.Value | None) -> Array | None:
        if value is None or not value.name:
            return None
        if value in self._constants:
            return self._constants[value]
        if value.is_initializer() and small_tensor(value.const_value):
            assert value.const_value is not None
            return elements_of(value.const_value)
        return None

    def _read(self, value: onnx_ir.Value | None) -> Numbers | None:
        if value is not None and value in self._numbers:
            return self._numbers[value]
        array = self._array_of(value)
        return None if array is None else numbers_of(array)

    def _follow(self, node: onnx_ir.Node) -> None:
        """Computes the elements that a node gives, as far as they follow."""
        if not node.outputs or node.outputs[0] in self._constants:
            return
        arrays = constant_outputs(node, self._array_of, self._model.opset_imports)
        if arrays is not None:
            for value, array in zip(node.outputs, arrays, strict=False):
                if value.name:
                    self._constants[value] = array
        elif (told := follow(node, self._read)) is not None and node.outputs[0].name:
            self._numbers[node.outputs[0]] = told

    def _infer(self, node: onnx_ir.Node) -> None:
        """onnx's inference of one node."""
        if not known_operator(node, self._model.opset_imports):
            return
        used = list(_used(node))
        if any(value.type is None for value in used):
            return
        proto = onnx.ModelProto(ir_version=onnx.IR_VERSION)
        for domain, version in self._model.opset_imports.items():
            proto.opset_import.add(domain=domain, version=version)
        proto.graph.name = "node"
        for value in used:
            array = self._array_of(value)
            if array is not None:
                add_tensor(proto.graph, value.name or "", tensor_of(array))
            else:
                serde.serialize_value_into(proto.graph.input.add(), value)
        serialized = proto.graph.node.add()
        serde.serialize_node_into(serialized, node)
        serialized.name = "0"
        for_inference(serialized)
        for value in node.outputs:
            if value.name:
                proto.graph.output.add(name=value.name)
        self._take(self._model.graph, [node], self._run(proto, [node]).graph)


def _used(node: onnx_ir.Node) -> Iterator[onnx_ir.Value]:
    """The values that a node, and the graphs in it, use from outside, once each."""
    seen: dict[onnx_ir.Value, None] = dict.fromkeys(v for v in node.inputs if v is not None)
    own: set[onnx_ir.Value] = set()
    for attribute in node.attributes.values():
        if attribute.type != onnx_ir.AttributeType.GRAPH:
            continue
        inside = attribute.as_graph()
        own.update(inside.inputs)
        own.update(inside.initializers.values())
        for one in onnx_ir.traversal.RecursiveGraphIterator(inside):
            own.update(one.outputs)
            for graph in graphs_of(one):
                own.update(graph.inputs)
                own.update(graph.initializers.values())
            seen.update(dict.fromkeys(value for value in one.inputs if value is not None))
        seen.update(dict.fromkeys(inside.outputs))
    yield from (value for value in seen if value not in own)


def graphs_of(node: onnx_ir.Node) -> Iterator[onnx_ir.Graph]:
    """The branches or the body of a node."""
    for attribute in node.attributes.values():
        if attribute.type == onnx_ir.AttributeType.GRAPH:
            yield attribute.as_graph()


def _take_inside(node: onnx_ir.Node) -> None:
    """Gives outputs the shapes that the graphs in a node tell, where less was known."""
    for value, told in zip(node.outputs, _told_inside(node), strict=False):
        made = dims_of(value.shape)
        if told is None or not (made is None or len(made) == len(told)):
            continue
        value.shape = onnx_ir.Shape(
            old if new is None or not (old is None or is_generated(old)) else new
            for old, new in zip(made or (None,) * len(told), told, strict=True)
        )


def _told_inside(node: onnx_ir.Node) -> list[Dims | None]:
    """The shapes of the outputs of If and Loop by those of the graphs in them."""
    graphs = [[dims_of(value.shape) for value in graph.outputs] for graph in graphs_of(node)]
    if node.op_type == "If" and len(graphs) == 2:
        return [_common(*both) for both in zip(*graphs, strict=False)]
    if node.op_type != "Loop" or len(graphs) != 1:
        return []
    begins = [() if value is None else dims_of(value.shape) for value in node.inputs[2:]]
    results = graphs[0][1:]
    # A loop of no turns gives what it begins with.
    states = [_common(*both) for both in zip(begins, results, strict=False)]
    return [*states, *(None if one is None else (None, *one) for one in results[len(begins) :])]


def _common(one: Dims | None, other: Dims | None) -> Dims | None:
    """What two shapes have in common."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else None for a, b in zip(one, other, strict=True))


def _fresh_names(graph: onnx_ir.Graph) -> Iterator[str]:
    """Names for extents of which nothing is known, none of which is there already."""
    highest = _FIRST - 1
    nodes = onnx_ir.traversal.RecursiveGraphIterator(graph)
    for value in itertools.chain(graph.inputs, *(node.outputs for node in nodes)):
        for dim in dims_of(value.shape) or ():
            if isinstance(dim, str) and is_generated(dim):
                highest = max(highest, _number(dim))
    return (f"unk__{number}" for number in itertools.count(highest + 1))


def _number(dim: Dim) -> int:
    return int(str(dim).removeprefix("unk__")[:18])


def _name_anew(node: onnx_ir.Node, fresh: Iterator[str]) -> None:
    """Gives unknown extents names that no other value has, but for those that come from inputs."""
    given: set[Dim] = set()
    for value in node.inputs:
        if value is not None:
            given.update(dims_of(value.shape) or ())
    names: dict[Dim, str] = {}
    for value in node.outputs:
        dims = dims_of(value.shape)
        if dims is None:
            continue
        new: list[Dim] = []
        for dim in dims:
            if dim is None:
                new.append(next(fresh))
            elif is_generated(dim) and dim not in given and _number(dim) < _FIRST:
                if dim not in names:
                    names[dim] = next(fresh)
                new.append(names[dim])
            else:
                new.append(dim)
        value.shape = onnx_ir.Shape(new)
