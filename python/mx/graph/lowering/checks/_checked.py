"""A node whose attributes and inputs are checked, and the table of what is asked of operators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy
import onnx
import onnx_ir

from ..._errors import GraphError
from .._node import attributes_of, describe
from .._value import Value

# What is read as a list has no more elements.
_MOST_LISTED = 1 << 16


@dataclass
class Checked:
    """A node, the version in which its operator got its meaning, and its inputs as far as known.

    An input is None where there is none, and a list where it is a sequence.
    """

    node: onnx_ir.Node
    since: int
    inputs: Sequence[Value | list[Any] | None]
    attributes: dict[str, Any]

    def fail(self, subject: str, expected: str, got: object) -> NoReturn:
        """GraphError that says what was expected of the subject, and what came."""
        raise GraphError(f"{describe(self.node)}: {subject}: expected {expected}, got {got}")

    def value(self, index: int) -> Value | None:
        """An input; None where there is none, or one that is no tensor."""
        found = self.inputs[index] if index < len(self.inputs) else None
        return found if isinstance(found, Value) else None

    def name(self, index: int) -> str:
        """An input in messages."""
        return f"input {_input_name(self.node.op_type, self.since, index)!r}"

    def get(self, attribute: str, default: Any = None) -> Any:
        """An attribute, or what it is where it is not given."""
        return self.attributes.get(attribute, default)

    def ints(self, index: int) -> list[int] | None:
        """The elements of an input of integers; None where they are not known."""
        value = self.value(index)
        if value is None or value.known is None or value.size > _MOST_LISTED:
            return None
        elements = value.known.elements
        return [int(one) for one in elements.reshape(-1)] if elements.dtype.kind in "iub" else None

    def scalar(self, index: int) -> Any:
        """The only element of an input; None where it is not known. It has to have one."""
        value = self.value(index)
        if value is None:
            return None
        if value.size != 1:
            self.fail(self.name(index), "one element", f"shape {text(value.shape)}")
        return None if value.known is None else value.known.elements.reshape(-1)[0].item()

    def shape(self, index: int, expected: Sequence[int | None], meaning: str) -> None:
        """An input, if there is one, has this shape; None is any extent."""
        value = self.value(index)
        if value is None:
            return
        fits = len(value.shape) == len(expected) and all(
            other is None or one == other for one, other in zip(value.shape, expected, strict=True)
        )
        if not fits:
            self.fail(self.name(index), f"shape {text(expected)}, {meaning}", text(value.shape))

    def axis(self, axis: int, rank: int, subject: str = "attribute 'axis'", end: int = 0) -> int:
        """An axis of so many, counted from the first one; `end` more are allowed behind them."""
        if not -rank <= axis < rank + end:
            allowed = f"{-rank} to {rank + end - 1}" if rank + end else "none"
            self.fail(subject, f"an axis of {allowed}", axis)
        return axis + rank if axis < 0 else axis

    def axes(self, axes: Sequence[int], rank: int, subject: str) -> list[int]:
        """Axes, counted from the first one, each once."""
        found = [self.axis(axis, rank, subject) for axis in axes]
        if len(set(found)) != len(found):
            self.fail(subject, "each axis once", list(axes))
        return found

    def at_least(self, least: float, subject: str, given: Any) -> None:
        """A number, or each of several, is no less than that."""
        if given is None:
            return
        if not numpy.all(numpy.asarray(given) >= least):
            self.fail(subject, f"{least} or more", given)

    def indices(self, index: int, extent: int, of: str) -> None:
        """All elements of an input, if known, are indices of so many, as `within`."""
        value = self.value(index)
        if value is None or value.known is None:
            return
        self.within(index, value.known.elements, extent, of)

    def within(self, index: int, elements: Any, extent: int, of: str) -> None:
        """Elements of an input are indices of so many, negative ones from the end."""
        if elements.dtype.kind not in "iu" or not elements.size:
            return
        for found in (int(elements.min()), int(elements.max())):
            if not -extent <= found < extent:
                allowed = f"{-extent} to {extent - 1}" if extent else "none"
                self.fail(self.name(index), f"indices of {allowed} for {of}", found)


Check = Callable[[Checked], None]
_CHECKS: dict[str, list[Check]] = {}
_CHECKS_OF_ALL: list[Check] = []


def check_all(function: Check) -> Check:
    """A decorator for what is asked of every operator that has attributes."""
    _CHECKS_OF_ALL.append(function)
    return function


def check(*operators: str) -> Callable[[Check], Check]:
    """A decorator for what is asked of operators."""

    def add(function: Check) -> Check:
        for operator in operators:
            _CHECKS.setdefault(operator, []).append(function)
        return function

    return add


def check_node(node: onnx_ir.Node, since: int, inputs: Sequence[Value | list[Any] | None]) -> None:
    """GraphError for a node of ONNX's whose attributes or inputs cannot be right."""
    if node.domain not in ("", "ai.onnx"):
        return
    checks = _CHECKS.get(node.op_type, ())
    if not checks and not node.attributes:
        return
    checked = Checked(node, since, inputs, attributes_of(node))
    for one in (*_CHECKS_OF_ALL, *checks):
        one(checked)


def text(shape: Sequence[int | None]) -> str:
    """A shape in messages."""
    inner = ", ".join("any" if extent is None else str(extent) for extent in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


@functools.cache
def _input_name(operator: str, since: int, index: int) -> str:
    try:
        inputs = onnx.defs.get_schema(operator, since).inputs
    except onnx.defs.SchemaError:
        return str(index)
    return str(inputs[index].name) if index < len(inputs) else str(index)
