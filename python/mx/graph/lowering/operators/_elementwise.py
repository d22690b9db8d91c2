"""Elementwise operators that mean what those of mx.np do."""

from __future__ import annotations

from typing import Any

import onnx_ir

from .... import numpy as np
from .... import numpy_extension as npx
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule

_UNARY: dict[str, Any] = {
    "Abs": np.abs, "Acos": np.acos, "Acosh": np.acosh, "Asin": np.asin, "Asinh": np.asinh,
    "Atan": np.atan, "Atanh": np.atanh, "BitwiseNot": np.bitwise_not, "Ceil": np.ceil,
    "Cos": np.cos, "Cosh": np.cosh, "Exp": np.exp, "Floor": np.floor, "IsNaN": np.isnan,
    "Log": np.log, "Neg": np.negative, "Not": np.logical_not, "Reciprocal": np.reciprocal,
    "Round": np.rint, "Sign": np.sign, "Sin": np.sin, "Sinh": np.sinh, "Softsign": npx.softsign,
    "Sqrt": np.sqrt, "Tan": np.tan, "Tanh": np.tanh, "Sigmoid": npx.sigmoid,
}  # fmt: skip
_BINARY: dict[str, Any] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "And": np.logical_and,
    "Or": np.logical_or, "Xor": np.logical_xor, "Equal": np.equal, "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal, "Less": np.less, "LessOrEqual": np.less_equal,
    "BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor,
}  # fmt: skip
_MANY: dict[str, Any] = {"Max": np.maximum, "Min": np.minimum, "Sum": np.add}
FLOATS = frozenset(["float16", "bfloat16", "float32", "float64"])


def cast(to: Lowering, x: Value, dtype: str) -> Value:
    """The value in another element type; itself where it is of that type."""
    if x.dtype == dtype:
        return x
    made: Value = to.call(np.astype, x, dtype)
    return made


def widened(to: Lowering, x: Value) -> Value:
    """The value in float32 where its type has fewer bits than that."""
    return cast(to, x, "float32") if x.dtype in ("float16", "bfloat16") else x


def of_type(made: Value, dtype: str) -> Value:
    """The value, if it has the type that ONNX gives it. Declined where it has another."""
    if made.dtype != dtype:
        raise Declined(f"gives {made.dtype}, not {dtype}")
    return made


def _unary(function: Any) -> Any:
    def lower(to: Lowering, x: Value) -> Value:
        made: Value = to.call(function, x)
        return made if made.dtype == "bool" else of_type(made, x.dtype)

    return lower


def _binary(function: Any) -> Any:
    def lower(to: Lowering, a: Value, b: Value) -> Value:
        made: Value = to.call(function, a, b)
        return made if made.dtype == "bool" else of_type(made, a.dtype)

    return lower


def _many(function: Any) -> Any:
    def lower(to: Lowering, first: Value, *others: Value) -> Value:
        result = first
        for other in others:
            result = to.call(function, result, other)
        return of_type(result, first.dtype)

    return lower


for _name, _function in _UNARY.items():
    rule(_name)(_unary(_function))
# Before version 7 operators broadcast only where an attribute said so.
for _name, _function in _BINARY.items():
    rule(_name, since=7)(_binary(_function))
for _name, _function in _MANY.items():
    rule(_name, since=8)(_many(_function))


@rule("Div", since=7)
def _div(to: Lowering, a: Value, b: Value) -> Value:
    if a.dtype in FLOATS:
        return of_type(to.call(np.divide, a, b), a.dtype)
    return of_type(_towards_zero(to, a, b), a.dtype)


def _towards_zero(to: Lowering, a: Value, b: Value) -> Value:
    """The quotient of integers without its fraction."""
    below: Value = to.call(np.floor_divide, a, b)
    if a.dtype.startswith("uint"):
        return below
    rest = to.call(np.not_equal, to.call(np.multiply, below, b), a)
    opposite = to.call(np.not_equal, to.call(np.less, a, 0), to.call(np.less, b, 0))
    inexact = to.call(np.logical_and, rest, to.call(np.logical_and, opposite, _nonzero(to, b)))
    made: Value = to.call(np.add, below, cast(to, inexact, a.dtype))
    return made


def _nonzero(to: Lowering, x: Value) -> Value:
    made: Value = to.call(np.not_equal, x, 0)
    return made


@rule("Mod", since=10)
def _mod(to: Lowering, a: Value, b: Value, *, fmod: int = 0) -> Value:
    if not fmod:
        return of_type(to.call(np.mod, a, b), a.dtype)
    if a.dtype in FLOATS:
        rest = to.call(np.mod, to.call(np.abs, a), to.call(np.abs, b))
        return of_type(to.call(np.copysign, rest, a), a.dtype)
    whole = to.call(np.multiply, _towards_zero(to, a, b), b)
    return of_type(to.call(np.subtract, a, whole), a.dtype)


@rule("Pow", since=7)
def _pow(to: Lowering, a: Value, b: Value) -> Value:
    if a.dtype not in FLOATS:
        return _pow_of_integer(to, a, b)
    if b.constant is not None and not b.shape and float(b.constant) == 2:
        return of_type(to.call(np.square, a), a.dtype)
    return of_type(to.call(np.power, a, cast(to, b, a.dtype)), a.dtype)


def _pow_of_integer(to: Lowering, a: Value, b: Value) -> Value:
    if b.dtype in FLOATS:
        made = to.call(np.power, cast(to, a, "float64"), cast(to, b, "float64"))
        return converted(to, made, a.dtype)
    if not b.dtype.startswith("uint") and (b.constant is None or (b.constant < 0).any()):
        raise Declined("powers of integers that may be fractions")
    return of_type(to.call(np.power, a, cast(to, b, a.dtype)), a.dtype)


@rule("Mean", since=8)
def _mean(to: Lowering, first: Value, *others: Value) -> Value:
    total = widened(to, first)
    for other in others:
        total = to.call(np.add, total, other)
    return cast(to, to.call(np.divide, total, float(1 + len(others))), first.dtype)


@rule("Where", since=9)
def _where(to: Lowering, condition: Value, x: Value, y: Value) -> Value:
    return of_type(to.call(np.where, condition, x, y), x.dtype)


@rule("IsInf", since=10)
def _isinf(to: Lowering, x: Value, *, detect_negative: int = 1, detect_positive: int = 1) -> Value:
    if detect_negative and detect_positive:
        made: Value = to.call(np.isinf, x)
    elif detect_negative or detect_positive:
        made = to.call(np.equal, x, float("inf") if detect_positive else float("-inf"))
    else:
        made = to.call(np.full, x.shape, False, dtype="bool")
    return made


@rule("BitShift", since=11)
def _bit_shift(to: Lowering, a: Value, b: Value, *, direction: str) -> Value:
    function = np.left_shift if direction == "LEFT" else np.right_shift
    return of_type(to.call(function, a, b), a.dtype)


@rule("Cast", since=6)
def _cast(
    lowering: Lowering, x: Value, *, to: int, saturate: int = 1, round_mode: str = "up"
) -> Value:
    return converted(lowering, x, str(onnx_ir.DataType(to).numpy()))


@rule("CastLike", since=15)
def _cast_like(to: Lowering, x: Value, like: Value, *, saturate: int = 1) -> Value:
    return converted(to, x, like.dtype)


def converted(to: Lowering, x: Value, dtype: str) -> Value:
    """The value in another type, as Cast has it."""
    if x.dtype in FLOATS and dtype.startswith(("int", "uint")):
        # What an integer type cannot hold wraps, as in the reference.
        if dtype == "uint64":
            raise Declined("conversions from floats to uint64")
        if dtype not in ("int32", "int64"):
            x = cast(to, x, "int64" if dtype == "uint32" else "int32")
    return cast(to, x, dtype)


@rule("Clip", since=11)
def _clip(to: Lowering, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    result = x
    if low is not None:
        result = to.call(np.maximum, result, low)
    if high is not None:
        result = to.call(np.minimum, result, high)
    return to.call(np.copy, x) if result is x else of_type(result, x.dtype)


@rule("Clip", since=6)
def _clip_6(
    to: Lowering,
    x: Value,
    *,
    min: float = -3.4028234663852886e38,
    max: float = 3.4028234663852886e38,
) -> Value:
    return of_type(to.call(np.clip, x, min, max), x.dtype)
