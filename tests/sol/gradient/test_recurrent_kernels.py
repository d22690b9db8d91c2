"""Kernels of LSTM, GRU and plain recurrent layers in training against what the operators mean."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from mx.graph import Plan
from mx.graph.lowering.onednn import _across
from mx.sol.operators import OPERATORS
from tests.sol.gradient.test_kernels import check, f, has_onednn, implementations, parsed

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


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("are_given", [False, True])
@pytest.mark.parametrize(("steps", "batch", "hidden"), EXTENTS)
def test_lstm(direction: str, are_given: bool, steps: int, batch: int, hidden: int) -> None:
    count = 2 if direction == "bidirectional" else 1
    attributes = {"direction": direction, "hidden_size": hidden}
    x, w, r = f(steps, batch, 7), f(count, 4 * hidden, 7), f(count, 4 * hidden, hidden) / 8
    given = [f(count, 8 * hidden), f(count, batch, hidden), f(count, batch, hidden)]
    if not are_given:
        given = [None, None, None]
    inputs = [x, w, r, *given]
    check("LSTMTraining", inputs, attributes, "onednn", 2e-5)
    with numpy.errstate(all="ignore"):
        y, last, _, saved = OPERATORS["LSTMTraining"].reference(*inputs, **attributes)
    gradients = [f(*y.shape), f(*last.shape), f(*last.shape)]
    for missing in ((), (1, 2), (0,)) if are_given else ((),):
        those = [None if i in missing else one for i, one in enumerate(gradients)]
        check("LSTMGrad", [*those, *inputs, y, saved], attributes, "onednn", 5e-5)


@pytest.mark.parametrize("direction", ["forward", "bidirectional"])
def test_gradients_of_an_lstm_whose_rows_collide(
    direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BLAS has products of it, which take no node that follows."""
    monkeypatch.setattr(_across, "_cpu_level", lambda: "avx2")
    count = 2 if direction == "bidirectional" else 1
    steps, batch, hidden, width = 3, 8, 256, 24
    attributes = {"direction": direction, "hidden_size": hidden}
    inputs = [f(steps, batch, width), f(count, 4 * hidden, width), f(count, 4 * hidden, hidden) / 8]
    given = f(count, 8 * hidden), f(count, batch, hidden), f(count, batch, hidden)
    y, last, _, saved = OPERATORS["LSTMTraining"].reference(*inputs, *given, **attributes)
    gradients = [f(*y.shape), f(*last.shape), f(*last.shape)]
    arrays = [*gradients, *inputs, *given, y, saved]
    check("LSTMGrad", arrays, attributes, "onednn", 5e-5)
    names = [f"x{number}" for number in range(len(arrays))]
    graph = parsed(
        ", ".join(f"float{list(a.shape)} {name}" for a, name in zip(arrays, names, strict=True)),
        "y",
        f"""dx, dw = mxffi.sol.LSTMGrad<direction = "{direction}", hidden_size = {hidden}>(
            {", ".join(names)})
        y = Relu(dx)""",
    )
    plan = Plan(graph, optimize=False)
    found = numpy.asarray(plan(*arrays)[0])
    wanted = numpy.maximum(OPERATORS["LSTMGrad"].reference(*arrays, **attributes)[0], 0)
    numpy.testing.assert_allclose(found, wanted, rtol=5e-5, atol=5e-5 * float(wanted.max()))
    assert sum(name.startswith("blas") for name in implementations(plan, *arrays)) == 2 * count


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
