"""How a node says in which layout plans may keep its outputs."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir

# The name of the metadata; without it a plan chooses, too.
KEY = "mx.layout"
# That which the kernel writes, as channels last, or the axes in the order of the graph.
OF_KERNEL, OF_GRAPH = "of the kernel", "of the graph"


def keep_layouts_of_graph(graph: onnx_ir.Graph) -> None:
    """Has plans keep the outputs of all nodes with their axes in the order of the graph."""
    nodes: Iterable[onnx_ir.Node] = onnx_ir.traversal.RecursiveGraphIterator(graph)
    for node in nodes:
        node.metadata_props[KEY] = OF_GRAPH


def is_of_graph(node: onnx_ir.Node) -> bool:
    """Whether plans keep the outputs of a node with their axes in the order of the graph."""
    return bool(node.metadata_props.get(KEY) == OF_GRAPH)
