"""What rules and messages want to know of a node."""

from __future__ import annotations

import functools
from typing import Any

import onnx
import onnx_ir

# The name of a node's metadata that says in which precision it may be computed: "bfloat16".
PRECISION = "mx.precision"


def describe(node: onnx_ir.Node) -> str:
    """A node in messages: its name and operator, and where the model says that it came from."""
    source = node.metadata_props.get("mx.source")
    domain = f"{node.domain}." if node.domain else ""
    text = f"node {node.name!r} ({domain}{node.op_type})"
    return f"{text} of {source}" if source else text


def attributes_of(node: onnx_ir.Node) -> dict[str, Any]:
    """The attributes of a node as plain values; tensors are NumPy's, subgraphs onnx_ir's."""
    return {name: _plain(attribute) for name, attribute in node.attributes.items()}


def _plain(attribute: Any) -> Any:
    value = attribute.value
    if attribute.type == onnx_ir.AttributeType.TENSOR:
        return value.numpy()
    if attribute.type in (onnx_ir.AttributeType.INTS, onnx_ir.AttributeType.FLOATS):
        return list(value)
    return value


def since_version(node: onnx_ir.Node, opset: int) -> int:
    """The version in which the node's operator got the meaning that it has; 0 for no operator."""
    return _since_version(node.op_type, opset, node.domain)


@functools.cache
def _since_version(operator: str, opset: int, domain: str) -> int:
    try:
        return int(onnx.defs.get_schema(operator, opset, domain).since_version)
    except onnx.defs.SchemaError:
        return 0
