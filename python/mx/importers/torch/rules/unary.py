"""Functions of one element."""

from __future__ import annotations

import math
from collections.abc import Callable

import onnx_ir as ir

from ..._erfc import erfc as _erfc
from .._builder import Builder, Number, dtype_of
from .._dtypes import FLOATS, UNSIGNED
from .._rule import Unsupported, rule

_OF_FLOATS = {
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "cos": "Cos",
    "cosh": "Cosh",
    "erf": "Erf",
    "exp": "Exp",
    "log": "Log",
    "reciprocal": "Reciprocal",
    "sigmoid": "Sigmoid",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "tan": "Tan",
    "tanh": "Tanh",
}


def _of_floats(operator: str) -> Callable[[Builder, ir.Value], ir.Value]:
    def write(b: Builder, x: ir.Value) -> ir.Value:
        return b.op(operator, b.cast(x, b.out))[0]

    return write


for _name, _operator in _OF_FLOATS.items():
    rule(_name)(_of_floats(_operator))


def _whole(operator: str) -> Callable[[Builder, ir.Value], ir.Value]:
    """What leaves integers as they are."""

    def write(b: Builder, x: ir.Value) -> ir.Value:
        return b.op(operator, x)[0] if dtype_of(x) in FLOATS else x

    return write


for _name, _operator in {"ceil": "Ceil", "floor": "Floor", "round": "Round"}.items():
    rule(_name)(_whole(_operator))


@rule("round.decimals")
def round_decimals(b: Builder, x: ir.Value, *, decimals: int = 0) -> ir.Value:
    if dtype_of(x) not in FLOATS:
        return x
    scale = float(10 ** abs(decimals))
    if decimals >= 0:
        return b.Div(b.Round(b.Mul(x, scale)), scale)
    return b.Mul(b.Round(b.Div(x, scale)), scale)


@rule("trunc", "fix")
def trunc(b: Builder, x: ir.Value) -> ir.Value:
    if dtype_of(x) not in FLOATS:
        return x
    return b.Where(b.Less(x, 0), b.Ceil(x), b.Floor(x))


@rule("abs")
def absolute(b: Builder, x: ir.Value) -> ir.Value:
    return x if dtype_of(x) == ir.DataType.BOOL else b.Abs(x)


@rule("neg")
def negate(b: Builder, x: ir.Value) -> ir.Value:
    if dtype_of(x) in UNSIGNED:
        return b.Sub(b.constant(0, dtype_of(x)), x)
    return b.Neg(x)


@rule("sign", "sgn")
def sign(b: Builder, x: ir.Value) -> ir.Value:
    if dtype_of(x) == ir.DataType.BOOL:
        return x
    # Of NaN, which has none, torch gives 0.
    known = b.Where(b.IsNaN(x), b.constant(0, dtype_of(x)), x) if dtype_of(x) in FLOATS else x
    return b.Sign(known)


@rule("rsqrt")
def rsqrt(b: Builder, x: ir.Value) -> ir.Value:
    return b.Reciprocal(b.Sqrt(b.cast(x, b.out)))


@rule("expm1")
def expm1(b: Builder, x: ir.Value) -> ir.Value:
    # Near zero exp(x) - 1 has no digits left; there it is 2 t / (1 - t) with t = tanh(x / 2).
    x = b.cast(x, b.out)
    is_near = b.Less(b.Abs(x), 0.5)
    t = b.Tanh(b.Mul(_of_taken(b, is_near, x), 0.5))
    near = b.Div(b.Mul(t, 2), b.Sub(b.constant(1, b.out), t))
    return b.Where(is_near, near, b.Sub(b.Exp(x), 1))


@rule("log1p")
def log1p(b: Builder, x: ir.Value) -> ir.Value:
    # Near zero 1 + x has few digits of x; log(1 + x) is 2 atanh(x / (x + 2)).
    x = b.cast(x, b.out)
    is_near = b.Less(b.Abs(x), 0.5)
    close = _of_taken(b, is_near, x)
    near = b.Mul(b.Atanh(b.Div(close, b.Add(close, 2))), 2)
    return b.Where(is_near, near, b.Log(b.Add(x, 1)))


def _of_taken(b: Builder, is_taken: ir.Value, x: ir.Value) -> ir.Value:
    """What a branch that is not always taken reads: zero times its gradient is none where that is
    infinite."""
    return x if b.training is None else b.Where(is_taken, x, b.scalar(0, dtype_of(x)))


@rule("sinc")
def sinc(b: Builder, x: ir.Value) -> ir.Value:
    angle = b.Mul(b.cast(x, b.out), math.pi)
    # Its square is what the gradient divides by.
    is_near, one = b.Equal(b.Mul(angle, angle), 0), b.scalar(1, b.out)
    angle = b.Where(is_near, one, angle)
    return b.Where(is_near, one, b.Div(b.Sin(angle), angle))


@rule("logit")
def logit(b: Builder, x: ir.Value, eps: Number | None = None) -> ir.Value:
    x, one = b.cast(x, b.out), b.scalar(1, b.out)
    if eps is not None:
        low, high = b.constant(eps, b.out), b.constant(1 - eps, b.out)
        x = b.Where(b.Less(x, low), low, b.Where(b.Greater(x, high), high, x))
    if b.training is None:
        return b.Log(b.Div(x, b.Sub(one, x)))
    # The gradient of the quotient is none at 0 and 1, where that of the difference is infinite.
    is_inner, half = b.And(b.Greater(x, 0), b.Less(x, 1)), b.constant(0.5, b.out)
    inner, other = b.Where(is_inner, x, half), b.Where(is_inner, half, x)
    quotient = b.Log(b.Div(inner, b.Sub(one, inner)))
    return b.Where(is_inner, quotient, b.Sub(b.Log(other), b.Log(b.Sub(one, other))))


@rule("special_entr")
def entr(b: Builder, x: ir.Value) -> ir.Value:
    x, one = b.cast(x, b.out), b.scalar(1, b.out)
    is_more, is_zero = b.Greater(x, 0), b.Equal(x, 0)
    some = b.Where(is_more, x, one)
    # At 0 the root is 0, too, and has the infinite gradient.
    rest = b.Sqrt(b.Where(is_zero, x, one)) if b.training is not None else b.scalar(0, b.out)
    rest = b.Where(is_zero, rest, b.Where(b.IsNaN(x), x, b.constant(-math.inf, b.out)))
    return b.Where(is_more, b.Neg(b.Mul(some, b.Log(some))), rest)


@rule("log2")
def log2(b: Builder, x: ir.Value) -> ir.Value:
    return b.Div(b.Log(b.cast(x, b.out)), math.log(2))


@rule("log10")
def log10(b: Builder, x: ir.Value) -> ir.Value:
    return b.Div(b.Log(b.cast(x, b.out)), math.log(10))


@rule("exp2")
def exp2(b: Builder, x: ir.Value) -> ir.Value:
    return b.Pow(b.constant(2, b.out), b.cast(x, b.out))


@rule("erfc")
def erfc(b: Builder, x: ir.Value) -> ir.Value:
    return _erfc(b, b.cast(x, b.out))


@rule("isnan")
def isnan(b: Builder, x: ir.Value) -> ir.Value:
    return b.IsNaN(x) if dtype_of(x) in FLOATS else _false(b, x)


@rule("isinf")
def isinf(b: Builder, x: ir.Value) -> ir.Value:
    return b.IsInf(x) if dtype_of(x) in FLOATS else _false(b, x)


def _false(b: Builder, x: ir.Value) -> ir.Value:
    return b.full(b.sizes(x), False, ir.DataType.BOOL)


@rule("logical_not")
def logical_not(b: Builder, x: ir.Value) -> ir.Value:
    return b.Not(b.cast(x, ir.DataType.BOOL))


@rule("bitwise_not")
def bitwise_not(b: Builder, x: ir.Value) -> ir.Value:
    return b.Not(x) if dtype_of(x) == ir.DataType.BOOL else b.BitwiseNot(x)


@rule("nan_to_num")
def nan_to_num(
    b: Builder,
    x: ir.Value,
    nan: Number | None = None,
    posinf: Number | None = None,
    neginf: Number | None = None,
) -> ir.Value:
    if dtype_of(x) not in FLOATS:
        return x
    import torch

    limits = torch.finfo(x.meta["torch"].dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    zero = b.constant(0 if nan is None else nan, dtype_of(x))
    result = b.Where(b.IsNaN(x), zero, x)
    result = b.Where(b.IsInf(x, detect_negative=0), b.constant(high, dtype_of(x)), result)
    return b.Where(b.IsInf(x, detect_positive=0), b.constant(low, dtype_of(x)), result)


@rule("_to_copy", "to.dtype")
def to_copy(b: Builder, x: ir.Value, dtype: object = None, **_: object) -> ir.Value:
    return b.cast(x, b.out)


@rule(
    "alias",
    "clone",
    "contiguous",
    "lift_fresh_copy",
    "lift_fresh",
    "_conj",
    "resolve_conj",
    "resolve_neg",
    "positive",
)
def same(b: Builder, x: ir.Value, *_: object) -> ir.Value:
    return x


@rule("view.dtype")
def view_dtype(b: Builder, x: ir.Value, dtype: object) -> ir.Value:
    if b.out.bitwidth != dtype_of(x).bitwidth:
        raise Unsupported("the data types differ in size")
    return b.BitCast(x, to=int(b.out), dtype=b.out)


@rule("signbit")
def signbit(b: Builder, x: ir.Value) -> ir.Value:
    negative = b.Less(b.cast(x, ir.DataType.INT32) if dtype_of(x) == ir.DataType.BOOL else x, 0)
    # The reciprocal of a negative zero tells its sign.
    return b.Or(negative, b.Less(b.Reciprocal(x), 0)) if dtype_of(x) in FLOATS else negative
