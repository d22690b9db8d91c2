"""RNN, GRU and LSTM: a few kernels for each item of a sequence, one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from .... import numpy as np
from .._lowering import Lowering
from .._lstm import lstm
from .._value import Declined, Value
from ._backend import rule
from ._recurrent_functions import functions_of

# A plan of longer sequences would have too many steps.
_MAX_ITEMS = 512

State = list[Value]
# The state after one item: of what the item adds to the gates, and the state before.
Turn = Callable[[Value, State], State]


def _run(
    to: Lowering,
    x: Value,
    weights: Sequence[Value | None],
    states: Sequence[Value | None],
    cell: Callable[[int, Sequence[Value | None]], tuple[Value, Value | None, Turn]],
    lengths: Value | None,
    direction: str,
    layout: int,
    hidden: int,
) -> list[Value]:
    """The outputs of a recurrent operator: all states h, then the last of each state."""
    if layout:
        x = to.call(np.swapaxes, x, 0, 1)
    count, batch, _ = x.shape
    if lengths is not None and lengths.known is not None:
        lengths = None if all(one == count for one in to.ints(lengths)) else lengths
    # The reference has no lengths, so that these plans have to do.
    if count > _MAX_ITEMS and lengths is None:
        raise Declined(f"a sequence of {count} items")
    if x.dtype not in ("float32", "float64"):
        raise Declined(f"numbers of {x.dtype}")
    directions = ["forward", "reverse"] if direction == "bidirectional" else [direction]
    all_items: list[Value] = []
    last: list[State] = []
    for number, way in enumerate(directions):
        own = [None if value is None else _item(to, value, 0, number) for value in weights]
        kernel, bias, turn = cell(number, own)
        added = to.call(np.matmul, x, to.call(np.transpose, kernel))
        if bias is not None:
            added = to.call(np.add, added, bias)
        state = [
            to.call(np.zeros, (batch, hidden), dtype=x.dtype)
            if value is None
            else _item(to, value, 1 if layout else 0, number)
            for value in states
        ]
        items: list[Value] = []
        order = range(count) if way == "forward" else range(count - 1, -1, -1)
        for position in order:
            new = turn(_item(to, added, 0, position), state)
            if lengths is None:
                state = new
                items.append(state[0])
                continue
            is_there = to.call(np.expand_dims, to.call(np.greater, lengths, position), 1)
            state = [to.call(np.where, is_there, *pair) for pair in zip(new, state, strict=True)]
            items.append(to.call(np.where, is_there, new[0], 0.0))
        all_items.append(to.call(np.stack, items if way == "forward" else items[::-1], axis=0))
        last.append(state)
    outputs = [to.call(np.stack, all_items, axis=1)]
    outputs += [to.call(np.stack, list(parts), axis=0) for parts in zip(*last, strict=True)]
    if layout:
        outputs[0] = to.call(np.transpose, outputs[0], (2, 0, 1, 3))
        outputs[1:] = [to.call(np.swapaxes, output, 0, 1) for output in outputs[1:]]
    return outputs


def _without_items(
    to: Lowering, x: Value, r: Value, states: Sequence[Value | None], layout: int
) -> list[Value] | None:
    """The outputs for sequences of no items: none, then each state as it was in the beginning,
    whatever is done to an item; None for other sequences."""
    count, batch = x.shape[1::-1] if layout else x.shape[:2]
    if count:
        return None
    directions, _, hidden = r.shape
    steps = (batch, 0, directions, hidden) if layout else (0, directions, batch, hidden)
    state = (batch, directions, hidden) if layout else (directions, batch, hidden)
    zeros = functools.partial(to.call, np.zeros, dtype=x.dtype)
    return [zeros(steps), *(zeros(state) if one is None else one for one in states)]


def _item(to: Lowering, x: Value, axis: int, index: int) -> Value:
    part = [slice(None)] * len(x.shape)
    part[axis] = slice(index, index + 1)
    made: Value = to.call(np.squeeze, to.slices(x, part), axis=axis)
    return made


def _gate(to: Lowering, x: Value, number: int, hidden: int) -> Value:
    """One of the gates, which lie one behind the other on the last axis."""
    part = [slice(None)] * (len(x.shape) - 1)
    return to.slices(x, [*part, slice(number * hidden, (number + 1) * hidden)])


def _sums(to: Lowering, *values: Value) -> Value:
    total = values[0]
    for value in values[1:]:
        total = to.call(np.add, total, value)
    return total


def _both_biases(to: Lowering, bias: Value | None, size: int) -> tuple[Value | None, Value | None]:
    if bias is None:
        return None, None
    return to.slices(bias, [slice(0, size)]), to.slices(bias, [slice(size, 2 * size)])


def _total_bias(to: Lowering, bias: Value | None, size: int) -> Value | None:
    first, second = _both_biases(to, bias, size)
    return None if first is None or second is None else _sums(to, first, second)


@rule("RNN", since=7)
def _rnn(
    to: Lowering,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    lengths: Value | None = None,
    initial_h: Value | None = None,
    *,
    hidden_size: int | None = None,
    direction: str = "forward",
    layout: int = 0,
    activations: Sequence[str] | None = None,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    clip: float | None = None,
) -> list[Value]:
    made = _without_items(to, x, r, [initial_h], layout)
    if made is not None:
        return made
    hidden = r.shape[-1]
    given = activations, activation_alpha, activation_beta, clip
    every = functions_of(*given, ["Tanh"], w.shape[0])

    def cell(number: int, own: Sequence[Value | None]) -> tuple[Value, Value | None, Turn]:
        kernel, back, bias = own
        assert kernel is not None and back is not None
        turned = to.call(np.transpose, back)
        (function,) = every[number]

        def turn(added: Value, state: State) -> State:
            return [function(to, _sums(to, added, to.call(np.matmul, state[0], turned)))]

        return kernel, _total_bias(to, bias, hidden), turn

    return _run(to, x, [w, r, b], [initial_h], cell, lengths, direction, layout, hidden)


@rule("GRU", since=7)
def _gru(
    to: Lowering,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    lengths: Value | None = None,
    initial_h: Value | None = None,
    *,
    hidden_size: int | None = None,
    direction: str = "forward",
    layout: int = 0,
    linear_before_reset: int = 0,
    activations: Sequence[str] | None = None,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    clip: float | None = None,
) -> list[Value]:
    made = _without_items(to, x, r, [initial_h], layout)
    if made is not None:
        return made
    hidden = r.shape[-1]
    given = activations, activation_alpha, activation_beta, clip
    every = functions_of(*given, ["Sigmoid", "Tanh"], w.shape[0])

    def cell(number: int, own: Sequence[Value | None]) -> tuple[Value, Value | None, Turn]:
        kernel, back, bias = own
        gate, function = every[number]
        assert kernel is not None and back is not None
        first, second = _both_biases(to, bias, 3 * hidden)
        gates = to.call(np.transpose, to.slices(back, [slice(0, 2 * hidden), slice(None)]))
        fresh = to.call(np.transpose, to.slices(back, [slice(2 * hidden, None), slice(None)]))

        def turn(added: Value, state: State) -> State:
            (h,) = state
            both = _sums(to, _part(added, 0, 2), to.call(np.matmul, h, gates))
            if second is not None:
                both = _sums(to, both, _part(second, 0, 2))
            both = gate(to, both)
            update, reset = _gate(to, both, 0, hidden), _gate(to, both, 1, hidden)
            if not linear_before_reset:
                h_reset = to.call(np.multiply, reset, h)
                candidate = to.call(np.matmul, h_reset, fresh)
            else:
                candidate = to.call(np.matmul, h, fresh)
            if second is not None:
                candidate = _sums(to, candidate, _part(second, 2, 3))
            if linear_before_reset:
                candidate = to.call(np.multiply, reset, candidate)
            new = function(to, _sums(to, _part(added, 2, 3), candidate))
            kept = to.call(np.multiply, update, to.call(np.subtract, h, new))
            return [_sums(to, new, kept)]

        return kernel, first, turn

    def _part(x: Value, begin: int, end: int) -> Value:
        part = [slice(None)] * (len(x.shape) - 1)
        return to.slices(x, [*part, slice(begin * hidden, end * hidden)])

    return _run(to, x, [w, r, b], [initial_h], cell, lengths, direction, layout, hidden)


@rule("LSTM", since=7)
def _lstm(
    to: Lowering,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    lengths: Value | None = None,
    initial_h: Value | None = None,
    initial_c: Value | None = None,
    peepholes: Value | None = None,
    *,
    hidden_size: int | None = None,
    direction: str = "forward",
    layout: int = 0,
    input_forget: int = 0,
    activations: Sequence[str] | None = None,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    clip: float | None = None,
) -> list[Value]:
    made = _without_items(to, x, r, [initial_h, initial_c], layout)
    if made is not None:
        return made
    hidden = r.shape[-1]
    given = activations, activation_alpha, activation_beta, clip
    every = functions_of(*given, ["Sigmoid", "Tanh", "Tanh"], w.shape[0])
    usual = ["Sigmoid", "Tanh", "Tanh"] * w.shape[0]
    is_usual = not clip and list(activations or usual) == usual
    if is_usual and lengths is None and peepholes is None and not input_forget and not layout:
        made = lstm(to, x, (w, r, b), (initial_h, initial_c), direction)
        if made is not None:
            return made

    def cell(number: int, own: Sequence[Value | None]) -> tuple[Value, Value | None, Turn]:
        kernel, back, bias, seen = own
        gate, function, last = every[number]
        assert kernel is not None and back is not None
        turned = to.call(np.transpose, back)

        def looked(x: Value, c: Value, number: int) -> Value:
            if seen is None:
                return x
            return _sums(to, x, to.call(np.multiply, c, _gate(to, seen, number, hidden)))

        def turn(added: Value, state: State) -> State:
            h, c = state
            gates = _sums(to, added, to.call(np.matmul, h, turned))
            i, o, f, g = (_gate(to, gates, number, hidden) for number in range(4))
            i = gate(to, looked(i, c, 0))
            if input_forget:
                f = to.call(np.subtract, 1.0, i)
            else:
                f = gate(to, looked(f, c, 2))
            fresh = to.call(np.multiply, i, function(to, g))
            c = _sums(to, to.call(np.multiply, f, c), fresh)
            o = gate(to, looked(o, c, 1))
            return [to.call(np.multiply, o, last(to, c)), c]

        return kernel, _total_bias(to, bias, 4 * hidden), turn

    weights = [w, r, b, peepholes]
    return _run(to, x, weights, [initial_h, initial_c], cell, lengths, direction, layout, hidden)
