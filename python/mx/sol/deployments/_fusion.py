"""Several nodes as one kernel: what follows a node, as long as nothing else reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir

from ...graph.lowering._node import attributes_of, since_version
from ...graph.lowering._value import Follower
from ..backends.gen import GenKernel
from ._program import Value


@dataclass
class Fused:
    """A kernel, the values that it reads, and how many nodes behind the first it computes."""

    kernel: GenKernel
    inputs: Sequence[Value | None]
    taken: int


def followers(
    node: onnx_ir.Node, values: Mapping[onnx_ir.Value, Value], opset: Mapping[str, int]
) -> Iterator[tuple[onnx_ir.Node, Follower]]:
    """The chain of nodes behind one, each of which alone reads what the one before gives."""
    while True:
        value, *others = node.outputs
        uses = tuple(value.uses())
        if len(uses) != 1 or value.is_graph_output() or any(one.uses() for one in others):
            return
        if uses[0].node.graph is not node.graph:  # which is executed at other times, or not at all
            return
        node, position = uses[0].node, uses[0].idx
        given = [one for index, one in enumerate(node.inputs) if index != position]
        if node.domain or any(one is not None and one not in values for one in given):
            return
        inputs = tuple(
            None if one is None or index == position else values[one]
            for index, one in enumerate(node.inputs)
        )
        version = since_version(node, opset.get("", 1))
        yield node, Follower(node.op_type, version, inputs, position, attributes_of(node))
