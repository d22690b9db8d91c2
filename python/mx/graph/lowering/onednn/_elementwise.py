"""Elementwise operators on what oneDNN has in blocks; all else is faster by the operators of mx."""

from __future__ import annotations

import math
from typing import Any

from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import api, as_input, check_float, execute, operand, rule
from ._posts import Posts


def _check_blocked(*values: Value) -> None:
    if all(value.layout is None for value in values):
        raise Declined("left to the operators of mx: no input is in blocks")


def _eltwise(
    to: Lowering, x: Value, kind: str, alpha: float | None = None, beta: float | None = None
) -> Value:
    check_float(x)
    source, x = as_input(to, x)
    return execute(to, api().eltwise(source, kind, alpha, beta), [x])


def _blocked(kind: str) -> Any:
    def lower(to: Lowering, x: Value) -> Value:
        _check_blocked(x)
        return _eltwise(to, x, kind)

    return lower


for _operator, _kind in {
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Abs": "abs",
    "Exp": "exp",
    "Sqrt": "sqrt",
    "HardSwish": "hardswish",
    "Mish": "mish",
}.items():
    rule(_operator, since=6)(_blocked(_kind))


@rule("Gelu", since=20)
def _gelu(to: Lowering, x: Value, *, approximate: str = "none") -> Value:
    return _eltwise(to, x, "gelu_tanh" if approximate == "tanh" else "gelu_erf")


@rule("LeakyRelu", since=6)
def _leaky_relu(to: Lowering, x: Value, *, alpha: float = 0.01) -> Value:
    _check_blocked(x)
    return _eltwise(to, x, "leaky_relu", alpha)


@rule("Clip", since=11)
def _clip(to: Lowering, x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    _check_blocked(x)
    bounds = [
        default if bound is None else float(to.elements(bound).reshape(()))
        for bound, default in ((low, -math.inf), (high, math.inf))
    ]
    return _eltwise(to, x, "clip", *bounds)


def _binary(kind: str) -> Any:
    def lower(to: Lowering, a: Value, b: Value) -> Value:
        _check_blocked(a, b)
        check_float(a, b)
        if len(a.shape) != len(b.shape) or a.layout is None:
            raise Declined("operands of different numbers of axes")
        first, a_input = as_input(to, a)
        second, b_input = operand(to, b)
        posts = Posts(to, a.shape) if b.shape == a.shape else None
        primitive = api().binary(first, second, kind, posts.ops or None if posts else None)
        data = [value for value in (a_input, b_input) if value is not None]
        return execute(to, primitive, [*data, *(posts.inputs if posts else [])])

    return lower


for _operator, _kind in {"Add": "add", "Mul": "mul", "Sub": "sub", "Div": "div"}.items():
    rule(_operator, since=7)(_binary(_kind))
