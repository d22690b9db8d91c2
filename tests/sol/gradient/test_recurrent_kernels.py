"""Kernels of GRU and of plain recurrent layers in training against what the operators mean."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from mx.sol.operators import OPERATORS
from tests.sol.gradient.test_kernels import check, f, has_onednn

pytestmark = pytest.mark.skipif(not has_onednn(), reason="oneDNN is not there")
DIRECTIONS = ["forward", "reverse", "bidirectional"]
EXTENTS = [(5, 3, 6), (1, 1, 33), (3, 20, 64)]


def layer(gates: int, direction: str, extents: tuple[int, int, int], are_given: bool) -> list[Any]:
    """X, W, R, B and the first state."""
    steps, batch, hidden = extents
    count = 2 if direction == "bidirectional" else 1
    x, w = f(steps, batch, 7), f(count, gates * hidden, 7)
    r = f(count, gates * hidden, hidden) / 8
    given = [f(count, 2 * gates * hidden), f(count, batch, hidden)] if are_given else [None, None]
    return [x, w, r, *given]


def check_gradients(
    name: str, states: list[Any], rest: list[Any], attributes: dict[str, Any], are_given: bool
) -> None:
    """`states` are all and the last ones, `rest` what the operator takes behind gradients."""
    gradients = [f(*one.shape) for one in states]
    for missing in ((), (1,), (0,)) if are_given else ((),):
        those = [None if i in missing else one for i, one in enumerate(gradients)]
        check(name, [*those, *rest], attributes, "onednn", 5e-5)


@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("are_given", [False, True])
@pytest.mark.parametrize("extents", EXTENTS)
def test_gru(direction: str, are_given: bool, extents: tuple[int, int, int], before: int) -> None:
    attributes = {
        "direction": direction, "hidden_size": extents[2], "linear_before_reset": before
    }  # fmt: skip
    inputs = layer(3, direction, extents, are_given)
    check("GRUTraining", inputs, attributes, "onednn", 2e-5)
    y, last, saved = OPERATORS["GRUTraining"].reference(*inputs, **attributes)
    check_gradients("GRUGrad", [y, last], [*inputs, y, saved], attributes, are_given)


@pytest.mark.parametrize("activation", ["Tanh", "Relu", "Sigmoid"])
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("are_given", [False, True])
def test_rnn(direction: str, are_given: bool, activation: str) -> None:
    extents = EXTENTS[DIRECTIONS.index(direction)]
    inputs = layer(1, direction, extents, are_given)
    count = inputs[1].shape[0]
    # Any states do: the gradients do not ask what they have come from.
    y, last = numpy.abs(f(*extents[:1], count, *extents[1:])), f(count, *extents[1:])
    attributes = {"direction": direction, "hidden_size": extents[2], "activation": activation}
    check_gradients("RNNGrad", [y, last], [*inputs, y], attributes, are_given)
