"""Recurrent layers: all steps of a sequence in one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._lowering import Lowering
from .._lstm import lstm, suits_lstm
from .._value import Declined, Value
from ._backend import api, as_input, check_float, execute_all, operand, rule

# The activations that the kernels have, by operator; those of both directions.
_ACTIVATIONS = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"]}


def _layer(
    to: Lowering,
    kind: str,
    x: Value,
    parts: tuple[Value | None, ...],
    states: tuple[Value | None, ...],
    direction: str,
) -> list[Value]:
    """What a layer gives; parts are weights, recurrent weights, bias and peephole."""
    check_float(x, *parts, *states)
    if x.size == 0:
        raise Declined("no elements")
    if any(part is not None and part.known is None for part in parts):
        raise Declined("weights that are computed")
    constants: list[Any] = [None if part is None else operand(to, part)[0] for part in parts]
    source, x = as_input(to, x)
    given: list[Any] = [None, None]
    data = [x]
    for index, state in enumerate(states):
        if state is not None:
            given[index], value = operand(to, state)
            data += [] if value is None else [value]
    weight, recurrent, bias, peephole = constants
    primitive = api().recurrent(
        source, weight, recurrent, bias, given[0], given[1], peephole, kind, direction
    )
    return execute_all(to, primitive, data)


def _check_usual(
    operator: str,
    activations: Sequence[str] | None,
    clip: float | None,
    layout: int,
    lengths: Value | None,
    numbers: Sequence[Sequence[float] | None],
) -> None:
    """Declined for what only the operators of mx can do."""
    usual = _ACTIVATIONS.get(operator)
    if activations and usual is not None:
        repeated = usual * (len(activations) // len(usual))
        if [name.lower() for name in activations] != repeated:
            raise Declined("other activations")
    if clip is not None or layout or lengths is not None or any(numbers):
        raise Declined("clipped cells, batches first, or sequences of different lengths")


@rule("LSTM", since=7)
def _lstm(
    to: Lowering,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    initial_c: Value | None = None,
    p: Value | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
) -> list[Value]:
    numbers = (activation_alpha, activation_beta)
    _check_usual("LSTM", activations, clip, layout, sequence_lens, numbers)
    if input_forget:
        raise Declined("gates that are one")
    if p is None and suits_lstm():
        made = lstm(to, x, (w, r, b), (initial_h, initial_c), direction)
        if made is not None:
            return made
    return _layer(to, "lstm", x, (w, r, b, p), (initial_h, initial_c), direction)


@rule("GRU", since=7)
def _gru(
    to: Lowering,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> list[Value]:
    numbers = (activation_alpha, activation_beta)
    _check_usual("GRU", activations, clip, layout, sequence_lens, numbers)
    kind = "lbr_gru" if linear_before_reset else "gru"
    return _layer(to, kind, x, (w, r, b, None), (initial_h, None), direction)


@rule("RNN", since=7)
def _rnn(
    to: Lowering,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    sequence_lens: Value | None = None,
    initial_h: Value | None = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
) -> list[Value]:
    numbers = (activation_alpha, activation_beta)
    _check_usual("RNN", None, clip, layout, sequence_lens, numbers)
    kinds = {name.lower() for name in activations or ["tanh"]}
    if len(kinds) != 1 or not kinds <= {"tanh", "relu"}:
        raise Declined("other activations")
    return _layer(to, kinds.pop(), x, (w, r, b, None), (initial_h, None), direction)
