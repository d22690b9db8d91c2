"""Gradients of recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from ....importers._builder import dtype_of
from ...operators import DOMAIN
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer
from .recurrent_steps import USUAL, by_steps

Grads = list[ir.Value | None]
# Functions whose derivative follows from what they gave.
_OF_RNN = ("Tanh", "Relu", "Sigmoid")


def _is_usual(call: Call) -> bool:
    """Whether kernels for training have the layer."""
    names = call.node.attributes.get_strings("activations", None)
    if any(call.optional(index) is not None for index in (4, 7)):
        return False  # sequences of different lengths, or peepholes
    if call.number("clip", 0.0) or call.integer("input_forget", 0):
        return False
    if names is None:
        return True
    given, usual = [str(name).title() for name in names], USUAL[call.node.op_type]
    if call.node.op_type == "RNN":
        return len(set(given)) == 1 and given[0] in _OF_RNN
    return given == usual * (len(given) // len(usual))


def _attributes(call: Call) -> dict[str, Any]:
    direction = call.string("direction", "forward")
    return {"direction": direction, "hidden_size": call.integer("hidden_size", 0)}


def of_batches(to: Writer, call: Call) -> Sequence[ir.Value]:
    """The same layer with the batch as the second axis."""
    given = [call.optional(index) for index in range(len(call.node.inputs))]
    moved = [
        to.Transpose(one, perm=[1, 0, 2]) if one is not None and index in (0, 5, 6) else one
        for index, one in enumerate(given)
    ]
    attributes = {name: one.value for name, one in call.node.attributes.items() if name != "layout"}
    count = len(call.node.outputs)
    types = [dtype_of(call.x)] * count
    made = to.op(call.node.op_type, *moved, outputs=count, dtype=types, **attributes)
    orders = ([2, 0, 1, 3], [1, 0, 2], [1, 0, 2])
    return [to.Transpose(one, perm=order) for one, order in zip(made, orders, strict=False)]


@expansion("LSTM")
def _lstm(to: Writer, call: Call) -> Sequence[ir.Value]:
    if call.integer("layout", 0):
        return of_batches(to, call)
    if not _is_usual(call):
        return by_steps(to, call)
    inputs = [call.optional(index) for index in (0, 1, 2, 3, 5, 6)]
    return to.own("LSTMTraining", *inputs, types=[call.x.dtype] * 4, **_attributes(call))[
        : len(call.node.outputs)
    ]


@expansion("GRU")
def _gru(to: Writer, call: Call) -> Sequence[ir.Value]:
    if call.integer("layout", 0):
        return of_batches(to, call)
    if not _is_usual(call):
        return by_steps(to, call)
    given = _attributes(call)
    given["linear_before_reset"] = call.integer("linear_before_reset", 0)
    inputs = [call.optional(index) for index in (0, 1, 2, 3, 5)]
    return to.own("GRUTraining", *inputs, types=[call.x.dtype] * 3, **given)[
        : len(call.node.outputs)
    ]


@gradient("LSTMTraining", domain=DOMAIN)
def _lstm_training(to: Writer, call: Call) -> Grads:
    return _grads(to, call, "LSTMGrad", 6)


@gradient("GRUTraining", domain=DOMAIN)
def _gru_training(to: Writer, call: Call) -> Grads:
    more = {"linear_before_reset": call.integer("linear_before_reset", 0)}
    return _grads(to, call, "GRUGrad", 5, **more)


def _grads(to: Writer, call: Call, operator: str, count: int, **more: Any) -> Grads:
    *given, saved = call.node.outputs
    inputs = [call.optional(index) for index in range(count)]
    grads = call.grads[: len(given)]
    return list(
        to.own(
            operator,
            *grads,
            *inputs,
            call.y,
            saved,
            types=[call.x.dtype] * count,
            direction=call.string("direction", "forward"),
            hidden_size=call.integer("hidden_size", 0),
            **more,
        )
    )


@expansion("RNN")
def _rnn(to: Writer, call: Call) -> Sequence[ir.Value]:
    """The same node, which gives all steps."""
    if call.integer("layout", 0):
        return of_batches(to, call)
    if not _is_usual(call):
        return by_steps(to, call)
    if call.y.name:
        raise Declined("it does already")
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    dtype = call.x.dtype or ir.DataType.FLOAT
    return to.op("RNN", *call.node.inputs, outputs=2, dtype=dtype, **attributes)


@gradient("RNN")
def _rnn_grad(to: Writer, call: Call) -> Grads:
    given = _attributes(call)
    (name, *_) = call.node.attributes.get_strings("activations", None) or USUAL["RNN"]
    x, weight, again, bias, initial = (call.optional(index) for index in (0, 1, 2, 3, 5))
    d_y, d_final = (*call.grads, None)[:2]
    made = to.own(
        "RNNGrad",
        d_y,
        d_final,
        x,
        weight,
        again,
        bias,
        initial,
        call.y,
        types=[call.x.dtype] * 5,
        activation=str(name).title(),
        **given,
    )
    return [*made[:4], None, made[4]]
