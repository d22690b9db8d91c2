"""Chains of nodes within the nodes that an operator is short for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import onnx_ir

from ._node import attributes_of, since_version
from ._value import Follower, Value


def followers_in(
    function: onnx_ir.Function,
    node: onnx_ir.Node,
    values: Mapping[onnx_ir.Value, Value | None],
    version_of: Callable[[onnx_ir.Node], int],
) -> Iterator[Follower]:
    """The nodes behind one, each of which alone uses the one before, and else only what is there.

    `values` are those of the body that are known so far.
    """
    outputs = set(function.outputs)
    while True:
        value, *others = node.outputs
        uses = tuple(value.uses())
        if len(uses) != 1 or value in outputs or any(one.uses() for one in others):
            return
        node, position = uses[0].node, uses[0].idx
        is_there = (
            other in (None, value) or values.get(other) is not None for other in node.inputs
        )
        if node.domain or any(attribute.is_ref() for attribute in node.attributes.values()):
            return
        if any(one.uses() or one in outputs for one in node.outputs[1:]):
            return  # of a follower one output is written
        if not all(is_there):
            return
        inputs = tuple(
            None if other is None or other is value else values[other] for other in node.inputs
        )
        version = since_version(node, version_of(node))
        yield Follower(node.op_type, version, inputs, position, attributes_of(node))


def taken_from(node: onnx_ir.Node, count: int) -> list[onnx_ir.Node]:
    """So many nodes of the chain behind one."""
    found = []
    for _ in range(count):
        (use,) = node.outputs[0].uses()
        node = use.node
        found.append(node)
    return found
