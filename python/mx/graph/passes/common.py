"""Computes what several nodes compute once."""

from __future__ import annotations

import onnx_ir
from onnx_ir.passes.common import CommonSubexpressionEliminationPass

from ._pass import Pass, is_onnx, library_pass

_computed_once = library_pass(CommonSubexpressionEliminationPass())
_MARK = "mx_number"


def _run(model: onnx_ir.Model) -> list[str]:
    varying = [
        node
        for node in onnx_ir.traversal.RecursiveGraphIterator(model.graph)
        if is_onnx(node, "Bernoulli", "Dropout") or node.domain not in ("", "ai.onnx")
    ]
    # Nodes that give something else each time, or may, differ in an attribute meanwhile.
    for number, node in enumerate(varying):
        node.attributes[_MARK] = onnx_ir.AttrInt64(_MARK, number)
    try:
        return list(_computed_once(model))
    finally:
        for node in varying:
            node.attributes.pop(_MARK, None)


COMMON = Pass("common", "computes what several nodes compute once", _run)
