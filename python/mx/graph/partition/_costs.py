"""What a node costs on the CPU, roughly, and whether a group is worth its copies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import onnx_ir

from ._device import Answer
from ._wiring import Part

# Of one core, so that a device that is not faster than that is not worth copies to it.
_FLOPS_PER_MICROSECOND = 20_000.0
_BYTES_PER_MICROSECOND = 5_000.0
_MICROSECONDS_PER_NODE = 1.0


def why_not_worth(part: Part, answers: Sequence[Answer]) -> str:
    """Why a group would be slower on the device, by what its library says; "" where it does not
    say, or it would not."""
    if not all(answer.cost > 0 for answer in answers):
        return ""
    sizes = [_bytes_of(value) for value in (*part.inputs, *part.outputs)]
    on_cpu = [_microseconds(node) for node in part.nodes]
    if None in sizes or None in on_cpu:
        return ""
    copies = max(answer.byte_cost for answer in answers) * sum(filter(None, sizes)) * 1e-3
    there = sum(answer.cost for answer in answers) + copies
    there += max(answer.group_cost for answer in answers)
    here = sum(filter(None, on_cpu))
    if there <= here:
        return ""
    return f"its group would take {there:.3g} us there, {copies:.3g} of them copies, and {here:.3g}"


def _size_of(value: onnx_ir.Value | None) -> int | None:
    if value is None:
        return 0
    if value.shape is None or not value.shape.is_static():
        return None
    return math.prod(value.shape.numpy())


def _bytes_of(value: onnx_ir.Value | None) -> int | None:
    size = _size_of(value)
    if size is None or value is None:
        return size
    return size * (1 if value.dtype is None else math.ceil(value.dtype.itemsize))


def _microseconds(node: onnx_ir.Node) -> float | None:
    sizes = [_bytes_of(value) for value in (*node.inputs, *node.outputs)]
    out = _size_of(node.outputs[0])
    if None in sizes or out is None:
        return None
    flops = 0.0
    if node.op_type in ("MatMul", "Gemm", "Conv", "ConvTranspose") and node.inputs[1] is not None:
        weight = node.inputs[1]
        if weight.shape is None or not weight.shape.is_static() or len(weight.shape) < 2:
            return None
        extents = weight.shape.numpy()
        if node.op_type.startswith("Conv"):
            flops = 2.0 * out * math.prod(extents[1:])
        else:
            first = node.inputs[0]
            depth = extents[-2]
            if node.op_type == "Gemm" and first is not None and first.shape is not None:
                depth = math.prod(extents) // max(1, node.outputs[0].shape.numpy()[-1])  # type: ignore[union-attr]
            flops = 2.0 * out * depth
    moved = sum(filter(None, sizes)) / _BYTES_PER_MICROSECOND
    return _MICROSECONDS_PER_NODE + max(moved, flops / _FLOPS_PER_MICROSECOND)
