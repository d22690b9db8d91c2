"""The table of ONNX's operators that MXNet has a form of, and what its rules are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from mx.graph import GraphError

from ..expansion import shape_of
from ..nodes import make_node, make_variable, visible_outputs
from ..table import Shape

Array = np.ndarray[Any, np.dtype[Any]]


def own_metadata(item: ir.Node | ir.Value) -> dict[str, str]:
    """What MXNet or a user noted, without what we did."""
    found = item.metadata_props.items()
    return {key: text for key, text in found if not key.startswith("mx.")}


def variable_of(value: ir.Value) -> ir.Value:
    """The variable that an input or a weight is."""
    return make_variable(str(value.name), own_metadata(value))


class Constants:
    """The weights and constants of a graph: read where a rule needs them, variables where not."""

    def __init__(self) -> None:
        self.arrays: dict[int, Array] = {}
        self.variables: dict[int, ir.Value] = {}
        self.arguments: dict[str, Array] = {}
        self.auxiliary: dict[str, Array] = {}

    def add(self, value: ir.Value, array: Array) -> None:
        self.arrays[id(value)] = array

    def variable(self, value: ir.Value, is_auxiliary: bool = False) -> ir.Value:
        """The variable that a constant is for nodes that take it as an argument."""
        made = self.variables.get(id(value))
        if made is None:
            made = self.variables[id(value)] = variable_of(value)
        of = self.auxiliary if is_auxiliary else self.arguments
        other = self.arguments if is_auxiliary else self.auxiliary
        if str(value.name) in other:
            raise GraphError(
                f"weight {value.name!r}: expected one use, as an argument or as a statistic"
            )
        of[str(value.name)] = self.arrays[id(value)]
        return made


class Inverse:
    """One node of ONNX that a rule turns into nodes of MXNet."""

    def __init__(
        self, node: ir.Node, name: str, made: Mapping[int, ir.Value], constants: Constants
    ) -> None:
        self.node, self.name = node, name
        self._made, self._constants = made, constants

    def error(self, message: str) -> GraphError:
        return GraphError(f"node {self.node.name!r} ({self.node.op_type}): {message}")

    def __len__(self) -> int:
        return len([value for value in self.node.inputs if value is not None])

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the node, as Python has it."""
        found = self.node.attributes.get(name)
        return default if found is None else found.value

    def expect(self, **values: Any) -> None:
        """Attributes that MXNet has no form of have to be what they are by default."""
        for name, value in values.items():
            came = self.attribute(name, value)
            if came != value:
                raise self.error(f"expected {name}={value}, but {came} came: MXNet has none such")

    def value(self, i: int) -> ir.Value:
        """An input as ONNX has it, with what is known of its shape."""
        value = self.node.inputs[i] if i < len(self.node.inputs) else None
        if value is None:
            raise self.error(f"expected an input {i}")
        return value

    def has(self, i: int) -> bool:
        return i < len(self.node.inputs) and self.node.inputs[i] is not None

    def shape(self, i: int) -> Shape:
        shape = shape_of(self.value(i))
        if shape is None:
            raise self.error(f"expected an input {i} of known rank: infer the graph's shapes")
        return shape

    def size(self, i: int, axis: int) -> int:
        n = self.shape(i)[axis]
        if not isinstance(n, int):
            raise self.error(f"expected a known dimension {axis} of input {i}, but {n} came")
        return n

    def constant(self, i: int) -> Array | None:
        """The elements of an input that is a constant; None for others."""
        return self._constants.arrays.get(id(self.value(i)))

    def numbers(self, i: int) -> list[int]:
        """An input that has to be a constant of whole numbers."""
        array = self.constant(i)
        if array is None:
            raise self.error(f"expected a constant as input {i}: MXNet has a parameter there")
        return [int(n) for n in array.reshape(-1)]

    def input(self, i: int, is_auxiliary: bool = False) -> ir.Value:
        """An input as MXNet has it."""
        value = self.value(i)
        if id(value) in self._constants.arrays:
            return self._constants.variable(value, is_auxiliary)
        return self._made[id(value)]

    def make(
        self, op: str, inputs: Sequence[ir.Value], suffix: str = "", **parameters: object
    ) -> ir.Value:
        """The first output of a new node; parameters that are None are left out."""
        return self.make_all(op, inputs, suffix, **parameters)[0]

    def make_all(
        self, op: str, inputs: Sequence[ir.Value], suffix: str = "", **parameters: object
    ) -> Sequence[ir.Value]:
        texts = {
            name: str(tuple(value)) if isinstance(value, (list, tuple)) else str(value)
            for name, value in parameters.items()
            if value is not None
        }
        return visible_outputs(make_node(op, self.name + suffix, texts, inputs))


Rule = Callable[[Inverse], "ir.Value | Sequence[ir.Value]"]
INVERSES: dict[str, Rule] = {}


def inverse_of(*op_types: str) -> Callable[[Rule], Rule]:
    """Adds the function below to the table as the rule of operators of ONNX."""

    def add(rule: Rule) -> Rule:
        for op_type in op_types:
            INVERSES[op_type] = rule
        return rule

    return add
