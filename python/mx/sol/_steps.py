"""The steps of a plan with the times that they take, as reports tell them."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..graph import Graph
from ._config import config
from ._text import layer_of, shortened, table


@dataclass(frozen=True)
class Step:
    """A step of a plan: the layer, the operators that it computes at once, and what executes it."""

    layer: str
    operators: tuple[str, ...]
    implementation: str
    microseconds: float  # the median of several runs
    estimate: float | None = None  # microseconds, as its backend expected before it was run


def steps_of(graph: Graph, plan: Any, named: Mapping[str, Any], path: str = "") -> tuple[Step, ...]:
    """The steps of the plan of a graph behind the passes, run for inputs by name
    `sol.config["profile_runs"]` times; `path` is that of the module."""
    profiles = [plan.profile(named).steps for _ in range(config["profile_runs"])]
    nodes = {node.name or node.op_type: node for node in graph.nodes}
    planned = plan.steps()
    followers = _followers(planned)
    estimates = {one.node.name: one.estimate for one in planned}
    steps = []
    for same in zip(*profiles, strict=True):
        node = nodes.get(same[0].name)
        layer = same[0].name if node is None else layer_of(node, path)
        operators = [] if node is None else [node.op_type, *followers.get(same[0].name, ())]
        times = [one.duration_ns for one in same]
        steps.append(
            Step(
                layer,
                tuple(operators),
                same[0].implementation,
                statistics.median(times) / 1e3,
                estimates.get(same[0].name),
            )
        )
    return tuple(steps)


def _followers(planned: Sequence[Any]) -> dict[str, list[str]]:
    """The operators that the kernel of a node before them computes, too, by that node's name."""
    found: dict[str, dict[str, str]] = {}
    first = ""
    for step in planned:
        name = step.node.name or step.node.op_type
        if step.reasons == ("part of the kernel before",):
            found.setdefault(first, {})[name] = step.node.op_type
        else:
            first = name
    return {name: list(operators.values()) for name, operators in found.items()}


def step_lines(steps: Sequence[Step]) -> list[str]:
    """A table of steps."""
    if not steps:
        return ["  not measured: only plans of the CPU have times"]
    total = sum(step.microseconds for step in steps)
    rows = [("layer (operators)", "implementation", "estimated", "us", "%")]
    rows += [
        (
            shortened(f"{step.layer} ({', '.join(step.operators)})"),
            step.implementation,
            "" if step.estimate is None else f"{step.estimate:.1f}",
            f"{step.microseconds:.1f}",
            f"{100 * step.microseconds / max(total, 1e-9):.1f}",
        )
        for step in steps
    ]
    return [f"  {line}" for line in [*table(rows, left=2), f"{total:.1f} us in all"]]
