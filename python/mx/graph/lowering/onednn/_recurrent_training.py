"""Recurrent layers in training: all products but those of single steps are of whole sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ffi

from .... import numpy as np
from .._lowering import Lowering
from .._value import Declined, Value
from ..blas import Product
from ._across import is_across
from ._backend import api, as_input, check_float, execute, offered_layout, reorder, rule

DOMAIN = "mxffi.sol"
_lstm = ffi.get_global_func("mx.graph.training.lstm")
_lstm_gradient = ffi.get_global_func("mx.graph.training.lstm_grad")
_REVERSED = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def check(direction: str, x: Value, *others: Value | None) -> tuple[bool, ...]:
    """Whether each direction begins with the last step. Declined for what has no kernel."""
    check_float(x, *others)
    if x.size == 0:
        raise Declined("no elements")
    if direction not in _REVERSED:
        raise Declined(f"the direction {direction!r}")
    return _REVERSED[direction]


def of_direction(to: Lowering, value: Value, number: int, axis: int = 0) -> Value:
    """What a direction has of a value, whose axis `axis` is that of directions."""
    shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    if value.shape[axis] > 1:
        index = [slice(None)] * len(value.shape)
        index[axis] = slice(number, number + 1)
        value = to.row_major(to.slices(value, index))
    return to.reshape(to.row_major(value), shape)


def joined(to: Lowering, parts: Sequence[Value], axis: int = 0) -> Value:
    """One value of those of all directions, which are a new axis."""
    rows = [to.reshape(one, (*one.shape[:axis], 1, *one.shape[axis:])) for one in parts]
    made: Value = rows[0] if len(rows) == 1 else to.call(np.concatenate, rows, axis=axis)
    return made


def product(
    to: Lowering,
    a: Value,
    b: Value,
    bias: Value | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
) -> Value:
    """a b, or of what is transposed, by BLAS where that is known to be faster; a row is added."""
    terms, rows = a.shape if transpose_a else a.shape[::-1]
    columns = b.shape[0 if transpose_b else 1]
    if is_across(rows, columns, terms, is_constant=False, turns_a=transpose_a, turns_b=transpose_b):
        return Product(a, b, bias, transpose_a, transpose_b).lower(to, takes=())
    left, a = as_input(to, a)
    right, b = as_input(to, b)
    added, row = (None, None) if bias is None else as_input(to, bias)
    primitive = api().matmul(left, right, added, transpose_a, transpose_b)
    return execute(to, primitive, [a, b] if row is None else [a, b, row])


def step_product(to: Lowering, batch: int, matrix: Value) -> tuple[Any, Value]:
    """A kernel of (batch, rows of the matrix) times the matrix, and that as the kernel wants it.

    It is packed once for all steps.
    """
    source, matrix = as_input(to, matrix)
    rows = api().Input((batch, matrix.shape[0]))
    primitive = api().matmul(rows, source, pack_b=True)
    wanted = primitive.inputs[1]
    if primitive.inputs[0] is not None or primitive.output is not None:
        raise Declined("rows that are not row-major")
    packed = matrix if offered_layout(to, matrix) == wanted else reorder(to, matrix, wanted)
    return primitive.kernel, packed


def state(to: Lowering, given: Value | None, number: int, shape: tuple[int, int]) -> Value:
    """A state, or its gradient, of a direction; zeros where it is not given."""
    if given is None:
        zeros: Value = to.call(np.zeros, shape, dtype="float32")
        return zeros
    return of_direction(to, given, number)


@rule(f"{DOMAIN}::LSTMTraining")
def _lstm_training(
    to: Lowering,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None = None,
    initial_h: Value | None = None,
    initial_c: Value | None = None,
    *,
    direction: str = "forward",
    hidden_size: int = 0,
) -> list[Value]:
    are_reversed = check(direction, x, w, r, b, initial_h, initial_c)
    steps, batch, inputs = x.shape
    hidden = r.shape[2]
    rows = to.reshape(to.row_major(x), (steps * batch, inputs))
    made: list[list[Value]] = []
    for number, is_reversed in enumerate(are_reversed):
        bias = None
        if b is not None:
            both = to.reshape(of_direction(to, b, number), (2, 4 * hidden))
            bias = to.call(np.sum, both, axis=0)
        weight = of_direction(to, w, number)
        linear = product(to, rows, weight, bias, transpose_b=True)
        kernel = _lstm((steps, batch, hidden), is_reversed)
        given = [
            to.reshape(linear, (steps, batch, 4 * hidden)),
            of_direction(to, r, number),
            to.row_major(state(to, initial_h, number, (batch, hidden))),
            to.row_major(state(to, initial_c, number, (batch, hidden))),
        ]
        made.append(to.step(kernel, given))
    y, last_h, last_c, saved = zip(*made, strict=True)
    return [joined(to, y, 1), joined(to, last_h), joined(to, last_c), joined(to, saved)]


def before_steps(to: Lowering, y: Value, first: Value, is_reversed: bool) -> Value:
    """The state in front of each step, of those behind all steps and the first one."""
    first = to.reshape(first, (1, *first.shape))
    kept = slice(1, None) if is_reversed else slice(0, -1)
    others = to.slices(y, [kept, slice(None), slice(None)])
    parts = [others, first] if is_reversed else [first, others]
    made: Value = to.call(np.concatenate, parts, axis=0)
    return made


def of_products(
    to: Lowering, gates: Value, rows: Value, before: Value, w: Value, d_x: Value | None
) -> tuple[Value, list[Value]]:
    """From gradients of gates, which are sums of products, those of x, added to what is there of
    another direction, and those of the weights, the recurrent weights and both biases."""
    share = product(to, gates, w)
    sums = to.call(np.sum, gates, axis=0)
    parts = [
        product(to, gates, rows, transpose_a=True),
        product(to, gates, before, transpose_a=True),
        to.call(np.concatenate, [sums, sums], axis=0),
    ]
    return share if d_x is None else to.call(np.add, d_x, share), parts


def of_directions(
    to: Lowering, x: Value, d_x: Value | None, made: Sequence[Sequence[Value]]
) -> list[Value]:
    """The gradients of x and of all else, of those of each direction."""
    assert d_x is not None
    parts = [joined(to, parts) for parts in zip(*made, strict=True)]
    return [to.reshape(d_x, x.shape), *parts]


@rule(f"{DOMAIN}::LSTMGrad")
def _lstm_grad(
    to: Lowering,
    dy: Value | None = None,
    dy_h: Value | None = None,
    dy_c: Value | None = None,
    x: Value | None = None,
    w: Value | None = None,
    r: Value | None = None,
    b: Value | None = None,
    initial_h: Value | None = None,
    initial_c: Value | None = None,
    y: Value | None = None,
    saved: Value | None = None,
    *,
    direction: str = "forward",
    hidden_size: int = 0,
) -> list[Value]:
    if x is None or w is None or r is None or y is None or saved is None:
        raise Declined("an input that is missing")
    are_reversed = check(direction, x, dy, dy_h, dy_c, w, r, b, initial_h, initial_c, y, saved)
    steps, batch, inputs = x.shape
    hidden = r.shape[2]
    one = (batch, hidden)
    rows = to.reshape(to.row_major(x), (steps * batch, inputs))
    d_x: Value | None = None
    made: list[list[Value]] = []
    for number, is_reversed in enumerate(are_reversed):
        kernel = _lstm_gradient((steps, batch, hidden), is_reversed, dy is not None)
        given = [
            to.row_major(state(to, dy_h, number, one)),
            to.row_major(state(to, dy_c, number, one)),
            of_direction(to, saved, number),
            to.row_major(state(to, initial_c, number, one)),
            of_direction(to, r, number),
        ]
        if dy is not None:
            given.append(of_direction(to, dy, number, 1))
        gates, d_h, d_c = to.step(kernel, given)
        gates = to.reshape(gates, (steps * batch, 4 * hidden))
        first = state(to, initial_h, number, one)
        before = before_steps(to, of_direction(to, y, number, 1), first, is_reversed)
        before = to.reshape(before, (steps * batch, hidden))
        d_x, parts = of_products(to, gates, rows, before, of_direction(to, w, number), d_x)
        made.append([*parts, d_h, d_c])
    return of_directions(to, x, d_x, made)
