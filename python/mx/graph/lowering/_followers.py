"""Chains of nodes that one kernel may compute: each alone uses what the one before gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import onnx_ir

from ._node import attributes_of, has_subgraphs, since_version
from ._value import Follower


def followers_of(
    node: onnx_ir.Node,
    find: Callable[[onnx_ir.Value], Any],
    version_of: Callable[[onnx_ir.Node], int],
    among: Collection[onnx_ir.Node] | None = None,
) -> Iterator[tuple[onnx_ir.Node, Follower]]:
    """The nodes behind one, each of which alone uses the one before, and else only what is there.

    `find` gives what else they read, None for what is not there when the first is executed;
    `version_of` the operator set of a node. None but nodes `among` these follow; by default all of
    the graph may.
    """
    while True:
        value, *others = node.outputs
        uses = tuple(value.uses())
        if len(uses) != 1 or value.is_graph_output() or any(one.uses() for one in others):
            return
        graph, (node, position) = node.graph, uses[0]
        # Those of subgraphs are executed at other times, or not at all.
        if node.graph is not graph or node.domain or has_subgraphs(node):
            return
        if among is not None and node not in among:
            return
        # Of a follower one output is written.
        if any(one.uses() or one.is_graph_output() for one in node.outputs[1:]):
            return
        # What an attribute of a function's node refers to is known only to who calls it.
        if any(attribute.is_ref() for attribute in node.attributes.values()):
            return
        inputs = []
        for index, other in enumerate(node.inputs):
            found = None if other is None or index == position else find(other)
            if found is None and other is not None and index != position:
                return
            inputs.append(found)
        version = since_version(node, version_of(node))
        yield node, Follower(node.op_type, version, tuple(inputs), position, attributes_of(node))


def taken_from(node: onnx_ir.Node, count: int) -> list[onnx_ir.Node]:
    """So many nodes of the chain behind one."""
    found = []
    for _ in range(count):
        (use,) = node.outputs[0].uses()
        node = use.node
        found.append(node)
    return found
