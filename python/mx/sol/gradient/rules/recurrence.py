"""Gradients of recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from ...operators import DOMAIN
from .._rules import Call, Declined, expansion, gradient
from .._writer import Writer

Grads = list[ir.Value | None]
_USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}


def _attributes(call: Call) -> dict[str, Any]:
    """Direction and hidden size; Declined where something else is unusual."""
    operator = call.node.op_type
    if call.optional(4) is not None:
        raise Declined("sequences of different lengths (sequence_lens)")
    if (
        call.integer("layout", 0)
        or call.node.attributes.get("clip")
        or call.integer("input_forget", 0)
    ):
        raise Declined("layout, clip or input_forget")
    direction = call.string("direction", "forward")
    given = call.node.attributes.get_strings("activations", None)
    if given is not None and operator in _USUAL:
        count = 2 if direction == "bidirectional" else 1
        if [str(name) for name in given] != _USUAL[operator] * count:
            raise Declined(f"activations {list(given)}")
    return {"direction": direction, "hidden_size": call.integer("hidden_size", 0)}


@expansion("LSTM")
def _lstm(to: Writer, call: Call) -> Sequence[ir.Value]:
    given = _attributes(call)
    if call.optional(7) is not None:
        raise Declined("peepholes")
    inputs = [call.optional(index) for index in (0, 1, 2, 3, 5, 6)]
    return to.own("LSTMTraining", *inputs, types=[call.x.dtype] * 4, **given)[
        : len(call.node.outputs)
    ]


@expansion("GRU")
def _gru(to: Writer, call: Call) -> Sequence[ir.Value]:
    given = _attributes(call)
    given["linear_before_reset"] = call.integer("linear_before_reset", 0)
    inputs = [call.optional(index) for index in (0, 1, 2, 3, 5)]
    return to.own("GRUTraining", *inputs, types=[call.x.dtype] * 3, **given)[
        : len(call.node.outputs)
    ]


@gradient("LSTM", "GRU")
def _unusual(to: Writer, call: Call) -> Grads:
    _attributes(call)
    raise Declined("peepholes")


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
    if call.y.name:
        raise Declined("it does already")
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    dtype = call.x.dtype or ir.DataType.FLOAT
    return to.op("RNN", *call.node.inputs, outputs=2, dtype=dtype, **attributes)


@gradient("RNN")
def _rnn_grad(to: Writer, call: Call) -> Grads:
    given = _attributes(call)
    names = {str(name) for name in call.node.attributes.get_strings("activations", ["Tanh"])}
    if len(names) > 1 or not names <= {"Tanh", "Relu", "Sigmoid"}:
        raise Declined(f"activations {sorted(names)}")
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
        activation=names.pop(),
        **given,
    )
    return [*made[:4], None, made[4]]
