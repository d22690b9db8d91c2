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
    merged = _scaled(giver, weight, factor)
    if merged is None:
        return False
    beta = 1.0
    if is_onnx(giver, "Gemm"):
        beta = giver.attributes.get_float("beta", 1.0)
        giver.attributes["beta"] = onnx_ir.AttrFloat32("beta", 1.0)
    offset = (bias.reshape(-1).astype("float64") * beta - mean) * factor + shift
    _give(graph, giver, 1, merged.astype(weight.dtype))
    _give(graph, giver, 2, offset.astype(weight.dtype))
    replace(node.outputs[0], given)
    graph.remove(node, safe=True)
    return True


def _array(value: onnx_ir.Value | None) -> Array | None:
    """The elements of a weight."""
    if value is None or not value.is_initializer() or value.const_value is None:
        return None
    elements: Array = value.const_value.numpy()
    return elements


def _scaled(giver: onnx_ir.Node, weight: Array, factor: Array) -> Array | None:
    """A weight with the part for each channel multiplied by its factor."""
    count = factor.size
    if is_onnx(giver, "Conv"):
        if weight.shape[0] != count:
            return None
        wider: Array = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
        return wider
    if is_onnx(giver, "ConvTranspose"):
        groups: int = giver.attributes.get_int("group", 1)
        if weight.shape[1] * groups != count or weight.shape[0] % groups:
            return None
        parts = weight.reshape(groups, -1, *weight.shape[1:])
        ones = [1] * (weight.ndim - 2)
        scaled: Array = (parts * factor.reshape(groups, 1, -1, *ones)).reshape(weight.shape)
        return scaled
    transposed: int = giver.attributes.get_int("transB", 0)
    if weight.shape[0 if transposed else 1] != count:
        return None
    product: Array = weight * (factor[:, None] if transposed else factor)
    return product


def _give(graph: onnx_ir.Graph, node: onnx_ir.Node, position: int, array: Array) -> None:
    """Gives a node other elements for a weight, which keeps its name where none else uses it."""
    old = node.inputs[position] if position < len(node.inputs) else None
    if old is not None and len(old.uses()) == 1 and not old.is_graph_output():
        if old.shape is not None and tuple(old.shape.numpy()) == array.shape:
            old.const_value = onnx_ir.tensor(array, name=old.name)
            return
    weight = node.inputs[1]
    stem = (weight.name if weight is not None else None) or label_of(node)
    wanted = stem if position == 1 else f"{stem.removesuffix('weight').rstrip('.')}.bias"
    name, number = wanted, 0
    while name in graph.initializers:
        number += 1
        name = f"{wanted}_{number}"
    tensor = onnx_ir.tensor(array, name=name)
    value = onnx_ir.Value(
        name=name,
        shape=onnx_ir.Shape(array.shape),
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
