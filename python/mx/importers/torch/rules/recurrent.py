"""Recurrent networks, a node for each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from .._builder import Builder, dtype_of, static
from .._rule import Unsupported, rule
from .random import dropped

# The gates of torch in the order in which ONNX has them.
_GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}


def _gates(b: Builder, kind: str, weight: ir.Value) -> ir.Value:
    """The rows of a weight, or elements of a bias, by gate in ONNX's order."""
    order = _GATES[kind]
    if len(order) == 1:
        return weight
    parts = b.op(
        "Split", weight, axis=0, num_outputs=len(order), outputs=len(order), dtype=dtype_of(weight)
    )
    return b.Concat(*(parts[gate] for gate in order), axis=0)


def _directions(b: Builder, values: Sequence[ir.Value]) -> ir.Value:
    """What the directions have, along a new first axis."""
    with_axis = [b.Unsqueeze(value, [0]) for value in values]
    return with_axis[0] if len(with_axis) == 1 else b.Concat(*with_axis, axis=0)


def _layers(
    b: Builder,
    kind: str,
    x: ir.Value,
    initial: Sequence[ir.Value],
    params: Sequence[ir.Value],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
    activation: str | None = None,
) -> list[ir.Value]:
    """The output of the last layer, then the last states of all layers."""
    directions = 2 if bidirectional else 1
    each = 4 if has_biases else 2
    if len(params) != num_layers * directions * each:
        raise Unsupported("projections (proj_size)")
    hidden = static([params[1].shape[-1] if params[1].shape else None], "the hidden size")[0]
    attributes: dict[str, Any] = {"hidden_size": hidden}
    if bidirectional:
        attributes["direction"] = "bidirectional"
    if activation is not None:
        attributes["activations"] = [activation] * directions
    if b.size(x, 1 if batch_first else 0) == 0:
        raise Unsupported("sequences of no steps")
    if kind == "GRU":
        attributes["linear_before_reset"] = 1
    sequence = b.Transpose(x, perm=[1, 0, 2]) if batch_first else x
    last: list[list[ir.Value]] = [[] for _ in initial]
    for layer in range(num_layers):
        own = params[layer * directions * each : (layer + 1) * directions * each]
        sets = [own[i * each : (i + 1) * each] for i in range(directions)]
        weights = _directions(b, [_gates(b, kind, one[0]) for one in sets])
        recurrence = _directions(b, [_gates(b, kind, one[1]) for one in sets])
        biases = None
        if has_biases:
            biases = _directions(
                b,
                [
                    b.Concat(_gates(b, kind, one[2]), _gates(b, kind, one[3]), axis=0)
                    for one in sets
                ],
            )
        first, end = layer * directions, (layer + 1) * directions
        states = (
            initial
            if num_layers == 1
            else [b.Slice(state, [first], [end], [0]) for state in initial]
        )
        outputs = b.op(
            kind,
            sequence,
            weights,
            recurrence,
            biases,
            None,
            *states,
            outputs=1 + len(initial),
            dtype=dtype_of(x),
            **attributes,
        )
        for found, state in zip(last, outputs[1:], strict=True):
            found.append(state)
        # Time, direction, batch, features: the directions' features are put one after another.
        if directions == 1:
            sequence = b.Squeeze(outputs[0], [1])
        else:
            side = b.Transpose(outputs[0], perm=[0, 2, 1, 3])
            sequence = b.Reshape(side, [0, 0, directions * hidden])
        if train and dropout and layer + 1 < num_layers:
            sequence = dropped(b, sequence, dropout)
    result = b.Transpose(sequence, perm=[1, 0, 2]) if batch_first else sequence
    joined = [one[0] if len(one) == 1 else b.Concat(*one, axis=0) for one in last]
    return [result, *joined]


@rule("lstm.input", "mxffi.lstm.default")
def lstm(
    b: Builder, x: ir.Value, hx: Sequence[ir.Value], params: Sequence[ir.Value], *settings: object
) -> list[ir.Value]:
    return _layers(b, "LSTM", x, hx, params, *settings)  # type: ignore[arg-type]


@rule("gru.input", "mxffi.gru.default")
def gru(
    b: Builder, x: ir.Value, hx: ir.Value, params: Sequence[ir.Value], *settings: object
) -> list[ir.Value]:
    return _layers(b, "GRU", x, [hx], params, *settings)  # type: ignore[arg-type]


@rule("rnn_tanh.input", "mxffi.rnn_tanh.default")
def rnn_tanh(
    b: Builder, x: ir.Value, hx: ir.Value, params: Sequence[ir.Value], *settings: object
) -> list[ir.Value]:
    return _layers(b, "RNN", x, [hx], params, *settings, activation="Tanh")  # type: ignore


@rule("rnn_relu.input", "mxffi.rnn_relu.default")
def rnn_relu(
    b: Builder, x: ir.Value, hx: ir.Value, params: Sequence[ir.Value], *settings: object
) -> list[ir.Value]:
    return _layers(b, "RNN", x, [hx], params, *settings, activation="Relu")  # type: ignore
