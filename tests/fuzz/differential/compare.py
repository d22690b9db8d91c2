"""Whether two arrays are the same: exactly, or as near as the function that made them promises."""

from __future__ import annotations

import ast

import numpy as np

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
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
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


def unit(dtype: np.dtype) -> float:
    """The distance of 1 to the next number of a type."""
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether every element is the same, NaN at the same places."""
    if found.tobytes() == expected.tobytes():
        return True
    return np.array_equal(found, expected, equal_nan=expected.dtype.kind in "fc")


def close(
    name: str, found: np.ndarray, expected: np.ndarray, coarsest: np.dtype, magnitude: float
) -> bool:
    """Whether a function of that name may give one where NumPy gives the other.

    coarsest is the type with the largest unit that took part, magnitude the scale of a sum.
    """
    dtype = expected.dtype
    rounds = name in ELEMENTARY | SUMS | PRODUCTS | POWERS
    if dtype.kind not in "fc" or not (rounds or (coarsest.kind == "c" and name in COMPLEX)):
        return False
    with np.errstate(all="ignore"):
        tolerance = (
            ULPS * unit(dtype) * np.abs(expected) + ULPS * np.finfo(dtype).smallest_subnormal
        )
        tolerance = tolerance + 4 * max(unit(dtype), unit(coarsest)) * magnitude
        if name in POWERS or (name == "power" and dtype.kind == "c"):
            tolerance = tolerance * 8
        near = np.abs(found.astype("complex128") - expected) <= tolerance
    return bool(np.all(near | (found == expected) | (np.isnan(found) & np.isnan(expected))))
