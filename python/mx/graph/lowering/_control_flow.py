"""Operators with subgraphs: each decides which of them is executed for what, and how often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import onnx_ir

from ._node import loop_inputs

# Executes a subgraph, which is onnx_ir's, for its inputs.
Run = Callable[[Any, Sequence[Any]], list[Any]]


def _if(attributes: dict[str, Any], inputs: Sequence[Any], run: Run) -> list[Any]:
    chosen = "then_branch" if bool(numpy.asarray(inputs[0])) else "else_branch"
    return run(attributes[chosen], [])


def _loop(attributes: dict[str, Any], inputs: Sequence[Any], run: Run) -> list[Any]:
    body = attributes["body"]
    most, condition, state = loop_inputs(inputs)
    count = None if most is None else int(numpy.asarray(most))
    going = condition is None or bool(numpy.asarray(condition))
    stacked: list[list[Any]] = [[] for _ in body.outputs[1 + len(state) :]]
    symbols = _symbols(body.inputs[2:], state)
    turn = 0
    while going and (count is None or turn < count):
        results = run(body, [numpy.array(turn, "int64"), numpy.array(going), *state])
        going = bool(numpy.asarray(results[0]))
        state = results[1 : 1 + len(state)]
        for items, item in zip(stacked, results[1 + len(state) :], strict=True):
            items.append(numpy.asarray(item))
        turn += 1
    return [
        *state,
        *(
            _stack(items, value, symbols)
            for items, value in zip(stacked, body.outputs[1 + len(state) :], strict=True)
        ),
    ]


def _scan(attributes: dict[str, Any], inputs: Sequence[Any], run: Run) -> list[Any]:
    body, scanned = attributes["body"], attributes["num_scan_inputs"]
    split = len(inputs) - scanned
    state, sequences = list(inputs[:split]), [numpy.asarray(item) for item in inputs[split:]]
    num_out = len(body.outputs) - split
    in_axes = attributes.get("scan_input_axes", [0] * scanned)
    in_directions = attributes.get("scan_input_directions", [0] * scanned)
    out_axes = attributes.get("scan_output_axes", [0] * num_out)
    out_directions = attributes.get("scan_output_directions", [0] * num_out)
    moved = [
        numpy.moveaxis(sequence, axis, 0)[:: -1 if backwards else 1]
        for sequence, axis, backwards in zip(sequences, in_axes, in_directions, strict=True)
    ]
    stacked: list[list[Any]] = [[] for _ in range(num_out)]
    symbols = _symbols(body.inputs[:split], state)
    for turn in range(len(moved[0])):
        results = run(body, [*state, *(numpy.array(item[turn], order="C") for item in moved)])
        state = results[:split]
        for items, item in zip(stacked, results[split:], strict=True):
            items.append(numpy.asarray(item))
    outputs = []
    for items, value, axis, backwards in zip(
        stacked, body.outputs[split:], out_axes, out_directions, strict=True
    ):
        whole = _stack(items[:: -1 if backwards else 1], value, symbols)
        outputs.append(numpy.ascontiguousarray(numpy.moveaxis(whole, 0, axis)))
    return [*state, *outputs]


def _scan_8(attributes: dict[str, Any], inputs: Sequence[Any], run: Run) -> list[Any]:
    """Scan of version 8: for each item of a batch, whose sequences are of different lengths."""
    body, scanned = attributes["body"], attributes["num_scan_inputs"]
    lengths, *arrays = inputs
    split = len(arrays) - scanned
    longest = numpy.asarray(arrays[-1]).shape[1]
    directions = attributes.get("directions", [0] * scanned)
    results = []
    for item in range(len(numpy.asarray(arrays[0]))):
        length = longest if lengths is None else int(numpy.asarray(lengths)[item])
        own = [numpy.asarray(array)[item] for array in arrays]
        own[split:] = [sequence[:length] for sequence in own[split:]]
        one = _scan({**attributes, "scan_input_directions": directions}, own, run)
        for position in range(split, len(body.outputs)):
            padding = [(0, longest - length)] + [(0, 0)] * (one[position].ndim - 1)
            one[position] = numpy.pad(one[position], padding)
        results.append(one)
    return [
        numpy.stack([numpy.asarray(part) for part in parts]) for parts in zip(*results, strict=True)
    ]


def _sequence_map(attributes: dict[str, Any], inputs: Sequence[Any], run: Run) -> list[Any]:
    body, first = attributes["body"], inputs[0]
    outputs: list[list[Any]] = [[] for _ in body.outputs]
    for turn in range(len(first)):
        given = [item[turn] if isinstance(item, list) else item for item in inputs]
        for items, item in zip(outputs, run(body, given), strict=True):
            items.append(numpy.asarray(item))
    return outputs


def _symbols(values: Sequence[Any], state: Sequence[Any]) -> dict[str, int]:
    """What symbols in the shapes of a body's states stand for, by what the states begin with."""
    found: dict[str, int] = {}
    for value, content in zip(values, state, strict=False):
        if value.shape is None:  # as of a sequence
            continue
        for extent, came in zip(value.shape, numpy.shape(content), strict=False):
            if not isinstance(extent, int) and extent.value:
                found[extent.value] = came
    return found


def _stack(items: list[Any], value: Any, symbols: dict[str, int]) -> Any:
    """Items one behind the other along a new first axis; none of the type that value says."""
    if items:
        return numpy.stack(items)
    dtype = numpy.float32 if value.dtype is None else value.dtype.numpy()
    extents = [] if value.shape is None else list(value.shape)
    known = [one if isinstance(one, int) else symbols.get(one.value, 0) for one in extents]
    return numpy.zeros((0, *known), dtype)


_CONTROL_FLOW: dict[str, Callable[[dict[str, Any], Sequence[Any], Run], list[Any]]] = {
    "If": _if,
    "Loop": _loop,
    "Scan": _scan,
    "SequenceMap": _sequence_map,
}


def control_flow(
    node: onnx_ir.Node, version: int
) -> Callable[[dict[str, Any], Sequence[Any], Run], list[Any]] | None:
    """What executes a node of one of these operators; None for a node of another."""
    if node.domain != "":
        return None
    return _scan_8 if node.op_type == "Scan" and version < 9 else _CONTROL_FLOW.get(node.op_type)
