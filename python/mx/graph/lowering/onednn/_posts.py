"""Nodes behind a product or convolution that its kernel does to the result before it writes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._lowering import Lowering
from .._value import Declined, Follower, Value
from ._backend import ONEDNN, api, operand

# More make kernels slower than a pass of their own would be.
_MOST = 4


class Posts:
    """The post-ops of one kernel, and the values that they read."""

    def __init__(self, to: Lowering, shape: tuple[int, ...]) -> None:
        """Takes as many followers, behind those taken, as post-ops can do for such an output."""
        self.ops: list[Any] = []
        self.inputs: list[Value] = []
        while len(self.ops) < _MOST:
            follower = to.followers.get(to.taken)
            if follower is None:
                return
            try:
                post, value = _post_of(to, follower, shape)
            except Declined:
                return
            self.ops.append(post)
            if value is not None:
                self.inputs.append(value)
            to.taken += 1


def _number(value: Value | None, default: float) -> float:
    if value is None:
        return default
    if value.known is None or value.size != 1:
        raise Declined("a bound that is no constant")
    return float(value.known.elements.reshape(()))


def _clip(follower: Follower) -> tuple[str, float | None, float | None]:
    if follower.version < 11 or follower.position != 0:
        raise Declined("bounds as attributes")
    low, high = (*follower.inputs[1:], None, None)[:2]
    return "clip", _number(low, -math.inf), _number(high, math.inf)


_UNARY: dict[str, Callable[[Follower], tuple[str, float | None, float | None]]] = {
    "Relu": lambda _: ("relu", None, None),
    "LeakyRelu": lambda node: ("leaky_relu", node.attributes.get("alpha", 0.01), None),
    "Elu": lambda node: ("elu", node.attributes.get("alpha", 1.0), None),
    "Sigmoid": lambda _: ("sigmoid", None, None),
    "Tanh": lambda _: ("tanh", None, None),
    "HardSwish": lambda _: ("hardswish", None, None),
    "HardSigmoid": lambda node: (
        "hardsigmoid",
        node.attributes.get("alpha", 0.2),
        node.attributes.get("beta", 0.5),
    ),
    "Gelu": lambda node: (
        "gelu_tanh" if node.attributes.get("approximate") == "tanh" else "gelu_erf",
        None,
        None,
    ),
    "Swish": lambda node: ("swish", node.attributes.get("alpha", 1.0), None),
    "Mish": lambda _: ("mish", None, None),
    "Clip": _clip,
}
_BINARY = {"Add": "add", "Mul": "mul", "Sub": "sub", "Div": "div"}


def may_take(to: Lowering, index: int) -> bool:
    """Whether a follower is of an operator that kernels do, looked at no further."""
    follower = to.followers.get(index)
    return follower is not None and (follower.operator in _UNARY or follower.operator in _BINARY)


def _post_of(to: Lowering, follower: Follower, shape: tuple[int, ...]) -> tuple[Any, Value | None]:
    ONEDNN.check_nan(to, follower.operator)
    if follower.operator in _UNARY:
        return api().PostOp(*_UNARY[follower.operator](follower)), None
    kind = _BINARY.get(follower.operator)
    if kind is None or follower.version < 7:
        raise Declined("no post-op")
    if follower.position != 0 and kind in ("sub", "div"):
        raise Declined("the result is the second operand")
    other = follower.inputs[1 - follower.position]
    if other is None or other.dtype != "float32" or len(other.shape) > len(shape):
        raise Declined("an operand that changes the shape")
    seen = (1,) * (len(shape) - len(other.shape)) + other.shape
    if any(extent not in (1, whole) for extent, whole in zip(seen, shape, strict=True)):
        raise Declined("an operand that changes the shape")
    if other.known is not None and other.size == 1:
        number = _number(other, 0.0)
        if kind == "mul":
            return api().PostOp("linear", number, 0.0), None
        if kind == "add":
            return api().PostOp("linear", 1.0, number), None
        if kind == "div" and (number == 0 or not math.isfinite(1 / number)):
            raise Declined("a divisor without a reciprocal")
        if kind == "div":
            return api().PostOp("linear", 1.0 / number, 0.0), None
        return api().PostOp("linear", 1.0, -number), None
    given, value = operand(to, other)
    return api().PostOp(kind, None, None, given), value
