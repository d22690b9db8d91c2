"""What the formula of an elementwise operator is given, and the table of operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from ....graph.lowering._value import Declined
from ._algebra import Algebra, Vector
from ._meaning import formula, gives_bool, has_formula, operands_of
from ._types import FLOATS, type_of


@dataclass(frozen=True)
class Call:
    """One operator on values; `number` is an algebra for values of a type."""

    make: Callable[[str], Any]
    args: tuple[str | None, ...]
    dtypes: tuple[str | None, ...]
    attributes: dict[str, Any]
    numbers: dict[int, float]  # inputs that are one known number

    @property
    def algebra(self) -> Algebra:
        """That of the first input's type."""
        return self.make(self.dtype)  # type: ignore[no-any-return]

    @property
    def dtype(self) -> str:
        """The type of the first input."""
        assert self.dtypes[0] is not None
        return self.dtypes[0]

    @property
    def x(self) -> str:
        """The first input."""
        assert self.args[0] is not None
        return self.args[0]

    @property
    def y(self) -> str:
        """The second input."""
        if len(self.args) < 2 or self.args[1] is None:
            raise Declined("a second input that is missing")
        return self.args[1]

    @property
    def is_vector(self) -> bool:
        """Whether values are vectors."""
        return self.make is Vector

    def by_formula(self, name: str) -> tuple[str, str]:
        """The operator of that name of single elements, and the type of its result."""
        args = [self.x] if operands_of(name) == 1 else [self.x, self.y]
        kind = type_of(self.dtype)
        return formula(name, kind, *args), "bool" if gives_bool(name) else self.dtype

    def attribute(self, name: str, default: float) -> str:
        """An attribute as a constant of the first input's type."""
        return self.algebra.number(self.attribute_value(name, default))

    def attribute_value(self, name: str, default: float) -> float:
        """An attribute, which ONNX has as a float32."""
        return float(numpy.float32(self.attributes.get(name, default)))

    def need(self, *dtypes: str) -> None:
        """Declined for a first input of another type."""
        if self.dtype not in dtypes:
            raise Declined(f"{self.dtype}")


# Gives the expression and the type of the result.
Formula = Callable[[Call], tuple[str, str]]


def accepts_all(call: Call) -> None:
    """An operator of all types."""


@dataclass(frozen=True)
class Operator:
    """An elementwise operator: since which version its meaning is the one here, and the formula.

    Where an operator of mxnet/op/formulas.inc, `meaning`, means the same, single elements are
    computed by that, if it has a formula for their type. `takes` raises Declined for other types
    than ONNX has.
    """

    since: int
    formula: Formula
    is_heavy: bool = False  # whether an element takes as long as many additions
    meaning: str = ""
    takes: Callable[[Call], None] = accepts_all

    def expression(self, call: Call) -> tuple[str, str]:
        """The expression and the type of the result. Declined where there is none."""
        self.takes(call)
        if self.meaning and not call.is_vector and has_formula(self.meaning, type_of(call.dtype)):
            return call.by_formula(self.meaning)
        return self.formula(call)


OPERATORS: dict[str, Operator] = {}


def operator(
    *names: str,
    since: int = 1,
    heavy: bool = False,
    meaning: str = "",
    takes: Callable[[Call], None] = accepts_all,
) -> Callable[[Formula], Formula]:
    """A decorator for the formula of operators."""

    def add(formula: Formula) -> Formula:
        for name in names:
            OPERATORS[name] = Operator(since, formula, heavy, meaning, takes)
        return formula

    return add


def floats(call: Call) -> None:
    """Declined for what is no float."""
    call.need(*FLOATS)


def numeric(call: Call) -> None:
    """Declined for booleans."""
    if call.dtype == "bool":
        raise Declined("bool")


def integer(call: Call) -> None:
    """Declined for what is no integer."""
    if not type_of(call.dtype).is_integer:
        raise Declined(call.dtype)


def boolean(call: Call) -> None:
    """Declined for what is no boolean."""
    call.need("bool")


_NAMES = {"+": ("add", "add"), "-": ("subtract", "sub"), "*": ("multiply", "mul")}


def integers(call: Call, sign: str, a: str, b: str) -> str:
    """A sum, difference or product of integers, which wraps."""
    name, short = _NAMES[sign]
    if call.is_vector:
        return f"vi_{short}({a}, {b})"
    return formula(name, type_of(call.dtype), a, b)


def product(call: Call, a: str, b: str) -> str:
    """A product of numbers of the first input's type."""
    return f"({a} * {b})" if call.dtype in FLOATS else integers(call, "*", a, b)
