"""Moves transpositions behind the operators that do not care, and merges those that meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import onnx_ir

from .._spec import dims_of
from .._summary import label_of
from ._pass import Pass, is_onnx, may_replace, replace
from ._patterns import constant, giver_of, only_user, rank_of, register, remove, skip

# Of one operand; what others they have are numbers.
_UNARY = """
    Abs Cast Ceil Celu Clip Elu Erf Exp Floor Gelu HardSigmoid HardSwish LeakyRelu Log Mish Neg Not
    Reciprocal Relu Round Selu Sigmoid Sign Softplus Softsign Sqrt Swish Tanh ThresholdedRelu
""".split()
_BINARY = "Add Div Max Min Mul Pow Sub".split()
_MATH_SINCE = 7  # before, an attribute said how operands fit
_MOST_ROUNDS = 100


def _run(model: onnx_ir.Model) -> list[str]:
    opset = model.opset_imports.get("", 1)
    removed: list[str] = []
    for _ in range(_MOST_ROUNDS):
        changed = False
        for node in list(model.graph):
            if node.graph is None or not is_onnx(node, "Transpose") or order_of(node) is None:
                continue
            gone = _merge(node) or _move(node, opset)
            removed += gone or []
            changed |= gone is not None
        if not changed:
            break
    return removed


def order_of(node: onnx_ir.Node) -> list[int] | None:
    """The axes of what a Transpose reads, in the order of what it gives."""
    if "perm" in node.attributes:
        return list(node.attributes["perm"].as_ints())
    rank = rank_of(node.inputs[0])
    return None if rank is None else list(range(rank))[::-1]


def _merge(node: onnx_ir.Node) -> list[str]:
    """A Transpose of a Transpose: one, or none. The names of the nodes that are gone."""
    order = order_of(node)
    inner = giver_of(node.inputs[0], "Transpose")
    first = None if inner is None else order_of(inner)
    x = None if inner is None else inner.inputs[0]
    if inner is None or order is None or first is None or x is None or inner.graph != node.graph:
        return []
    both = [first[axis] for axis in order]
    if both == list(range(len(both))):
        return skip(node, x)
    if only_user(inner.outputs[0]) is None and not _is_alone(inner):
        return []
    node.replace_input_with(0, x)
    node.attributes["perm"] = onnx_ir.AttrInt64s("perm", both)
    return remove(inner)


def _is_alone(node: onnx_ir.Node) -> bool:
    value = node.outputs[0]
    return len(value.uses()) == 1 and not value.is_graph_output()


def _move(node: onnx_ir.Node, opset: int) -> list[str] | None:
    """Has the node behind a Transpose come before it, where it does the same there.

    The names of the nodes that are gone by that; None where nothing has changed.
    """
    order = order_of(node)
    if order is None or not _is_alone(node) or node.inputs[0] is None:
        return None
    (use,) = node.outputs[0].uses()
    user = use.node
    if user.graph is not node.graph or len(user.outputs) != 1:
        return None
    inputs = _inputs_before(user, order, opset)
    return None if inputs is None else _exchange(node, user, inputs, order)


def _inputs_before(
    user: onnx_ir.Node, order: Sequence[int], opset: int
) -> list[onnx_ir.Value | None] | None:
    """What a node would read before a Transpose; None where it is not the same there."""
    if is_onnx(user, *_UNARY):
        giver = giver_of(user.inputs[0], "Transpose")
        return None if giver is None else [giver.inputs[0], *user.inputs[1:]]
    if not is_onnx(user, *_BINARY) or opset < _MATH_SINCE or len(user.inputs) != 2:
        return None
    inputs: list[onnx_ir.Value | None] = []
    for value in user.inputs:
        giver = giver_of(value, "Transpose")
        if giver is not None and order_of(giver) == list(order) and _is_alone(giver):
            inputs.append(giver.inputs[0])
            continue
        turned = None if value is None else _turned(value, order)
        if turned is None:
            return None
        inputs.append(turned)
    return inputs


def _turned(value: onnx_ir.Value, order: Sequence[int]) -> onnx_ir.Value | None:
    """A constant operand for a value before it is transposed."""
    dims = dims_of(value.shape)
    if dims is not None and len(dims) <= len(order) and all(extent == 1 for extent in dims):
        return value
    elements = constant(value)
    giver = value.producer()
    if elements is None or elements.ndim > len(order) or not value.is_initializer() or giver:
        return None
    whole = elements.reshape((1,) * (len(order) - elements.ndim) + elements.shape)
    back = numpy.argsort(order)
    turned = numpy.ascontiguousarray(whole.transpose(back))
    graph = value.graph
    if graph is None or value.name is None or value.is_graph_output():
        return None
    name = f"{value.name}_turned_{''.join(map(str, back))}"
    if name in graph.initializers:
        return graph.initializers[name]
    return register(graph, onnx_ir.tensor(turned), name)


def _exchange(
    node: onnx_ir.Node,
    user: onnx_ir.Node,
    inputs: Sequence[onnx_ir.Value | None],
    order: Sequence[int],
) -> list[str] | None:
    graph = user.graph
    assert isinstance(graph, onnx_ir.Graph)
    moved = onnx_ir.node(user.op_type, inputs, domain=user.domain, name=user.name)
    moved.attributes.update(user.attributes)
    moved.metadata_props.update(user.metadata_props)
    old = user.outputs[0]
    turned = onnx_ir.node("Transpose", moved.outputs, {"perm": list(order)}, name=node.name)
    turned.metadata_props.update(node.metadata_props)
    turned.outputs[0].type, turned.outputs[0].shape = old.type, old.shape
    moved.outputs[0].type = old.type
    dims = dims_of(old.shape)
    if dims is not None and old.shape is not None:
        back = [int(axis) for axis in numpy.argsort(order)]
        moved.outputs[0].shape = onnx_ir.Shape([old.shape[axis] for axis in back])
    graph.insert_before(user, [moved, turned])
    if not may_replace(old, turned.outputs[0], graph):
        graph.remove([turned, moved], safe=True)
        return None
    name, stay = old.name, [label_of(user), label_of(node)]
    replace(old, turned.outputs[0])
    removed = [label for label in remove(user, stay[0]) if label not in stay]
    turned.outputs[0].name = name
    return removed


TRANSPOSES = Pass(
    "transposes", "moves transpositions behind elementwise operators, and merges them", _run
)
