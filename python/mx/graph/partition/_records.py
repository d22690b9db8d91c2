"""What a library tells of the work of a model, as steps of a profile."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir

from ..profile import Timed

# Name, id of the node or 0, begin and end in nanoseconds.
Record = tuple[str, int, int, int]


def parts_of(nodes: Sequence[onnx_ir.Node], records: Sequence[Record], where: str) -> list[Timed]:
    """A step for each node that there are records of, and for each piece of work of none.

    `nodes` are all of the graph, whose ids are their positions from 1 on. Work of one node that
    comes in pieces is one step, whose duration is the sum of theirs.
    """
    parts: dict[int, list[Record]] = {}
    for position, record in enumerate(records):
        node = record[1] if 0 < record[1] <= len(nodes) else -position  # of none: by itself
        parts.setdefault(node, []).append(record)
    return [
        Timed(
            nodes[node - 1].name or nodes[node - 1].op_type if node > 0 else of_node[0][0],
            f"{where}: " + ", ".join(dict.fromkeys(record[0] for record in of_node)),
            _shapes_of(nodes[node - 1]) if node > 0 else (),
            of_node[0][2],
            sum(max(0, end - begin) for _, _, begin, end in of_node),
        )
        for node, of_node in parts.items()
    ]


def _shapes_of(node: onnx_ir.Node) -> tuple[tuple[int, ...], ...]:
    shapes = [value.shape for value in node.outputs]
    return tuple(shape.numpy() for shape in shapes if shape is not None and shape.is_static())
