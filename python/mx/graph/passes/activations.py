"""Recognizes activation functions that models spell out: one node can be one kernel."""

from __future__ import annotations

import math

import onnx_ir

from .._summary import label_of
from ._pass import Pass, is_onnx, may_replace, replace

# Since which version of ONNX's operators there are such nodes.
_GELU_SINCE, _SWISH_SINCE = 20, 24


def _run(model: onnx_ir.Model) -> list[str]:
    opset = model.opset_imports.get("", 1)
    removed: list[str] = []
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(model.graph)):
        if is_onnx(node, "Erf") and opset >= _GELU_SINCE:
            removed += _gelu(node)
        elif is_onnx(node, "Sigmoid") and opset >= _SWISH_SINCE:
            removed += _swish(node)
    return removed


def _gelu(erf: onnx_ir.Node) -> list[str]:
    """x * 0.5 * (1 + erf(x / sqrt(2))), multiplied in any order."""
    scaled = erf.inputs[0].producer() if erf.inputs[0] is not None else None
    if scaled is None:
        return []
    x = _scaled_by(scaled, 1 / math.sqrt(2))
    shifted = _only_user(erf.outputs[0], "Add")
    if x is None or shifted is None or _other_number(shifted, erf.outputs[0]) != 1:
        return []
    product = _only_user(shifted.outputs[0], "Mul")
    if product is None:
        return []
    factor = _other(product, shifted.outputs[0])
    if factor is x:  # x * (1 + erf) * 0.5
        last = _only_user(product.outputs[0], "Mul", "Div")
        if last is None or _scaled_by(last, 0.5) is not product.outputs[0]:
            return []
        return _become(last, "Gelu", x, [erf, shifted, product, scaled])
    halved = factor.producer() if factor is not None else None
    if halved is None:
        return []
    if _scaled_by(halved, 0.5) is x:  # (x * 0.5) * (1 + erf)
        return _become(product, "Gelu", x, [erf, shifted, scaled, halved])
    return []


def _swish(sigmoid: onnx_ir.Node) -> list[str]:
    """x * sigmoid(x)"""
    x = sigmoid.inputs[0]
    product = _only_user(sigmoid.outputs[0], "Mul")
    if x is None or product is None or _other(product, sigmoid.outputs[0]) is not x:
        return []
    return _become(product, "Swish", x, [sigmoid])


def _become(
    last: onnx_ir.Node, operator: str, x: onnx_ir.Value, unused: list[onnx_ir.Node]
) -> list[str]:
    """Puts one node in place of the last of several; those go that nobody uses any more."""
    graph = last.graph
    assert isinstance(graph, onnx_ir.Graph)
    made = onnx_ir.node(operator, [x], name=last.name)
    made.metadata_props.update(last.metadata_props)
    made.outputs[0].type, made.outputs[0].shape = last.outputs[0].type, last.outputs[0].shape
    graph.insert_before(last, made)
    if not may_replace(last.outputs[0], made.outputs[0], graph):
        graph.remove(made, safe=True)
        return []
    name = last.outputs[0].name
    replace(last.outputs[0], made.outputs[0])
    removed = [label_of(last)]
    graph.remove(last, safe=True)
    made.outputs[0].name = name
    going = list(unused)
    while going:
        # Each after those that use it.
        free = [node for node in going if not any(value.uses() for value in node.outputs)]
        if not free or any(value.is_graph_output() for node in free for value in node.outputs):
            break
        for node in free:
            graph.remove(node, safe=True)
            removed.append(label_of(node))
            going.remove(node)
    return removed


def _only_user(value: onnx_ir.Value, *operators: str) -> onnx_ir.Node | None:
    """The node that alone uses a value, where it is one of these operators."""
    users = {use.node for use in value.uses()}
    if len(users) != 1 or value.is_graph_output():
        return None
    (user,) = users
    giver = value.producer()
    is_near = giver is not None and user.graph is giver.graph
    return user if is_near and is_onnx(user, *operators) else None


def _other(node: onnx_ir.Node, value: onnx_ir.Value) -> onnx_ir.Value | None:
    """The other one of two inputs."""
    first, second = node.inputs
    return second if first is value else first


def _other_number(node: onnx_ir.Node, value: onnx_ir.Value) -> float | None:
    other = _other(node, value)
    return None if other is None else _number(other)


def _number(value: onnx_ir.Value) -> float | None:
    """The one element of a constant without axes, or with axes of one element."""
    tensor = onnx_ir.convenience.get_const_tensor(value)
    if tensor is None or tensor.size != 1 or len(tensor.shape) > 1:
        return None
    return float(tensor.numpy().reshape(()))


def _scaled_by(node: onnx_ir.Node, factor: float) -> onnx_ir.Value | None:
    """What a node multiplies by a factor, or divides by its inverse; None for any other node."""
    if not is_onnx(node, "Mul", "Div") or None in node.inputs:
        return None
    first, second = node.inputs
    assert first is not None and second is not None
    for value, number in ((first, _number(second)), (second, _number(first))):
        if number is None or (value is second and node.op_type == "Div"):
            continue
        came = 1 / number if node.op_type == "Div" and number else number
        if math.isclose(came, factor, rel_tol=1e-3):
            return value
    return None


ACTIVATIONS = Pass("activations", "recognizes Gelu and Swish where models spell them out", _run)
