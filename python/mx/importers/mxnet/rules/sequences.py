"""Sequences of different lengths, and recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ..expansion import Expansion
from ..table import Names, Parameters, Shape, optional, register, required

INT64 = ir.DataType.INT64


def _with_length(p: Parameters) -> Names:
    return ("data", "sequence_length") if p.use_sequence_length else ("data",)


def _length_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    data = known.get("data")
    return {} if not data else {"sequence_length": (data[1 - p.axis],)}


SEQUENCE = (optional("use_sequence_length", "bool", False), optional("axis", "int", 0))


def _positions(x: Expansion, data: ir.Value) -> ir.Value:
    """0, 1, ... along the axis of time, with axes of 1 after it."""
    n = x.squeeze(x.size_along(data, x.p.axis), 0)
    counted = x.op("Range", x.constant(0, INT64), n, x.constant(1, INT64))
    return x.unsqueeze(counted, 1 - x.p.axis)


def _is_inside(x: Expansion, data: ir.Value, length: ir.Value) -> ir.Value:
    """Whether a position is before the end of its sequence, with axes of 1 to broadcast."""
    lengths = x.unsqueeze(x.cast(length, INT64), x.p.axis)
    inside = x.op("Less", _positions(x, data), lengths)
    after = range(2, x.rank(data))
    return x.unsqueeze(inside, *after) if after else inside


@register(
    "SequenceMask",
    "The data, with a value for all that is after the end of each sequence.",
    [*SEQUENCE, optional("value", "float", 0.0)],
    _with_length,
    shapes=_length_shapes,
    aliases="_npx_sequence_mask",
)
def sequence_mask(x: Expansion) -> ir.Value:
    data, *length = x.inputs
    if not length:
        return x.op("Identity", data)
    return x.op("Where", _is_inside(x, data, length[0]), data, x.number(x.p.value, data))


@register(
    "SequenceLast",
    "The last element of each sequence.",
    SEQUENCE,
    _with_length,
    shapes=_length_shapes,
    aliases="_npx_sequence_last",
)
def sequence_last(x: Expansion) -> ir.Value:
    data, *length = x.inputs
    if not length:
        return x.op("Gather", data, x.constant(-1, INT64), axis=x.p.axis)
    last = x.op("Sub", x.cast(length[0], INT64), x.constant(1, INT64))
    # One index for each batch, in front of which GatherND wants the batch.
    if x.p.axis == 0:
        data = x.transpose(data, [1, 0, *range(2, x.rank(data))])
    return x.op("GatherND", data, x.unsqueeze(last, 1), batch_dims=1)


@register(
    "SequenceReverse",
    "Each sequence backwards; what is after its end stays.",
    SEQUENCE,
    _with_length,
    shapes=_length_shapes,
    aliases="_npx_sequence_reverse",
)
def sequence_reverse(x: Expansion) -> ir.Value:
    data, *length = x.inputs
    if not length:
        return x.slice(data, [-1], [-(1 << 63) + 1], [x.p.axis], [-1])
    return x.op(
        "ReverseSequence",
        data,
        x.cast(length[0], INT64),
        time_axis=x.p.axis,
        batch_axis=1 - x.p.axis,
    )


# How many gates, ONNX's operator, and its order of our gates.
CELLS: dict[str, tuple[int, str, list[int]]] = {
    "rnn_relu": (1, "RNN", [0]),
    "rnn_tanh": (1, "RNN", [0]),
    "lstm": (4, "LSTM", [0, 3, 1, 2]),
    "gru": (3, "GRU", [1, 0, 2]),
}


def _rnn_arguments(p: Parameters) -> Names:
    names = ["data", "parameters", "state"]
    if p.mode == "lstm":
        names.append("state_cell")
    if p.use_sequence_length:
        names.append("sequence_length")
    return tuple(names)


def _rnn_outputs(p: Parameters) -> Names:
    names = ["output"]
    if p.state_outputs:
        names += ["state_output", "statecell_output"][: 2 if p.mode == "lstm" else 1]
    return tuple(names)


def _rnn_shapes(p: Parameters, known: dict[str, Shape]) -> dict[str, Shape | None]:
    data = known.get("data")
    if not data or len(data) != 3:
        return {}
    directions = 2 if p.bidirectional else 1
    state = (p.num_layers * directions, data[1], p.state_size)
    shapes: dict[str, Shape | None] = {"state": state, "state_cell": state}
    if isinstance(data[2], int):
        shapes["parameters"] = (_number_of_parameters(p, data[2], directions),)
    return shapes


def _number_of_parameters(p: Parameters, inputs: int, directions: int) -> int:
    gates, h = CELLS[p.mode][0], p.state_size
    first = gates * h * (inputs + h + 2)
    further = gates * h * (h * directions + h + 2)
    return int(directions * (first + (p.num_layers - 1) * further))


class _Packed:
    """Cuts one vector into the weights and biases of all layers and directions."""

    def __init__(self, x: Expansion, parameters: ir.Value) -> None:
        self.x, self.parameters = x, parameters
        self.offset = 0

    def take(self, n: int) -> ir.Value:
        start, self.offset = self.offset, self.offset + n
        return self.x.slice(self.parameters, [start], [self.offset], [0])

    def gates(self, *shape: int) -> ir.Value:
        """One more weight or bias of (gates, ...), in ONNX's order."""
        n, _, order = CELLS[self.x.p.mode]
        size = n
        for one in shape:
            size *= one
        taken = self.take(size)
        if order == list(range(n)):
            return self.x.reshape(taken, [1, n * shape[0], *shape[1:]])
        apart = self.x.reshape(taken, [n, *shape])
        ordered = self.x.op("Gather", apart, self.x.ints(*order), axis=0)
        return self.x.reshape(ordered, [1, n * shape[0], *shape[1:]])


def _one(x: Expansion, values: Sequence[ir.Value], axis: int) -> ir.Value:
    return values[0] if len(values) == 1 else x.op("Concat", *values, axis=axis)


@register(
    "RNN",
    "Layers of a recurrent network over (time, batch, features), with packed parameters.",
    [
        required("state_size", "int"),
        required("num_layers", "int"),
        optional("bidirectional", "bool", False),
        required("mode", "str", *CELLS),
        optional("p", "float", 0.0),
        optional("state_outputs", "bool", False),
        optional("projection_size", "int"),
        optional("lstm_state_clip_min", "float"),
        optional("lstm_state_clip_max", "float"),
        optional("lstm_state_clip_nan", "bool", False),
        optional("use_sequence_length", "bool", False),
    ],
    _rnn_arguments,
    outputs=_rnn_outputs,
    shapes=_rnn_shapes,
    dtypes={"sequence_length": "int32"},
    aliases="_npx_rnn",
)
def rnn(x: Expansion) -> Sequence[ir.Value]:
    p = x.p
    if p.projection_size is not None or p.lstm_state_clip_min is not None:
        raise x.error("expected no projection_size and no clipping, which have no form in ONNX")
    inputs = dict(zip(x.operator.arguments(p), x.inputs, strict=True))
    data = inputs["data"]
    directions, h = 2 if p.bidirectional else 1, p.state_size
    _, op_type, _ = CELLS[p.mode]
    layers = _weights_of_layers(x, inputs["parameters"], x.dimension(data, 2), directions)
    length = inputs.get("sequence_length")
    if length is not None:
        length = x.cast(length, ir.DataType.INT32)
    states: list[list[ir.Value]] = []
    for i, (w, r, b) in enumerate(layers):
        first = [x.slice(inputs["state"], [i * directions], [(i + 1) * directions], [0])]
        if p.mode == "lstm":
            cell = inputs["state_cell"]
            first.append(x.slice(cell, [i * directions], [(i + 1) * directions], [0]))
        more: dict[str, object] = {}
        if p.mode == "gru":
            more["linear_before_reset"] = 1
        if p.mode == "rnn_relu":
            more["activations"] = ["Relu"] * directions
        out, *last = x.ops(
            op_type,
            3 if p.mode == "lstm" else 2,
            data,
            w,
            r,
            b,
            length,
            *first,
            hidden_size=h,
            direction="bidirectional" if p.bidirectional else "forward",
            **more,
        )
        data = x.reshape(x.transpose(out, [0, 2, 1, 3]), [0, 0, directions * h])
        if i + 1 < p.num_layers:
            data = x.drop(data, p.p)
        states.append(last)
    if not p.state_outputs:
        return [data]
    return [data, *(_one(x, values, 0) for values in zip(*states, strict=True))]


def _weights_of_layers(
    x: Expansion, parameters: ir.Value, inputs: int, directions: int
) -> list[tuple[ir.Value, ir.Value, ir.Value]]:
    h, packed = x.p.state_size, _Packed(x, parameters)
    weights, biases = [], []
    needed = _number_of_parameters(x.p, inputs, directions)
    known = x.shape(parameters) if parameters.shape is not None else (None,)
    if known != (None,) and known != (needed,):
        raise x.error(f"expected {needed} parameters, but shape {known} came")
    for layer in range(x.p.num_layers):
        n = inputs if layer == 0 else directions * h
        weights.append([(packed.gates(h, n), packed.gates(h, h)) for _ in range(directions)])
    for _ in range(x.p.num_layers):
        biases.append([(packed.gates(h), packed.gates(h)) for _ in range(directions)])
    return [
        (
            _one(x, [w for w, _ in weight], 0),
            _one(x, [r for _, r in weight], 0),
            _one(x, [x.op("Concat", *pair, axis=1) for pair in bias], 0),
        )
        for weight, bias in zip(weights, biases, strict=True)
    ]
