"""What rules see of the equation that they write nodes for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from .._builder import Builder as _Builder
from .._builder import Names
from .._rules import Rules, Unsupported

__all__ = ["Builder", "Equation", "Unsupported", "known", "rule", "type_of"]

rule = Rules()


class Builder(_Builder):
    """Writes nodes at the end of a graph; see the builder of importers."""

    def __init__(
        self, graph: ir.Graph, names: Names, parent: Builder | None = None, prefix: str = ""
    ) -> None:
        super().__init__(graph, names, parent, prefix)
        # Imports an expression, with values for its inputs, into a builder's graph.
        self.inline: Callable[[Any, Sequence[Any], Builder], list[Any]] | None = (
            None if parent is None else parent.inline
        )


class Equation:
    """An equation of a jaxpr, its inputs as values of the graph."""

    def __init__(self, eqn: Any, inputs: Sequence[ir.Value], used_once: Sequence[bool]) -> None:
        self.eqn = eqn
        self.inputs = list(inputs)
        # Whether the equation alone uses each input.
        self.used_once = used_once

    def __getitem__(self, index: int) -> ir.Value:
        """An input."""
        return self.inputs[index]

    def param(self, name: str, default: Any = None) -> Any:
        """A parameter."""
        return self.eqn.params.get(name, default)

    def shape(self, index: int = 0) -> list[int]:
        """The shape of a result."""
        return list(self.eqn.outvars[index].aval.shape)

    def out(self, index: int = 0) -> ir.DataType:
        """The data type of a result."""
        return type_of(self.eqn.outvars[index].aval.dtype)


def type_of(dtype: Any) -> ir.DataType:
    """What ONNX calls a data type; ValueError for one that it lacks, as those of keys."""
    try:
        return ir.DataType.from_numpy(np.dtype(dtype))
    except (TypeError, ValueError):
        raise ValueError(f"ONNX has no data type for {dtype}") from None


def known(value: ir.Value) -> np.ndarray[Any, Any] | None:
    """The elements of a value, where they are known before the model runs."""
    tensor = value.const_value
    return None if tensor is None or value.is_initializer() else tensor.numpy()
