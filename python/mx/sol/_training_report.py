"""What a step of training of an optimized model is executed by, forward and backward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import numpy as np
from ._limited import arrays_of
from ._memory import memory_of_part, plans_of_training
from ._steps import Step, step_lines, steps_of
from ._training import TrainingPlans
from .frameworks._gradients import GradientCall
from .passes import Removed
from .schedule import Memory
from .tuning import Tuning


@dataclass(frozen=True)
class OneWay:
    """The forward or the backward pass of a step of training."""

    nodes: int
    left: int  # nodes behind the passes
    removed: tuple[Removed, ...]
    steps: tuple[Step, ...]
    placement: str  # where nodes are executed
    tuning: Tuning | None  # the candidates of layers with their times, where they were measured

    def __str__(self) -> str:
        lines = [f"{self.nodes} nodes, {self.left} behind the passes", "", "Passes:"]
        lines += [f"  {one}" for one in self.removed] or ["  nothing removed"]
        lines += ["", f"Layers, on {self.placement}:", *step_lines(self.steps)]
        lines += ["", str(self.tuning)] if self.tuning is not None else []
        return "\n".join(lines)


@dataclass(frozen=True)
class TrainingReport:
    """What is known of a step of training of an optimized model, or of a part of one."""

    name: str
    forward: OneWay
    backward: OneWay
    memory: Memory | None

    def __str__(self) -> str:
        ways = {"forward": self.forward, "backward": self.backward}
        lines = [f"{self.name}, {name}: {way}\n" for name, way in ways.items()]
        known = "Peak memory: not known for what takes several plans"
        return "\n".join([*lines, known if self.memory is None else str(self.memory)])


def rehearsal(part: Any, function: str) -> GradientCall:
    """The forward pass of a step of training of an optimized model, or of a part of one, run with
    arrays of ones of the shapes of the example; nothing of the model is changed.

    NotImplementedError for what does not train by plans of the CPU, ValueError where no parameter
    requires a gradient.
    """
    if part.compiled.context.device_type != "cpu":
        raise NotImplementedError(f"sol.{function}: training: only on the CPU")
    plans, _ = plans_of_training(part, function)
    return GradientCall(plans, list(arrays_of(plans.forward_graph.inputs, np.ones).values()), ())


def training_report(part: Any, path: str) -> TrainingReport:
    """The report of one part of a model, of which `path` is the name."""
    call = rehearsal(part, "report")
    call.backward(())  # which plans it
    plans = call.plans
    forward = _one_way(plans, "forward", dict(zip(plans.inputs, call.arrays, strict=True)), path)
    backward = _one_way(plans, "backward", plans.named(call.given(())[0]), path)
    name = part.compiled.source.name
    return TrainingReport(name, forward, backward, memory_of_part(part, True))


def _one_way(plans: TrainingPlans, which: str, named: Mapping[str, Any], path: str) -> OneWay:
    plan = plans.plans[which]
    graph, removed = plans.passed[which]
    nodes = plans.forward_graph if which == "forward" else plans.backward_graph
    assert nodes is not None
    return OneWay(
        len(nodes.nodes),
        len(graph.nodes),
        removed,
        steps_of(graph, plan, named, path),
        plan.summary(),
        plans.tunings.get(which),
    )
