"""What passes look for among nodes, and how they put one node where several were."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx_ir

from .. import _proto
from .._spec import dims_of
from .._summary import label_of
from ._pass import is_onnx, may_replace, replace

# Of larger constants nobody wants to know whether all elements are the same.
_FEW = 1 << 16


def giver_of(value: onnx_ir.Value | None, *operators: str) -> onnx_ir.Node | None:
    """The node that gives a value, where it is one of these operators; any node for none."""
    giver = None if value is None else value.producer()
    if giver is None or not operators:
        return giver
    return giver if is_onnx(giver, *operators) else None


def only_user(value: onnx_ir.Value, *operators: str) -> onnx_ir.Node | None:
    """The node that alone uses a value, where it is one of these operators."""
    users = {use.node for use in value.uses()}
    if len(users) != 1 or value.is_graph_output():
        return None
    (user,) = users
    giver = value.producer()
    is_near = giver is not None and user.graph is giver.graph
    return user if is_near and is_onnx(user, *operators) else None


def other(node: onnx_ir.Node, value: onnx_ir.Value) -> onnx_ir.Value | None:
    """The other one of two inputs."""
    first, second = node.inputs
    return second if first is value else first


def constant(value: onnx_ir.Value | None) -> numpy.ndarray[Any, Any] | None:
    """The elements of a small constant."""
    tensor = None if value is None else _proto.const_tensor(value)
    if tensor is None or tensor.size > _FEW:
        return None
    return _proto.elements_of(tensor)


def elements_of(value: onnx_ir.Value | None) -> numpy.ndarray[Any, Any] | None:
    """The elements of a weight, however many."""
    if value is None or not value.is_initializer() or value.const_value is None:
        return None
    return _proto.elements_of(value.const_value)


def register(graph: onnx_ir.Graph, tensor: onnx_ir.TensorProtocol, wanted: str) -> onnx_ir.Value:
    """A new initializer; where there is one of the wanted name, with a number behind."""
    name, count = wanted, 0
    while name in graph.initializers:
        count += 1
        name = f"{wanted}_{count}"
    tensor.name = name
    value = onnx_ir.Value(
        name=name,
        shape=onnx_ir.Shape(tensor.shape.numpy()),
        type=onnx_ir.TensorType(tensor.dtype),
        const_value=tensor,
    )
    graph.register_initializer(value)
    return value


def number(value: onnx_ir.Value | None) -> float | None:
    """The one element of a constant without axes, or with axes of one element."""
    tensor = None if value is None else _proto.const_tensor(value)
    if tensor is None or tensor.size != 1 or len(tensor.shape) > 1:
        return None
    elements = tensor.numpy()
    return float(elements.reshape(())) if elements.dtype.kind in "biuf" else None


def ints(node: onnx_ir.Node, name: str, position: int) -> list[int] | None:
    """Integers that are an attribute in old versions of an operator, and an input in others; None
    where they are not known, or not given."""
    if name in node.attributes:
        return list(node.attributes[name].as_ints())
    elements = constant(node.inputs[position]) if len(node.inputs) > position else None
    return None if elements is None else [int(one) for one in elements.reshape(-1)]


def scaled_by(node: onnx_ir.Node, factor: float) -> onnx_ir.Value | None:
    """What a node multiplies by a factor, or divides by its inverse; None for any other node."""
    value, came = scaled(node)
    return value if value is not None and math.isclose(came, factor, rel_tol=1e-3) else None


def scaled(node: onnx_ir.Node | None) -> tuple[onnx_ir.Value | None, float]:
    """What a node multiplies by a number, and the number; of a division the inverse."""
    if node is None or not is_onnx(node, "Mul", "Div") or None in node.inputs:
        return None, 1.0
    first, second = node.inputs
    if (factor := number(second)) is not None:
        if node.op_type == "Mul":
            return first, factor
        return (first, 1 / factor) if factor else (None, 1.0)
    factor = number(first)
    return (second, factor) if factor is not None and node.op_type == "Mul" else (None, 1.0)


def rank_of(value: onnx_ir.Value | None) -> int | None:
    """How many axes a value has, where that is known."""
    return None if value is None or value.shape is None else len(value.shape)


def same_shape(one: onnx_ir.Value, two: onnx_ir.Value) -> bool:
    """Whether two values are known to have the same shape."""
    dims = dims_of(one.shape)
    return dims is not None and None not in dims and dims == dims_of(two.shape)


def put(
    last: onnx_ir.Node,
    operator: str,
    inputs: Sequence[onnx_ir.Value | None],
    attributes: Mapping[str, Any] | None = None,
) -> list[str]:
    """Puts one node where the last of several is; the names of those that nobody needs any more.

    Nothing is done, and nothing returned, where the last one has to stay.
    """
    graph = last.graph
    assert isinstance(graph, onnx_ir.Graph)
    made = onnx_ir.node(operator, inputs, attributes, name=last.name)
    made.metadata_props.update(last.metadata_props)
    made.outputs[0].type, made.outputs[0].shape = last.outputs[0].type, last.outputs[0].shape
    graph.insert_before(last, made)
    if not may_replace(last.outputs[0], made.outputs[0], graph):
        graph.remove(made, safe=True)
        return []
    name, label = last.outputs[0].name, label_of(last)
    replace(last.outputs[0], made.outputs[0])
    removed = remove(last, label)
    made.outputs[0].name = name
    return removed


def skip(node: onnx_ir.Node, value: onnx_ir.Value) -> list[str]:
    """Has all that used what a node gives use another value; the names of the nodes that go."""
    graph = node.graph
    assert isinstance(graph, onnx_ir.Graph)
    if not may_replace(node.outputs[0], value, graph):
        return []
    label = label_of(node)
    replace(node.outputs[0], value)
    return remove(node, label)


def remove(node: onnx_ir.Node, label: str | None = None) -> list[str]:
    """Removes a node that nobody uses, and those before it that nobody else uses; their names.

    `label` is what the node was called before its output got another name.
    """
    graph = node.graph
    if not isinstance(graph, onnx_ir.Graph):
        return []
    if any(value.uses() or value.is_graph_output() for value in node.outputs):
        return []
    givers = [value.producer() for value in node.inputs if value is not None]
    removed = [label_of(node) if label is None else label]
    graph.remove(node, safe=True)
    for giver in givers:
        if giver is not None and giver.graph is graph:
            removed += remove(giver)
    return removed
