"""A name of its own for each node of the main graph, which placements and messages use."""

from __future__ import annotations

import onnx


def name_nodes(graph: onnx.GraphProto) -> None:
    """Names nodes without a name by operator and number, and numbers names that are there twice."""
    taken = {node.name for node in graph.node}
    seen: set[str] = set()
    counts: dict[str, int] = {}
    for node in graph.node:
        if node.name and node.name not in seen:
            seen.add(node.name)
            continue
        stem = node.name or node.op_type
        while True:
            number = counts.get(stem, 0)
            counts[stem] = number + 1
            name = f"{stem}_{number}"
            if name not in taken:
                break
        node.name = name
        taken.add(name)
        seen.add(name)
