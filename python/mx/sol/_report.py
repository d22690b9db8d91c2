"""`sol.report`: what an optimized model is executed by, how long that takes, and what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._compiled import Compiled
from ._memory import memory_of_part
from ._optimize import parts_of
from ._precision import LESS_EXACT
from ._steps import Step, step_lines, steps_of
from ._training_report import TrainingReport, training_report
from ._version import Version
from .dims import Dimensions
from .passes import Removed
from .schedule import Memory
from .tuning import Tuning


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
        lines += ["", f"Layers, on {self.placement}:", *step_lines(self.steps), ""]
        lines += [str(self.tuning), ""] if self.tuning is not None else []
        if self.error is not None:
            names = ", ".join(self.precisions)
            lines += [f"Precision: {names}, largest error on the example: {self.error:.2%}", ""]
        if self.memory is not None:
            lines.append(str(self.memory))
        else:
            lines.append("Peak memory: not known for what takes several plans or another device")
        return "\n".join(lines)


@dataclass(frozen=True)
class Reports:
    """The reports of the optimized parts of a model, by the names of those."""

    parts: dict[str, Report | TrainingReport]

    def __str__(self) -> str:
        return "\n\n".join(f"[{name}] {report}" for name, report in self.parts.items())


def report(model: Any, training: bool = False) -> Report | TrainingReport | Reports:
    """What executes an optimized model: `print(sol.report(fast))`.

    It runs the model on its example, `sol.config["profile_runs"]` times, for the times of steps; a
    model without an example on zeros. Which dimensions may vary is found out for it, if that is not
    known yet. For a model of which only parts are optimized it is a report of each.

    With `training` it is that of a step of training, forward and backward, run on ones; a module
    that is in no mode of training is looked at as `.train()` has it, and nothing of it is changed.

    TypeError for what `optimize` has not returned, and where `training` is no bool; with
    `training` those errors that sol.memory has, too.
    """
    parts = parts_of(model, "report")
    if not isinstance(training, bool):
        raise TypeError(f"sol.report: training: expected True or False, got {training!r}")
    make = training_report if training else _report_of
    found: dict[str, Report | TrainingReport] = {name: make(part, name) for name, part in parts}
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
        _steps(compiled, version, arrays, path) if on_cpu else (),
        version.plan.summary(),
        memory_of_part(part),
        compiled.tuning(arrays),
        compiled.error(arrays) if on_cpu else None,
        tuple(one.name for one in compiled.passes if one.name in LESS_EXACT),
        compiled.source.origin,
    )


def _steps(
    compiled: Compiled, version: Version, arrays: Sequence[Any], path: str
) -> tuple[Step, ...]:
    return steps_of(version.graph, version.plan, compiled.named(arrays), path)
