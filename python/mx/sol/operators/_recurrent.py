"""What the recurrent layers have in common: directions, steps, and sums over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy

from ._inference import Call, Spec

Array: TypeAlias = Any

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def directions(direction: str | bytes) -> Iterator[tuple[int, bool]]:
    """The number of each direction, and whether it goes from the last step to the first."""
    text = direction.decode() if isinstance(direction, bytes) else direction
    yield from enumerate(DIRECTIONS[text])


def steps(length: int, backwards: bool) -> range:
    """The steps in the order in which a direction takes them."""
    return range(length - 1, -1, -1) if backwards else range(length)


def state(initial: Array | None, number: int, batch: int, hidden: int, dtype: Any) -> Array:
    """What a direction begins with."""
    return numpy.zeros((batch, hidden), dtype) if initial is None else initial[number]


def given_or_zero(gradient: Array | None, number: int, like: Array) -> Array:
    """The gradient of a state behind the last step of a direction."""
    return numpy.zeros_like(like) if gradient is None else gradient[number].copy()


def gradient_specs(call: Call, x: int, states: int, behind: int) -> list[Spec]:
    """What an operator of gradients gives: for X, W and R, inputs `x` and those behind it, for the
    bias, and for the initial states. The input `behind` has the batch as its third axis."""
    data, weight, again, kept = (call.spec(n) for n in (x, x + 1, x + 2, behind))
    final: Spec = Spec(data.dtype, None)
    bias = Spec(data.dtype, None)
    if again.shape is not None:
        count, wide, hidden = again.shape
        bias = Spec(data.dtype, (count, 2 * wide if isinstance(wide, int) else None))
        if kept.shape is not None:
            final = Spec(data.dtype, (count, kept.shape[2], hidden))
    return [data, weight, again, bias, *[final] * states]


def product_sums(gates: Array, inputs: Array) -> Array:
    """The gradient of a weight: over steps and batch, gates' gradients times what it multiplied."""
    rows = gates.reshape(-1, gates.shape[-1])
    found: Array = rows.T @ inputs.reshape(-1, inputs.shape[-1])
    return found
