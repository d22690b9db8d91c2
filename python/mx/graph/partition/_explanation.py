"""Where each node of a graph would run, and why not elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...context import Context
from .._explanation import Explanation
from .._graph import Graph, check_graph
from .._spec import Dim
from ._plan import PartitionedPlan


def explain(
    graph: Graph,
    ctx: Context,
    shapes: Mapping[str, Sequence[Dim]] | None = None,
    **options: Any,
) -> Explanation:
    """Where every node of a graph runs on a device, and why not elsewhere.

    `shapes` has those of inputs by name, where they vary; `options` are those of PartitionedPlan.
    What the CPU executes its nodes with `Plan.explain` tells.
    """
    check_graph("explain", graph)
    given = graph.copy()
    if shapes:
        given.infer(shapes)
    plan = PartitionedPlan(given, ctx, **options)
    plan.wait()
    return plan.explain()
