"""GRU in training, and its gradients."""

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
        return [Spec(dtype, None)] * 3
    length, batch, _ = x
    count, hidden = weight[0], again[2]
    wide = 4 * hidden if isinstance(hidden, int) else None
    return [
        Spec(dtype, (length, count, batch, hidden)),
        Spec(dtype, (count, batch, hidden)),
        Spec(dtype, (count, length, batch, wide)),
    ]


@operator("GRUTraining", "Y Y_h saved", _training)
def gru_training(
    X: Array,
    W: Array,
    R: Array,
    B: Array | None = None,
    initial_h: Array | None = None,
    *,
    direction: str = "forward",
    hidden_size: int = 0,
    linear_before_reset: int = 0,
) -> tuple[Array, ...]:
    """GRU with the usual activations and layout 0, and what its gradient needs.

    saved is of shape (directions, steps, batch, 4 * hidden): the gates z, r, h behind their
    activations, then with linear_before_reset=1 what r multiplies in h.
    """
    length, batch, _ = X.shape
    count, hidden = R.shape[0], R.shape[2]
    made = numpy.zeros((length, count, batch, hidden), X.dtype)
    final = numpy.zeros((count, batch, hidden), X.dtype)
    saved = numpy.zeros((count, length, batch, 4 * hidden), X.dtype)
    for number, backwards in directions(direction):
        bias = numpy.zeros(6 * hidden, X.dtype) if B is None else B[number]
        h = state(initial_h, number, batch, hidden, X.dtype)
        linear = X @ W[number].T + bias[: 3 * hidden]
        again, again_bias = R[number], bias[3 * hidden :]
        for step in steps(length, backwards):
            x_gates, x_h = linear[step][:, : 2 * hidden], linear[step][:, 2 * hidden :]
            gates = x_gates + h @ again[: 2 * hidden].T + again_bias[: 2 * hidden]
            z, r = sigmoid(gates[:, :hidden]), sigmoid(gates[:, hidden:])
            if linear_before_reset:
                inner = h @ again[2 * hidden :].T + again_bias[2 * hidden :]
                g = numpy.tanh(x_h + r * inner)
            else:
                inner = numpy.zeros_like(h)
                g = numpy.tanh(x_h + (r * h) @ again[2 * hidden :].T + again_bias[2 * hidden :])
            h = (1 - z) * g + z * h
            made[step, number] = h
            saved[number, step] = numpy.concatenate((z, r, g, inner), 1)
        final[number] = h
    return made, final, saved


def _grad(call: Call) -> Sequence[Spec]:
    return gradient_specs(call, x=2, states=1, behind=8)


@operator("GRUGrad", "dX dW dR dB dinitial_h", _grad)
def gru_grad(
    dY: Array | None,
    dY_h: Array | None,
    X: Array,
    W: Array,
    R: Array,
    B: Array | None,
    initial_h: Array | None,
    Y: Array,
    saved: Array,
    *,
    direction: str = "forward",
    hidden_size: int = 0,
    linear_before_reset: int = 0,
) -> tuple[Array, ...]:
    """The gradients of GRUTraining for its inputs; a gradient that is missing is zero."""
    length, batch, _ = X.shape
    count, hidden = R.shape[0], R.shape[2]
    d_x, d_w, d_r = numpy.zeros_like(X), numpy.zeros_like(W), numpy.zeros_like(R)
    d_b = numpy.zeros((count, 6 * hidden), X.dtype)
    d_initial = numpy.zeros((count, batch, hidden), X.dtype)
    for number, backwards in directions(direction):
        first = state(initial_h, number, batch, hidden, X.dtype)
        d_h = given_or_zero(dY_h, number, first)
        order = steps(length, backwards)
        d_gates = numpy.zeros((length, batch, 3 * hidden), X.dtype)  # of X's part
        d_inner = numpy.zeros((length, batch, hidden), X.dtype)  # of the part of h in g
        before = numpy.zeros((length, batch, hidden), X.dtype)
        read = numpy.zeros((length, batch, hidden), X.dtype)  # what the weight of g multiplies
        again = R[number]
        for position in range(length - 1, -1, -1):
            step = order[position]
            h = Y[order[position - 1], number] if position else first
            z, r, g, inner = numpy.split(saved[number, step], 4, axis=1)
            if dY is not None:
                d_h = d_h + dY[step, number]
            d_z = d_h * (h - g) * z * (1 - z)
            d_g = d_h * (1 - z) * (1 - g * g)
            d_before = d_h * z
            if linear_before_reset:
                d_r_gate = d_g * inner * r * (1 - r)
                d_inner[step], read[step] = d_g * r, h
                d_before = d_before + d_inner[step] @ again[2 * hidden :]
            else:
                d_reset = d_g @ again[2 * hidden :]
                d_r_gate = d_reset * h * r * (1 - r)
                d_inner[step], read[step] = d_g, r * h
                d_before = d_before + d_reset * r
            d_gates[step] = numpy.concatenate((d_z, d_r_gate, d_g), 1)
            before[step] = h
            d_h = d_before + d_gates[step][:, : 2 * hidden] @ again[: 2 * hidden]
        d_initial[number] = d_h
        d_x += d_gates @ W[number]
        d_w[number] = product_sums(d_gates, X)
        d_r[number, : 2 * hidden] = product_sums(d_gates[:, :, : 2 * hidden], before)
        d_r[number, 2 * hidden :] = product_sums(d_inner, read)
        sums = d_gates.sum((0, 1))
        d_b[number] = numpy.concatenate((sums, sums[: 2 * hidden], d_inner.sum((0, 1))))
    return d_x, d_w, d_r, d_b, d_initial
