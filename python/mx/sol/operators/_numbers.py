"""What references compute that NumPy has no function for."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy

Array: TypeAlias = Any

_erf = numpy.vectorize(math.erf, otypes=["float64"])


def erf(x: Array) -> Array:
    """The error function, element by element."""
    found: Array = _erf(x).astype(x.dtype)
    return found


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), without overflow."""
    half = x.dtype.type(0.5)
    found: Array = half * (1 + numpy.tanh(half * x))
    return found
