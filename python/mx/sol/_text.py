"""Names and tables in what is printed."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir

from ..graph._summary import label_of

_WIDEST = 44


def layer_of(node: onnx_ir.Node, path: str = "") -> str:
    """The layer that a node is of: the path of its module, or its own name."""
    own = node.metadata_props.get("mx.module") or label_of(node)
    return f"{path}.{own}" if path else own


def shortened(text: str) -> str:
    """A text with its end left out where it is long."""
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def table(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Rows as lines of columns, the first few of which begin at the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if n < left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
