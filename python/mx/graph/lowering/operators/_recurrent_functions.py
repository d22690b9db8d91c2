"""The activations of recurrent layers, by the names that ONNX gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .... import numpy as np
from .... import numpy_extension as npx
from .._lowering import Lowering
from .._value import Declined, Value
from . import _activation

Function = Callable[[Lowering, Value], Value]


def _plain(function: Any) -> Any:
    return lambda to, x, *_: to.call(function, x)


def _affine(to: Lowering, x: Value, alpha: float, beta: float) -> Value:
    made: Value = to.call(np.add, to.call(np.multiply, x, alpha), beta)
    return made


def _scaled_tanh(to: Lowering, x: Value, alpha: float, beta: float) -> Value:
    made: Value = to.call(np.multiply, to.call(np.tanh, to.call(np.multiply, x, beta)), alpha)
    return made


# By name in small letters, with what alpha and beta are by default, if it has them.
_FUNCTIONS: dict[str, tuple[Any, tuple[float, ...]]] = {
    "sigmoid": (_plain(npx.sigmoid), ()),
    "tanh": (_plain(np.tanh), ()),
    "relu": (_plain(npx.relu), ()),
    "softsign": (_plain(npx.softsign), ()),
    "softplus": (lambda to, x: _activation._softplus(to, x), ()),
    "affine": (_affine, (1.0, 0.0)),
    "scaledtanh": (_scaled_tanh, (1.0, 1.0)),
    "hardsigmoid": (
        lambda to, x, alpha, beta: _activation._hard_sigmoid(to, x, alpha=alpha, beta=beta),
        (0.2, 0.5),
    ),
    "leakyrelu": (lambda to, x, alpha: _activation._leaky_relu(to, x, alpha=alpha), (0.01,)),
    "thresholdedrelu": (
        lambda to, x, alpha: _activation._thresholded_relu(to, x, alpha=alpha),
        (1.0,),
    ),
    "elu": (lambda to, x, alpha: _activation._elu(to, x, alpha=alpha), (1.0,)),
}


def functions_of(
    activations: Sequence[str] | None,
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
    clip: float | None,
    defaults: Sequence[str],
    directions: int,
) -> list[list[Function]]:
    """The functions of each direction. Of alphas and betas each takes the next, where it has any;
    what they are given is clamped before."""
    names = list(activations or list(defaults) * directions)
    if len(names) != len(defaults) * directions:
        raise Declined(f"the activations {names}")
    left = [list(alphas or ()), list(betas or ())]
    made: list[Function] = []
    for name in names:
        if name.lower() not in _FUNCTIONS:
            raise Declined(f"the activation {name}")
        function, usual = _FUNCTIONS[name.lower()]
        given = [
            numbers.pop(0) if numbers else number
            for numbers, number in zip(left, usual, strict=False)
        ]
        made.append(_clamped(function, given, clip))
    size = len(defaults)
    return [made[begin : begin + size] for begin in range(0, len(made), size)]


def _clamped(function: Any, given: Sequence[float], clip: float | None) -> Function:
    def run(to: Lowering, x: Value) -> Value:
        bounded = to.call(np.clip, x, -clip, clip) if clip else x
        made: Value = function(to, bounded, *given)
        return made

    return run
