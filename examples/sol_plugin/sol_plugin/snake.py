"""The layer Snake, x + sin(x)^2: what it means, and its gradient."""

from __future__ import annotations

import numpy
import onnx_ir as ir

from mx.sol.gradient import Call, Writer, gradient
from mx.sol.operators import DOMAIN, Array, like, operator


@operator(
    "Snake",
    "Y",
    like(0),
    body="""
    sine = Sin (X)
    square = Mul (sine, sine)
    Y = Add (X, square)
    """,
)
def snake(X: Array) -> Array:
    """An activation that keeps what is periodic: X + sin(X)^2."""
    return X + numpy.sin(X) ** 2


@gradient("Snake", domain=DOMAIN)
def _gradient(to: Writer, call: Call) -> ir.Value:
    """dX = dY (1 + sin(2 X))."""
    twice = to.Mul(call.x, 2.0)
    return to.Mul(call.dy, to.Add(to.Sin(twice), 1.0))
