"""Nodes that end gradients, in graphs whose gradients are there."""

from __future__ import annotations

import onnx_ir as ir

from ..graph import Graph
from .operators import DOMAIN


def remove_stops(graph: Graph) -> None:
    """Removes the nodes that only end gradients, in place."""
    inner = graph.model.graph
    for node in list(inner):
        if node.op_type != "StopGradient" or node.domain != DOMAIN:
            continue
        (given,), (made,) = node.inputs, node.outputs
        assert given is not None
        if made.is_graph_output():
            if given.is_graph_output() or given.producer() is None:
                continue  # two outputs, or an input that is one: a copy is needed
            given.name, made.name = made.name, None
        ir.convenience.replace_all_uses_with(made, given, replace_graph_outputs=True)
        inner.remove(node, safe=True)
