"""Computes what several nodes compute once."""

from __future__ import annotations

import onnx_ir
from onnx_ir.passes.common import CommonSubexpressionEliminationPass

from ._pass import Pass, is_onnx, library_pass

_computed_once = library_pass(CommonSubexpressionEliminationPass())
_MARK = "mx_number"
_TYPES = (onnx_ir.AttributeType.TYPE_PROTO, onnx_ir.AttributeType.TYPE_PROTOS)


def _run(model: onnx_ir.Model) -> list[str]:
    nodes = list(onnx_ir.traversal.RecursiveGraphIterator(model.graph))
    varying = [
        node
        for node in nodes
        if is_onnx(node, "Bernoulli", "Dropout") or node.domain not in ("", "ai.onnx")
    ]
    # onnx-ir compares no types.
    types = [
        (node, one) for node in nodes for one in node.attributes.values() if one.type in _TYPES
    ]
    # Nodes that give something else each time, or may, differ in an attribute meanwhile.
    for number, node in enumerate(varying):
        node.attributes[_MARK] = onnx_ir.AttrInt64(_MARK, number)
    for node, one in types:
        node.attributes[one.name] = onnx_ir.AttrString(one.name, repr(one.value))
    try:
        return list(_computed_once(model))
    finally:
        for node, one in types:
            node.attributes[one.name] = one
        for node in varying:
            node.attributes.pop(_MARK, None)


COMMON = Pass("common", "computes what several nodes compute once", _run)
