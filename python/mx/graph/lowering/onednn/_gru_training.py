"""GRU and plain recurrent layers in training, whose kernels take products of single steps."""

from __future__ import annotations

import ffi

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ._backend import rule
from ._recurrent_training import (
    DOMAIN,
    before_steps,
    check,
    joined,
    of_direction,
    of_directions,
    of_products,
    product,
    state,
    step_product,
)

_gru = ffi.get_global_func("mx.graph.training.gru")
_gru_gradient = ffi.get_global_func("mx.graph.training.gru_grad")
_rnn_gradient = ffi.get_global_func("mx.graph.training.rnn_grad")


def _rows(to: Lowering, value: Value, begin: int, end: int) -> Value:
    """Rows of a matrix, or elements of a vector."""
    others = [slice(None)] * (len(value.shape) - 1)
    return to.row_major(to.slices(value, [slice(begin, end), *others]))


def _columns(to: Lowering, value: Value, begin: int, end: int) -> Value:
    return to.row_major(to.slices(value, [slice(None), slice(begin, end)]))


@rule(f"{DOMAIN}::GRUTraining")
def _gru_training(
    to: Lowering,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    initial_h: Value | None = None,
    *,
    direction: str = "forward",
    hidden_size: int = 0,
    linear_before_reset: int = 0,
) -> list[Value]:
    are_reversed = check(direction, x, w, r, b, initial_h)
    steps, batch, inputs = x.shape
    hidden = r.shape[2]
    rows = to.reshape(to.row_major(x), (steps * batch, inputs))
    made: list[list[Value]] = []
    for number, is_reversed in enumerate(are_reversed):
        bias, inner = _biases(to, b, number, hidden, bool(linear_before_reset))
        linear = product(to, rows, of_direction(to, w, number), bias, transpose_b=True)
        again = of_direction(to, r, number)
        if linear_before_reset:
            kernel_of_all, packed = step_product(to, batch, to.call(np.transpose, again))
            kernel, last = _gru((steps, batch, hidden), is_reversed, kernel_of_all, None), inner
        else:
            pair, packed = step_product(
                to, batch, to.call(np.transpose, _rows(to, again, 0, 2 * hidden))
            )
            behind, last = step_product(
                to, batch, to.call(np.transpose, _rows(to, again, 2 * hidden, 3 * hidden))
            )
            kernel = _gru((steps, batch, hidden), is_reversed, pair, behind)
        first = to.row_major(state(to, initial_h, number, (batch, hidden)))
        linear = to.reshape(linear, (steps, batch, 3 * hidden))
        made.append(to.step(kernel, [linear, first, packed, last]))
    y, last_h, saved = zip(*made, strict=True)
    return [joined(to, y, 1), joined(to, last_h), joined(to, saved)]


def _biases(
    to: Lowering, b: Value | None, number: int, hidden: int, is_apart: bool
) -> tuple[Value | None, Value]:
    """What is added to x times its weights, and what to the product that r multiplies."""
    if b is None:
        return None, to.call(np.zeros, (hidden,), dtype="float32")
    both = of_direction(to, b, number)
    if not is_apart:
        return to.call(np.sum, to.reshape(both, (2, 3 * hidden)), axis=0), both
    shared = to.call(
        np.add, _rows(to, both, 0, 2 * hidden), _rows(to, both, 3 * hidden, 5 * hidden)
    )
    own, inner = _rows(to, both, 2 * hidden, 3 * hidden), _rows(to, both, 5 * hidden, 6 * hidden)
    return to.call(np.concatenate, [shared, own], axis=0), inner


@rule(f"{DOMAIN}::GRUGrad")
def _gru_grad(
    to: Lowering,
    dy: Value | None = None,
    dy_h: Value | None = None,
    x: Value | None = None,
    w: Value | None = None,
    r: Value | None = None,
    b: Value | None = None,
    initial_h: Value | None = None,
    y: Value | None = None,
    saved: Value | None = None,
    *,
    direction: str = "forward",
    hidden_size: int = 0,
    linear_before_reset: int = 0,
) -> list[Value]:
    if x is None or w is None or r is None or y is None or saved is None:
        raise Declined("an input that is missing")
    are_reversed = check(direction, x, dy, dy_h, w, r, b, initial_h, y, saved)
    steps, batch, inputs = x.shape
    hidden = r.shape[2]
    one, count = (batch, hidden), steps * batch
    rows = to.reshape(to.row_major(x), (count, inputs))
    d_x: Value | None = None
    made: list[list[Value]] = []
    for number, is_reversed in enumerate(are_reversed):
        again, kept = of_direction(to, r, number), of_direction(to, saved, number)
        own = of_direction(to, y, number, 1)
        first = to.row_major(state(to, initial_h, number, one))
        given = [to.row_major(state(to, dy_h, number, one)), kept, own, first]
        before = to.reshape(before_steps(to, own, first, is_reversed), (count, hidden))
        extents, has_dy = (steps, batch, hidden), dy is not None
        if linear_before_reset:
            of_all, packed = step_product(to, batch, again)
            kernel = _gru_gradient(extents, is_reversed, of_all, None, has_dy)
            given.append(packed)
        else:
            pair, packed = step_product(to, batch, _rows(to, again, 0, 2 * hidden))
            behind, other = step_product(to, batch, _rows(to, again, 2 * hidden, 3 * hidden))
            kernel = _gru_gradient(extents, is_reversed, pair, behind, has_dy)
            given += [packed, other]
        if dy is not None:
            given.append(of_direction(to, dy, number, 1))
        gates, d_h, *inner = to.step(kernel, given)
        gates = to.reshape(gates, (count, 3 * hidden))
        share = product(to, gates, of_direction(to, w, number))
        d_x = share if d_x is None else to.call(np.add, d_x, share)
        d_again, sums = _of_state(to, gates, inner, before, kept)
        d_w = product(to, gates, rows, transpose_a=True)
        made.append([d_w, d_again, sums, d_h])
    return of_directions(to, x, d_x, made)


def _of_state(
    to: Lowering, gates: Value, inner: list[Value], before: Value, kept: Value
) -> tuple[Value, Value]:
    """The gradients of the recurrent weights, and of both biases."""
    count, wide = gates.shape
    hidden = wide // 3
    sums = to.call(np.sum, gates, axis=0)
    if inner:  # gradients of the gates of h, which are others than those of x
        of_h = to.reshape(inner[0], (count, wide))
        both = to.call(np.concatenate, [sums, to.call(np.sum, of_h, axis=0)], axis=0)
        return product(to, of_h, before, transpose_a=True), both
    rows = to.reshape(kept, (count, 4 * hidden))
    read = to.call(np.multiply, _columns(to, rows, hidden, 2 * hidden), before)
    pair, last = _columns(to, gates, 0, 2 * hidden), _columns(to, gates, 2 * hidden, wide)
    parts = [
        product(to, pair, before, transpose_a=True),
        product(to, last, read, transpose_a=True),
    ]
    d_again: Value = to.call(np.concatenate, parts, axis=0)
    return d_again, to.call(np.concatenate, [sums, sums], axis=0)


@rule(f"{DOMAIN}::RNNGrad")
def _rnn_grad(
    to: Lowering,
    dy: Value | None = None,
    dy_h: Value | None = None,
    x: Value | None = None,
    w: Value | None = None,
    r: Value | None = None,
    b: Value | None = None,
    initial_h: Value | None = None,
    y: Value | None = None,
    *,
    activation: str = "Tanh",
    direction: str = "forward",
    hidden_size: int = 0,
) -> list[Value]:
    if x is None or w is None or r is None or y is None:
        raise Declined("an input that is missing")
    are_reversed = check(direction, x, dy, dy_h, w, r, b, initial_h, y)
    steps, batch, inputs = x.shape
    hidden = r.shape[2]
    one, count = (batch, hidden), steps * batch
    rows = to.reshape(to.row_major(x), (count, inputs))
    d_x: Value | None = None
    made: list[list[Value]] = []
    for number, is_reversed in enumerate(are_reversed):
        of_step, packed = step_product(to, batch, of_direction(to, r, number))
        extents, has_dy = (steps, batch, hidden), dy is not None
        kernel = _rnn_gradient(extents, is_reversed, of_step, activation, has_dy)
        own = of_direction(to, y, number, 1)
        given = [to.row_major(state(to, dy_h, number, one)), own, packed]
        if dy is not None:
            given.append(of_direction(to, dy, number, 1))
        gates, d_h = to.step(kernel, given)
        gates = to.reshape(gates, (count, hidden))
        first = to.row_major(state(to, initial_h, number, one))
        before = to.reshape(before_steps(to, own, first, is_reversed), (count, hidden))
        d_x, parts = of_products(to, gates, rows, before, of_direction(to, w, number), d_x)
        made.append([*parts, d_h])
    return of_directions(to, x, d_x, made)
