"""Whether two arrays are the same: exactly, or as near as the function that made them promises."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .dtypes import finfo, kind, parts, unit

# Units in the last place by which an elementary function may differ: both sides are within some.
ULPS = 8
# Functions that round more than once or have no agreed last bit.
ELEMENTARY = {
    *("cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan"),
    *("arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
    *("power", "arctan2", "hypot", "logaddexp", "linspace", "round"),
}
# Of complex numbers these round more than once, too.
COMPLEX = {"multiply", "divide", "square", "sqrt", "reciprocal", "absolute", "sign"}
# Functions that add up in an order of their own.
SUMS = {"sum", "mean", "cumsum", "trace", "std"}
PRODUCTS = {"matmul", "dot", "inner", "outer", "vdot", "tensordot", "var"}
POWERS = {"prod", "cumprod"}

OPERATORS = {
    **{ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"},
    **{ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.Pow: "power"},
    **{ast.MatMult: "matmul", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or"},
    **{ast.BitXor: "bitwise_xor", ast.LShift: "left_shift", ast.RShift: "right_shift"},
    **{ast.Invert: "invert", ast.USub: "negative", ast.UAdd: "positive"},
}


def label(statement: ast.stmt) -> str:
    """The name of what a statement does: `add` for `v0 + v1`, `v0 += v1` and np.add(v0, v1)."""
    if isinstance(statement, ast.AugAssign):
        return OPERATORS[type(statement.op)]
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return "setitem"
    return label_of(getattr(statement, "value", None))


def label_of(node: ast.expr | None) -> str:
    """The name of what an expression does."""
    if isinstance(node, ast.UnaryOp):
        # A power binds more tightly: -2 ** v0.
        inner = label_of(node.operand)
        return OPERATORS[type(node.op)] if inner == "other" else inner
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)]
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", None) or getattr(node.func, "id", "")
        return "absolute" if name == "abs" else name
    if isinstance(node, ast.Compare):
        return type(node.ops[0]).__name__.lower()
    if isinstance(node, ast.Subscript):
        inner = label_of(node.value)
        return "getitem" if inner == "other" else inner
    return node.attr if isinstance(node, ast.Attribute) else "other"


def total(array: np.ndarray) -> float:
    """The sum of the finite elements' magnitudes."""
    # The square root of the largest number is large enough, and its products are finite.
    magnitudes = np.minimum(np.abs(array.astype("complex128")), 1e150)
    return float(np.sum(magnitudes, where=np.isfinite(magnitudes)))


def scale(name: str, operands: list[np.ndarray]) -> float:
    """What the rounding errors of a sum are in proportion to: the magnitude of what is added."""
    if name in SUMS:
        return max(map(total, operands), default=0.0)
    if name in PRODUCTS:
        totals = [max(total(array), 1.0) for array in operands]
        return max(totals, default=0.0) * max(totals, default=0.0)
    return 0.0


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether every element is the same, NaN at the same positions."""
    if found.tobytes() == expected.tobytes():
        return True
    return not other_elements(found, expected).any()


def other_elements(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Which elements, or parts of complex numbers, are not equal; NaN is equal to NaN."""
    both = zip(parts(found), parts(expected), strict=True)
    return np.logical_or.reduce([(a != b) & ~(np.isnan(a) & np.isnan(b)) for a, b in both])


def manners(found: np.ndarray, expected: np.ndarray, which: np.ndarray) -> list[str]:
    """In which ways those elements differ: what they are, and what they should be."""
    pairs = zip(found[which].ravel(), expected[which].ravel(), strict=True)
    return sorted({f"{manner(a)}, not {manner(b)}" for a, b in pairs})


def manner(number: np.generic) -> str:
    if np.isnan(number):
        return "NaN"
    return "a number" if np.isfinite(number) else "infinity"


def other_signs(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Which zeros, or zeros that are a part of a complex number, have other signs."""
    if kind(expected.dtype) not in "fc":
        return np.zeros(expected.shape, bool)
    both = zip(parts(found), parts(expected), strict=True)
    differ = [(a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)) for a, b in both]
    return np.logical_or.reduce(differ)


@dataclass(frozen=True)
class Rounding:
    """What a statement's results may be off by, before it has changed its operands."""

    name: str
    # The type with the largest unit that took part.
    coarsest: np.dtype
    # What an elementary function may have rounded to before it wrote the result into out=.
    computed: np.dtype
    magnitude: float

    @classmethod
    def of(cls, tree: ast.Module, operands: dict[str, np.ndarray]) -> Rounding:
        """That of a statement, and of the arrays that it names."""
        name, arrays = label(tree.body[0]), list(operands.values())
        outs = [
            keyword for call in calls(tree) for keyword in call.keywords if keyword.arg == "out"
        ]
        read = {ast.unparse(node) for call in calls(tree) for node in call.args}
        inputs = [a for text, a in operands.items() if text in read] if outs else []
        computed = coarsest_of(float_of(a.dtype) for a in inputs)
        return cls(name, coarsest_of(a.dtype for a in arrays), computed, scale(name, arrays))

    def may_round(self, dtype: np.dtype) -> bool:
        """Whether a result of that type need not be exact."""
        rounds = self.name in ELEMENTARY | SUMS | PRODUCTS | POWERS
        complex_rounds = self.coarsest.kind == "c" and self.name in COMPLEX
        return kind(dtype) in "fc" and (rounds or complex_rounds)

    def allows(self, found: np.ndarray, expected: np.ndarray) -> bool:
        """Whether one is as good as the other."""
        return not self.differing(found, expected).any()

    def differing(self, found: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Which elements differ, and by more than functions may that round."""
        differ = other_elements(found, expected)
        if not self.may_round(expected.dtype):
            return differ
        with np.errstate(all="ignore"):
            return differ & ~(np.abs(wide(found) - wide(expected)) <= self.tolerance(expected))

    def tolerance(self, expected: np.ndarray) -> np.ndarray:
        """How far each element may be off."""
        dtype = expected.dtype
        own = ULPS * max(unit(dtype), unit(self.computed)) * np.abs(wide(expected))
        own = own + ULPS * float(finfo(dtype).smallest_subnormal)
        own = own + 4 * max(unit(dtype), unit(self.coarsest)) * self.magnitude
        of_many = self.name in POWERS or (self.name == "power" and dtype.kind == "c")
        return own * 8 if of_many else own


def calls(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype("complex128")


def float_of(dtype: np.dtype) -> np.dtype:
    """The type that an elementary function of elements of a type is computed in."""
    if kind(dtype) in "fc":
        return dtype
    return np.dtype({1: "float16", 2: "float32"}.get(dtype.itemsize, "float64"))


def coarsest_of(dtypes: Iterable[np.dtype]) -> np.dtype:
    """The type with the largest unit, complex ones before others; an integer's, without any."""
    order = {"c": 1, "f": 0}
    inexact = [dtype for dtype in dtypes if kind(dtype) in order]
    return max(inexact, key=lambda d: (order[kind(d)], unit(d)), default=np.dtype("int64"))
