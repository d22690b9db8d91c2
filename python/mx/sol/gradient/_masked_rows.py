"""Attention of rows that are masked altogether, as gradients need it."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ._writer import Writer


def unmask(to: Writer, nodes: Sequence[ir.Node], dtype: ir.DataType) -> None:
    """Adds nothing to the scores of rows of which a `Where` replaces the weights by zeros, among
    the nodes of one attention.

    With -inf added to all of a row its weights would be NaN, and so the gradient that flows back
    through them: NaN times the zero that is left of it.
    """
    for node in nodes:
        if node.op_type != "Where" or not _is_softmax(node.inputs[2]):
            continue
        masked = node.inputs[0]
        largest = _input_of(_input_of(masked, "Equal"), "ReduceMax")
        if largest is None:
            continue
        for use in list(largest.uses()):
            if use.node.op_type == "Add" and use.node in nodes:
                added = to.Where(masked, to.constant(0, dtype), largest, dtype=dtype)
                use.node.replace_input_with(use.idx, added)
    to.graph.sort()


def _input_of(value: ir.Value | None, operator: str) -> ir.Value | None:
    """The first input of the operator that makes a value, if that makes it."""
    node = value.producer() if value is not None else None
    return node.inputs[0] if node is not None and node.op_type == operator else None


def _is_softmax(value: ir.Value | None) -> bool:
    return _input_of(value, "Softmax") is not None or (
        _input_of(_input_of(value, "Cast"), "Softmax") is not None
    )
