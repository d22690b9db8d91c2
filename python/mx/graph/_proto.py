"""ONNX's form of a graph without the elements of its weights, which inference does without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
import onnx
import onnx_ir
from onnx_ir import serde

from ._opset import OPSET

# What is no UTF-8 among texts comes back as it was.
_ERRORS = "surrogateescape"
# Operators that onnx infers wrongly, of which outputs are as the first input is, with how many
# inputs they have: it takes for an error that the scale of RMSNormalization has another type than
# its output, which is of the first input's, and axes of the other one that are not given.
_AS_FIRST = {"MeanVarianceNormalization": 1, "RMSNormalization": 2}
# Operators of which onnx infers nothing, and those that take and give the same types and shapes.
_ALIKE = {"GroupNormalization": "LayerNormalization"}
# Constants up to this size stay: shapes, axes and the like.
SMALL = 1024


def small_tensor(tensor: onnx_ir.TensorProtocol | None) -> bool:
    """Whether the elements of a tensor may say something of shapes."""
    return tensor is not None and tensor.size <= SMALL


def known_operator(node: onnx_ir.Node, opsets: Mapping[str, int]) -> bool:
    """Whether onnx has the description of a node's operator."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    version = opsets.get(domain, OPSET)
    return bool(onnx.defs.has(node.op_type, version, domain))


def without_weights(
    model: onnx_ir.Model, constants: Mapping[onnx_ir.Value, numpy.ndarray]
) -> tuple[onnx.ModelProto, list[onnx_ir.Node]]:
    """The model without big weights, with what `constants` has in place of the nodes that give it.

    Also the nodes that are left, in the order they have there; each has its index as its name.
    """
    proto = onnx.ModelProto(ir_version=onnx.IR_VERSION)
    domains = set()
    for domain, version in model.opset_imports.items():
        proto.opset_import.add(domain=domain, version=version)
        domains.add(domain)
    proto.functions.extend(serde.serialize_function(one) for one in model.functions.values())
    graph = proto.graph
    graph.name = model.graph.name or "graph"
    for value in model.graph.inputs:
        if not value.is_initializer():
            serde.serialize_value_into(graph.input.add(), value)
    for name, value in model.graph.initializers.items():
        _add_weight(graph, name, value.const_value, value)
    for value, array in constants.items():
        _add_weight(graph, value.name or "", tensor_of(array, value.name), None)
    kept: list[onnx_ir.Node] = []
    for node in model.graph:
        if node.outputs and all(value in constants for value in node.outputs if value.name):
            continue
        tensor = node.attributes.get_tensor("value") if node.op_type == "Constant" else None
        if tensor is not None and not small_tensor(tensor):
            _add_weight(graph, node.outputs[0].name or "", tensor, None)
            continue
        serialized = graph.node.add()
        serde.serialize_node_into(serialized, node)
        serialized.name = str(len(kept))
        for_inference(serialized)
        kept.append(node)
        if node.domain not in domains:
            proto.opset_import.add(domain=node.domain, version=1)
            domains.add(node.domain)
        if not known_operator(node, model.opset_imports):
            _add_recorded(graph, node)
    for value in model.graph.outputs:
        graph.output.add(name=value.name or "")
    return proto, kept


def _add_weight(
    graph: onnx.GraphProto,
    name: str,
    tensor: onnx_ir.TensorProtocol | None,
    value: onnx_ir.Value | None,
) -> None:
    """A small tensor with its elements, a big one as an input of its data type and shape."""
    if tensor is None:
        if value is not None:
            serde.serialize_value_into(graph.input.add(), value)
    elif small_tensor(tensor):
        add_tensor(graph, name, tensor)
    else:
        like = onnx_ir.Value(
            name=name,
            shape=onnx_ir.Shape(tensor.shape.numpy()),
            type=onnx_ir.TensorType(tensor.dtype),
        )
        serde.serialize_value_into(graph.input.add(), like)


def add_tensor(graph: onnx.GraphProto, name: str, tensor: onnx_ir.TensorProtocol) -> None:
    """Adds a weight with its elements."""
    if isinstance(tensor, onnx_ir.ExternalTensor):
        tensor = onnx_ir.tensor(tensor.numpy(), dtype=tensor.dtype)
    serde.serialize_tensor_into(graph.initializer.add(), tensor)
    graph.initializer[-1].name = name


def for_inference(node: onnx.NodeProto) -> None:
    """Makes a node one that onnx infers right: another one for it, where it would not be; and
    without what the graphs in it say of the shapes of their values, as inference finds it."""
    is_of_onnx = node.domain in ("", "ai.onnx")
    if is_of_onnx and _AS_FIRST.get(node.op_type) == len(node.input):
        node.op_type = "Tanh"  # of floats of any type
        del node.input[1:], node.attribute[:]
    elif is_of_onnx and len(node.input) == 3 and node.op_type in _ALIKE:
        node.op_type = _ALIKE[node.op_type]
        del node.attribute[:]
    elif is_of_onnx and node.op_type == "Loop":
        # Of one with fewer onnx takes the number of states for a huge one.
        node.input.extend([""] * (2 - len(node.input)))
    for attribute in node.attribute:
        if attribute.HasField("g"):
            del attribute.g.value_info[:]
            for info in attribute.g.output:
                if info.type.HasField("tensor_type"):
                    info.type.tensor_type.ClearField("shape")
            for inside in attribute.g.node:
                for_inference(inside)


def _add_recorded(graph: onnx.GraphProto, node: onnx_ir.Node) -> None:
    """What the model itself says of the outputs of an operator that onnx does not know."""
    for value in node.outputs:
        if value.name and value.type is not None:
            serde.serialize_value_into(graph.value_info.add(), value)


def elements_of(tensor: onnx_ir.TensorProtocol) -> numpy.ndarray[Any, Any]:
    """The elements of a tensor; texts as Python's, which inputs are, too."""
    if tensor.dtype != onnx_ir.DataType.STRING:
        array: numpy.ndarray[Any, Any] = tensor.numpy()
        return array
    # An array of bytes loses zeros at the ends of texts.
    if isinstance(tensor, onnx_ir.StringTensor):
        flat = tensor.string_data()
    else:
        flat = tensor.numpy().reshape(-1).tolist()
    made: numpy.ndarray[Any, Any] = numpy.empty(tuple(tensor.shape.numpy()), object)
    made.reshape(-1)[:] = [
        one.decode(errors=_ERRORS) if isinstance(one, bytes) else one for one in flat
    ]
    return made


def tensor_of(array: numpy.ndarray[Any, Any], name: str | None = None) -> onnx_ir.TensorProtocol:
    """A tensor of elements, of texts, too. TypeError where these are neither numbers nor texts."""
    if array.dtype.kind not in "OSU":
        made: onnx_ir.TensorProtocol = onnx_ir.tensor(array, name=name)
        return made
    flat = []
    for one in array.reshape(-1).tolist():
        if not isinstance(one, str | bytes):
            raise TypeError(f"expected texts, got {type(one).__name__}")
        flat.append(one.encode(errors=_ERRORS) if isinstance(one, str) else one)
    return onnx_ir.StringTensor(flat, shape=onnx_ir.Shape(array.shape), name=name)


def texts_of(node: onnx_ir.Node) -> onnx_ir.TensorProtocol | None:
    """The texts that a Constant has as such, of which onnx-ir reads ASCII alone; None without."""
    for name in ("value_string", "value_strings"):
        texts = node.attributes.get(name)
        if node.op_type == "Constant" and texts is not None and texts.ref_attr_name is None:
            return tensor_of(numpy.array(texts.value, object))
    return None


def const_tensor(value: onnx_ir.Value) -> onnx_ir.TensorProtocol | None:
    """The tensor of a weight, or of what a Constant gives; None where a value is neither."""
    node = value.producer()
    texts = None if node is None else texts_of(node)
    return onnx_ir.convenience.get_const_tensor(value) if texts is None else texts
