"""The layer Snake, x + sin(x)^2: what it means, and its gradient."""

from __future__ import annotations

import numpy
import onnx_ir as ir

from mx.sol.gradient._rules import Call, gradient
from mx.sol.gradient._writer import Writer
from mx.sol.operators import DOMAIN, operator
from mx.sol.operators._describe import Array
from mx.sol.operators._inference import like


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
