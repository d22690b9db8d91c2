"""Recurrent layers against ONNX's reference in float64."""

from __future__ import annotations

import numpy
import pytest

from mx.sol.backends.gen import Declined, Spec, Target, emit

from .running import TARGETS, Case, Table

random = numpy.random.default_rng(0)
REST = {("GRU", "wide"), ("RNN", "batch")}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _of(*shape: int) -> numpy.ndarray:
    return (random.standard_normal(shape) / 2).astype(numpy.float32)


def _case(
    operator: str,
    sizes: tuple[int, int, int, int] = (4, 3, 5, 7),
    direction: str = "forward",
    bias: bool = True,
    states: bool = False,
    **attributes,
) -> Case:
    steps, batch, size, hidden = sizes
    count, gates = 2 if direction == "bidirectional" else 1, GATES[operator]
    inputs = [
        _of(steps, batch, size),
        _of(count, gates * hidden, size),
        _of(count, gates * hidden, hidden),
        _of(count, 2 * gates * hidden) if bias else None,
    ]
    if states:
        inputs += [None, _of(count, batch, hidden)]
        inputs += [_of(count, batch, hidden)] if operator == "LSTM" else []
    known = (1, 2, 3) if bias else (1, 2)
    attributes = {"hidden_size": hidden, "direction": direction, **attributes}
    return Case(operator, tuple(inputs), known, attributes)


CASES = {
    f"{operator}_{name}": _case(operator, **changes)
    for operator in GATES
    for name, changes in {
        "forward": {},
        "reverse": {"direction": "reverse", "bias": False},
        "bidirectional": {"direction": "bidirectional", "states": True},
        "one": {"sizes": (1, 1, 1, 1)},
        "wide": {"sizes": (3, 1, 40, 33), "states": True},
        "batch": {"sizes": (2, 17, 3, 16)},
    }.items()
    if operator == "LSTM" or name in ("forward", "bidirectional") or (operator, name) in REST
}
CASES["GRU_after"] = _case("GRU", linear_before_reset=1, states=True)
RELU = _case("RNN", activations=["Relu"])
NO_STEPS = {
    f"{operator}_no_steps": _case(operator, (0, 2, 3, 5), "bidirectional", states=True)
    for operator in ("LSTM", "GRU")
}
TABLE = Table(
    {name: case.kernel for name, case in (*CASES.items(), ("relu", RELU), *NO_STEPS.items())}
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_layers(target: str, name: str) -> None:
    case = CASES[name]
    got = TABLE.run(target, name, case.inputs)
    for ours, expected in zip(got, case.expected(), strict=True):
        assert ours.shape == expected.shape
        numpy.testing.assert_allclose(ours, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_relu(target: str) -> None:
    y, last = TABLE.run(target, "relu", RELU.inputs)
    x, w, r, b = (array.astype(float) for array in RELU.inputs if array is not None)
    h = numpy.zeros_like(last[0], float)
    for t in range(len(x)):
        h = numpy.maximum(x[t] @ w[0].T + h @ r[0].T + b[0].reshape(2, -1).sum(0), 0)
        numpy.testing.assert_allclose(y[t, 0], h, rtol=1e-5, atol=1e-5)
    numpy.testing.assert_array_equal(last, y[-1])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NO_STEPS)
def test_no_steps(target: str, name: str) -> None:
    inputs = NO_STEPS[name].inputs
    y, *last = TABLE.run(target, name, inputs)
    assert y.shape == (0, 2, 2, 5)
    for found, given in zip(last, inputs[5:], strict=True):
        assert given is not None
        numpy.testing.assert_array_equal(found, given)


@pytest.mark.parametrize("target", TARGETS)
def test_nan_stays_in_its_sequence(target: str) -> None:
    x, *others = CASES["LSTM_forward"].inputs
    assert x is not None
    x = x.copy()
    x[2, 1, 0] = numpy.nan
    y, _, _ = TABLE.run(target, "LSTM_forward", (x, *others))
    assert numpy.isnan(y[2:, 0, 1]).all()
    assert numpy.isfinite(y[:2]).all() and numpy.isfinite(y[:, :, [0, 2]]).all()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"activations": ["Sigmoid", "Tanh", "Softsign"]}, "activations"),
        ({"clip": 1.0}, "clip"),
        ({"layout": 1}, "layout"),
    ],
)
def test_declines(changes, reason: str) -> None:
    case = _case("LSTM", **changes)
    with pytest.raises(Declined, match=reason):
        case.kernel(Target.named("c"))


def test_declines_weights_that_are_no_constants() -> None:
    specs = [None if x is None else Spec(x.shape, "float32") for x in _case("GRU").inputs]
    with pytest.raises(Declined, match="no constants"):
        emit(Target.named("c"), "GRU", specs)
