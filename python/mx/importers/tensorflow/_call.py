"""What rules see of the operation that they write nodes for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from mx.graph._constants import constant_outputs

from .._builder import Builder as _Builder
from .._builder import Names
from .._rules import Rules, Unsupported
from ._dtypes import type_of

__all__ = ["Builder", "Call", "Unsupported", "known", "rule"]

rule = Rules()


class Builder(_Builder):
    """Writes nodes at the end of a graph; see the builder of importers."""

    def __init__(
        self, graph: ir.Graph, names: Names, parent: Builder | None = None, prefix: str = ""
    ) -> None:
        super().__init__(graph, names, parent, prefix)
        # Imports a function of TensorFlow, with values for its inputs, into a builder's graph; with
        # a list of its tensors what these depend on.
        self.inline: Callable[..., list[Any]] | None = None if parent is None else parent.inline


# How many operations such arithmetic may have, one behind the other.
_DEEPEST = 24


def known(value: Any) -> np.ndarray[Any, Any] | None:
    """The elements of a value of the graph, where they are known before the model runs."""
    tensor = value.const_value if isinstance(value, ir.Value) else None
    return None if tensor is None or value.is_initializer() else tensor.numpy()


def _computed(value: Any, found: dict[Any, Any], depth: int = 0) -> np.ndarray[Any, Any] | None:
    """The elements of a value that follow from constants by the arithmetic of shapes and axes."""
    node = value.producer() if isinstance(value, ir.Value) else None
    if node is None or depth == _DEEPEST:
        return known(value)
    if value not in found:
        found[value] = None
        results = constant_outputs(node, lambda one: _computed(one, found, depth + 1))
        if results is not None:
            found.update(zip(node.outputs, results, strict=False))
    elements: np.ndarray[Any, Any] | None = found[value]
    return elements


class Call:
    """An operation of TensorFlow, its inputs as values of the graph."""

    def __init__(self, op: Any, inputs: Sequence[Any], values: Callable[[Any], Any]) -> None:
        self.op = op
        self.inputs = list(inputs)
        # The value of the graph for another tensor of the same function, None for one unknown.
        self.value = values

    def __getitem__(self, index: int) -> ir.Value:
        """An input."""
        value: ir.Value = self.inputs[index]
        return value

    def attr(self, name: str) -> Any:
        """An attribute, text as text."""
        value = self.op.get_attr(name)
        return value.decode() if isinstance(value, bytes) else value

    def dtype(self, name: str) -> ir.DataType:
        """An attribute that is a data type."""
        return type_of(self.op.get_attr(name))

    def known(self, index: int) -> np.ndarray[Any, Any] | None:
        """The elements of an input, None where they are not known before the model runs."""
        found = known(self.inputs[index])
        if found is not None:
            return found
        from tensorflow import get_static_value

        value = get_static_value(self.op.inputs[index])
        return _computed(self.inputs[index], {}) if value is None else np.asarray(value)

    def ints(self, index: int, what: str) -> list[int]:
        """The elements of an input that have to be known; a number is a list of one."""
        found = self.known(index)
        if found is None:
            raise Unsupported(f"{what} is not known before the model runs")
        return [int(one) for one in found.reshape(-1)]

    def shape(self, index: int = 0) -> list[int | None]:
        """The shape that TensorFlow knows of a result, None for lengths that vary."""
        shape = self.op.outputs[index].shape
        if shape.rank is None:
            raise Unsupported("a result whose number of axes is not known")
        return list(shape.as_list())

    def out(self, index: int = 0) -> ir.DataType:
        """The data type of a result."""
        return type_of(self.op.outputs[index].dtype)

    def used_once(self, index: int) -> bool:
        """Whether the operation alone uses an input."""
        return len(self.op.inputs[index].consumers()) == 1
