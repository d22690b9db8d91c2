"""Whether nodes have the attributes that their operators are described with."""

from __future__ import annotations

import re

import onnx

from ...graph._errors import GraphError
from ._walk import graphs_of, node_text

_SINGLE = {"f": "FLOAT", "i": "INT", "s": "STRING", "t": "TENSOR", "g": "GRAPH"}
_SEVERAL = {name.lower(): name for name in ("FLOATS", "INTS", "STRINGS", "TENSORS", "GRAPHS")}
# A node whose tensors are larger is checked without them.
_SMALL = 4096


def check(proto: onnx.ModelProto, file: str) -> None:
    """Raises GraphError for nodes of known operators with other attributes or inputs than these."""
    context = onnx.checker.C.CheckerContext()
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    context.ir_version = max(proto.ir_version, 3)
    context.opset_imports = versions
    stub = onnx.GraphProto(name="graph")
    for graph in graphs_of(proto.graph, file):
        for node in graph.node:
            names = [attribute.name for attribute in node.attribute]
            if len(set(names)) < len(names):
                raise GraphError(f"{file}: {node_text(node)}: it has an attribute twice")
            for attribute in node.attribute:
                _check_type(attribute, node, file)
            domain = "" if node.domain == "ai.onnx" else node.domain
            if not onnx.defs.has(node.op_type, versions.get(domain, 0), domain):
                continue
            schema = onnx.defs.get_schema(node.op_type, versions[domain], domain)
            _check_inputs(node, schema, file)
            _check(_light(node, stub), context, node, file)


def _check_type(attribute: onnx.AttributeProto, node: onnx.NodeProto, file: str) -> None:
    """Gives an attribute its type, which the first files left out; raises where it has none."""
    if attribute.type != onnx.AttributeProto.UNDEFINED:
        return
    kinds = [name for field, name in _SINGLE.items() if attribute.HasField(field)]
    kinds += [name for field, name in _SEVERAL.items() if len(getattr(attribute, field))]
    if len(kinds) != 1:
        raise GraphError(f"{file}: {node_text(node)}: its attribute {attribute.name!r} has no type")
    attribute.type = onnx.AttributeProto.AttributeType.Value(kinds[0])


def _check_inputs(node: onnx.NodeProto, schema: onnx.defs.OpSchema, file: str) -> None:
    """Raises GraphError where an input is left out that has to be there."""
    for position, name in enumerate(node.input):
        if name or not schema.inputs:
            continue
        parameter = schema.inputs[min(position, len(schema.inputs) - 1)]
        if parameter.option != onnx.defs.OpSchema.FormalParameterOption.Optional:
            raise GraphError(f"{file}: {node_text(node)}: its input {parameter.name!r} is left out")


def _light(node: onnx.NodeProto, stub: onnx.GraphProto) -> onnx.NodeProto:
    """A node without the graphs and big tensors in it."""
    heavy = any(
        attribute.HasField("g")
        or attribute.graphs
        or (attribute.HasField("t") and _is_heavy(attribute.t))
        for attribute in node.attribute
    )
    if not heavy:
        return node
    copy = onnx.NodeProto(
        op_type=node.op_type, name=node.name, domain=node.domain, input=node.input
    )
    copy.output.extend(node.output)
    for attribute in node.attribute:
        added = copy.attribute.add(name=attribute.name, type=attribute.type)
        if attribute.HasField("g"):
            added.g.CopyFrom(stub)
        elif attribute.HasField("t") and _is_heavy(attribute.t):
            added.t.data_type, added.t.name = attribute.t.data_type, attribute.t.name
            added.t.dims.append(0)
        else:
            added.CopyFrom(attribute)
    return copy


def _is_heavy(tensor: onnx.TensorProto) -> bool:
    return tensor.ByteSize() > _SMALL or tensor.data_location == onnx.TensorProto.EXTERNAL


def _check(
    node: onnx.NodeProto,
    context: onnx.checker.C.CheckerContext,
    original: onnx.NodeProto,
    file: str,
) -> None:
    try:
        onnx.checker.check_node(node, context)
    except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
        text = re.sub(r"\s*==> Context:.*", "", str(error), flags=re.S).strip()
        raise GraphError(f"{file}: {node_text(original)}: {text}") from None
