"""If, Loop and Scan as C around the steps of the graphs inside them, whose shapes are fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy
import onnx_ir

from ...graph.lowering._node import loop_inputs, since_version
from ...graph.lowering._value import Declined
from ._program import Control, Value, constant_of

if TYPE_CHECKING:
    from ._lower import Lowering

# Bytes of what all turns of a loop give together, at most.
_MOST_BYTES = 1 << 40


class _Writing:
    """A node with graphs, and where its steps go."""

    def __init__(
        self,
        to: Lowering,
        inputs: Sequence[Value | None],
        values: Mapping[Any, Value],
        opset: Mapping[str, int],
    ) -> None:
        self.to = to
        self.inputs = inputs
        self._values, self._opset = values, opset

    def inner(self, graph: Any, given: Sequence[Value] = ()) -> list[Value]:
        """Adds the steps of a graph of the node."""
        return self.to.inner(graph, dict(self._values), given, self._opset)

    def add(
        self,
        text: str,
        inputs: Sequence[Value | None] = (),
        outputs: Sequence[Value] = (),
        kind: str = "",
    ) -> int:
        """Adds a line of C; returns its number."""
        self.to.steps.append(Control(tuple(inputs), tuple(outputs), text, kind))
        return len(self.to.steps) - 1

    def keep(self, number: int, outputs: Sequence[Value]) -> None:
        """Keeps memory for more outputs from an earlier line on."""
        step = self.to.steps[number]
        self.to.steps[number] = replace(step, outputs=(*step.outputs, *outputs))

    def move(self, value: Value, to: Value) -> None:
        """Copies all elements of a value."""
        if value.nbytes:
            self.add(f"memcpy({{1}}, {{0}}, {value.nbytes});", [value], [to])


def control_of(
    to: Lowering,
    node: onnx_ir.Node,
    inputs: Sequence[Value | None],
    values: Mapping[Any, Value],
    opset: Mapping[str, int],
) -> list[Value]:
    """What a node with graphs inside gives. Declined where elements decide a shape."""
    writing = _Writing(to, inputs, values, opset)
    graphs = {name: attribute.value for name, attribute in node.attributes.items()}
    before = len(to.steps)
    try:
        if node.domain == "" and node.op_type == "If":
            return _if(writing, graphs["then_branch"], graphs["else_branch"])
        if node.domain == "" and node.op_type == "Loop":
            return _loop(writing, graphs["body"])
        if node.domain == "" and node.op_type == "Scan" and since_version(node, opset[""]) >= 9:
            return _scan(writing, graphs)
    except Declined:
        del to.steps[before:]
        raise
    raise Declined("it has subgraphs")


def _given(value: Value | None) -> Value:
    if value is None:
        raise Declined("an input that is missing")
    return value


def _if(writing: _Writing, then: Any, otherwise: Any) -> list[Value]:
    condition = _given(writing.inputs[0])
    if condition.constant is not None:
        return writing.inner(then if condition.constant.all() else otherwise)
    opening = writing.add("if (*(const uint8_t *){0}) {", [condition], kind="if")
    outputs = _branch(writing, then, None)
    writing.keep(opening, outputs)
    writing.add("} else {", kind="else")
    _branch(writing, otherwise, outputs)
    writing.add("}", kind="end")
    return outputs


def _branch(writing: _Writing, graph: Any, outputs: list[Value] | None) -> list[Value]:
    """Adds a graph of an If, which writes what it gives into outputs; into new ones for None."""
    results = writing.inner(graph)
    outputs = [Value(one.shape, one.dtype) for one in results] if outputs is None else outputs
    for result, output in zip(results, outputs, strict=True):
        if result.spec != output.spec:
            raise Declined("graphs that give other shapes or types")
        writing.move(result, output)
    return outputs


class _Turns:
    """A loop that is being written: its state, and what each turn adds to outputs."""

    def __init__(self, writing: _Writing, states: Sequence[Value | None]) -> None:
        self.writing = writing
        self.states = [Value(one.shape, one.dtype) for one in map(_given, states)]
        for one, state in zip(states, self.states, strict=True):
            writing.move(_given(one), state)
        self.turn = f"turn_{len(writing.to.steps)}"
        self._opening = 0
        self._more: list[Value] = []  # besides the state, what the next turn reads

    def begin(self, limit: str, inputs: Sequence[Value] = (), more: Sequence[Value] = ()) -> None:
        """Begins the loop, `limit` is when it goes on."""
        self._more = list(more)
        head = f"for (int64_t {self.turn} = 0; {limit.replace('@', self.turn)}; ++{self.turn}) {{"
        self._opening = self.writing.add(head, inputs, kind="loop")

    def collect(self, items: Sequence[Value], count: int, backwards: Sequence[bool]) -> list[Value]:
        """What each of `count` turns gives, along a new first axis."""
        outputs = []
        for item, is_backwards in zip(items, backwards, strict=True):
            if item.nbytes * count > _MOST_BYTES:
                raise Declined(f"outputs of {count} turns")
            outputs.append(Value((count, *item.shape), item.dtype))
            at = f"{count - 1} - {self.turn}" if is_backwards else self.turn
            if item.nbytes:
                text = f"memcpy((char *){{1}} + ({at}) * {item.nbytes}, {{0}}, {item.nbytes});"
                self.writing.add(text, [item], [outputs[-1]])
        self.writing.keep(self._opening, outputs)
        return outputs

    def end(self, results: Sequence[Value]) -> None:
        """Has the next turn begin with these, and ends the loop."""
        moves = []
        for result, state in zip(results, self.states, strict=True):
            if result.spec != state.spec:
                raise Declined("a state whose shape or type changes")
            if result.root is state.root:
                continue
            if any(result.root is other.root for other in self.states):
                copy = Value(result.shape, result.dtype)  # before that one changes
                self.writing.move(result, copy)
                result = copy
            moves.append((result, state))
        for result, state in moves:
            self.writing.move(result, state)
        self.writing.add("}", [*self.states, *self._more], kind="end")


def _loop(writing: _Writing, body: Any) -> list[Value]:
    most, going, states = loop_inputs(writing.inputs)
    if most is not None and most.constant is not None:
        count: int | None = max(int(most.constant.reshape(-1)[0]), 0)
    else:
        count = None
    begins = going is None or (going.constant is not None and bool(going.constant.all()))
    turns = _Turns(writing, states)
    turn, goes = Value((), "int64"), Value((), "bool")
    writing.move(going if going is not None else constant_of(numpy.array(True)), goes)
    limits = ["*(const uint8_t *){0}"]
    inputs = [goes]
    if count is not None:
        limits.insert(0, f"@ < INT64_C({count})")
    elif most is not None:
        limits.insert(0, "@ < *(const int64_t *){1}")
        inputs.append(most)
    turns.begin(" && ".join(limits), inputs, [goes])
    writing.add(f"*(int64_t *){{0}} = {turns.turn};", (), [turn])
    on, *results = writing.inner(body, [turn, goes, *turns.states])
    is_counted = begins and (on.root is goes or (on.constant is not None and on.constant.all()))
    items = results[len(states) :]
    if items and (count is None or not is_counted):
        raise Declined("elements decide how many turns it has, and so the shape of an output")
    outputs = turns.collect(items, count or 0, [False] * len(items))
    if on.root is not goes:
        writing.move(on, goes)
    turns.end(results[: len(states)])
    return [*turns.states, *outputs]


def _scan(writing: _Writing, attributes: Mapping[str, Any]) -> list[Value]:
    body, scanned = attributes["body"], int(attributes["num_scan_inputs"])
    split = len(writing.inputs) - scanned
    axes = attributes.get("scan_input_axes", [0] * scanned)
    sequences = [
        _moved(writing, _given(one), axis, 0)
        for one, axis in zip(writing.inputs[split:], axes, strict=True)
    ]
    count = sequences[0].shape[0]
    if any(one.shape[0] != count for one in sequences):
        raise Declined("sequences of several lengths")
    turns = _Turns(writing, writing.inputs[:split])
    turns.begin(f"@ < {count}")
    items = []
    directions = attributes.get("scan_input_directions", [0] * scanned)
    for sequence, is_backwards in zip(sequences, directions, strict=True):
        item = Value(sequence.shape[1:], sequence.dtype)
        at = f"{count - 1} - {turns.turn}" if is_backwards else turns.turn
        size = item.nbytes
        if size:
            text = f"memcpy({{1}}, (const char *){{0}} + ({at}) * {size}, {size});"
            writing.add(text, [sequence], [item])
        items.append(item)
    results = writing.inner(body, [*turns.states, *items])
    number = len(results) - split
    backwards = [bool(one) for one in attributes.get("scan_output_directions", [0] * number)]
    outputs = turns.collect(results[split:], count, backwards)
    turns.end(results[:split])
    axes = attributes.get("scan_output_axes", [0] * number)
    moved = [_moved(writing, one, 0, axis) for one, axis in zip(outputs, axes, strict=True)]
    return [*turns.states, *moved]


def _moved(writing: _Writing, value: Value, axis: int, to: int) -> Value:
    """A value with an axis somewhere else."""
    rank = len(value.shape)
    axis, to = axis % rank, to % rank
    if axis == to:
        return value
    order = [n for n in range(rank) if n != axis]
    order.insert(to, axis)
    return writing.to.emitted("Transpose", value, perm=order)
