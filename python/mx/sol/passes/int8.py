"""Computes products with weights in 8 bits: dynamic quantization, as ONNX defines it."""

from __future__ import annotations

from typing import Any

import numpy
import onnx_ir

from ...graph._summary import label_of
from ...graph.passes import Pass
from ...graph.passes._pass import is_onnx, may_replace, replace
from ...graph.passes._patterns import register

_SINCE = 11  # of DynamicQuantizeLinear
# Elements of a weight that are worth it.
_FEW = 1 << 10


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    if model.opset_imports.get("", 1) < _SINCE:
        return removed
    quantized: dict[onnx_ir.Value, onnx_ir.Node] = {}
    for node in list(model.graph):
        if is_onnx(node, "MatMul", "Gemm"):
            weight = _weight(node)
            label = label_of(node)
            if weight is not None and _replace(node, weight, model.graph, quantized):
                removed.append(label)
    return removed


def _weight(node: onnx_ir.Node) -> numpy.ndarray[Any, Any] | None:
    """The weight of a product as rows to be multiplied with columns; None for other products."""
    x, value = node.inputs[:2]
    if x is None or x.dtype != onnx_ir.DataType.FLOAT or value is None:
        return None
    tensor = value.const_value if value.is_initializer() else None
    if tensor is None or len(tensor.shape) != 2 or tensor.size < _FEW:
        return None
    attributes = node.attributes
    if is_onnx(node, "Gemm"):
        plain = attributes.get_float("alpha", 1.0) == 1 and attributes.get_float("beta", 1.0) == 1
        if attributes.get_int("transA", 0) or not plain:
            return None
    elements = numpy.asarray(tensor.numpy())
    if elements.dtype != "float32" or not numpy.isfinite(elements).all():
        return None
    return elements.T if attributes.get_int("transB", 0) else elements


def _replace(
    node: onnx_ir.Node,
    weight: numpy.ndarray[Any, Any],
    graph: onnx_ir.Graph,
    quantized: dict[onnx_ir.Value, onnx_ir.Node],
) -> bool:
    """x w is (xq - zero) wq * scale of x * scales of columns."""
    x = node.inputs[0]
    assert x is not None
    most = abs(weight).max(axis=0)
    scales = numpy.where(most > 0, most / 127, 1).astype("float32")
    rounded = numpy.rint(weight / scales).astype("int8")
    stem = node.outputs[0].name or label_of(node)
    if x not in quantized:
        quantized[x] = onnx_ir.node("DynamicQuantizeLinear", [x], num_outputs=3)
        _describe(quantized[x], node, "quantized")
        graph.insert_before(node, quantized[x])
    given, scale, zero = quantized[x].outputs
    product = onnx_ir.node(
        "MatMulInteger", [given, _initializer(graph, rounded, f"{stem}.int8"), zero]
    )
    floats = onnx_ir.node("Cast", product.outputs, {"to": int(onnx_ir.DataType.FLOAT)})
    both = onnx_ir.node("Mul", [scale, _initializer(graph, scales, f"{stem}.scales")])
    made = [product, floats, both, onnx_ir.node("Mul", [floats.outputs[0], both.outputs[0]])]
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if bias is not None:
        made.append(onnx_ir.node("Add", [made[-1].outputs[0], bias]))
    for one, what in zip(made, ("product", "cast", "scales", "scaled", "biased"), strict=False):
        _describe(one, node, what)
    last = made[-1].outputs[0]
    last.type, last.shape = node.outputs[0].type, node.outputs[0].shape
    graph.insert_before(node, made)
    if not may_replace(node.outputs[0], last, graph):
        graph.remove(made[::-1], safe=True)
        return False
    replace(node.outputs[0], last)
    graph.remove(node, safe=True)
    return True


def _describe(made: onnx_ir.Node, node: onnx_ir.Node, what: str) -> None:
    made.name = f"{label_of(node)}.{what}"
    made.metadata_props.update(node.metadata_props)


def _initializer(
    graph: onnx_ir.Graph, elements: numpy.ndarray[Any, Any], wanted: str
) -> onnx_ir.Value:
    return register(graph, onnx_ir.tensor(numpy.ascontiguousarray(elements)), wanted)


INT8 = Pass("int8", "computes products with weights in 8 bits, which is less exact", _run)
