"""Gradients of loops: steps from the last to the first, each of which is computed again.

The forward loop stacks up what it has at the beginning of each step, which is saved.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ....graph._spec import Dim, dims_of
from .._copies import Copy, give, parameter, writer_inside
from .._differentiate import differentiate
from .._rules import GRAPH_RULES, Call, Declined, expansion
from .._writer import Writer, is_float
from .control_flow import Pairs, captured, write_node

INT64, BOOL = ir.DataType.INT64, ir.DataType.BOOL
_RECORDS = "gradient.records"


def step_number(to: Writer, name: str) -> ir.Value:
    """The first input of a loop's body: the number of the step."""
    value = ir.Value(
        name=to.names.new(f"{to.prefix}.{name}"), type=ir.TensorType(INT64), shape=ir.Shape([])
    )
    to.graph.inputs.append(value)
    return value


def condition(to: Writer) -> ir.Value:
    """The second one: whether the loop goes on."""
    value = ir.Value(
        name=to.names.new(f"{to.prefix}.going"), type=ir.TensorType(BOOL), shape=ir.Shape([])
    )
    to.graph.inputs.append(value)
    return value


@expansion("Loop")
def _recording(to: Writer, call: Call) -> Sequence[ir.Value]:
    """The same loop, which also gives its state and its number at the beginning of each step."""
    if _RECORDS in call.node.meta:
        raise Declined("it does already")
    body = call.node.attributes["body"].as_graph()
    states = list(body.inputs)[2:]
    inner = writer_inside(to, "body")
    number, going = step_number(inner, "step"), condition(inner)
    given = [
        parameter(inner, "state", value, _state_dims(call, index))
        for index, value in enumerate(states)
    ]
    copy = Copy(inner, body, dict(zip(body.inputs, [number, going, *given], strict=True)))
    for value in body.outputs:
        give(inner, copy.of(value))
    for value in (*given, number):
        give(inner, value)
    like = [*call.node.outputs]
    like += [_stacked(value) for value in (*states, number)]
    made = write_node(to, "Loop", list(call.node.inputs), like, body=inner.graph)
    producer = made[0].producer()
    assert producer is not None
    producer.meta[_RECORDS] = len(states)
    return made[: len(call.node.outputs)]


def _state_dims(call: Call, index: int) -> tuple[Dim, ...] | None:
    """The shape of a state, where it is known to stay."""
    begin, end = call.input(2 + index), call.node.outputs[index]
    dims = dims_of(begin.shape)
    return dims if dims == dims_of(end.shape) else None


def _stacked(value: ir.Value) -> ir.Value:
    """A value of the type of another one; its shape is found by inference."""
    return ir.Value(type=value.type)


def _loop(to: Writer, call: Call, active: set[ir.Value]) -> Pairs:
    """A loop over the steps of the other one, from the last to the first."""
    body = call.node.attributes["body"].as_graph()
    count: int = call.node.meta[_RECORDS]
    outputs = call.node.outputs
    scans = len(outputs) - 2 * count - 1
    records, numbers = outputs[count + scans : -1], outputs[-1]
    around = captured(call.node, active)
    floats = [index for index in range(count) if is_float(list(body.inputs)[2 + index])]
    steps = to.Size(numbers)
    begins = [to.given(call.grads[index], outputs[index]) for index in floats]
    begins += [to.zeros_like(value) for value in around]

    inner = writer_inside(to, "body")
    turn, _ = step_number(inner, "step"), condition(inner)
    like = [*(outputs[index] for index in floats), *around]
    sums = [parameter(inner, "sum", value, dims_of(value.shape)) for value in like]
    step = inner.Sub(inner.Sub(steps, turn), inner.constant(1, INT64))
    states = [_item(inner, value, step) for value in records]
    for index, value in enumerate(states):
        dims = _state_dims(call, index)
        value.shape = value.shape if dims is None else ir.Shape(dims)
    always = inner.constant(True, BOOL)
    copy = Copy(inner, body, dict(zip(body.inputs, [step, always, *states], strict=True)))
    grads: dict[ir.Value, ir.Value] = {}

    def contribute(value: ir.Value, grad: ir.Value) -> None:
        grads[value] = inner.Add(grads[value], grad) if value in grads else grad

    results = [copy.of(value) for value in list(body.outputs)[1 : 1 + count + scans]]
    for position, index in enumerate(floats):
        contribute(results[index], sums[position])
    for index in range(scans):
        grad = call.grads[count + index]
        if grad is not None:
            contribute(results[count + index], _item(inner, grad, step))
    sources = [states[index] for index in floats]
    found = differentiate(inner, copy.nodes, grads, [*sources, *around])
    give(inner, always)
    for value in sources:
        give(inner, inner.given(found.get(value), value))
    for position, value in enumerate(around):
        total = sums[len(floats) + position]
        give(inner, inner.Add(total, found[value]) if value in found else total)
    made = write_node(to, "Loop", [steps, None, *begins], like, body=inner.graph)
    pairs: Pairs = list(zip(around, made[len(floats) :], strict=True))
    for position, index in enumerate(floats):
        initial = call.input(2 + index)
        if initial in active:
            pairs.append((initial, made[position]))
    return pairs


def _item(to: Writer, stacked: ir.Value, step: ir.Value) -> ir.Value:
    """The item of one step."""
    made: ir.Value = to.Gather(stacked, step, axis=0)
    dims = dims_of(stacked.shape)
    made.shape = None if dims is None else ir.Shape(dims[1:])
    return made


@expansion("Scan")
def _as_loop(to: Writer, call: Call) -> Sequence[ir.Value]:
    """A loop that reads one item of each sequence in a step."""
    node = call.node
    body = node.attributes["body"].as_graph()
    scanned = call.integer("num_scan_inputs", 0)
    count = len(node.inputs) - scanned
    scans = len(body.outputs) - count
    in_axes = list(call.ints("scan_input_axes") or [0] * scanned)
    in_back = list(call.ints("scan_input_directions") or [0] * scanned)
    out_axes = list(call.ints("scan_output_axes") or [0] * scans)
    out_back = list(call.ints("scan_output_directions") or [0] * scans)
    sequences = [call.input(count + index) for index in range(scanned)]
    length = to.Squeeze(to.extent(sequences[0], in_axes[0]), [0])
    length.shape = ir.Shape([])
    inner = writer_inside(to, "body")
    number, _ = step_number(inner, "step"), condition(inner)
    parameters = list(body.inputs)
    states = [
        parameter(inner, "state", call.input(index), dims_of(call.input(index).shape))
        for index in range(count)
    ]
    last = inner.Sub(inner.Sub(length, number), inner.constant(1, INT64)) if any(in_back) else None
    items = []
    for sequence, axis, backwards in zip(sequences, in_axes, in_back, strict=True):
        item: ir.Value = inner.Gather(sequence, last if backwards else number, axis=axis)
        dims = dims_of(sequence.shape)
        if dims is not None:
            at = axis % len(dims)
            item.shape = ir.Shape([*dims[:at], *dims[at + 1 :]])
        items.append(item)
    copy = Copy(inner, body, dict(zip(parameters, [*states, *items], strict=True)))
    give(inner, inner.constant(True, BOOL))
    for value in body.outputs:
        give(inner, copy.of(value))
    initial = [call.input(index) for index in range(count)]
    inputs = [length, None, *initial]
    like = [
        _stacked(value) if index >= count and out_axes[index - count] else value
        for index, value in enumerate(node.outputs)
    ]
    made = list(write_node(to, "Loop", inputs, like, body=inner.graph))
    for index in range(scans):
        made[count + index] = _laid(to, call, made[count + index], index, out_axes, out_back)
    return made


def _laid(
    to: Writer, call: Call, stacked: ir.Value, index: int, axes: Sequence[int], back: Sequence[int]
) -> ir.Value:
    """What a loop has stacked up, from the last step to the first, or along another axis."""
    if back[index]:
        stacked = to.Slice(stacked, [-1], [-(2**62)], [0], [-1])
    if axes[index]:
        output = call.node.outputs[len(call.node.outputs) - len(axes) + index]
        dims = dims_of(output.shape)
        if dims is None:
            raise Declined("the number of axes of an output is not known")
        axis = axes[index] % len(dims)
        stacked = to.transpose(stacked, [*range(1, axis + 1), 0, *range(axis + 1, len(dims))])
    return stacked


GRAPH_RULES["Loop"] = _loop
