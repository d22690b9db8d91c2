"""Computes what follows from weights alone, where that takes little memory."""

from __future__ import annotations

import math

import numpy
import onnx_ir
from onnx_ir.passes.common import LiftConstantsToInitializersPass

from .._constants import OPERATORS, Array, compute
from .._proto import elements_of, tensor_of, texts_of
from .._spec import dims_of
from .._summary import label_of
from ._pass import Pass, is_onnx

# What is as large as what it is made of, or nearly, is computed up to any size; all else to this.
_MOST_BYTES = 1 << 20
# Of texts, how long they are is not known; an array has their addresses.
_BITS_OF_TEXT = 64
# What all of it may take, beside twice the weights.
_MOST_OF_ALL = 1 << 26
# Computed with memory of the size of inputs and outputs, too.
_MORE = """
    Cos DequantizeLinear Erf Exp Flatten Gemm HardSigmoid LeakyRelu Log MatMul QuantizeLinear
    ReduceL2 ReduceSumSquare Relu Shape Sigmoid Sin Size Softplus Tanh
""".split()
_OPERATORS = (*OPERATORS, *_MORE)


def _run(model: onnx_ir.Model) -> list[str]:
    removed = [label_of(node) for node in model.graph if is_onnx(node, "Constant")]
    for node in onnx_ir.traversal.RecursiveGraphIterator(model.graph):
        texts = texts_of(node)
        if texts is not None:
            node.attributes.clear()
            node.attributes["value"] = onnx_ir.AttrTensor("value", texts)
    LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
    removed = removed[: len(removed) - sum(is_onnx(node, "Constant") for node in model.graph)]
    graph = model.graph
    held = sum(
        v.const_value.nbytes for v in graph.initializers.values() if v.const_value is not None
    )
    # Each may be twice what it is made of; all of them are not that again and again.
    left = _MOST_OF_ALL + 2 * held
    for node in list(graph):
        results = _computed(node, model, left)
        if results is None:
            continue
        left -= sum(array.nbytes for array in results)
        for value, array in zip(node.outputs, results, strict=False):
            _make_weight(graph, value, array)
        graph.remove(node, safe=True)
        removed.append(label_of(node))
    return removed


def _computed(node: onnx_ir.Node, model: onnx_ir.Model, most: int) -> list[Array] | None:
    """What a node gives, if that follows from weights; None if not, or if it is large."""
    if not is_onnx(node, *_OPERATORS) or any(value.is_graph_output() for value in node.outputs):
        return None
    arrays: list[Array | None] = []
    given = 0
    for value in node.inputs:
        if value is None:
            arrays.append(None)
            continue
        if is_onnx(node, "Shape", "Size") and value.shape is not None and value.shape.is_static():
            return _shape(node, value.shape)
        if not value.is_initializer() or value.const_value is None:
            return None
        given += value.const_value.nbytes
        arrays.append(None)
    made = 0
    for value in node.outputs:
        dims = dims_of(value.shape)
        if dims is None or value.dtype is None:
            return None
        if not all(isinstance(dim, int) for dim in dims):
            return None
        is_text = value.dtype == onnx_ir.DataType.STRING
        bits = _BITS_OF_TEXT if is_text else value.dtype.bitwidth
        made += math.prod(dim for dim in dims if isinstance(dim, int)) * bits // 8
    if made > min(most, max(_MOST_BYTES, 2 * given)):
        return None
    for position, value in enumerate(node.inputs):
        if value is not None and value.const_value is not None:
            arrays[position] = elements_of(value.const_value)
    return compute(node, arrays, model.opset_imports)


def _shape(node: onnx_ir.Node, shape: onnx_ir.Shape) -> list[Array] | None:
    """What Shape and Size give of a known shape."""
    dims = list(shape.numpy())
    if node.op_type == "Size":
        return [numpy.array(math.prod(dims), "int64")]
    start: int = node.attributes.get_int("start", 0)
    return [numpy.array(dims[start : node.attributes.get_int("end", None)], "int64")]


def _make_weight(graph: onnx_ir.Graph, value: onnx_ir.Value, array: Array) -> None:
    """Has the users of a value use a weight of its name."""
    name = value.name
    if not name:
        return
    value.name = f"{name}_computed"
    tensor = tensor_of(array, name)
    weight = onnx_ir.Value(
        name=name,
        shape=onnx_ir.Shape(array.shape),
        type=onnx_ir.TensorType(tensor.dtype),
        const_value=tensor,
    )
    graph.register_initializer(weight)
    onnx_ir.convenience.replace_all_uses_with(value, weight)


CONSTANTS = Pass("constants", "computes what follows from weights alone", _run)
