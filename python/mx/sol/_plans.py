"""Plans of graphs that passes have been over, by the settings of the package."""

from __future__ import annotations

from typing import Any

from ..context import Context
from ..graph import Graph, PartitionedPlan, Plan
from ..graph.lowering import Chooser
from ._config import config


def plan_of(graph: Graph, chooser: Chooser, **options: Any) -> Plan:
    """A plan for the CPU, of the backends that `chooser` asks; `options` are others of Plan."""
    keep_nan = config["keep_nan"]
    return Plan(graph, optimize=False, keep_nan=keep_nan, chooser=chooser, **options)


def plan_on(
    graph: Graph, context: Context, previous: PartitionedPlan | None = None
) -> PartitionedPlan:
    """A plan for an accelerator: the previous one with other weights, where that can be."""
    if previous is not None and previous.keep_nan == config["keep_nan"]:
        try:
            previous.update_weights(graph)
            return previous
        except ValueError:
            pass  # with these weights it takes other inputs
    return PartitionedPlan(graph, context, optimize=False, keep_nan=config["keep_nan"])
