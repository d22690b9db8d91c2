"""Removes nodes that give what they get."""

from __future__ import annotations

import onnx_ir

from .._summary import label_of
from ._pass import Pass, is_onnx, may_replace, replace

_OF_ONE = ("Concat", "Max", "Mean", "Min", "Sum")


def _run(model: onnx_ir.Model) -> list[str]:
    removed = []
    for node in onnx_ir.traversal.RecursiveGraphIterator(model.graph):
        if not node.inputs or node.inputs[0] is None or not _is_identity(node):
            continue
        graph = node.graph
        assert isinstance(graph, onnx_ir.Graph)
        old, new = node.outputs[0], node.inputs[0]
        if may_replace(old, new, graph):
            replace(old, new)
            graph.remove(node, safe=True)
            removed.append(label_of(node))
    return removed


def _is_identity(node: onnx_ir.Node) -> bool:
    if is_onnx(node, "Identity"):
        return True
    if is_onnx(node, *_OF_ONE):
        return len(node.inputs) == 1
    if is_onnx(node, "Cast"):
        given = node.inputs[0]
        return given is not None and given.dtype == node.attributes.get_int("to", 0)
    if is_onnx(node, "Transpose"):
        order = node.attributes.get_ints("perm", ())
        return bool(order) and list(order) == list(range(len(order)))
    return False


IDENTITIES = Pass("identities", "removes nodes that give what they get", _run)
