"""Merges factors and offsets of channels into the convolution or matrix before them."""

from __future__ import annotations

import numpy
import onnx_ir

from .._summary import label_of
from ._channels import OPERATORS, Array, merge_into
from ._pass import Pass, is_onnx, may_replace, replace
from ._patterns import constant, other, rank_of

_SINCE = 7  # before, an attribute said how operands fit


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    if model.opset_imports.get("", 1) < _SINCE:
        return removed
    for node in list(model.graph):
        if is_onnx(node, "Add", "Div", "Mul", "Sub") and _merge(node, model.graph):
            removed.append(label_of(node))
    return removed


def _merge(node: onnx_ir.Node, graph: onnx_ir.Graph) -> bool:
    for given in node.inputs if node.op_type in ("Add", "Mul") else node.inputs[:1]:
        giver = None if given is None else given.producer()
        if given is None or giver is None or not is_onnx(giver, *OPERATORS):
            continue
        if giver.graph is not graph or given.is_graph_output() or len(given.uses()) != 1:
            continue
        weight = giver.inputs[1]
        channels = None if weight is None else _channels(giver, weight)
        value = other(node, given)
        if channels is None or value is None or value.dtype != given.dtype:
            continue
        numbers = _of_channels(value, channels, given, giver)
        if numbers is None or not may_replace(node.outputs[0], given, graph):
            continue
        pair = _factor_and_offset(node.op_type, numbers)
        if pair is not None and merge_into(giver, *pair):
            replace(node.outputs[0], given)
            graph.remove(node, safe=True)
            return True
    return False


def _channels(giver: onnx_ir.Node, weight: onnx_ir.Value) -> int | None:
    """How many channels a node gives."""
    tensor = weight.const_value if weight.is_initializer() else None
    if tensor is None:
        return None
    shape = [int(extent) for extent in tensor.shape.numpy()]
    if is_onnx(giver, "Conv"):
        return shape[0]
    if is_onnx(giver, "ConvTranspose"):
        return shape[1] * giver.attributes.get_int("group", 1)
    return shape[0 if giver.attributes.get_int("transB", 0) else 1]


def _of_channels(
    value: onnx_ir.Value, channels: int, given: onnx_ir.Value, giver: onnx_ir.Node
) -> Array | None:
    """The number of each channel that a constant operand has; None for any other operand."""
    elements, rank = constant(value), rank_of(given)
    if elements is None or elements.dtype.kind != "f" or rank is None or elements.ndim > rank:
        return None
    axis = 1 if not is_onnx(giver, "Gemm") else rank - 1
    whole = elements.reshape((1,) * (rank - elements.ndim) + elements.shape)
    if any(extent != 1 for n, extent in enumerate(whole.shape) if n != axis):
        return None
    row = whole.reshape(-1).astype("float64")
    return numpy.broadcast_to(row, (channels,)) if row.size in (1, channels) else None


def _factor_and_offset(operator: str, numbers: Array) -> tuple[Array, Array] | None:
    ones, zeros = numpy.ones_like(numbers), numpy.zeros_like(numbers)
    if operator == "Add":
        return ones, numbers
    if operator == "Sub":
        return ones, -numbers
    if operator == "Mul":
        pair = numbers, zeros
    elif not numbers.all():
        return None
    else:
        pair = 1 / numbers, zeros
    # An infinite factor of a weight that is zero is no number.
    return pair if numpy.isfinite(pair[0]).all() else None


SCALES = Pass(
    "scales", "merges factors and offsets into the convolution or matrix before them", _run
)
