"""What a product does to its results before it stores them: bias, activation, residual add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .....graph.lowering._value import Declined
from .._algebra import Vector
from .._kernel import Spec
from .._operators import OPERATORS, Call


@dataclass(frozen=True)
class Extra:
    """An operand of a step: a further input of the kernel.

    `position` is where it is among the kernel's inputs; None: behind those before it. `number` is
    its element where that is one, and known.
    """

    spec: Spec
    position: int | None = None
    number: float | None = None


@dataclass(frozen=True)
class Step:
    """An elementwise operator that is applied to the result.

    `args` are its inputs: "result", a further input of the kernel, or None for one that is not
    given; without any it is the result alone.
    """

    operator: str
    args: tuple[Extra | str | None, ...] = ("result",)
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def binary(
        operator: str, other: Spec, position: int | None = None, *, swapped: bool = False
    ) -> Step:
        """An operator of the result and a further input, or the other way round."""
        extra = Extra(other, position)
        return Step(operator, (extra, "result") if swapped else ("result", extra))

    @property
    def extras(self) -> tuple[Extra, ...]:
        """Inputs that the kernel reads; not those that are known numbers."""
        return tuple(a for a in self.args if isinstance(a, Extra) and a.number is None)


@dataclass(frozen=True)
class Operand:
    """Where an element of an operand lies, seen from a result at a row and a column.

    `kind` is "row", "column" or "scalar" for one element for each row, each column or all of them,
    and "full" for a tensor that lies as the result does.
    """

    kind: str
    source: str  # C expression of its address


def kind_of(operand: Spec, result: Spec, row_axis: int, column_axis: int | None = None) -> str:
    """How an operand lies beside a result whose rows are one axis, and whose columns another one.

    Without `column_axis` no operand is of kind "column". Declined where it is none of the kinds of
    Operand.
    """
    if operand.dtype != "float32":
        raise Declined(f"only float32 beside products, got {operand.dtype}")
    rank = len(result.shape)
    shape = (1,) * (rank - len(operand.shape)) + operand.shape
    if operand.size == 1 and len(shape) == rank:
        return "scalar"
    if shape == result.shape:
        return "full"
    wide = {axis for axis, extent in enumerate(shape) if extent != 1}
    if len(shape) == rank and all(shape[axis] == result.shape[axis] for axis in wide):
        if wide == {row_axis}:
            return "row"
        if wide == {column_axis}:
            return "column"
    raise Declined(f"operand of shape {operand.shape} beside a result of shape {result.shape}")


def apply(
    steps: Sequence[Step],
    operands: Sequence[Operand],
    value: str,
    load: Callable[[int, Operand], str],
) -> list[str]:
    """C statements that change `value`, a variable; `load` gives the element of an operand.

    `operands` are those of the steps' extras, in order. Declined for operators that are not
    elementwise, or not of float32.
    """
    lines = []
    number = 0
    for step in steps:
        given: list[str | None] = []
        known: dict[int, float] = {}
        for position, arg in enumerate(step.args):
            if not isinstance(arg, Extra):
                given.append(None if arg is None else value)
            elif arg.number is not None:
                known[position] = arg.number
                given.append(Vector("float32").number(arg.number))
            else:
                given.append(load(number, operands[number]))
                number += 1
        lines.append(f"{value} = {_text(step, given, known)};")
    return lines


def _text(step: Step, given: Sequence[str | None], known: dict[int, float]) -> str:
    operator = OPERATORS.get(step.operator)
    if operator is None:
        raise Declined(f"{step.operator} is not elementwise")
    dtypes = tuple(None if text is None else "float32" for text in given)
    call = Call(Vector, tuple(given), dtypes, dict(step.attributes), known)
    try:
        text, dtype = operator.expression(call)
    except (KeyError, AssertionError, TypeError, AttributeError) as error:
        raise Declined(f"{step.operator}: {error}") from error
    if dtype != "float32":
        raise Declined(f"{step.operator} gives {dtype}")
    return text
