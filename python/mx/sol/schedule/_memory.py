"""The memory of a run, as the plan has laid it out."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from ...graph import Graph, GraphError
from ...threads import get_num_threads
from .._text import layer_of, shortened, table
from ._mkl import kept_by_mkl
from ._picture import picture
from ._sizes import KINDS, bytes_of, size_text


@dataclass(frozen=True)
class Moment:
    """Bytes in use while one step of a plan runs, of what is not in use all the time."""

    step: str
    saved: int  # by the forward pass for the backward pass
    gradients: int  # that the backward pass gives
    intermediates: int
    workspace: int  # of the step's kernel, and of the library that has it


@dataclass(frozen=True)
class Memory:
    """Bytes that an optimized model takes, by kind: for inference, or one step of training.

    Of parameters it is what plans read, as they are or packed, without what the framework has of
    its own beside them.
    Intermediates are all of the memory that the plans keep for their runs, workspace of kernels
    included: it is laid out so that what is not needed at the same time shares memory. `moments`
    tells what of it is in use while each step runs.
    """

    parameters: int
    inputs: int
    outputs: int
    intermediates: int
    saved: int = 0
    gradients: int = 0
    is_training: bool = False
    moments: tuple[Moment, ...] = field(default=(), repr=False)
    # That of training where this is of inference, and the other way round, for what is printed.
    other: Callable[[], Memory] | None = field(default=None, repr=False, compare=False)

    @property
    def peak(self) -> int:
        """The most at one time: all of it, as a plan takes its memory at once."""
        parts = (self.parameters, self.inputs, self.outputs, self.intermediates)
        return sum(parts) + self.saved + self.gradients

    def __add__(self, other: Memory) -> Memory:
        return Memory(
            self.parameters + other.parameters,
            self.inputs + other.inputs,
            self.outputs + other.outputs,
            self.intermediates + other.intermediates,
            self.saved + other.saved,
            self.gradients + other.gradients,
            self.is_training,
            self.moments + other.moments,
        )

    def over_time(self) -> list[dict[str, int]]:
        """What is in use while each step runs, by kind."""
        return [
            {
                "parameters": self.parameters, "inputs": self.inputs, "outputs": self.outputs,
                "saved": one.saved, "gradients": one.gradients,
                "intermediates": one.intermediates, "workspace": one.workspace,
            }
            for one in self.moments
        ]  # fmt: skip

    def table(self) -> str:
        """What is in use over time, a row for each step."""
        rows: list[Sequence[str]] = [("step", *KINDS, "all")]
        for moment, kinds in zip(self.moments, self.over_time(), strict=True):
            sizes = [size_text(kinds[kind]) for kind in KINDS]
            rows.append((shortened(moment.step), *sizes, size_text(sum(kinds.values()))))
        return "\n".join(table(rows, left=1))

    def picture(self) -> str:
        """The same as an SVG."""
        return picture(self.over_time(), self.peak)

    def _repr_svg_(self) -> str:
        return self.picture()

    def __str__(self) -> str:
        lines = {self.is_training: self._line(), not self.is_training: self._other_line()}
        told = [f"  Inference: {lines[False]}", f"  Training:  {lines[True]}"]
        return "\n".join(["Estimated Peak Memory Consumption:", *told])

    def _line(self) -> str:
        kinds = ["parameters", "inputs", "outputs", "intermediates"]
        if self.is_training:
            kinds[3:3] = ["saved", "gradients"]
        parts = ", ".join(f"{kind} {size_text(getattr(self, kind))}" for kind in kinds)
        return f"~{size_text(self.peak)} ({parts})"

    def _other_line(self) -> str:
        if self.other is None:
            return "not known"
        try:
            return self.other()._line()
        except (NotImplementedError, ValueError, TypeError, GraphError, MemoryError) as error:
            reason = str(error).split("\n")[0].partition(": ")[2] or str(error)
            return f"not known: {reason}"


def memory_of(graph: Graph, plan: Any) -> Memory:
    """The memory of a graph whose shapes are known, and of its compiled plan."""
    return Memory(
        int(plan.constant_bytes),
        sum(map(bytes_of, graph.inputs)),
        sum(map(bytes_of, graph.outputs)),
        int(plan.arena_bytes),
        moments=moments_of(graph, plan),
    )


def moments_of(
    graph: Graph, plan: Any, saved: int = 0, gradients: int = 0, prefix: str = ""
) -> tuple[Moment, ...]:
    """What is in use while each step of a compiled plan runs."""
    layers = {node.name or node.op_type: layer_of(node) for node in graph.nodes}
    names = [layers.get(step[0], step[0]) for step in plan.steps]
    # Where blocks begin and end, so that each is looked at once.
    change = [[0, 0] for _ in range(len(names) + 1)]
    at_once = min(plan.slices, get_num_threads())
    for size, first, last, _, is_workspace in plan.blocks:
        change[first][is_workspace] += size * at_once
        change[last + 1][is_workspace] -= size * at_once
    moments, used = [], [0, 0]
    for name, steps in zip(names, change, strict=False):
        used = [now + step for now, step in zip(used, steps, strict=True)]
        moments.append(Moment(f"{prefix}{name}", saved, gradients, *used))
    return tuple(moments)


def training_memory(
    forward: tuple[Graph, Any],
    backward: tuple[Graph, Any],
    saved: Sequence[str],
    state: Set[str],
    stored: Container[str] = (),
) -> Memory:
    """The memory of one step of training: of the graphs of both passes, and their compiled plans.

    `saved` names what the forward pass gives besides outputs, `state` inputs that are parameters or
    buffers, `stored` outputs that are written to those. The plans share what they work in, which
    they keep from one run to the next.
    """
    outputs = {s.name: bytes_of(s) for s in forward[0].outputs if s.name not in stored}
    kept = sum(outputs.pop(name) for name in saved)
    inputs = {spec.name: bytes_of(spec) for spec in forward[0].inputs}
    gradients = sum(map(bytes_of, backward[0].outputs))
    first = memory_of(*forward)
    given = sum(size for name, size in inputs.items() if name not in state)
    moments = moments_of(*forward, kept, 0, "forward: ")
    moments += moments_of(*backward, kept, gradients, "backward: ")
    packed = kept_by_mkl(forward[1], backward[1])
    constants = (int(plan.constant_bytes) for _, plan in (forward, backward))
    moments = tuple(replace(one, workspace=one.workspace + packed) for one in moments)
    return replace(
        first,
        parameters=sum(constants) + sum(inputs.values()) - given,
        inputs=given,
        outputs=sum(outputs.values()),
        intermediates=max(first.intermediates, int(backward[1].arena_bytes)) + packed,
        saved=kept,
        gradients=gradients,
        is_training=True,
        moments=moments,
    )
