"""LSTM in training, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from ._describe import Array, operator
from ._inference import Call, Spec
from ._numbers import sigmoid
from ._recurrent import directions, given_or_zero, gradient_specs, product_sums, state, steps


def _training(call: Call) -> Sequence[Spec]:
    dtype = call.spec(0).dtype
    x, weight, again = call.shape(0, 3), call.shape(1, 3), call.shape(2, 3)
    if x is None or weight is None or again is None:
        return [Spec(dtype, None)] * 4
    length, batch, _ = x
    count, hidden = weight[0], again[2]
    wide = 5 * hidden if isinstance(hidden, int) else None
    final = Spec(dtype, (count, batch, hidden))
    return [
        Spec(dtype, (length, count, batch, hidden)),
        final,
        final,
        Spec(dtype, (count, length, batch, wide)),
    ]


@operator("LSTMTraining", "Y Y_h Y_c saved", _training)
def lstm_training(
    X: Array,
    W: Array,
    R: Array,
    B: Array | None = None,
    initial_h: Array | None = None,
    initial_c: Array | None = None,
    *,
    direction: str = "forward",
    hidden_size: int = 0,
) -> tuple[Array, ...]:
    """LSTM with the usual activations and layout 0, and what its gradient needs.

    saved is of shape (directions, steps, batch, 5 * hidden): the gates i, o, f, c behind their
    activations, then the state of the cell.
    """
    length, batch, _ = X.shape
    count, hidden = R.shape[0], R.shape[2]
    made = numpy.zeros((length, count, batch, hidden), X.dtype)
    finals = numpy.zeros((2, count, batch, hidden), X.dtype)
    saved = numpy.zeros((count, length, batch, 5 * hidden), X.dtype)
    for number, backwards in directions(direction):
        h = state(initial_h, number, batch, hidden, X.dtype)
        c = state(initial_c, number, batch, hidden, X.dtype)
        linear = X @ W[number].T
        if B is not None:
            linear = linear + B[number, : 4 * hidden] + B[number, 4 * hidden :]
        for step in steps(length, backwards):
            gates = linear[step] + h @ R[number].T
            i, o, f, g = numpy.split(gates, 4, axis=1)
            i, o, f, g = sigmoid(i), sigmoid(o), sigmoid(f), numpy.tanh(g)
            c = f * c + i * g
            h = o * numpy.tanh(c)
            made[step, number] = h
            saved[number, step] = numpy.concatenate((i, o, f, g, c), 1)
        finals[0, number], finals[1, number] = h, c
    return made, finals[0], finals[1], saved


def _grad(call: Call) -> Sequence[Spec]:
    return gradient_specs(call, x=3, states=2, behind=10)


@operator("LSTMGrad", "dX dW dR dB dinitial_h dinitial_c", _grad)
def lstm_grad(
    dY: Array | None,
    dY_h: Array | None,
    dY_c: Array | None,
    X: Array,
    W: Array,
    R: Array,
    B: Array | None,
    initial_h: Array | None,
    initial_c: Array | None,
    Y: Array,
    saved: Array,
    *,
    direction: str = "forward",
    hidden_size: int = 0,
) -> tuple[Array, ...]:
    """The gradients of LSTMTraining for its inputs; a gradient that is missing is zero."""
    length, batch, _ = X.shape
    count, hidden = R.shape[0], R.shape[2]
    d_x, d_w, d_r = numpy.zeros_like(X), numpy.zeros_like(W), numpy.zeros_like(R)
    d_b = numpy.zeros((count, 8 * hidden), X.dtype)
    d_initial = numpy.zeros((2, count, batch, hidden), X.dtype)
    for number, backwards in directions(direction):
        first_h = state(initial_h, number, batch, hidden, X.dtype)
        first_c = state(initial_c, number, batch, hidden, X.dtype)
        d_h = given_or_zero(dY_h, number, first_h)
        d_c = given_or_zero(dY_c, number, first_h)
        order = steps(length, backwards)
        d_gates = numpy.zeros((length, batch, 4 * hidden), X.dtype)
        before = numpy.zeros((length, batch, hidden), X.dtype)
        for position in range(length - 1, -1, -1):
            step = order[position]
            last = order[position - 1] if position else None
            i, o, f, g, c = numpy.split(saved[number, step], 5, axis=1)
            c_before = first_c if last is None else saved[number, last][:, 4 * hidden :]
            before[step] = first_h if last is None else Y[last, number]
            if dY is not None:
                d_h = d_h + dY[step, number]
            steep = numpy.tanh(c)
            d_c = d_c + d_h * o * (1 - steep * steep)
            parts = (
                d_c * g * i * (1 - i),
                d_h * steep * o * (1 - o),
                d_c * c_before * f * (1 - f),
                d_c * i * (1 - g * g),
            )
            d_gates[step] = numpy.concatenate(parts, 1)
            d_c = d_c * f
            d_h = d_gates[step] @ R[number]
        d_initial[0, number], d_initial[1, number] = d_h, d_c
        d_x += d_gates @ W[number]
        d_w[number] = product_sums(d_gates, X)
        d_r[number] = product_sums(d_gates, before)
        d_b[number] = numpy.tile(d_gates.sum((0, 1)), 2)
    return d_x, d_w, d_r, d_b, d_initial[0], d_initial[1]
