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
from ._symbols import is_known, told_shape

# Takes the model of one node, and the node; gives what onnx infers of it.
Run = Callable[[onnx.ModelProto, list[onnx_ir.Node]], onnx.ModelProto]
# Names of ours begin with this number, which onnx, asked about one node, does not reach.
_FIRST = 1 << 20

Take = Callable[[onnx_ir.Graph, list[onnx_ir.Node], onnx.GraphProto], None]


def finish(model: onnx_ir.Model, constants: dict[str, Array], run: Run, take: Take) -> None:
    """Writes data types and shapes into the values of which something is unknown."""
    graph = model.graph
    fresh = _fresh_names(graph)
    numbers: dict[str, Numbers] = {}

    def array_of(value: onnx_ir.Value | None) -> Array | None:
        if value is None or not value.name:
            return None
        if value.name in constants:
            return constants[value.name]
        if value.is_initializer() and small_tensor(value.const_value):
            assert value.const_value is not None
            return elements_of(value.const_value)
        return None

    def read(value: onnx_ir.Value | None) -> Numbers | None:
        if value is not None and value.name in numbers:
            return numbers[value.name]
        array = array_of(value)
        return None if array is None else numbers_of(array)

    for node in graph:
        if not all(is_known(value) for value in node.outputs if value.name):
            _infer(model, graph, node, array_of, (run, take))
            told = told_shape(node, read) if node.outputs else None
            if told is not None:
                node.outputs[0].shape = onnx_ir.Shape(told)
            _name_anew(node, fresh)
        if node.outputs and node.outputs[0].name not in constants:
            arrays = constant_outputs(node, array_of, model.opset_imports)
            if arrays is not None:
                for value, array in zip(node.outputs, arrays, strict=False):
                    if value.name:
                        constants[value.name] = array
            elif (told_numbers := follow(node, read)) is not None and node.outputs[0].name:
                numbers[node.outputs[0].name] = told_numbers


def _infer(
    model: onnx_ir.Model,
    graph: onnx_ir.Graph,
    node: onnx_ir.Node,
    array_of: Callable[[onnx_ir.Value | None], Array | None],
    steps: tuple[Run, Take],
) -> None:
    """onnx's inference of one node."""
    if not known_operator(node, model.opset_imports):
        return
    used = list(_used(node))
    if any(value.type is None for value in used):
        return
    proto = onnx.ModelProto(ir_version=onnx.IR_VERSION)
    for domain, version in model.opset_imports.items():
        proto.opset_import.add(domain=domain, version=version)
    proto.graph.name = "node"
    for value in used:
        array = array_of(value)
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
    run, take = steps
    take(graph, [node], run(proto, [node]).graph)


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
            for graph in _graphs(one):
                own.update(graph.inputs)
                own.update(graph.initializers.values())
            seen.update(dict.fromkeys(value for value in one.inputs if value is not None))
        seen.update(dict.fromkeys(inside.outputs))
    yield from (value for value in seen if value not in own)


def _graphs(node: onnx_ir.Node) -> Iterator[onnx_ir.Graph]:
    for attribute in node.attributes.values():
        if attribute.type == onnx_ir.AttributeType.GRAPH:
            yield attribute.as_graph()


def _fresh_names(graph: onnx_ir.Graph) -> Iterator[str]:
    """Names for extents of which nothing is known, none of which is there already."""
    highest = _FIRST - 1
    for value in itertools.chain(graph.inputs, *(node.outputs for node in graph)):
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
