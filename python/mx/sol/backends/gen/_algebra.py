"""Expressions in C: of vectors of float32, int32 and booleans, and of single elements of any type.

Formulas of operators are written once, with the methods of an algebra. A boolean of a vector is -1
or 0 in each lane, a single one 1 or 0.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy

from ....graph.lowering._value import Declined
from ._meaning import formula, integer_of_float
from ._types import Type, type_of


class Algebra(Protocol):
    """What formulas are made of; arguments and results are C expressions."""

    dtype: str  # of the elements that the formula is about

    def number(self, value: float) -> str:
        """A constant of the type."""

    def function(self, name: str, *args: str) -> str:
        """A mathematical function by its name in C, as of doubles."""

    def select(self, condition: str, a: str, b: str) -> str:
        """One of two, by a boolean."""

    def maximum(self, a: str, b: str) -> str:
        """The larger one, NaN where one is."""

    def minimum(self, a: str, b: str) -> str:
        """The smaller one, NaN where one is."""

    def negated(self, condition: str) -> str:
        """The opposite of a boolean."""

    def converted(self, text: str, origin: str) -> str:
        """A value of type `origin` in the algebra's."""


def literal(value: float, kind: Type) -> str:
    """A constant in C, exactly."""
    if not kind.is_float:
        return _integer(int(value), kind)
    value, suffix = float(value), "f" if kind.value == "float" else ""
    if math.isnan(value):
        return f"(({kind.value})NAN)"
    if math.isinf(value):
        sign = "-" if value < 0 else ""
        return f"({sign}({kind.value})INFINITY)"
    if suffix:
        value = _as_float(value)
        if math.isinf(value):
            return literal(value, kind)
    text = f"{value.hex()}{suffix}"
    return f"({text})" if text.startswith("-") else text


def _as_float(value: float) -> float:
    with numpy.errstate(over="ignore"):
        return float(numpy.float32(value))


def _integer(value: int, kind: Type) -> str:
    if kind.name == "int64" and value == -(2**63):
        return "INT64_MIN"
    suffix = "LL" if kind.name == "int64" else "ULL" if kind.name == "uint64" else ""
    suffix = "U" if kind.name == "uint32" else suffix
    return f"(({kind.value})({value}{suffix}))"


class Vector:
    """Vectors of vec.h: float32 as vf, int32 and booleans as vi."""

    DTYPES = frozenset(("float32", "int32", "bool"))
    _FUNCTIONS = frozenset("exp expm1 log tanh erf sqrt floor ceil trunc rint pow".split())

    def __init__(self, dtype: str) -> None:
        if dtype not in self.DTYPES:
            raise Declined(f"no vectors of {dtype}")
        self.dtype = dtype

    def number(self, value: float) -> str:
        kind = type_of(self.dtype)
        if self.dtype == "bool":
            return "vi_set1(-1)" if value else "vi_set1(0)"
        return f"{'vf' if kind.is_float else 'vi'}_set1({literal(value, kind)})"

    def function(self, name: str, *args: str) -> str:
        if self.dtype == "float32" and name in self._FUNCTIONS:
            return f"vf_{name}({', '.join(args)})"
        if self.dtype == "float32" and name == "fabs":
            return f"vf_abs({args[0]})"
        raise Declined(f"no {name} of vectors of {self.dtype}")

    def select(self, condition: str, a: str, b: str) -> str:
        return f"{'vf' if self.dtype == 'float32' else 'vi'}_select({condition}, {a}, {b})"

    def maximum(self, a: str, b: str) -> str:
        return self._larger("max", a, b)

    def minimum(self, a: str, b: str) -> str:
        return self._larger("min", a, b)

    def _larger(self, name: str, a: str, b: str) -> str:
        if self.dtype != "float32":
            return f"vi_{name}({a}, {b})"
        if b.startswith("vf_set1(") and "NAN" not in b:
            return f"vf_{name}({b}, {a})"  # which is the second one where that is NaN
        return f"vf_{name}imum({a}, {b})"

    def negated(self, condition: str) -> str:
        return f"(~{condition})"

    def converted(self, text: str, origin: str) -> str:
        if origin == self.dtype:
            return text
        if self.dtype == "bool":
            return f"({text} != {'0.0f' if origin == 'float32' else '0'})"
        if origin == "bool":
            text = f"({text} & 1)"
            return f"vf_from({text})" if self.dtype == "float32" else text
        return f"vf_from({text})" if self.dtype == "float32" else f"vi_from({text})"


class Scalar:
    """Single elements of any type."""

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.kind = type_of(dtype)

    def number(self, value: float) -> str:
        if self.dtype == "bool":
            return "1" if value else "0"
        return literal(value, self.kind)

    def function(self, name: str, *args: str) -> str:
        if not self.kind.is_float:
            raise Declined(f"no {name} of {self.dtype}")
        return f"{name}{'f' if self.kind.value == 'float' else ''}({', '.join(args)})"

    def select(self, condition: str, a: str, b: str) -> str:
        return f"({condition} ? {a} : {b})"

    def maximum(self, a: str, b: str) -> str:
        return formula("maximum", self.kind, a, b)

    def minimum(self, a: str, b: str) -> str:
        return formula("minimum", self.kind, a, b)

    def negated(self, condition: str) -> str:
        return f"(!{condition})"

    def converted(self, text: str, origin: str) -> str:
        kind, source = self.kind, type_of(origin)
        if origin == self.dtype:
            return text
        if source.is_float and not kind.is_float:
            return integer_of_float(kind, source, text)
        if self.dtype == "bool":
            return f"({text} != 0)"
        if kind.is_float:
            if origin == "float64" and kind.size == 2:
                text = f"mx_odd_float_of_double({text})"
            return kind.rounded(f"({kind.value})({text})")
        return f"({kind.value})({text})"
