"""The memory of a training step: what lives at each time of both passes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from ...graph import Graph, GraphError
from ...graph._spec import dims_of, dtype_of
from ...graph.lowering._node import used_by

# Its output is the memory of its input.
_VIEWS = frozenset("Flatten Identity Reshape Squeeze Unsqueeze".split())


@dataclass(frozen=True)
class TrainingMemory:
    """Bytes of a training step, by kind.

    `held` are weights and inputs of the forward pass, parameters among them, which the caller has
    all the time; `saved` what the forward pass keeps for the backward pass. The peaks are the most
    at one time of a pass: forward, of outputs, saved and other values; backward, of what is saved,
    gradients and other values.
    """

    held: int
    saved: int
    forward_peak: int
    backward_peak: int

    @property
    def peak(self) -> int:
        """The most at one time of a step."""
        return self.held + max(self.forward_peak, self.backward_peak)


def memory_of(forward: Graph, backward: Graph) -> TrainingMemory:
    """What the two passes take; GraphError where shapes are not known."""
    inside, behind = forward.model.graph, backward.model.graph
    shared = {value.name for value in inside.inputs}
    outputs = {value.name for value in inside.outputs}
    weights = {**inside.initializers, **behind.initializers}
    held = sum(map(size_of, inside.inputs))
    held += sum(v.const_value.nbytes for v in weights.values() if v.const_value is not None)
    kept = [value for value in behind.inputs if value.name in outputs]
    given = [value for value in behind.inputs if value.name not in shared]
    return TrainingMemory(
        held,
        sum(map(size_of, kept)),
        peak_of(list(inside), inside.outputs, ()),
        peak_of(list(behind), behind.outputs, given),
    )


def peak_of(
    nodes: Sequence[ir.Node],
    outputs: Iterable[ir.Value],
    given: Iterable[ir.Value],
    sizes: Mapping[ir.Value, int] | None = None,
) -> int:
    """The most bytes at one time of what nodes give, executed in this order.

    `given` is there from the beginning and goes behind its last use, as all else; `outputs` stay.
    """
    root: dict[ir.Value, ir.Value] = {}
    last: dict[ir.Value, int] = {}
    reads = [used_by(node) for node in nodes]

    def find(value: ir.Value) -> ir.Value:
        while value in root:
            value = root[value]
        return value

    for position, node in enumerate(nodes):
        if node.op_type in _VIEWS and not node.domain and node.inputs[0] is not None:
            root[node.outputs[0]] = find(node.inputs[0])
        for value in reads[position]:
            last[find(value)] = position
    kept = {find(value) for value in outputs}
    size = size_of if sizes is None else sizes.__getitem__
    tracked = {find(value) for value in given}
    live = sum(map(size, tracked))
    most = live
    for position, node in enumerate(nodes):
        for value in node.outputs:
            if find(value) is value and value.name:
                tracked.add(value)
                live += size(value)
        most = max(most, live)
        ended = {find(value) for value in reads[position]} | set(node.outputs)
        for value in ended:
            if value in tracked and value not in kept and last.get(value, -1) <= position:
                tracked.discard(value)
                live -= size(value)
    return most


def size_of(value: ir.Value, extent: int | None = None) -> int:
    """The bytes of a value; `extent` stands for those that vary, without it they are an error."""
    dims, dtype = dims_of(value.shape), value.dtype
    if dtype_of(value) is None or dims is None or dtype is None or dtype == ir.DataType.STRING:
        if extent is None:
            raise GraphError(f"memory: the shape of {value.name!r} is not known")
        return extent
    numbers = []
    for dim in dims:
        if not isinstance(dim, int) and extent is None:
            raise GraphError(
                f"memory: the shape of {value.name!r} is not known: give {dim!r} a length by "
                "Graph.bind"
            )
        numbers.append(dim if isinstance(dim, int) else extent or 1)
    return math.ceil(math.prod(numbers) * dtype.itemsize)
