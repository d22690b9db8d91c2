"""How many operations nodes are: additions, multiplications and functions of one element each."""

from __future__ import annotations

import math
from collections.abc import Callable

import onnx_ir

# Nodes that only move elements, or look at shapes.
_MOVES = frozenset(
    "Cast CastLike Concat Constant ConstantOfShape DepthToSpace Expand Flatten Gather "
    "GatherElements GatherND Identity OneHot Pad Range Reshape ScatterElements ScatterND Shape "
    "Size Slice SpaceToDepth Split Squeeze Tile Transpose Trilu Unsqueeze".split()
)
# Nodes that compute as much as they read.
_READS = frozenset("ArgMax ArgMin CumSum GlobalAveragePool GlobalMaxPool TopK".split())
# Additions, multiplications and functions for each element of what is normalized.
_NORMALIZATIONS = {
    "BatchNormalization": 2, "InstanceNormalization": 7, "LayerNormalization": 7,
    "GroupNormalization": 7, "LogSoftmax": 4, "RMSNormalization": 4, "Softmax": 4,
}  # fmt: skip


def operations(node: onnx_ir.Node) -> int | None:
    """The operations of a node whose shapes are known; None for one that is not counted."""
    try:
        kind = node.op_type
        if node.domain not in ("", "ai.onnx"):
            return None
        if kind in _MOVES:
            return 0
        if kind in _PRODUCTS:
            return _PRODUCTS[kind](node)
        if kind in _NORMALIZATIONS:
            return _NORMALIZATIONS[kind] * _size(node.inputs[0])
        if kind in _READS or kind.startswith("Reduce"):
            return _size(node.inputs[0])
        if kind in ("AveragePool", "MaxPool", "LpPool"):
            return _size(node.outputs[0]) * math.prod(node.attributes["kernel_shape"].as_ints())
        if any(one.type == onnx_ir.AttributeType.GRAPH for one in node.attributes.values()):
            return None
        return _size(node.outputs[0])
    except (KeyError, ValueError):
        return None


def _size(value: onnx_ir.Value | None) -> int:
    return math.prod(_shape(value))


def _shape(value: onnx_ir.Value | None) -> list[int]:
    """ValueError where the shape is not known."""
    if value is None or value.shape is None or not value.shape.is_static():
        raise ValueError("an unknown shape")
    return list(value.shape.numpy())


def _convolution(node: onnx_ir.Node) -> int:
    bias = _size(node.outputs[0]) if len(node.inputs) > 2 else 0
    return 2 * _size(node.outputs[0]) * math.prod(_shape(node.inputs[1])[1:]) + bias


def _transposed_convolution(node: onnx_ir.Node) -> int:
    bias = _size(node.outputs[0]) if len(node.inputs) > 2 else 0
    return 2 * _size(node.inputs[0]) * math.prod(_shape(node.inputs[1])[1:]) + bias


def _product(node: onnx_ir.Node) -> int:
    return 2 * _size(node.outputs[0]) * _shape(node.inputs[0])[-1]


def _gemm(node: onnx_ir.Node) -> int:
    turned = node.attributes.get_int("transA", 0)
    bias = _size(node.outputs[0]) if len(node.inputs) > 2 else 0
    return 2 * _size(node.outputs[0]) * _shape(node.inputs[0])[0 if turned else 1] + bias


def _recurrence(gates: int) -> Callable[[onnx_ir.Node], int]:
    def count(node: onnx_ir.Node) -> int:
        steps, batch, inputs = _shape(node.inputs[0])
        directions, _, hidden = _shape(node.inputs[2])
        return 2 * steps * batch * directions * gates * hidden * (inputs + hidden)

    return count


def _attention(node: onnx_ir.Node) -> int:
    query, key = _shape(node.inputs[0]), _shape(node.inputs[1])
    return 4 * math.prod(query) * key[-2]


_PRODUCTS: dict[str, Callable[[onnx_ir.Node], int]] = {
    "Attention": _attention,
    "Conv": _convolution,
    "ConvTranspose": _transposed_convolution,
    "GRU": _recurrence(3),
    "Gemm": _gemm,
    "LSTM": _recurrence(4),
    "MatMul": _product,
    "RNN": _recurrence(1),
}
