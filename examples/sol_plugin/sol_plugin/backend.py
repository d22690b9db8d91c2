"""A backend: the kernel of Snake, of two functions that plans have."""

from __future__ import annotations

from typing import Any

from mx import np
from mx.graph.lowering import Backend

BACKEND = Backend("snake")


@BACKEND.rule("mxffi.sol::Snake")
def _snake(to: Any, x: Any) -> Any:
    sine = to.call(np.sin, x)
    return to.call(np.add, x, to.call(np.multiply, sine, sine))
