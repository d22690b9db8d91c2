"""Plans of graphs that passes have been over, by the settings of the package."""

from __future__ import annotations

from typing import Any

from ..context import Context
from ..graph import Graph, PartitionedPlan, Plan
from ..graph.lowering import BACKENDS, MKL, Chooser
from ._config import config


def plan_of(graph: Graph, **options: Any) -> Plan:
    """A plan for the CPU; `options` are others of Plan."""
    options.setdefault("chooser", Chooser((MKL, *BACKENDS)))
    return Plan(graph, optimize=False, keep_nan=config["keep_nan"], **options)


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
