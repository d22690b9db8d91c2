"""LSTM with constant weights: mx has a kernel of all steps, which other backends use, too."""

from __future__ import annotations

import ffi

from ._lowering import Lowering
from ._value import Value

_kernel = ffi.get_global_func("mx.graph.lstm")
# Whether it is faster than libraries on this processor.
suits_lstm = ffi.get_global_func("mx.graph.suits_lstm")


def lstm(
    to: Lowering,
    x: Value,
    weights: tuple[Value | None, Value | None, Value | None],
    states: tuple[Value | None, Value | None],
    direction: str,
) -> list[Value] | None:
    """What a layer with the usual activations gives; None where others are asked. `weights` are
    those of x and of h, and the biases; `states` are h and c of the beginning."""
    given = [value for value in states if value is not None]
    if to.precision or any(value.dtype != "float32" for value in (x, *given)) or x.size == 0:
        return None
    if any(value is not None and value.known is None for value in weights):
        return None
    if any(value is not None and value.dtype != "float32" for value in weights):
        return None
    w, r, b = (None if value is None else value.known for value in weights)
    if w is None or r is None:
        return None
    extents = (*x.shape, r.array.shape[2])
    biases = None if b is None else b.array
    has = [value is not None for value in states]
    kernel = to.kernel(_kernel, extents, w.array, r.array, biases, direction, *has)
    made: list[Value] = to.step(kernel, [to.row_major(value) for value in (x, *given)])
    return made
