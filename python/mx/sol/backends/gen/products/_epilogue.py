"""What a product does to its results before it stores them: bias, activation, residual add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from .....graph.lowering._value import Declined
from .._kernel import Spec


@dataclass(frozen=True)
class Step:
    """An operator that is applied to the result: with one more operand, or with none.

    The operand of `Add`, `Sub`, `Mul` and `Div` is a further input of the kernel, behind those of
    the product, in the order of the steps. `swapped` says that it is the first of the two inputs.
    """

    operator: str
    operand: Spec | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    swapped: bool = False


@dataclass(frozen=True)
class Operand:
    """Where an element of an operand lies, seen from a result at a row and a column.

    `kind` is "row", "column" or "scalar" for one element for each row, each column or all of them,
    and "full" for a tensor that lies as the result does.
    """

    kind: str
    source: str  # C expression of its address


Formula = Callable[[str, Mapping[str, Any]], str]


def _number(value: Any) -> str:
    """A float of C."""
    number = float(numpy.float32(value))
    if number != number:
        return "NAN"
    if number in (float("inf"), float("-inf")):
        return "INFINITY" if number > 0 else "-INFINITY"
    return f"{number!r}f"


def _set(value: Any) -> str:
    return f"vf_set1({_number(value)})"


def _clip(v: str, attributes: Mapping[str, Any]) -> str:
    """NaN stays, as NumPy's does it."""
    low, high = attributes.get("min"), attributes.get("max")
    if low is not None:
        v = f"vf_maximum({v}, {_set(low)})"
    if high is not None:
        v = f"vf_minimum({v}, {_set(high)})"
    return v


def _leaky(v: str, attributes: Mapping[str, Any]) -> str:
    alpha = attributes.get("alpha", 0.01)
    return f"vf_select({v} < 0.0f, {v} * {_number(alpha)}, {v})"


def _hard_sigmoid(v: str, attributes: Mapping[str, Any]) -> str:
    alpha, beta = attributes.get("alpha", 0.2), attributes.get("beta", 0.5)
    inner = f"{v} * {_number(alpha)} + {_number(beta)}"
    return _clip(f"({inner})", {"min": 0.0, "max": 1.0})


def _hard_swish(v: str, attributes: Mapping[str, Any]) -> str:
    return f"{v} * {_hard_sigmoid(v, {'alpha': 1 / 6, 'beta': 0.5})}"


FORMULAS: dict[str, Formula] = {
    "Relu": lambda v, attributes: f"vf_select({v} < 0.0f, (vf){{0}}, {v})",
    "LeakyRelu": _leaky,
    "Clip": _clip,
    "Sigmoid": lambda v, attributes: f"vf_sigmoid({v})",
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Neg": lambda v, attributes: f"-{v}",
    "Abs": lambda v, attributes: f"vf_abs({v})",
}

SIGNS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/"}


def check(steps: Sequence[Step]) -> None:
    """Declined for a step that products do not apply."""
    for step in steps:
        known = SIGNS if step.operand is not None else FORMULAS
        if step.operator not in known:
            raise Declined(f"products do not apply {step.operator} to their results")
        if step.operand is not None and step.operand.dtype != "float32":
            raise Declined(f"operand of {step.operator}: only float32, got {step.operand.dtype}")


def kind_of(operand: Spec, result: Spec, row_axis: int, column_axes: Sequence[int]) -> str:
    """How an operand lies beside a result whose rows are one axis and whose columns are others.

    Declined where it is none of the kinds of Operand.
    """
    rank = len(result.shape)
    shape = (1,) * (rank - len(operand.shape)) + operand.shape
    if operand.size == 1:
        return "scalar"
    if len(shape) == rank and shape == result.shape:
        return "full"
    wide = {axis for axis, extent in enumerate(shape) if extent != 1}
    if len(shape) == rank and all(shape[axis] == result.shape[axis] for axis in wide):
        if wide == {row_axis}:
            return "row"
        if tuple(column_axes) == (rank - 1,) and wide == {rank - 1}:
            return "column"
    raise Declined(f"operand of shape {operand.shape} beside a result of shape {result.shape}")


def apply(
    steps: Sequence[Step],
    operands: Sequence[Operand | None],
    value: str,
    load: Callable[[int, Operand], str],
) -> list[str]:
    """C statements that change `value`, a variable; `load` gives the operand of a step."""
    lines = []
    for index, (step, operand) in enumerate(zip(steps, operands, strict=True)):
        if operand is None:
            lines.append(f"{value} = {FORMULAS[step.operator](value, step.attributes)};")
            continue
        other, sign = load(index, operand), SIGNS[step.operator]
        ends = (other, value) if step.swapped else (value, other)
        lines.append(f"{value} = {ends[0]} {sign} {ends[1]};")
    return lines
