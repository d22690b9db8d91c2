"""What rules write ONNX nodes with: the builder of importers, and what torch knows of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import onnx_ir as ir

from .. import _builder
from .._builder import (
    Names,
    Number,
    Operand,
    Size,
    dtype_of,
    rank_of,
    shape_of,
    static,
)
from ._dimensions import known_length
from ._dtypes import type_of

__all__ = [
    "Builder",
    "Names",
    "Number",
    "Operand",
    "Size",
    "dtype_of",
    "rank_of",
    "shape_of",
    "static",
]


class Builder(_builder.Builder):
    """Writes nodes at the end of a graph; see the builder of importers."""

    def __init__(
        self, graph: ir.Graph, names: Names, parent: Builder | None = None, prefix: str = ""
    ) -> None:
        super().__init__(graph, names, parent, prefix)
        # What torch knows of the results of the node that is being imported.
        self.results: list[Any] = []
        # Imports a graph of torch, with values for its inputs, into this one.
        self.inline: Callable[[Any, Sequence[Any], Builder], list[Any]] | None = (
            None if parent is None else parent.inline
        )

    @property
    def out(self) -> ir.DataType:
        """The data type of the operator's first result."""
        return type_of(self.results[0].dtype)

    def result_shape(self, index: int = 0) -> list[int | None]:
        """The shape of a result, None for lengths that are not known."""
        shape = map(known_length, self.results[index].shape)
        return [length if isinstance(length, int) else None for length in shape]
