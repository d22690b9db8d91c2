"""What elementwise operators of ONNX compute for one element, as expressions in C."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import onnx_ir

from ....graph.lowering._value import Declined
from ._algebra import Algebra, Vector
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


@dataclass(frozen=True)
class Operator:
    """An elementwise operator: since which version its meaning is the one here, and the formula."""

    since: int
    formula: Formula
    is_heavy: bool = False  # whether an element takes as long as many additions


OPERATORS: dict[str, Operator] = {}


def _operator(*names: str, since: int = 1, heavy: bool = False) -> Callable[[Formula], Formula]:
    def add(formula: Formula) -> Formula:
        for name in names:
            OPERATORS[name] = Operator(since, formula, heavy)
        return formula

    return add


def _float(
    name: str, text: Callable[[Algebra, str], str], since: int = 1, heavy: bool = True
) -> None:
    def formula(call: Call) -> tuple[str, str]:
        call.need(*FLOATS)
        return text(call.algebra, call.x), call.dtype

    OPERATORS[name] = Operator(since, formula, heavy)


for _name, _function in {
    "Exp": "exp", "Log": "log", "Tanh": "tanh", "Erf": "erf", "Sin": "sin", "Cos": "cos",
    "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh",
    "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh",
}.items():  # fmt: skip
    _float(_name, lambda a, x, function=_function: a.function(function, x))  # type: ignore[misc]
for _name, _function in {"Sqrt": "sqrt", "Floor": "floor", "Ceil": "ceil", "Round": "rint"}.items():
    _float(_name, lambda a, x, function=_function: a.function(function, x), heavy=False)  # type: ignore[misc]
_float("Reciprocal", lambda a, x: f"({a.number(1)} / {x})", heavy=False)


def sigmoid(a: Algebra, x: str) -> str:
    """1 / (1 + e^-x)."""
    one = a.number(1)
    return f"({one} / ({one} + {a.function('exp', f'-{x}')}))"


_float("Sigmoid", sigmoid)
_float("Softsign", lambda a, x: f"({x} / ({a.number(1)} + {a.function('fabs', x)}))", heavy=False)
_float(
    "HardSwish", lambda a, x: f"({x} * {_hard_sigmoid(a, x, 1 / 6, 0.5)})", since=14, heavy=False
)
_float("Mish", lambda a, x: f"({x} * {a.function('tanh', _softplus(a, x))})", since=18)
_float("Softplus", lambda a, x: _softplus(a, x))


def _softplus(a: Algebra, x: str) -> str:
    """log(1 + e^x), which is x where e^x would be infinite."""
    one, far = a.number(1), a.number(20)
    rest = a.function("exp", f"-{a.function('fabs', x)}")
    near = f"({a.maximum(x, a.number(0))} + {a.function('log', f'({one} + {rest})')})"
    small = a.function("exp", x)
    return a.select(f"({x} > {far})", x, a.select(f"({x} < -{far})", small, near))


def _hard_sigmoid(a: Algebra, x: str, alpha: float, beta: float) -> str:
    line = f"({a.number(alpha)} * {x} + {a.number(beta)})"
    return a.maximum(a.number(0), a.minimum(a.number(1), line))


@_operator("HardSigmoid", since=6)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    alpha, beta = call.attribute_value("alpha", 0.2), call.attribute_value("beta", 0.5)
    return _hard_sigmoid(call.algebra, call.x, alpha, beta), call.dtype


@_operator("Gelu", since=20, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    half, one = a.number(0.5), a.number(1)
    if call.attributes.get("approximate", "none") == "tanh":
        cube = f"{a.number(0.044715)} * {x} * {x} * {x}"
        inner = f"({a.number(math.sqrt(2 / math.pi))} * ({x} + {cube}))"
        return f"({half} * {x} * ({one} + {a.function('tanh', inner)}))", call.dtype
    inner = f"({x} * {a.number(math.sqrt(0.5))})"
    return f"({half} * {x} * ({one} + {a.function('erf', inner)}))", call.dtype


@_operator("Swish", since=24, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    inner = f"({call.attribute('alpha', 1)} * {call.x})"
    return f"({call.x} * {sigmoid(call.algebra, inner)})", call.dtype


@_operator("Relu", since=6)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    return call.algebra.maximum(call.x, call.algebra.number(0)), call.dtype


@_operator("LeakyRelu", since=6)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    below = f"({call.attribute('alpha', 0.01)} * {x})"
    return a.select(f"({x} < {a.number(0)})", below, x), call.dtype


@_operator("PRelu", since=9)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    a, x = call.algebra, call.x
    return a.select(f"({x} > {a.number(0)})", x, _product(call, x, call.y)), call.dtype


@_operator("ThresholdedRelu", since=10)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    return a.select(f"({x} > {call.attribute('alpha', 1)})", x, a.number(0)), call.dtype


@_operator("Elu", since=6, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    below = f"({call.attribute('alpha', 1)} * {a.function('expm1', x)})"
    return a.select(f"({x} < {a.number(0)})", below, x), call.dtype


@_operator("Celu", since=12, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x, alpha = call.algebra, call.x, call.attribute("alpha", 1)
    below = f"({alpha} * {a.function('expm1', f'({x} / {alpha})')})"
    return a.select(f"({x} < {a.number(0)})", below, x), call.dtype


@_operator("Selu", since=6, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    alpha = call.attribute("alpha", 1.67326319217681884765625)
    below = f"({alpha} * {a.function('expm1', x)})"
    scaled = a.select(f"({x} < {a.number(0)})", below, x)
    return f"({call.attribute('gamma', 1.05070102214813232421875)} * {scaled})", call.dtype


@_operator("Shrink", since=9)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    bias, lambd = call.attribute("bias", 0), call.attribute_value("lambd", 0.5)
    above = a.select(f"({x} > {a.number(lambd)})", f"({x} - {bias})", a.number(0))
    return a.select(f"({x} < {a.number(-lambd)})", f"({x} + {bias})", above), call.dtype


@_operator("Identity", since=1)
def _(call: Call) -> tuple[str, str]:
    return call.x, call.dtype


@_operator("Neg", since=6)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    if call.dtype in FLOATS:
        return f"(-{call.x})", call.dtype
    return _integers(call, "-", call.algebra.number(0), call.x), call.dtype


@_operator("Abs", since=6)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    if call.dtype in FLOATS:
        return call.algebra.function("fabs", call.x), call.dtype
    if call.is_vector:
        below = _integers(call, "-", call.algebra.number(0), call.x)
        return call.algebra.select(f"({call.x} < 0)", below, call.x), call.dtype
    return f"mx_abs_{type_of(call.dtype).short}({call.x})", call.dtype


@_operator("Sign", since=9)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    a, x = call.algebra, call.x
    zero = a.number(0)
    if call.dtype in FLOATS or call.is_vector:
        below = a.select(f"({x} < {zero})", a.number(-1), x)  # NaN and 0 as they are
        return a.select(f"({x} > {zero})", a.number(1), below), call.dtype
    return f"mx_sign_{type_of(call.dtype).short}({x})", call.dtype


@_operator("IsNaN", since=9)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    return f"({call.x} != {call.x})", "bool"


@_operator("IsInf", since=10)
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


@_operator("Not", since=1)
def _(call: Call) -> tuple[str, str]:
    call.need("bool")
    return call.algebra.negated(call.x), "bool"


@_operator("BitwiseNot", since=18)
def _(call: Call) -> tuple[str, str]:
    _integer(call)
    kind = type_of(call.dtype)
    return f"(~{call.x})" if call.is_vector else f"({kind.value})(~{call.x})", call.dtype


def _numeric(call: Call) -> None:
    if call.dtype == "bool":
        raise Declined("bool")


def _integer(call: Call) -> None:
    if not type_of(call.dtype).is_integer:
        raise Declined(call.dtype)


_NAMES = {"+": "add", "-": "sub", "*": "mul"}


def _integers(call: Call, sign: str, a: str, b: str) -> str:
    """A sum, difference or product of integers, which wraps."""
    if call.is_vector:
        return f"vi_{_NAMES[sign]}({a}, {b})"
    return f"(({type_of(call.dtype).value})((uint64_t){a} {sign} (uint64_t){b}))"


def _product(call: Call, a: str, b: str) -> str:
    return f"({a} * {b})" if call.dtype in FLOATS else _integers(call, "*", a, b)


def _arithmetic(call: Call, sign: str, a: str, b: str) -> str:
    return f"({a} {sign} {b})" if call.dtype in FLOATS else _integers(call, sign, a, b)


for _name, _sign in {"Add": "+", "Sub": "-", "Mul": "*"}.items():

    def _binary(call: Call, sign: str = _sign) -> tuple[str, str]:
        _numeric(call)
        return _arithmetic(call, sign, call.x, call.y), call.dtype

    OPERATORS[_name] = Operator(7, _binary)


@_operator("Sum", since=8)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    total = call.x
    for other in call.args[1:]:
        total = type_of(call.dtype).rounded(_arithmetic(call, "+", total, str(other)))
    return total, call.dtype


@_operator("Mean", since=8)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    total = " + ".join(str(arg) for arg in call.args)
    return f"(({total}) / {call.algebra.number(len(call.args))})", call.dtype


for _name, _method in {"Max": "maximum", "Min": "minimum"}.items():

    def _extreme(call: Call, method: str = _method) -> tuple[str, str]:
        _numeric(call)
        result = call.x
        for other in call.args[1:]:
            result = getattr(call.algebra, method)(result, other)
        return result, call.dtype

    OPERATORS[_name] = Operator(8, _extreme)


@_operator("Div", since=7)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    if call.dtype in FLOATS:
        return f"({call.x} / {call.y})", call.dtype
    return _by_function(call, "div")


def _by_function(call: Call, name: str) -> tuple[str, str]:
    if call.is_vector:
        raise Declined("no such vectors")
    return f"mx_{name}_{type_of(call.dtype).short}({call.x}, {call.y})", call.dtype


@_operator("Mod", since=10)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    is_c = bool(call.attributes.get("fmod", 0))
    if call.dtype not in FLOATS:
        return _by_function(call, "fmod" if is_c else "mod")
    if call.is_vector:
        raise Declined("no such vectors")
    if is_c:
        return call.algebra.function("fmod", call.x, call.y), call.dtype
    return call.algebra.function("mx_mod", call.x, call.y), call.dtype


@_operator("BitShift", since=11)
def _(call: Call) -> tuple[str, str]:
    _integer(call)
    return _by_function(call, "left" if call.attributes["direction"] == "LEFT" else "right")


@_operator("Pow", since=7, heavy=True)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
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
        _integer(call)
        text = f"({call.x} {sign} {call.y})"
        return text if call.is_vector else f"({type_of(call.dtype).value}){text}", call.dtype

    OPERATORS[_name] = Operator(7, _logical)
    OPERATORS[f"Bitwise{_name}"] = Operator(18, _bitwise)


@_operator("Where", since=9)
def _(call: Call) -> tuple[str, str]:
    call.need("bool")
    dtype = call.dtypes[1]
    if len(call.args) != 3 or dtype is None or call.dtypes[2] != dtype:
        raise Declined("choices of several types")
    return call.make(dtype).select(call.x, call.y, call.args[2]), dtype


@_operator("Clip", since=11)
def _(call: Call) -> tuple[str, str]:
    _numeric(call)
    result = call.x
    low, high = (*call.args[1:], None, None)[:2]
    if low is not None:
        result = call.algebra.maximum(result, low)
    if high is not None:
        result = call.algebra.minimum(result, high)
    return result, call.dtype


@_operator("Cast", since=6)
def _(call: Call) -> tuple[str, str]:
    return _cast(call, str(onnx_ir.DataType(call.attributes["to"]).numpy()))


@_operator("CastLike", since=15)
def _(call: Call) -> tuple[str, str]:
    assert call.dtypes[1] is not None
    return _cast(call, call.dtypes[1])


def _cast(call: Call, dtype: str) -> tuple[str, str]:
    type_of(dtype)
    return call.make(dtype).converted(call.x, call.dtype), dtype


@_operator("BatchNormalization", since=15)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    if call.attributes.get("training_mode", 0):
        raise Declined("statistics of the batch")
    x, scale, bias, mean, var = call.args
    a, epsilon = call.algebra, call.attribute("epsilon", 1e-5)
    factor = f"({scale} / {a.function('sqrt', f'({var} + {epsilon})')})"
    return f"(({x} - {mean}) * {factor} + {bias})", call.dtype
