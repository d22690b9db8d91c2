"""Functions of two or three elements, with torch's promotion of data types."""

from __future__ import annotations

import math
from collections.abc import Callable

import onnx_ir as ir

from .._builder import Builder, Number, dtype_of
from .._dtypes import FLOATS, UNSIGNED
from .._promotion import common_type, in_type_of, is_bool, promoted
from .._rule import Unsupported, rule
from .unary import log1p

Operand = ir.Value | Number
_INT64 = ir.DataType.INT64
_POWERS = FLOATS | {ir.DataType.INT32, _INT64}


@rule("add.Tensor", "add.Scalar")
def add(b: Builder, x: Operand, y: Operand, alpha: Number = 1) -> ir.Value:
    if b.out == ir.DataType.BOOL:
        return b.Or(*promoted(b, x, y)) if alpha else b.cast(x, ir.DataType.BOOL)
    x, y = promoted(b, x, y, dtype=b.out)
    return b.Add(x, y if alpha == 1 else b.Mul(y, alpha))


@rule("sub.Tensor", "sub.Scalar")
def subtract(b: Builder, x: Operand, y: Operand, alpha: Number = 1) -> ir.Value:
    x, y = promoted(b, x, y, dtype=b.out)
    return b.Sub(x, y if alpha == 1 else b.Mul(y, alpha))


@rule("rsub.Tensor", "rsub.Scalar")
def subtract_from(b: Builder, x: Operand, y: Operand, alpha: Number = 1) -> ir.Value:
    return subtract(b, y, x if alpha == 1 else b.Mul(b.cast(x, b.out), alpha))


@rule("mul.Tensor", "mul.Scalar")
def multiply(b: Builder, x: Operand, y: Operand) -> ir.Value:
    if b.out == ir.DataType.BOOL:
        return b.And(*promoted(b, x, y))
    return b.Mul(*promoted(b, x, y, dtype=b.out))


@rule("div.Tensor", "div.Scalar", "true_divide.Tensor")
def divide(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return b.Div(*promoted(b, x, y, dtype=b.out))


@rule("div.Tensor_mode", "div.Scalar_mode")
def divide_mode(
    b: Builder, x: Operand, y: Operand, *, rounding_mode: str | None = None
) -> ir.Value:
    x, y = promoted(b, x, y, dtype=b.out)
    if rounding_mode is None:
        return b.Div(x, y)
    if rounding_mode == "floor":
        return floor_divided(b, x, y)
    quotient = b.Div(x, y)
    if b.out not in FLOATS:
        # Integers are divided towards zero.
        return quotient
    return b.Where(b.Less(quotient, 0), b.Ceil(quotient), b.Floor(quotient))


@rule("floor_divide", "floor_divide.Scalar")
def floor_divide(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return floor_divided(b, *promoted(b, x, y, dtype=b.out))


def floor_divided(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    """The quotient rounded down, of values of one data type."""
    if dtype_of(x) in UNSIGNED:
        return b.Div(x, y)
    # The difference is a multiple of y, so that the quotient needs no rounding down.
    quotient = b.Div(b.Sub(x, _remainder(b, x, y)), y)
    if dtype_of(x) not in FLOATS:
        return quotient
    return b.Where(b.Equal(y, 0), b.Div(x, y), b.Round(quotient))


@rule("fmod.Tensor", "fmod.Scalar")
def fmod(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return b.Mod(*promoted(b, x, y, dtype=b.out), fmod=1)


@rule("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def remainder(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return _remainder(b, *promoted(b, x, y, dtype=b.out))


def _remainder(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    """The remainder with the sign of the divisor."""
    if dtype_of(x) not in FLOATS:
        return b.Mod(x, y)
    rest = b.Mod(x, y, fmod=1)
    other_sign = b.Xor(b.Less(rest, 0), b.Less(y, 0))
    return b.Where(b.And(other_sign, b.Not(b.Equal(rest, 0))), b.Add(rest, y), rest)


@rule("pow.Tensor_Scalar")
def power_of_number(b: Builder, x: ir.Value, y: Operand) -> ir.Value:
    x = b.cast(x, b.out)
    if b.out in FLOATS and not isinstance(y, ir.Value):
        if y == 0.5:
            return b.Sqrt(x)
        if y == -0.5:
            return b.Reciprocal(b.Sqrt(x))
        if y == -1:
            return b.Reciprocal(x)
    if not isinstance(y, ir.Value) and y in (1, 2, 3):
        result = x
        for _ in range(int(y) - 1):
            result = b.Mul(result, x)
        return result
    return _power(b, x, b.cast(y, b.out))


@rule("pow.Tensor_Tensor", "pow.Scalar")
def power(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return _power(b, *promoted(b, x, y, dtype=b.out))


def _power(b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
    return in_type_of(b, b.Pow, _POWERS, ir.DataType.INT64, x, y)


@rule("xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other")
def xlogy(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return _times_logarithm(b, b.Log, 0, *promoted(b, x, y, dtype=b.out))


@rule("special_xlog1py", "special_xlog1py.self_scalar", "special_xlog1py.other_scalar")
def xlog1py(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return _times_logarithm(b, lambda v: log1p(b, v), -1, *promoted(b, x, y, dtype=b.out))


def _times_logarithm(
    b: Builder, logarithm: Callable[[ir.Value], ir.Value], pole: int, x: ir.Value, y: ir.Value
) -> ir.Value:
    """The product, which is 0 where the first one is, as long as the other one is a number."""
    is_none = b.Equal(x, 0)
    # The gradient is the logarithm, and 0 where there is none, too.
    without = b.And(is_none, b.Or(b.LessOrEqual(y, pole), b.IsInf(y)))
    return b.Mul(x, logarithm(b.Where(without, b.scalar(pole + 1, b.out), y)))


@rule("atan2")
def atan2(b: Builder, y: Operand, x: Operand) -> ir.Value:
    y, x = promoted(b, y, x, dtype=b.out)
    both = b.And(b.IsInf(x), b.IsInf(y))
    # The angle of two infinities is that of their signs.
    y, x = b.Where(both, b.Sign(y), y), b.Where(both, b.Sign(x), x)
    # By the larger one, so that no gradient has a division by zero.
    is_steep = b.Greater(b.Abs(y), b.Abs(x))
    above, below = b.Where(is_steep, x, y), b.Where(is_steep, y, x)
    is_none = b.And(b.Equal(x, 0), b.Equal(y, 0))
    above = b.Where(is_none, b.scalar(0, b.out), above)
    angle = b.Atan(b.Div(above, b.Where(is_none, b.scalar(1, b.out), below)))
    is_down = _is_negative(b, y)

    def turn(angle: float) -> ir.Value:
        return b.Where(is_down, b.constant(-angle, b.out), b.constant(angle, b.out))

    flat = b.Where(_is_negative(b, x), b.Add(angle, turn(math.pi)), angle)
    return b.Where(is_steep, b.Sub(turn(math.pi / 2), angle), flat)


def _is_negative(b: Builder, x: ir.Value) -> ir.Value:
    """Whether a number's sign is minus. The reciprocal of a negative zero tells its sign."""
    return b.Or(b.Less(x, 0), b.Less(b.Reciprocal(x), 0))


def _extreme(operator: str, of_bool: str, *, skips_nan: bool) -> Callable[..., ir.Value]:
    def write(b: Builder, x: Operand, y: Operand) -> ir.Value:
        values = promoted(b, x, y)
        if is_bool(x, y):
            return b.op(of_bool, *values)[0]
        if not skips_nan or b.out not in FLOATS:
            return b.op(operator, *values)[0]
        # Of equal ones the first has all of the gradient, which Max has them share.
        x, y = values
        is_first = b.op(f"{'Greater' if operator == 'Max' else 'Less'}OrEqual", x, y)[0]
        return b.Where(b.Or(is_first, b.IsNaN(y)), x, y)

    return write


rule("maximum", "max.other")(_extreme("Max", "Or", skips_nan=False))
rule("minimum", "min.other")(_extreme("Min", "And", skips_nan=False))
rule("fmax")(_extreme("Max", "Or", skips_nan=True))
rule("fmin")(_extreme("Min", "And", skips_nan=True))


def _logical(operator: str) -> Callable[[Builder, Operand, Operand], ir.Value]:
    def write(b: Builder, x: Operand, y: Operand) -> ir.Value:
        return b.op(operator, *promoted(b, x, y, dtype=ir.DataType.BOOL))[0]

    return write


for _name in ("And", "Or", "Xor"):
    rule(f"logical_{_name.lower()}")(_logical(_name))


def _bitwise(operator: str) -> Callable[[Builder, Operand, Operand], ir.Value]:
    def write(b: Builder, x: Operand, y: Operand) -> ir.Value:
        name = operator if is_bool(x, y) else f"Bitwise{operator}"
        return b.op(name, *promoted(b, x, y))[0]

    return write


for _name in ("And", "Or", "Xor"):
    _lower = f"bitwise_{_name.lower()}"
    rule(f"{_lower}.Tensor", f"{_lower}.Scalar", f"{_lower}.Scalar_Tensor")(_bitwise(_name))


@rule(
    "bitwise_left_shift.Tensor",
    "bitwise_left_shift.Tensor_Scalar",
    "__lshift__.Tensor",
    "__lshift__.Scalar",
)
def left_shift(b: Builder, x: Operand, y: Operand) -> ir.Value:
    if b.out in FLOATS:
        raise Unsupported("a shift of floating-point numbers")
    x, y = promoted(b, x, y, dtype=b.out)
    return b.BitShift(x, y, direction="LEFT")


@rule(
    "bitwise_right_shift.Tensor",
    "bitwise_right_shift.Tensor_Scalar",
    "__rshift__.Tensor",
    "__rshift__.Scalar",
)
def right_shift(b: Builder, x: Operand, y: Operand) -> ir.Value:
    if b.out in FLOATS:
        raise Unsupported("a shift of floating-point numbers")
    x, y = promoted(b, x, y, dtype=b.out)
    return b.BitShift(x, y, direction="RIGHT")


def _comparison(operator: str) -> Callable[[Builder, Operand, Operand], ir.Value]:
    def write(b: Builder, x: Operand, y: Operand) -> ir.Value:
        dtype = common_type(x, y)
        if dtype == ir.DataType.BOOL and operator != "Equal":
            dtype = ir.DataType.UINT8
        return b.op(operator, *promoted(b, x, y, dtype=dtype))[0]

    return write


for _name, _operator in {
    "eq": "Equal",
    "ge": "GreaterOrEqual",
    "gt": "Greater",
    "le": "LessOrEqual",
    "lt": "Less",
}.items():
    rule(f"{_name}.Tensor", f"{_name}.Scalar")(_comparison(_operator))


@rule("ne.Tensor", "ne.Scalar")
def not_equal(b: Builder, x: Operand, y: Operand) -> ir.Value:
    return b.Not(b.Equal(*promoted(b, x, y)))


@rule("where.self")
def where(b: Builder, condition: ir.Value, x: Operand, y: Operand) -> ir.Value:
    return b.Where(b.cast(condition, ir.DataType.BOOL), *promoted(b, x, y, dtype=b.out))


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(b: Builder, x: ir.Value, mask: ir.Value, value: Operand) -> ir.Value:
    return b.Where(mask, b.cast(value, dtype_of(x)), x)


@rule("clamp", "clip")
def clamp(
    b: Builder, x: ir.Value, min: Operand | None = None, max: Operand | None = None
) -> ir.Value:
    x = b.cast(x, b.out)
    low = None if min is None else b.cast(min, b.out)
    high = None if max is None else b.cast(max, b.out)
    if b.training is None:
        return b.Clip(x, low, high)
    return _bounded(b, x, low, high)


def _bounded(b: Builder, x: ir.Value, low: ir.Value | None, high: ir.Value | None) -> ir.Value:
    """Clip by numbers with the gradient of torch's clamp: 1 at the bounds, where that of Clip is 0,
    as that of hardtanh."""
    if low is not None:
        x = b.Where(b.Less(x, low), low, x)
    return x if high is None else b.Where(b.Greater(x, high), high, x)


@rule("clamp.Tensor", "clip.Tensor")
def clamp_tensors(
    b: Builder, x: ir.Value, min: ir.Value | None = None, max: ir.Value | None = None
) -> ir.Value:
    x = b.cast(x, b.out)
    if min is not None:
        x = b.Max(x, b.cast(min, b.out))
    return x if max is None else b.Min(x, b.cast(max, b.out))


@rule("clamp_min", "clamp_min.Tensor")
def clamp_min(b: Builder, x: ir.Value, min: Operand) -> ir.Value:
    x, low = b.cast(x, b.out), b.cast(min, b.out)
    if b.training is not None and not isinstance(min, ir.Value):
        return _bounded(b, x, low, None)
    return b.Max(x, low)


@rule("clamp_max", "clamp_max.Tensor")
def clamp_max(b: Builder, x: ir.Value, max: Operand) -> ir.Value:
    x, high = b.cast(x, b.out), b.cast(max, b.out)
    if b.training is not None and not isinstance(max, ir.Value):
        return _bounded(b, x, None, high)
    return b.Min(x, high)


@rule("ldexp.Tensor")
def ldexp(b: Builder, x: Operand, exponent: Operand) -> ir.Value:
    if not isinstance(exponent, ir.Value) or dtype_of(exponent) in FLOATS:
        x, exponent = promoted(b, x, exponent, dtype=b.out)
        return b.Mul(x, b.Pow(b.constant(2, b.out), exponent))
    # In three steps, as the power alone may be beyond what the type has: none is with `most`,
    # which makes 0 or an infinity of all other numbers.
    most = {ir.DataType.DOUBLE: 2200, ir.DataType.FLOAT16: 42}.get(b.out, 300)
    bounds = b.constant(-most, _INT64), b.constant(most, _INT64)
    exponent = b.Clip(b.cast(exponent, _INT64), *bounds)
    third = b.Div(exponent, 3)
    x = b.cast(x, b.out)
    for part in (third, third, b.Sub(exponent, b.Mul(third, 2))):
        x = b.Mul(x, b.Pow(b.constant(2, b.out), b.cast(part, b.out)))
    return x


@rule("hypot")
def hypot(b: Builder, x: Operand, y: Operand) -> ir.Value:
    x, y = promoted(b, x, y, dtype=b.out)
    return b.Sqrt(b.Add(b.Mul(x, x), b.Mul(y, y)))


@rule("copysign.Tensor", "copysign.Scalar")
def copysign(b: Builder, x: Operand, y: Operand) -> ir.Value:
    x, y = promoted(b, x, y, dtype=b.out)
    return b.Where(_is_negative(b, y), b.Neg(b.Abs(x)), b.Abs(x))
