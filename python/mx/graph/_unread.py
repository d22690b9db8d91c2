"""A graph as its file has it, for as long as nobody needs its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import onnx_ir

from ._elements import Elements

# Name, number of the data type in ONNX, and the extents or their names, of an input or output.
ValueRow = tuple[str, int, list[int | str | None]]


@dataclass(frozen=True)
class Interface:
    """The inputs and outputs of a graph, all of them tensors."""

    inputs: list[ValueRow]
    outputs: list[ValueRow]

    @staticmethod
    def of(graph: onnx_ir.Graph) -> Interface | None:
        """None where some are no tensors, or of types or numbers of axes that are not known."""
        inputs = [value for value in graph.inputs if not value.is_initializer()]
        rows = [[_row_of(value) for value in values] for values in (inputs, graph.outputs)]
        inward, outward = ([row for row in found if row is not None] for found in rows)
        if len(inward) + len(outward) < sum(map(len, rows)):
            return None
        return Interface(inward, outward)

    @staticmethod
    def read(about: Any) -> Interface:
        """Of what `rows` gave. ValueError, TypeError or KeyError where that makes no sense."""
        return Interface(*(list(map(_checked_row, about[key])) for key in ("inputs", "outputs")))

    def rows(self) -> dict[str, list[ValueRow]]:
        """As JSON has it."""
        return {"inputs": self.inputs, "outputs": self.outputs}

    def input_values(self) -> list[onnx_ir.Value]:
        """Values that stand for the inputs."""
        return [
            onnx_ir.Value(
                name=name,
                shape=onnx_ir.Shape(extents),
                type=onnx_ir.TensorType(onnx_ir.DataType(dtype)),
            )
            for name, dtype, extents in self.inputs
        ]


def _row_of(value: onnx_ir.Value) -> ValueRow | None:
    if not isinstance(value.type, onnx_ir.TensorType) or value.shape is None or not value.name:
        return None
    extents = [extent if isinstance(extent, int) else extent.value for extent in value.shape]
    return value.name, int(value.type.dtype), extents


def _checked_row(row: Any) -> ValueRow:
    name, dtype, extents = row
    known = all(extent is None or isinstance(extent, (int, str)) for extent in extents)
    if not isinstance(name, str) or not known:
        raise ValueError(f"{row!r} describes no value")
    return name, int(onnx_ir.DataType(dtype)), list(extents)


@dataclass(frozen=True)
class Unread:
    """What is known of a file before its nodes are read."""

    structure: str  # a checksum of the file without its large weights, and of what reads it
    elements: Elements  # of the large ones, in their order
    read: Callable[[], onnx_ir.Model]
    # What is known of files of this structure from another time; they were valid then.
    interface: Interface | None = None
