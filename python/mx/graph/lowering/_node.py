"""What rules and messages want to know of a node."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import onnx
import onnx_ir

from .._proto import elements_of

T = TypeVar("T")

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
        return elements_of(value)
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


def is_constant(node: onnx_ir.Node) -> bool:
    """Whether it is a Constant that has its elements as a tensor."""
    return node.op_type == "Constant" and node.domain == "" and "value" in node.attributes


def subgraphs_of(node: onnx_ir.Node) -> Iterator[onnx_ir.Graph]:
    """The graphs among a node's attributes, as control flow has them."""
    for attribute in node.attributes.values():
        if attribute.type == onnx_ir.AttributeType.GRAPH:
            yield attribute.as_graph()
        elif attribute.type == onnx_ir.AttributeType.GRAPHS:
            yield from attribute.as_graphs()


def has_subgraphs(node: onnx_ir.Node) -> bool:
    """Whether a node has graphs among its attributes."""
    return any(True for _ in subgraphs_of(node))


def loop_inputs(inputs: Sequence[T | None]) -> tuple[T | None, T | None, Sequence[T | None]]:
    """What a Loop is given: how often, whether it begins, and its states.

    Both of the first two may be None, as where a Loop without states does not have these inputs.
    """
    most, going = (*inputs[:2], None, None)[:2]
    return most, going, inputs[2:]


def used_by(node: onnx_ir.Node) -> list[onnx_ir.Value]:
    """The values that a node reads, with those that its subgraphs take from around them, in order.

    What a subgraph reads of its own is among them.
    """
    used = [value for value in node.inputs if value is not None]
    for graph in subgraphs_of(node):
        for inner in graph:
            used += used_by(inner)
        used += list(graph.outputs)
    return used
