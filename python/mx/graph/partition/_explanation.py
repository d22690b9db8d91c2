"""Where each node of a graph would run, and why not elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...context import Context
from .._graph import Graph, check_graph
from .._spec import Dim
from ._placement import Placement
from ._plan import PartitionedPlan


@dataclass(frozen=True)
class Row:
    """A node: its name, operator, where it runs, and why not on the accelerator."""

    name: str
    operator: str
    where: str
    why: str


class Explanation(tuple[Row, ...]):
    """The nodes of a graph in order; prints as a table below the summary."""

    summary: str

    def __new__(cls, placement: Placement) -> Explanation:
        made = super().__new__(
            cls,
            (
                Row(
                    node.name or "",
                    f"{node.domain}.{node.op_type}" if node.domain else node.op_type,
                    placement.where(position),
                    placement.why(position),
                )
                for position, node in enumerate(placement.nodes)
            ),
        )
        made.summary = placement.summary()
        return made

    def __repr__(self) -> str:
        rows = [("node", "operator", "where", "why not there")]
        rows += [(row.name, row.operator, row.where, row.why) for row in self]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([self.summary, *lines])

    def labels(self) -> dict[str, str]:
        """Where the nodes run, by their names, for `Graph.picture` and `Graph.summary`."""
        return {row.name: row.where for row in self}


def explain(
    graph: Graph,
    ctx: Context,
    shapes: Mapping[str, Sequence[Dim]] | None = None,
    **options: Any,
) -> Explanation:
    """Where every node of a graph runs on a device, and why not elsewhere.

    `shapes` has those of inputs by name, where they vary; `options` are those of PartitionedPlan.
    """
    check_graph("explain", graph)
    given = graph.copy()
    if shapes:
        given.infer(shapes)
    return Explanation(PartitionedPlan(given, ctx, **options).placement())
