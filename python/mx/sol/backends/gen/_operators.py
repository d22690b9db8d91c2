"""What elementwise operators of ONNX compute for one element, as expressions in C."""

from __future__ import annotations

import math

import onnx_ir

from ....graph.lowering._value import Declined
from . import _activations  # noqa: F401  its operators
from ._call import OPERATORS, Call, Operator, integer, integers, numeric, operator
from ._types import FLOATS, type_of

__all__ = ["OPERATORS", "Call"]


@operator("Identity", since=1)
def _(call: Call) -> tuple[str, str]:
    return call.x, call.dtype


@operator("Neg", since=6)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    if call.dtype in FLOATS:
        return f"(-{call.x})", call.dtype
    return integers(call, "-", call.algebra.number(0), call.x), call.dtype


@operator("Abs", since=6)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    if call.dtype in FLOATS:
        return call.algebra.function("fabs", call.x), call.dtype
    if call.is_vector:
        below = integers(call, "-", call.algebra.number(0), call.x)
        return call.algebra.select(f"({call.x} < 0)", below, call.x), call.dtype
    return f"mx_abs_{type_of(call.dtype).short}({call.x})", call.dtype


@operator("Sign", since=9)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    a, x = call.algebra, call.x
    zero = a.number(0)
    if call.dtype in FLOATS or call.is_vector:
        below = a.select(f"({x} < {zero})", a.number(-1), x)  # NaN and 0 as they are
        return a.select(f"({x} > {zero})", a.number(1), below), call.dtype
    return f"mx_sign_{type_of(call.dtype).short}({x})", call.dtype


@operator("IsNaN", since=9)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
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


@operator("Not", since=1)
def _(call: Call) -> tuple[str, str]:
    call.need("bool")
    return call.algebra.negated(call.x), "bool"


@operator("BitwiseNot", since=18)
def _(call: Call) -> tuple[str, str]:
    integer(call)
    kind = type_of(call.dtype)
    return f"(~{call.x})" if call.is_vector else f"({kind.value})(~{call.x})", call.dtype


def _arithmetic(call: Call, sign: str, a: str, b: str) -> str:
    return f"({a} {sign} {b})" if call.dtype in FLOATS else integers(call, sign, a, b)


for _name, _sign in {"Add": "+", "Sub": "-", "Mul": "*"}.items():

    def _binary(call: Call, sign: str = _sign) -> tuple[str, str]:
        numeric(call)
        return _arithmetic(call, sign, call.x, call.y), call.dtype

    OPERATORS[_name] = Operator(7, _binary)


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


@operator("Div", since=7)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    if call.dtype in FLOATS:
        return f"({call.x} / {call.y})", call.dtype
    return _by_function(call, "div")


def _by_function(call: Call, name: str) -> tuple[str, str]:
    if call.is_vector:
        raise Declined("no such vectors")
    return f"mx_{name}_{type_of(call.dtype).short}({call.x}, {call.y})", call.dtype


@operator("Mod", since=10)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    is_c = bool(call.attributes.get("fmod", 0))
    if call.dtype not in FLOATS:
        return _by_function(call, "fmod" if is_c else "mod")
    if call.is_vector:
        raise Declined("no such vectors")
    if is_c:
        return call.algebra.function("fmod", call.x, call.y), call.dtype
    return call.algebra.function("mx_mod", call.x, call.y), call.dtype


@operator("BitShift", since=11)
def _(call: Call) -> tuple[str, str]:
    integer(call)
    return _by_function(call, "left" if call.attributes["direction"] == "LEFT" else "right")


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
    return a.function("pow", x, a.converted(call.y, second)), call.dtype


def _integer_power(call: Call, second: str) -> str:
    if call.is_vector:
        raise Declined("no such vectors")
    if second in FLOATS:
        wide = call.make("float64")
        power = wide.function(
            "pow", wide.converted(call.x, call.dtype), wide.converted(call.y, second)
        )
        return str(call.algebra.converted(power, "float64"))
    if second == "uint64":
        raise Declined("powers by uint64")
    return f"mx_pow_{type_of(call.dtype).short}({call.x}, (int64_t)({call.y}))"


for _name, _sign in {
    "Equal": "==", "Less": "<", "LessOrEqual": "<=", "Greater": ">", "GreaterOrEqual": ">=",
}.items():  # fmt: skip

    def _compare(call: Call, sign: str = _sign) -> tuple[str, str]:
        return f"({call.x} {sign} {call.y})", "bool"

    OPERATORS[_name] = Operator(7, _compare)

for _name, _sign in {"And": "&", "Or": "|", "Xor": "^"}.items():

    def _logical(call: Call, sign: str = _sign) -> tuple[str, str]:
        call.need("bool")
        return f"({call.x} {sign} {call.y})", "bool"

    def _bitwise(call: Call, sign: str = _sign) -> tuple[str, str]:
        integer(call)
        text = f"({call.x} {sign} {call.y})"
        return text if call.is_vector else f"({type_of(call.dtype).value}){text}", call.dtype

    OPERATORS[_name] = Operator(7, _logical)
    OPERATORS[f"Bitwise{_name}"] = Operator(18, _bitwise)


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
