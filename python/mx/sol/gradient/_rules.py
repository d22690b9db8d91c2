"""The table of rules: which function writes the gradient of which operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import onnx_ir as ir

from ...graph._custom import rule_name
from ...graph._spec import Dim, dims_of

if TYPE_CHECKING:
    from ._writer import Writer

Gradient: TypeAlias = ir.Value | None


class Declined(Exception):
    """A rule has no gradient for a node; the text says why, for people."""


class LeftToBody(Declined):
    """What replaces a node has not all that this one says."""


@dataclass(frozen=True)
class Call:
    """A node whose gradient is wanted."""

    node: ir.Node
    grads: tuple[Gradient, ...]  # for its outputs; None for one that is zero
    wanted: tuple[bool, ...]  # by input, whether its gradient is asked for

    @property
    def dy(self) -> ir.Value:
        """The gradient of the first output, which has one."""
        found = self.grads[0]
        if found is None:
            raise Declined("only outputs besides the first one have gradients")
        return found

    @property
    def x(self) -> ir.Value:
        """The first input."""
        return self.input(0)

    @property
    def y(self) -> ir.Value:
        """The first output."""
        return self.node.outputs[0]

    def input(self, index: int) -> ir.Value:
        """An input that is there."""
        found = self.optional(index)
        if found is None:
            raise Declined(f"the input {index} is missing")
        return found

    def optional(self, index: int) -> ir.Value | None:
        """An input, or None for one that is missing."""
        return self.node.inputs[index] if index < len(self.node.inputs) else None

    def wants(self, index: int) -> bool:
        """Whether the gradient for an input is asked for."""
        return index < len(self.wanted) and self.wanted[index]

    def dims(self, index: int) -> tuple[Dim, ...]:
        """The extents of an input, and the names of those that vary; its rank has to be known."""
        found = dims_of(self.input(index).shape)
        if found is None:
            raise Declined(f"the number of axes of the input {index} is not known")
        return found

    def integer(self, name: str, default: int) -> int:
        """An attribute."""
        found: int = self.node.attributes.get_int(name, default)
        return found

    def number(self, name: str, default: float) -> float:
        """An attribute."""
        found: float = self.node.attributes.get_float(name, default)
        return found

    def string(self, name: str, default: str) -> str:
        """An attribute."""
        found: str = self.node.attributes.get_string(name, default)
        return found

    def ints(self, name: str) -> Sequence[int] | None:
        """An attribute, None where it is missing."""
        found: Sequence[int] | None = self.node.attributes.get_ints(name, None)
        return found


# Writes nodes for the gradients of a node's inputs: one, or as many as there are, None for zero.
Rule: TypeAlias = Callable[["Writer", Call], Gradient | Sequence[Gradient]]
# Writes nodes that mean the same as one, of operators that have rules; gives its outputs.
Expansion: TypeAlias = Callable[["Writer", Call], ir.Value | Sequence[ir.Value]]

# The same of a node with graphs in it, which of the values around it that are said to have
# derivatives gives those that it reads, each with its gradient.
GraphRule: TypeAlias = Callable[["Writer", Call, set[ir.Value]], list[tuple[ir.Value, ir.Value]]]

RULES: dict[str, Rule] = {}
GRAPH_RULES: dict[str, GraphRule] = {}
EXPANSIONS: dict[str, Expansion] = {}
# No derivative by inputs of these is other than zero, for the reason that stands there.
WITHOUT: dict[str, str] = {}

# By operator, the first of its outputs that no gradient goes through: running statistics.
DETACHED = {"BatchNormalization": 1, "mxffi.sol::BatchNormTraining": 1}


def gradient(*operators: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Makes a function the rule of operators."""

    def add(function: Rule) -> Rule:
        for name in operators:
            _add(RULES, rule_name(domain, name), function)
        return function

    return add


def expansion(*operators: str, domain: str = "") -> Callable[[Expansion], Expansion]:
    """Makes a function what replaces nodes of operators before they are differentiated.

    It raises Declined for a node that stays as it is, LeftToBody for one that is replaced by the
    nodes that ONNX says it is short for.
    """

    def add(function: Expansion) -> Expansion:
        for name in operators:
            _add(EXPANSIONS, rule_name(domain, name), function)
        return function

    return add


def without(reason: str, operators: str) -> None:
    """Lists operators that have no derivative."""
    for name in operators.split():
        _add(WITHOUT, name, reason)


def _add(table: dict[str, Any], name: str, item: Any) -> None:
    if name in table:
        raise ValueError(f"gradient: the operator {name} has two rules")
    table[name] = item


def name_of(node: ir.Node) -> str:
    """What the rule of a node's operator is listed under."""
    return rule_name(node.domain, node.op_type)
