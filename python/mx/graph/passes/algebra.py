"""Removes what makes no difference to numbers: factors of one, double negation, second reshapes."""

from __future__ import annotations

import numpy
import onnx_ir

from .._spec import dims_of
from ._pass import Pass, is_onnx
from ._patterns import constant, giver_of, remove, same_shape, skip

# The element that changes nothing, by operator, and whether it may be the first operand, too.
_NEUTRAL = {
    "Add": (0, True), "Sub": (0, False), "Mul": (1, True), "Div": (1, False), "Pow": (1, False),
    "And": (True, True), "Or": (False, True), "Xor": (False, True),
}  # fmt: skip
_UNDOES_ITSELF = ("Neg", "Not")
_TWICE_AS_ONCE = ("Abs", "Ceil", "Floor", "Relu", "Round", "Sign")
# What only says in which shape elements are, or how often; the same shape is the same elements.
_SHAPES = ("Expand", "Flatten", "Reshape", "Squeeze", "Tile", "Unsqueeze")
# Nodes before a Reshape to a known shape whose own shapes do not matter.
_SHAPED_BEFORE = ("Flatten", "Reshape", "Squeeze", "Unsqueeze")
_MATH_SINCE = 7  # before, an attribute said how operands fit


def _run(model: onnx_ir.Model) -> list[str]:
    opset = model.opset_imports.get("", 1)
    removed: list[str] = []
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(model.graph)):
        if node.graph is None or not node.inputs or node.inputs[0] is None:
            continue
        if node.op_type in _NEUTRAL:
            removed += _neutral(node) if opset >= _MATH_SINCE else []
        elif is_onnx(node, *_UNDOES_ITSELF, *_TWICE_AS_ONCE):
            removed += _twice(node)
        elif is_onnx(node, "Cast"):
            removed += _cast(node)
        elif is_onnx(node, *_SHAPES, "Pad", "Slice"):
            removed += _shaped(node)
        elif is_onnx(node, "Clip") and not any(node.inputs[1:]) and not node.attributes:
            removed += skip(node, node.inputs[0]) if opset >= 11 else []
    return removed


def _neutral(node: onnx_ir.Node) -> list[str]:
    if not is_onnx(node, node.op_type):
        return []
    neutral, either = _NEUTRAL[node.op_type]
    first, second = node.inputs
    for value, unit in ((first, second), (second, first) if either else (None, None)):
        if value is None or unit is None or value.dtype != node.outputs[0].dtype:
            continue
        elements = constant(unit)
        if elements is None or not _keeps_shape(elements.shape, value):
            continue
        if elements.size and (elements == neutral).all():
            return skip(node, value)
    return []


def _keeps_shape(shape: tuple[int, ...], value: onnx_ir.Value) -> bool:
    """Whether broadcasting a value with one of this shape leaves its shape as it is."""
    dims = dims_of(value.shape)
    if dims is None or len(shape) > len(dims):
        return False
    ends = dims[len(dims) - len(shape) :]
    return all(extent in (1, dim) for extent, dim in zip(shape, ends, strict=True))


def _twice(node: onnx_ir.Node) -> list[str]:
    inner = giver_of(node.inputs[0], node.op_type)
    if inner is None or inner.inputs[0] is None:
        return []
    if node.op_type in _TWICE_AS_ONCE:
        return skip(node, inner.outputs[0])
    return skip(node, inner.inputs[0])


def _cast(node: onnx_ir.Node) -> list[str]:
    """A cast of a cast to a type that has all numbers of the one before."""
    inner = giver_of(node.inputs[0], "Cast")
    x = inner.inputs[0] if inner is not None else None
    if inner is None or x is None or x.dtype is None or len(inner.outputs[0].uses()) != 1:
        return []
    between = onnx_ir.DataType(inner.attributes.get_int("to", 0))
    to = onnx_ir.DataType(node.attributes.get_int("to", 0))
    if inner.outputs[0].is_graph_output() or not _has_all(between, x.dtype):
        return []
    if to == x.dtype:
        return skip(node, x)
    if len({_kind(one) for one in (x.dtype, between, to)}) > 1:
        return []
    node.replace_input_with(0, x)
    return remove(inner)


def _kind(dtype: onnx_ir.DataType) -> str:
    if dtype == onnx_ir.DataType.BFLOAT16:
        return "f"
    kind = dtype.numpy().kind
    return "i" if kind == "u" else str(kind)


def _has_all(wide: onnx_ir.DataType, narrow: onnx_ir.DataType) -> bool:
    """Whether all numbers of a type are numbers of another one."""
    if narrow == onnx_ir.DataType.BFLOAT16:
        return wide in (onnx_ir.DataType.FLOAT, onnx_ir.DataType.DOUBLE, narrow)
    kinds = [one.numpy().kind for one in (wide, narrow)]
    if any(kind not in "biuf" for kind in kinds) or wide == onnx_ir.DataType.BFLOAT16:
        return False
    if kinds[0] == "f" and kinds[1] in "iu" and narrow.itemsize == 8:
        return False  # which NumPy thinks that float64 has
    return bool(numpy.can_cast(narrow.numpy(), wide.numpy(), "safe"))


def _shaped(node: onnx_ir.Node) -> list[str]:
    x = node.inputs[0]
    assert x is not None
    if same_shape(x, node.outputs[0]) and _takes_all(node):
        return skip(node, x)
    if not is_onnx(node, "Reshape"):
        return []
    inner = giver_of(x, *_SHAPED_BEFORE)
    wanted = constant(node.inputs[1]) if len(node.inputs) > 1 else None
    if inner is None or wanted is None or inner.inputs[0] is None:
        return []
    # A zero is an extent of what the node is given now.
    if (wanted == 0).any() or len(x.uses()) != 1 or x.is_graph_output():
        return []
    node.replace_input_with(0, inner.inputs[0])
    return remove(inner)


def _takes_all(node: onnx_ir.Node) -> bool:
    """Whether elements stay in their order, where the shape stays."""
    if node.op_type == "Slice":
        steps = constant(node.inputs[4]) if len(node.inputs) > 4 else None
        given = len(node.inputs) > 4 and node.inputs[4] is not None
        return not given or (steps is not None and bool((steps == 1).all()))
    if node.op_type == "Pad":
        pads = constant(node.inputs[1]) if len(node.inputs) > 1 else None
        return pads is not None and not pads.any()
    return True


ALGEBRA = Pass(
    "algebra", "removes factors of one, double negation, second reshapes, and the like", _run
)
