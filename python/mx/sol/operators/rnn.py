"""The gradients of RNN, which needs nothing but what RNN gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy

from ._describe import Array, operator
from ._inference import Call, Spec
from ._recurrent import directions, given_or_zero, gradient_specs, product_sums, state, steps

_SLOPES: dict[str, Callable[[Array], Array]] = {
    "Tanh": lambda y: 1 - y * y,
    "Relu": lambda y: (y > 0).astype(y.dtype),
    "Sigmoid": lambda y: y * (1 - y),
}


def _grad(call: Call) -> Sequence[Spec]:
    return gradient_specs(call, x=2, states=1, behind=7)


@operator("RNNGrad", "dX dW dR dB dinitial_h", _grad)
def rnn_grad(
    dY: Array | None,
    dY_h: Array | None,
    X: Array,
    W: Array,
    R: Array,
    B: Array | None,
    initial_h: Array | None,
    Y: Array,
    *,
    activation: str = "Tanh",
    direction: str = "forward",
    hidden_size: int = 0,
) -> tuple[Array, ...]:
    """The gradients of RNN of layout 0 for its inputs; a gradient that is missing is zero.

    activation, Tanh, Relu or Sigmoid, is that of all directions.
    """
    length, batch, _ = X.shape
    count, hidden = R.shape[0], R.shape[2]
    slope = _SLOPES[activation]
    d_x, d_w, d_r = numpy.zeros_like(X), numpy.zeros_like(W), numpy.zeros_like(R)
    d_b = numpy.zeros((count, 2 * hidden), X.dtype)
    d_initial = numpy.zeros((count, batch, hidden), X.dtype)
    for number, backwards in directions(direction):
        first = state(initial_h, number, batch, hidden, X.dtype)
        d_h = given_or_zero(dY_h, number, first)
        order = steps(length, backwards)
        d_gates = numpy.zeros((length, batch, hidden), X.dtype)
        before = numpy.zeros((length, batch, hidden), X.dtype)
        for position in range(length - 1, -1, -1):
            step = order[position]
            before[step] = Y[order[position - 1], number] if position else first
            if dY is not None:
                d_h = d_h + dY[step, number]
            d_gates[step] = d_h * slope(Y[step, number])
            d_h = d_gates[step] @ R[number]
        d_initial[number] = d_h
        d_x += d_gates @ W[number]
        d_w[number] = product_sums(d_gates, X)
        d_r[number] = product_sums(d_gates, before)
        d_b[number] = numpy.tile(d_gates.sum((0, 1)), 2)
    return d_x, d_w, d_r, d_b, d_initial
