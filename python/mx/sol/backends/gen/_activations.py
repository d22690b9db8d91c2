"""Functions of one element, activations among them, as expressions in C."""

from __future__ import annotations

import math
from collections.abc import Callable

from ._algebra import Algebra
from ._call import OPERATORS, Call, Operator, floats, numeric, operator, product
from ._types import FLOATS


def _float(
    name: str,
    text: Callable[[Algebra, str], str],
    since: int = 1,
    heavy: bool = True,
    meaning: str = "",
) -> None:
    def formula(call: Call) -> tuple[str, str]:
        return text(call.algebra, call.x), call.dtype

    OPERATORS[name] = Operator(since, formula, heavy, meaning, floats)


def _function(name: str, function: str, meaning: str, heavy: bool) -> None:
    _float(name, lambda a, x: a.function(function, x), heavy=heavy, meaning=meaning)


for _name in "Exp Log Tanh Erf Sin Cos Tan Sinh Cosh".split():
    _function(_name, _name.lower(), _name.lower(), heavy=True)
for _name in "Asin Acos Atan Asinh Acosh Atanh".split():
    _function(_name, _name.lower(), f"arc{_name[1:].lower()}", heavy=True)
for _name, _c in {"Sqrt": "sqrt", "Floor": "floor", "Ceil": "ceil", "Round": "rint"}.items():
    _function(_name, _c, _c, heavy=False)
_float("Reciprocal", lambda a, x: f"({a.number(1)} / {x})", heavy=False, meaning="reciprocal")


def sigmoid(a: Algebra, x: str) -> str:
    """1 / (1 + e^-x)."""
    one = a.number(1)
    return f"({one} / ({one} + {a.function('exp', f'-{x}')}))"


_float("Sigmoid", sigmoid, meaning="sigmoid")
_float(
    "Softsign",
    lambda a, x: f"({x} / ({a.number(1)} + {a.function('fabs', x)}))",
    heavy=False,
    meaning="softsign",
)
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


@operator("HardSigmoid", since=6)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    alpha, beta = call.attribute_value("alpha", 0.2), call.attribute_value("beta", 0.5)
    return _hard_sigmoid(call.algebra, call.x, alpha, beta), call.dtype


@operator("Gelu", since=20, heavy=True)
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


@operator("Swish", since=24, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    inner = f"({call.attribute('alpha', 1)} * {call.x})"
    return f"({call.x} * {sigmoid(call.algebra, inner)})", call.dtype


@operator("Relu", since=6, meaning="relu", takes=numeric)
def _(call: Call) -> tuple[str, str]:
    return call.algebra.maximum(call.x, call.algebra.number(0)), call.dtype


@operator("LeakyRelu", since=6)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    below = f"({call.attribute('alpha', 0.01)} * {x})"
    return a.select(f"({x} < {a.number(0)})", below, x), call.dtype


@operator("PRelu", since=9)
def _(call: Call) -> tuple[str, str]:
    numeric(call)
    a, x = call.algebra, call.x
    return a.select(f"({x} > {a.number(0)})", x, product(call, x, call.y)), call.dtype


@operator("ThresholdedRelu", since=10)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    return a.select(f"({x} > {call.attribute('alpha', 1)})", x, a.number(0)), call.dtype


@operator("Elu", since=6, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    below = f"({call.attribute('alpha', 1)} * {a.function('expm1', x)})"
    return a.select(f"({x} < {a.number(0)})", below, x), call.dtype


@operator("Celu", since=12, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x, alpha = call.algebra, call.x, call.attribute("alpha", 1)
    below = f"({alpha} * {a.function('expm1', f'({x} / {alpha})')})"
    return a.select(f"({x} < {a.number(0)})", below, x), call.dtype


@operator("Selu", since=6, heavy=True)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    alpha = call.attribute("alpha", 1.67326319217681884765625)
    below = f"({alpha} * {a.function('expm1', x)})"
    scaled = a.select(f"({x} < {a.number(0)})", below, x)
    return f"({call.attribute('gamma', 1.05070102214813232421875)} * {scaled})", call.dtype


@operator("Shrink", since=9)
def _(call: Call) -> tuple[str, str]:
    call.need(*FLOATS)
    a, x = call.algebra, call.x
    bias, lambd = call.attribute("bias", 0), call.attribute_value("lambd", 0.5)
    above = a.select(f"({x} > {a.number(lambd)})", f"({x} - {bias})", a.number(0))
    return a.select(f"({x} < {a.number(-lambd)})", f"({x} + {bias})", above), call.dtype
