"""What elementwise operators of ONNX compute for one element, as expressions in C."""

from __future__ import annotations

import math

import onnx_ir

from ....graph.lowering._value import Declined
from . import _activations  # noqa: F401  its operators
from ._call import (
    OPERATORS,
    Call,
    Operator,
    accepts_all,
    boolean,
    floats,
    integer,
    integers,
    numeric,
    operator,
)
from ._meaning import formula
from ._types import FLOATS, type_of

__all__ = ["OPERATORS", "Call"]


@operator("Identity", since=1)
def _(call: Call) -> tuple[str, str]:
    return call.x, call.dtype


@operator("Neg", since=6, meaning="negative", takes=numeric)
def _(call: Call) -> tuple[str, str]:
    if call.dtype in FLOATS:
        return f"(-{call.x})", call.dtype
    return integers(call, "-", call.algebra.number(0), call.x), call.dtype


@operator("Abs", since=6, meaning="absolute", takes=numeric)
def _(call: Call) -> tuple[str, str]:
    if call.dtype in FLOATS:
        return call.algebra.function("fabs", call.x), call.dtype
    below = integers(call, "-", call.algebra.number(0), call.x)
    return call.algebra.select(f"({call.x} < 0)", below, call.x), call.dtype


@operator("Sign", since=9, meaning="sign", takes=numeric)
def _(call: Call) -> tuple[str, str]:
    a, x = call.algebra, call.x
    zero = a.number(0)
    rest = f"({x} + {zero})" if call.dtype in FLOATS else x  # NaN as it is, of -0 0
    below = a.select(f"({x} < {zero})", a.number(-1), rest)
    return a.select(f"({x} > {zero})", a.number(1), below), call.dtype


@operator("IsNaN", since=9, meaning="isnan", takes=floats)
def _(call: Call) -> tuple[str, str]:
    return f"({call.x} != {call.x})", "bool"


@operator("IsInf", since=10)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    tests = []
    if call.attributes.get("detect_positive", 1):
        tests.append(f"({x} == {a.number(math.inf)})")
    if call.attributes.get("detect_negative", 1):
        tests.append(f"({x} == {a.number(-math.inf)})")
    never = f"(({x} != {x}) & ({x} == {x}))"
    return f"({' | '.join(tests)})" if tests else never, "bool"


@operator("Not", since=1, meaning="logical_not", takes=boolean)
def _(call: Call) -> tuple[str, str]:
    return call.algebra.negated(call.x), "bool"


@operator("BitwiseNot", since=18, meaning="invert", takes=integer)
def _(call: Call) -> tuple[str, str]:
    return f"(~{call.x})", call.dtype


def _arithmetic(call: Call, sign: str, a: str, b: str) -> str:
    return f"({a} {sign} {b})" if call.dtype in FLOATS else integers(call, sign, a, b)


for _name, _sign, _meaning in (
    ("Add", "+", "add"), ("Sub", "-", "subtract"), ("Mul", "*", "multiply"),
):  # fmt: skip

    def _binary(call: Call, sign: str = _sign) -> tuple[str, str]:
        return _arithmetic(call, sign, call.x, call.y), call.dtype

    OPERATORS[_name] = Operator(7, _binary, meaning=_meaning, takes=numeric)


@operator("Sum", since=8)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    total = call.x
    for other in call.args[1:]:
        total = type_of(call.dtype).rounded(_arithmetic(call, "+", total, str(other)))
    return total, call.dtype


@operator("Mean", since=8)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    total = " + ".join(str(arg) for arg in call.args)
    return f"(({total}) / {call.algebra.number(len(call.args))})", call.dtype


for _name, _method in {"Max": "maximum", "Min": "minimum"}.items():

    def _extreme(call: Call, method: str = _method) -> tuple[str, str]:
        numeric(call)
        result = call.x
        for other in call.args[1:]:
            result = getattr(call.algebra, method)(result, other)
        return result, call.dtype

    OPERATORS[_name] = Operator(8, _extreme)


@operator("Div", since=7, takes=numeric)
def _(call: Call) -> tuple[str, str]:
    if call.dtype in FLOATS:
        return _single(call, "divide") or (f"({call.x} / {call.y})", call.dtype)
    return _by_function(call, "div"), call.dtype  # truncates


def _single(call: Call, meaning: str) -> tuple[str, str] | None:
    """A formula, if this is about single elements."""
    return None if call.is_vector else call.by_formula(meaning)


def _by_function(call: Call, name: str) -> str:
    """A function of elements.h."""
    if call.is_vector:
        raise Declined("no such vectors")
    return f"mx_{name}_{type_of(call.dtype).short}({call.x}, {call.y})"


@operator("Mod", since=10, takes=numeric)
def _(call: Call) -> tuple[str, str]:
    if call.is_vector:
        raise Declined("no such vectors")
    if not call.attributes.get("fmod", 0):
        return call.by_formula("remainder")
    if call.dtype in FLOATS:
        return call.algebra.function("fmod", call.x, call.y), call.dtype
    return _by_function(call, "fmod"), call.dtype


@operator("BitShift", since=11, takes=integer)
def _(call: Call) -> tuple[str, str]:
    if call.is_vector:
        raise Declined("no such vectors")
    direction = "left" if call.attributes["direction"] == "LEFT" else "right"
    return call.by_formula(f"{direction}_shift")


@operator("Pow", since=7, heavy=True)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    a, x, second = call.algebra, call.x, call.dtypes[1]
    assert second is not None
    if call.dtype not in FLOATS:
        return _integer_power(call, second), call.dtype
    number = call.numbers.get(1)
    if number in (1.0, 2.0, 3.0):
        return "(" + " * ".join([x] * int(number)) + ")", call.dtype
    if number == 0.5:
        # Of -inf and -0 a square root has other results than a power.
        power = a.function("sqrt", f"({x} + {a.number(0)})")
        lowest = f"({x} == {a.number(-math.inf)})"
        return a.select(lowest, a.number(math.inf), power), call.dtype
    if number == -1.0:
        return f"({a.number(1)} / {x})", call.dtype
    exponent = a.converted(call.y, second)
    if call.is_vector:
        return a.function("pow", x, exponent), call.dtype
    return formula("power", type_of(call.dtype), x, exponent), call.dtype


def _integer_power(call: Call, second: str) -> str:
    if call.is_vector:
        raise Declined("no such vectors")
    if second == "bool":
        raise Declined("a power by bool")
    if second in FLOATS:
        wide = call.make("float64")
        power = wide.function(
            "pow", wide.converted(call.x, call.dtype), wide.converted(call.y, second)
        )
        return str(call.algebra.converted(power, "float64"))
    if not type_of(second).is_signed:
        return _converted(call, formula("power", type_of("uint64"), call.x, call.y))
    base, exponent = f"(int64_t)({call.x})", f"(int64_t)({call.y})"
    power = formula("power", type_of("int64"), base, exponent)
    inverse = f"mx_inverse_power({base}, {exponent})"
    return _converted(call, f"{call.y} < 0 ? {inverse} : {power}")


def _converted(call: Call, text: str) -> str:
    return f"({type_of(call.dtype).value})({text})"


for _name, _sign, _meaning in (
    ("Equal", "==", "equal"), ("Less", "<", "less"), ("LessOrEqual", "<=", "less_equal"),
    ("Greater", ">", "greater"), ("GreaterOrEqual", ">=", "greater_equal"),
):  # fmt: skip

    def _compare(call: Call, sign: str = _sign) -> tuple[str, str]:
        return f"({call.x} {sign} {call.y})", "bool"

    # A true one of a vector is -1, below 0.
    _takes = numeric if _name != "Equal" else accepts_all
    OPERATORS[_name] = Operator(7, _compare, meaning=_meaning, takes=_takes)

for _name, _sign in {"And": "&", "Or": "|", "Xor": "^"}.items():

    def _logical(call: Call, sign: str = _sign) -> tuple[str, str]:
        return f"({call.x} {sign} {call.y})", call.dtype

    _meaning = _name.lower()
    OPERATORS[_name] = Operator(7, _logical, meaning=f"logical_{_meaning}", takes=boolean)
    OPERATORS[f"Bitwise{_name}"] = Operator(
        18, _logical, meaning=f"bitwise_{_meaning}", takes=integer
    )


@operator("Where", since=9)
def _(call: Call) -> tuple[str, str]:
    call.need("bool")
    dtype = call.dtypes[1]
    if len(call.args) != 3 or dtype is None or call.dtypes[2] != dtype:
        raise Declined("choices of several types")
    return call.make(dtype).select(call.x, call.y, call.args[2]), dtype


@operator("Clip", since=11)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    result = call.x
    low, high = (*call.args[1:], None, None)[:2]
    if low is not None:
        result = call.algebra.maximum(result, low)
    if high is not None:
        result = call.algebra.minimum(result, high)
    return result, call.dtype


@operator("Cast", since=6)
def _(call: Call) -> tuple[str, str]:
    return _cast(call, str(onnx_ir.DataType(call.attributes["to"]).numpy()))


@operator("CastLike", since=15)
def _(call: Call) -> tuple[str, str]:
    assert call.dtypes[1] is not None
    return _cast(call, call.dtypes[1])


def _cast(call: Call, dtype: str) -> tuple[str, str]:
    type_of(dtype)
    return call.make(dtype).converted(call.x, call.dtype), dtype


@operator("BatchNormalization", since=15)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    if call.attributes.get("training_mode", 0):
        raise Declined("statistics of the batch")
    x, scale, bias, mean, var = call.args
    a, epsilon = call.algebra, call.attribute("epsilon", 1e-5)
    factor = f"({scale} / {a.function('sqrt', f'({var} + {epsilon})')})"
    return f"(({x} - {mean}) * {factor} + {bias})", call.dtype
