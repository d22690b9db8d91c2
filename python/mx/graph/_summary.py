"""A graph as a table of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import onnx_ir

from ._spec import dims_of, shape_text

if TYPE_CHECKING:
    from ._graph import Graph

_WIDEST = 48
# The numbers of shapes, axes and masks are no parameters.
_NO_PARAMETERS = {onnx_ir.DataType.INT64, onnx_ir.DataType.BOOL, onnx_ir.DataType.STRING}


def summary(graph: Graph, placement: Mapping[str, str] | None) -> str:
    """See Graph.summary."""
    heads = ["Node (operator)", "Output shape", "Parameters"]
    rows = [[f"{spec.name} (input)", shape_text(spec.shape), "0"] for spec in graph.inputs]
    if placement is not None:
        heads.append("Runs on")
        rows = [[*row, ""] for row in rows]
    counted: set[onnx_ir.Value] = set()
    for node in graph.model.graph:
        shapes = (shape_text(dims_of(value.shape)) for value in node.outputs if value.name)
        row = [f"{label_of(node)} ({node.op_type})", ", ".join(shapes)]
        row.append(f"{_parameters(node, counted):,}")
        if placement is not None:
            row.append(placement.get(node.name or "", ""))
        rows.append(row)
    weights = [value.const_value for value in graph.model.graph.initializers.values()]
    held = [tensor for tensor in weights if tensor is not None]
    parameters = sum(tensor.size for tensor in held if tensor.dtype not in _NO_PARAMETERS)
    size = sum(tensor.nbytes for tensor in held)
    table = _table(heads, rows)
    rule = "=" * len(table[1])
    return "\n".join(
        [
            f"Graph: {graph.name!r}, operator set {graph.opset}",
            table[1],
            table[0],
            rule,
            *table[2:],
            rule,
            f"Nodes: {len(graph.model.graph):,}",
            f"Parameters: {parameters:,}",
            f"Weights: {_bytes_text(size)}",
            *(f"Output: {spec}" for spec in graph.outputs),
        ]
    )


def label_of(node: onnx_ir.Node) -> str:
    """What a node is called: by its name, or by what it gives."""
    return node.name or next((value.name for value in node.outputs if value.name), "") or "?"


def _parameters(node: onnx_ir.Node, counted: set[onnx_ir.Value]) -> int:
    """The parameters that no node before this one has used."""
    total = 0
    for value in node.inputs:
        if value is None or value in counted or not value.is_initializer():
            continue
        counted.add(value)
        tensor = value.const_value
        if tensor is not None and tensor.dtype not in _NO_PARAMETERS:
            total += int(tensor.size)
    return total


def _table(heads: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Lines of columns: the heads, a rule, and the rows."""
    cells = [[_short(cell) for cell in row] for row in [heads, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    lines = []
    for row in cells:
        padded = (
            cell.rjust(width) if head == "Parameters" else cell.ljust(width)
            for cell, width, head in zip(row, widths, heads, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "-" * (sum(widths) + 2 * (len(widths) - 1)))
    return lines


def _short(text: str) -> str:
    """A text with its middle left out where it is long."""
    if len(text) <= _WIDEST:
        return text
    half = (_WIDEST - 3) // 2
    return f"{text[: _WIDEST - 3 - half]}...{text[-half:]}"


def _bytes_text(size: float) -> str:
    if size < 1024:
        return f"{size:.0f} bytes"
    units = ["KiB", "MiB", "GiB"]
    while (size := size / 1024) >= 1024 and len(units) > 1:
        del units[0]
    return f"{size:.1f} {units[0]}"
