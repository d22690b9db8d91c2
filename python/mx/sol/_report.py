"""`sol.report`: what an optimized model is executed by, how long that takes, and what it needs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._compiled import Compiled
from ._config import config
from ._memory import memory_of_part
from ._optimize import parts_of
from ._precision import LESS_EXACT
from ._text import layer_of, shortened, table
from ._version import Version
from .dims import Dimensions
from .passes import Removed
from .schedule import Memory
from .tuning import Tuning


@dataclass(frozen=True)
class Step:
    """A step of a plan: the layer, the operators that it computes at once, and what executes it."""

    layer: str
    operators: tuple[str, ...]
    implementation: str
    microseconds: float  # the median of several runs
    estimate: float | None = None  # microseconds, as its backend expected before it was run


@dataclass(frozen=True)
class Report:
    """What is known of one optimized model, or of one optimized part of a model."""

    name: str
    nodes: int
    left: int  # nodes behind the passes
    dimensions: Dimensions
    vdims: tuple[bool | int, ...]
    removed: tuple[Removed, ...]
    steps: tuple[Step, ...]
    placement: str  # where nodes are executed
    memory: Memory | None
    tuning: Tuning | None  # the candidates of layers with their times, where they were measured
    # By how much outputs differ from those of float32 on the example, as a part of the largest;
    # None where that is the precision.
    error: float | None
    precisions: tuple[str, ...] = ()  # in which some products are computed
    origin: str = ""  # where the graph is from, of models that are captured

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.nodes} nodes, {self.left} behind the passes"]
        lines += [f"Graph: {self.origin}"] * bool(self.origin) + [""]
        lines += [str(self.dimensions), f"vdims:   {list(self.vdims)}", ""]
        lines += ["Passes:", *(f"  {one}" for one in self.removed)]
        lines += ["  nothing removed"] * (not self.removed)
        lines += ["", f"Layers, on {self.placement}:", *self._step_lines(), ""]
        lines += [str(self.tuning), ""] if self.tuning is not None else []
        if self.error is not None:
            names = ", ".join(self.precisions)
            lines += [f"Precision: {names}, largest error on the example: {self.error:.2%}", ""]
        if self.memory is not None:
            lines.append(str(self.memory))
        else:
            lines.append("Peak memory: not known for what takes several plans or another device")
        return "\n".join(lines)

    def _step_lines(self) -> list[str]:
        if not self.steps:
            return ["  not measured: only plans of the CPU have times"]
        total = sum(step.microseconds for step in self.steps)
        rows = [("layer (operators)", "implementation", "estimated", "us", "%")]
        rows += [
            (
                shortened(f"{step.layer} ({', '.join(step.operators)})"),
                step.implementation,
                "" if step.estimate is None else f"{step.estimate:.1f}",
                f"{step.microseconds:.1f}",
                f"{100 * step.microseconds / max(total, 1e-9):.1f}",
            )
            for step in self.steps
        ]
        return [f"  {line}" for line in [*table(rows, left=2), f"{total:.1f} us in all"]]


@dataclass(frozen=True)
class Reports:
    """The reports of the optimized parts of a model, by the names of those."""

    parts: dict[str, Report]

    def __str__(self) -> str:
        return "\n\n".join(f"[{name}] {report}" for name, report in self.parts.items())


def report(model: Any) -> Report | Reports:
    """What executes an optimized model: `print(sol.report(fast))`.

    It runs the model on its example, `sol.config["profile_runs"]` times, for the times of steps; a
    model without an example on zeros. Which dimensions may vary is found out for it, if that is not
    known yet. For a model of which only parts are optimized it is a report of each.
    """
    parts = parts_of(model, "report")
    found = {name: _report_of(part, name) for name, part in parts}
    return found[""] if list(found) == [""] else Reports(found)


def _report_of(part: Any, path: str) -> Report:
    compiled: Compiled = part.compiled
    arrays = compiled.example_arrays()
    version, parsed, graph = compiled.sized(arrays)
    on_cpu = compiled.context.device_type == "cpu"
    return Report(
        compiled.source.name,
        len(parsed.nodes),
        len(graph.nodes),
        compiled.dimensions(),
        compiled.chosen(),
        version.removed,
        tuple(_steps(compiled, version, arrays, path)) if on_cpu else (),
        version.plan.summary(),
        memory_of_part(part),
        compiled.tuning(arrays),
        compiled.error(arrays) if on_cpu else None,
        tuple(one.name for one in compiled.passes if one.name in LESS_EXACT),
        compiled.source.origin,
    )


def _steps(compiled: Compiled, version: Version, arrays: Sequence[Any], path: str) -> list[Step]:
    named = compiled.named(arrays)
    profiles = [version.plan.profile(named).steps for _ in range(config["profile_runs"])]
    nodes = {node.name or node.op_type: node for node in version.graph.nodes}
    followers = _followers(version)
    estimates = {one.node.name: one.estimate for one in version.plan.steps()}
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
    return steps


def _followers(version: Version) -> dict[str, list[str]]:
    """The operators that the kernel of a node before them computes, too, by that node's name."""
    found: dict[str, dict[str, str]] = {}
    first = ""
    for step in version.plan.steps():
        name = step.node.name or step.node.op_type
        if step.reasons == ("part of the kernel before",):
            found.setdefault(first, {})[name] = step.node.op_type
        else:
            first = name
    return {name: list(operators.values()) for name, operators in found.items()}
