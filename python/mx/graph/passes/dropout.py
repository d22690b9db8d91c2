"""Removes Dropout where it does nothing: in inference."""

from __future__ import annotations

import onnx_ir

from .._summary import label_of
from ._pass import Pass, is_onnx, may_replace, replace

# Before, an attribute said whether it was training.
_SINCE = 7


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    if model.opset_imports.get("", 1) < _SINCE:
        return removed
    for node in onnx_ir.traversal.RecursiveGraphIterator(model.graph):
        if not is_onnx(node, "Dropout") or _is_training(node) or node.inputs[0] is None:
            continue
        mask_used = any(value.uses() or value.is_graph_output() for value in node.outputs[1:])
        graph = node.graph
        assert isinstance(graph, onnx_ir.Graph)
        if mask_used or not may_replace(node.outputs[0], node.inputs[0], graph):
            continue
        replace(node.outputs[0], node.inputs[0])
        graph.remove(node, safe=True)
        removed.append(label_of(node))
    return removed


def _is_training(node: onnx_ir.Node) -> bool:
    """Whether elements may be dropped."""
    flag = node.inputs[2] if len(node.inputs) > 2 else None
    if flag is None:
        return False
    tensor = onnx_ir.convenience.get_const_tensor(flag)
    return tensor is None or bool(tensor.numpy().any())


DROPOUT = Pass("dropout", "removes Dropout, which does nothing in inference", _run)
