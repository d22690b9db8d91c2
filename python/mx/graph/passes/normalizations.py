"""Recognizes layer and RMS normalization that models spell out: one node can be one kernel."""

from __future__ import annotations

import numpy
import onnx_ir

from .._spec import dims_of
from ._pass import Pass, is_onnx
from ._patterns import constant, giver_of, ints, number, only_user, other, put, rank_of, register

# Since which version of ONNX's operators there are such nodes.
_LAYER_SINCE, _RMS_SINCE = 17, 23


def _run(model: onnx_ir.Model) -> list[str]:
    opset = model.opset_imports.get("", 1)
    removed: list[str] = []
    for node in list(model.graph):
        if node.graph is not None and is_onnx(node, "Sqrt"):
            removed += _normalization(node, opset)
    return removed


def _normalization(root: onnx_ir.Node, opset: int) -> list[str]:
    """d / sqrt(mean(d * d) + epsilon), where d is x, or x - mean(x)."""
    added = giver_of(root.inputs[0], "Add")
    if added is None:
        return []
    found = [
        (giver_of(value, "ReduceMean"), number(small))
        for value, small in (added.inputs, reversed(added.inputs))
    ]
    (variance, epsilon) = next(
        ((node, small) for node, small in found if node is not None and small is not None),
        (None, None),
    )
    if variance is None or epsilon is None:
        return []
    centered = _squared(giver_of(variance.inputs[0], "Mul", "Pow"))
    axis = _first_axis(variance)
    if centered is None or axis is None or centered.dtype != onnx_ir.DataType.FLOAT:
        return []
    divided = _divided(root, centered)
    x = _with_mean(centered, axis)
    operator, since = ("RMSNormalization", _RMS_SINCE)
    if x is not None:
        operator, since = ("LayerNormalization", _LAYER_SINCE)
    x = centered if x is None else x
    dims = dims_of(x.shape)
    if divided is None or dims is None or opset < since:
        return []
    normalized = dims[axis:]
    if not all(isinstance(extent, int) for extent in normalized):
        return []
    shape = tuple(extent for extent in normalized if isinstance(extent, int))
    return _placed(operator, divided, x, shape, {"axis": axis - len(dims), "epsilon": epsilon})


def _placed(
    operator: str,
    divided: onnx_ir.Node,
    x: onnx_ir.Value,
    shape: tuple[int, ...],
    attributes: dict[str, int | float],
) -> list[str]:
    """Puts the operator there, with the scale and the shift behind it."""
    graph = divided.graph
    assert isinstance(graph, onnx_ir.Graph)
    last, parameters = divided, []
    kinds = ("Mul", "Add") if operator == "LayerNormalization" else ("Mul",)
    for kind in kinds:
        user = only_user(last.outputs[0], kind)
        value = None if user is None else other(user, last.outputs[0])
        given = None if value is None else _parameter(graph, value, shape)
        if user is None or given is None:
            break
        last = user
        parameters.append(given)
    if not parameters:
        ones = onnx_ir.tensor(numpy.ones(shape, "float32"))
        parameters = [register(graph, ones, f"{x.name}_scale")]
    return put(last, operator, [x, *parameters], attributes)


def _parameter(
    graph: onnx_ir.Graph, value: onnx_ir.Value, shape: tuple[int, ...]
) -> onnx_ir.Value | None:
    """A scale or a shift of the shape that is normalized."""
    dims = dims_of(value.shape)
    if dims is not None and tuple(dims) == shape:
        return value
    elements = constant(value)
    if elements is None or elements.dtype != "float32":
        return None
    extra = elements.ndim - len(shape)
    if extra > 0 and any(extent != 1 for extent in elements.shape[:extra]):
        return None
    trimmed = elements.reshape(elements.shape[max(extra, 0) :])
    try:
        spread = numpy.ascontiguousarray(numpy.broadcast_to(trimmed, shape))
    except ValueError:
        return None
    return register(graph, onnx_ir.tensor(spread), f"{value.name}_spread")


def _squared(node: onnx_ir.Node | None) -> onnx_ir.Value | None:
    """What a node multiplies with itself."""
    if node is None:
        return None
    first, second = node.inputs
    if node.op_type == "Pow":
        return first if number(second) == 2 else None
    return first if first is second else None


def _first_axis(node: onnx_ir.Node) -> int | None:
    """The first of the axes that a ReduceMean is over; None where they are not all to the last."""
    axes, rank = ints(node, "axes", 1), rank_of(node.inputs[0])
    if axes is None or not rank or node.attributes.get_int("keepdims", 1) != 1:
        return None
    found = sorted(axis % rank for axis in axes)
    return found[0] if found and found == list(range(found[0], rank)) else None


def _with_mean(centered: onnx_ir.Value, axis: int) -> onnx_ir.Value | None:
    """What a value is without its mean over the axes from one on."""
    difference = giver_of(centered, "Sub")
    if difference is None:
        return None
    x, mean = difference.inputs
    node = giver_of(mean, "ReduceMean")
    is_mean = node is not None and node.inputs[0] is x and _first_axis(node) == axis
    return x if is_mean else None


def _divided(root: onnx_ir.Node, centered: onnx_ir.Value) -> onnx_ir.Node | None:
    """The node that divides by a root."""
    node = only_user(root.outputs[0], "Div", "Reciprocal")
    if node is None:
        return None
    if node.op_type == "Div" and node.inputs[0] is centered:
        return node if node.inputs[1] is root.outputs[0] else None
    if node.op_type == "Div" and number(node.inputs[0]) != 1:
        return None
    product = only_user(node.outputs[0], "Mul")
    if product is None or other(product, node.outputs[0]) is not centered:
        return None
    return product


NORMALIZATIONS = Pass(
    "normalizations", "recognizes layer and RMS normalization where models spell them out", _run
)
