"""Recurrent layers as loops over their steps: those with peepholes, sequences of different lengths,
clipped gates, or functions that no kernel for training has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from ....graph._spec import dims_of
from ....importers._builder import dtype_of
from ...operators._recurrent import directions
from .._copies import give, parameter, writer_inside
from .._rules import Call, Declined
from .._writer import Writer
from .control_flow import write_node
from .loops import condition, step_number

INT64, BOOL = ir.DataType.INT64, ir.DataType.BOOL
States = list[ir.Value]
# What a function makes of the input of a gate.
Function = Callable[[Writer, ir.Value], ir.Value]
# The states after a step, of what the step adds to the gates, and of the states before.
Cell = Callable[[Writer, ir.Value, States], States]

USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
_PLAIN = {"sigmoid": "Sigmoid", "tanh": "Tanh", "relu": "Relu"}
_PLAIN |= {"softsign": "Softsign", "softplus": "Softplus"}
# Functions with numbers, which are these where none are given.
_NUMBERS: dict[str, tuple[float, ...]] = {
    "affine": (1.0, 0.0),
    "elu": (1.0,),
    "hardsigmoid": (0.2, 0.5),
    "leakyrelu": (0.01,),
    "scaledtanh": (1.0, 1.0),
    "thresholdedrelu": (1.0,),
}


def _scaled(name: str, numbers: Sequence[float]) -> Function:
    alpha, beta = (*numbers, 0.0)[:2]
    if name == "affine":
        return lambda to, x: to.Add(to.Mul(x, alpha), beta)
    if name == "scaledtanh":
        return lambda to, x: to.Mul(to.Tanh(to.Mul(x, beta)), alpha)
    if name == "hardsigmoid":
        return lambda to, x: to.HardSigmoid(x, alpha=alpha, beta=beta)
    operator = {"elu": "Elu", "leakyrelu": "LeakyRelu", "thresholdedrelu": "ThresholdedRelu"}[name]
    return lambda to, x: to.op(operator, x, alpha=alpha)[0]


def _named(call: Call, count: int) -> list[Function]:
    """The functions of all directions, one behind the other, each clipping what it is given."""
    attributes = call.node.attributes
    names = attributes.get_strings("activations", None) or USUAL[call.node.op_type] * count
    # Each function takes the numbers that it needs off these.
    given: list[Iterator[float]] = [
        iter(attributes.get_floats(f"activation_{name}", ())) for name in ("alpha", "beta")
    ]
    clip = call.number("clip", 0.0)
    made: list[Function] = []
    for name in map(str, names):
        usual = _NUMBERS.get(name.lower())
        if usual is not None:
            numbers = [next(one, most) for one, most in zip(given, usual, strict=False)]
            function = _scaled(name.lower(), numbers)
        elif name.lower() in _PLAIN:
            function = _plain(_PLAIN[name.lower()])
        else:
            raise Declined(f"ONNX has no function {name!r} for its gates")
        made.append(_clipped(function, clip) if clip else function)
    return made


def _plain(operator: str) -> Function:
    return lambda to, x: to.op(operator, x)[0]


def _clipped(function: Function, clip: float) -> Function:
    def apply(to: Writer, x: ir.Value) -> ir.Value:
        ends = [to.constant(end, dtype_of(x)) for end in (-clip, clip)]
        return function(to, to.Clip(x, *ends))

    return apply


@dataclass
class _Weights:
    """What one direction multiplies, adds and applies."""

    call: Call
    again: ir.Value  # the weight of the state
    biases: Sequence[ir.Value] | None
    peepholes: ir.Value | None
    functions: list[Function]


def _parts(to: Writer, x: ir.Value, count: int, axis: int = -1) -> Sequence[ir.Value]:
    """Parts of equal extents along an axis."""
    return to.op(
        "Split", x, outputs=count, dtype=[dtype_of(x)] * count, axis=axis, num_outputs=count
    )


def _lstm(to: Writer, own: _Weights) -> Cell:
    turned = to.Transpose(own.again, perm=[1, 0])
    seen = None if own.peepholes is None else _parts(to, own.peepholes, 3)
    gate, function, last = own.functions
    is_one_gate = own.call.integer("input_forget", 0)

    def cell(to: Writer, added: ir.Value, states: States) -> States:
        h, c = states

        def looked(x: ir.Value, c: ir.Value, number: int) -> ir.Value:
            return x if seen is None else to.Add(x, to.Mul(c, seen[number]))

        i, o, f, g = _parts(to, to.Add(added, to.MatMul(h, turned)), 4)
        i = gate(to, looked(i, c, 0))
        f = to.Add(to.Neg(i), 1.0) if is_one_gate else gate(to, looked(f, c, 2))
        c = to.Add(to.Mul(f, c), to.Mul(i, function(to, g)))
        return [to.Mul(gate(to, looked(o, c, 1)), last(to, c)), c]

    return cell


def _gru(to: Writer, own: _Weights) -> Cell:
    update, reset, fresh = _parts(to, own.again, 3, axis=0)
    gates = to.Transpose(to.Concat(update, reset, axis=0), perm=[1, 0])
    turned = to.Transpose(fresh, perm=[1, 0])
    gate, function = own.functions
    is_before = own.call.integer("linear_before_reset", 0)
    shifts = None if own.biases is None else _parts(to, own.biases[1], 3)
    shift = None if shifts is None else to.Concat(shifts[0], shifts[1], axis=0)

    def cell(to: Writer, added: ir.Value, states: States) -> States:
        (h,) = states
        first, second, rest = _parts(to, added, 3)
        both = to.Add(to.Concat(first, second, axis=-1), to.MatMul(h, gates))
        both = both if shift is None else to.Add(both, shift)
        z, r = (gate(to, part) for part in _parts(to, both, 2))
        candidate = to.MatMul(h if is_before else to.Mul(r, h), turned)
        candidate = candidate if shifts is None else to.Add(candidate, shifts[2])
        candidate = to.Mul(r, candidate) if is_before else candidate
        new = function(to, to.Add(rest, candidate))
        return [to.Add(new, to.Mul(z, to.Sub(h, new)))]

    return cell


def _rnn(to: Writer, own: _Weights) -> Cell:
    turned = to.Transpose(own.again, perm=[1, 0])
    (function,) = own.functions

    def cell(to: Writer, added: ir.Value, states: States) -> States:
        return [function(to, to.Add(added, to.MatMul(states[0], turned)))]

    return cell


_CELLS = {"LSTM": _lstm, "GRU": _gru, "RNN": _rnn}


def by_steps(to: Writer, call: Call) -> Sequence[ir.Value]:
    """A loop for each direction, of a layer with the batch as its second axis."""
    x, operator = call.x, call.node.op_type
    ways = list(directions(call.string("direction", "forward")))
    functions, each = _named(call, len(ways)), len(USUAL[operator])
    begins = [call.optional(5), *([call.optional(6)] if operator == "LSTM" else [])]
    lengths = call.optional(4)
    lengths = None if lengths is None else to.cast(lengths, INT64)
    shape = ir.Shape([call.dims(0)[1], call.dims(2)[2]])
    made = []
    for number, backwards in ways:

        def item(value: ir.Value | None, number: int = number) -> ir.Value | None:
            return None if value is None else to.Gather(value, to.constant(number, INT64), axis=0)

        weight, again, bias = item(call.input(1)), item(call.input(2)), item(call.optional(3))
        assert weight is not None and again is not None
        biases = None if bias is None else _parts(to, bias, 2)
        mine = functions[number * each : (number + 1) * each]
        own = _Weights(call, again, biases, item(call.optional(7)), mine)
        added = to.MatMul(x, to.Transpose(weight, perm=[1, 0]))
        for one in () if biases is None else biases[: 1 if operator == "GRU" else 2]:
            added = to.Add(added, one)
        added.shape = ir.Shape([*call.dims(0)[:2], call.dims(1)[1]])
        states = [item(begin) or _zeros(to, x, again) for begin in begins]
        for one in states:
            one.shape = shape
        *last, steps = _loop(to, _CELLS[operator](to, own), added, states, lengths, backwards)
        finals = (to.Unsqueeze(one, [0]) for one in last)
        made.append([to.Unsqueeze(steps, [1]), *finals])
    if len(made) == 1:
        return made[0][: len(call.node.outputs)]
    pairs = zip(*made, strict=True)
    joined = [to.Concat(*pair, axis=0 if index else 1) for index, pair in enumerate(pairs)]
    return joined[: len(call.node.outputs)]


def _zeros(to: Writer, x: ir.Value, again: ir.Value) -> ir.Value:
    """What a direction begins with where nothing is given."""
    batch, hidden = to.extent(x, 1), to.extent(again, 1)
    made: ir.Value = to.Expand(to.constant(0.0, dtype_of(x)), to.Concat(batch, hidden, axis=0))
    return made


def _loop(
    to: Writer,
    cell: Cell,
    added: ir.Value,
    begins: States,
    lengths: ir.Value | None,
    backwards: bool,
) -> list[ir.Value]:
    """The last states, and the first state behind all steps: (steps, batch, hidden)."""
    length = to.Squeeze(to.extent(added, 0), [0])
    length.shape = ir.Shape([])
    inner = writer_inside(to, "body")
    number, _ = step_number(inner, "step"), condition(inner)
    states = [parameter(inner, "state", one, dims_of(one.shape)) for one in begins]
    position = number
    if backwards:
        position = inner.Sub(inner.Sub(length, number), inner.constant(1, INT64))
    new = cell(inner, inner.Gather(added, position, axis=0), states)
    given = new[0]
    if lengths is not None:
        # Behind its end a sequence keeps its states, and gives 0.
        there = inner.Unsqueeze(inner.Less(position, lengths), [1])
        given = inner.where(there, given, 0.0)
        new = [
            inner.Where(there, one, old, dtype=dtype_of(one))
            for one, old in zip(new, states, strict=True)
        ]
    give(inner, inner.constant(True, BOOL))
    for one, like_it in zip((*new, given), (*states, states[0]), strict=True):
        # Inference takes states to change their shapes.
        one.shape = like_it.shape
        give(inner, one)
    dims = dims_of(added.shape) or (None,)
    shape = ir.Shape([dims[0], *(dims_of(begins[0].shape) or ())])
    like = [*begins, ir.Value(type=begins[0].type, shape=shape)]
    made: Any = write_node(to, "Loop", [length, None, *begins], like, body=inner.graph)
    *last, stacked = made
    if backwards:
        stacked = to.Slice(stacked, [-1], [-(2**62)], [0], [-1])
        stacked.shape = shape
    return [*last, stacked]
