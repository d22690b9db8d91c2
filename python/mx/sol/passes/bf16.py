"""Has products and convolutions with weights round what they multiply to bfloat16."""

from __future__ import annotations

import onnx_ir

from ...graph.lowering._node import PRECISION
from ...graph.passes import Pass
from ...graph.passes._pass import is_onnx

_MOVES = ("Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze")
# Elements of a weight that are worth it.
_FEW = 1 << 10


def _run(model: onnx_ir.Model) -> list[str]:
    """Marks nodes, which stay what they are: who has no kernel of bfloat16 computes in float32."""
    for node in model.graph:
        if is_onnx(node, "MatMul", "Gemm", "Conv") and _is_worth_it(node):
            node.metadata_props[PRECISION] = "bfloat16"
    return []


def _is_worth_it(node: onnx_ir.Node) -> bool:
    x, weight = node.inputs[:2]
    if x is None or weight is None or x.dtype != onnx_ir.DataType.FLOAT:
        return False
    tensor = _tensor_of(weight)
    if tensor is None or tensor.size < _FEW:
        return False
    # One channel at a time, a convolution waits for memory.
    return not is_onnx(node, "Conv") or tensor.shape[1] != 1


def _tensor_of(value: onnx_ir.Value) -> onnx_ir.TensorProtocol | None:
    """The weight that a value is, or that it has the elements of; None for what has others."""
    giver = value.producer()
    if giver is not None and is_onnx(giver, *_MOVES) and giver.inputs[0] is not None:
        return _tensor_of(giver.inputs[0])
    return value.const_value if value.is_initializer() else None


BF16 = Pass("bf16", "has products with weights round to bfloat16, which is less exact", _run)
