"""Merges batch normalization of inference into the convolution or matrix before it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy
import onnx_ir

from .._summary import label_of
from ._pass import Pass, is_onnx, may_replace, replace

Array: TypeAlias = numpy.ndarray[Any, Any]


# Before, an attribute said whether it was training.
_SINCE = 9


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    if model.opset_imports.get("", 1) < _SINCE:
        return removed
    for node in list(model.graph):
        if is_onnx(node, "BatchNormalization") and _merge(node, model.graph):
            removed.append(label_of(node))
    return removed


def _merge(node: onnx_ir.Node, graph: onnx_ir.Graph) -> bool:
    """Merges one normalization into what it normalizes; returns whether it could."""
    training: int = node.attributes.get_int("training_mode", 0)
    if len(node.inputs) < 5 or training:
        return False
    given = node.inputs[0]
    giver = given.producer() if given is not None else None
    if given is None or giver is None or giver.graph is not graph or len(giver.inputs) < 2:
        return False
    if not is_onnx(giver, "Conv", "ConvTranspose", "Gemm") or given.is_graph_output():
        return False
    if len(given.uses()) != 1 or not may_replace(node.outputs[0], given, graph):
        return False
    if any(value.uses() or value.is_graph_output() for value in node.outputs[1:]):
        return False
    parameters = [_array(value) for value in node.inputs[1:5]]
    weight = _array(giver.inputs[1])
    bias_value = giver.inputs[2] if len(giver.inputs) > 2 else None
    bias = numpy.zeros(1) if bias_value is None else _array(bias_value)
    if weight is None or bias is None or any(one is None for one in parameters):
        return False
    scale, shift, mean, variance = (numpy.asarray(one, "float64") for one in parameters)
    epsilon = node.attributes.get_float("epsilon", 1e-5)
    if weight.dtype.kind != "f" or weight.dtype.itemsize > 8:
        return False
    # A number or a row, but no column, which Gemm adds as well.
    if bias.size not in (1, scale.size) or (bias.ndim and bias.shape[-1] != bias.size):
        return False
    factor = scale / numpy.sqrt(variance + epsilon)
    spread = _spread(giver, weight.shape, factor)
    if spread is None:
        return False
    beta = 1.0
    if is_onnx(giver, "Gemm"):
        beta = giver.attributes.get_float("beta", 1.0)
        giver.attributes["beta"] = onnx_ir.AttrFloat32("beta", 1.0)
    offset = (bias.reshape(-1).astype("float64") * beta - mean) * factor + shift
    _give(graph, giver, 1, _product(giver.inputs[1], spread))
    _give(graph, giver, 2, onnx_ir.tensor(offset.astype(weight.dtype)))
    replace(node.outputs[0], given)
    graph.remove(node, safe=True)
    return True


def _array(value: onnx_ir.Value | None) -> Array | None:
    """The elements of a weight."""
    if value is None or not value.is_initializer() or value.const_value is None:
        return None
    elements: Array = value.const_value.numpy()
    return elements


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
    name, number = wanted, 0
    while name in graph.initializers:
        number += 1
        name = f"{wanted}_{number}"
    tensor.name = name
    value = onnx_ir.Value(
        name=name,
        shape=onnx_ir.Shape(tensor.shape.numpy()),
        type=onnx_ir.TensorType(tensor.dtype),
        const_value=tensor,
    )
    graph.register_initializer(value)
    if position >= len(node.inputs):
        node.resize_inputs(position + 1)
    node.replace_input_with(position, value)


BATCH_NORM = Pass(
    "batch_norm", "merges batch normalization into the convolution or matrix before it", _run
)
