"""Has a convolution or product give channels multiplied by factors, and with offsets added."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy
import onnx_ir

from .._summary import label_of
from ._pass import is_onnx
from ._patterns import elements_of, register

Array: TypeAlias = numpy.ndarray[Any, Any]

# What has channels of which weights are the factors.
OPERATORS = ("Conv", "ConvTranspose", "Gemm")


def merge_into(giver: onnx_ir.Node, factor: Array, offset: Array) -> bool:
    """Has a node of OPERATORS give its channels times `factor`, plus `offset`, where its weights
    are constants; returns whether it could.
    """
    graph = giver.graph
    weight = elements_of(giver.inputs[1])
    bias_value = giver.inputs[2] if len(giver.inputs) > 2 else None
    bias = numpy.zeros(1) if bias_value is None else elements_of(bias_value)
    if not isinstance(graph, onnx_ir.Graph) or weight is None or bias is None:
        return False
    if weight.dtype.kind != "f" or weight.dtype.itemsize > 8:
        return False
    # A number or a row, but no column, which Gemm adds as well.
    if bias.size not in (1, factor.size) or (bias.ndim and bias.shape[-1] != bias.size):
        return False
    spread = _spread(giver, weight.shape, factor)
    if spread is None:
        return False
    beta = 1.0
    if is_onnx(giver, "Gemm"):
        beta = giver.attributes.get_float("beta", 1.0)
        giver.attributes["beta"] = onnx_ir.AttrFloat32("beta", 1.0)
    whole = bias.reshape(-1).astype("float64") * beta * factor + offset
    if (factor != 1).any():
        _give(graph, giver, 1, _product(giver.inputs[1], spread))
    _give(graph, giver, 2, onnx_ir.tensor(whole.astype(weight.dtype)))
    return True


def _spread(giver: onnx_ir.Node, shape: tuple[int, ...], factor: Array) -> Array | None:
    """The factors of the channels in a shape that broadcasts to a weight's."""
    count = factor.size
    ones = [1] * (len(shape) - 2)
    if is_onnx(giver, "Conv"):
        return factor.reshape(-1, 1, *ones) if shape[0] == count else None
    if is_onnx(giver, "ConvTranspose"):
        groups: int = giver.attributes.get_int("group", 1)
        if shape[1] * groups != count or shape[0] % groups:
            return None
        rows: Array = numpy.repeat(factor.reshape(groups, -1), shape[0] // groups, axis=0)
        return rows.reshape(*rows.shape, *ones)
    transposed: int = giver.attributes.get_int("transB", 0)
    if shape[0 if transposed else 1] != count:
        return None
    return factor[:, None] if transposed else factor


def _product(weight: onnx_ir.Value | None, spread: Array) -> onnx_ir.LazyTensor:
    """A weight multiplied, which is computed when it is read: whoever has the graph that this one
    is a copy of has the weight already.
    """
    assert weight is not None and weight.const_value is not None
    tensor = weight.const_value

    def compute() -> onnx_ir.TensorProtocol:
        elements = tensor.numpy()
        return onnx_ir.tensor(elements * spread.astype(elements.dtype))

    shape = onnx_ir.Shape(tensor.shape.numpy())
    return onnx_ir.LazyTensor(compute, dtype=tensor.dtype, shape=shape)


def _give(
    graph: onnx_ir.Graph,
    node: onnx_ir.Node,
    position: int,
    tensor: onnx_ir.TensorProtocol,
) -> None:
    """Gives a node other elements for a weight, which keeps its name where none else uses it."""
    old = node.inputs[position] if position < len(node.inputs) else None
    if old is not None and len(old.uses()) == 1 and not old.is_graph_output():
        if old.shape is not None and tuple(old.shape.numpy()) == tuple(tensor.shape.numpy()):
            tensor.name = old.name
            old.const_value = tensor
            return
    weight = node.inputs[1]
    stem = (weight.name if weight is not None else None) or label_of(node)
    wanted = stem if position == 1 else f"{stem.removesuffix('weight').rstrip('.')}.bias"
    value = register(graph, tensor, wanted)
    if position >= len(node.inputs):
        node.resize_inputs(position + 1)
    node.replace_input_with(position, value)
