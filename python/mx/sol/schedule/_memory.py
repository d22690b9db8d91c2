"""The memory of a run, as the plan has laid it out."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

from ...graph import Graph, GraphError
from ...threads import get_num_threads
from .._text import layer_of, shortened, table
from ._mkl import kept_by_mkl
from ._picture import picture
from ._sizes import bytes_of, size_text, used_of


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
    In one plan for the whole step, as of `sol.training_step`, gradients are intermediates which
    that uses up itself; `optimizer` is what the optimizer keeps of its own.
    """

    parameters: int
    inputs: int
    outputs: int
    intermediates: int
    saved: int = 0
    gradients: int = 0
    is_training: bool = False
    optimizer: int = 0
    moments: tuple[Moment, ...] = field(default=(), repr=False)
    # That of training where this is of inference, and the other way round, for what is printed;
    # None where there is only this one.
    other: Callable[[], Memory] | None = field(default=None, repr=False, compare=False)

    @property
    def peak(self) -> int:
        """The most at one time: all of it, as a plan takes its memory at once."""
        parts = (self.parameters, self.optimizer, self.inputs, self.outputs, self.intermediates)
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
            self.optimizer + other.optimizer,
            self.moments + other.moments,
        )

    def over_time(self) -> list[dict[str, int]]:
        """What is in use while each step runs, by kind."""
        return [
            {
                "parameters": self.parameters, "optimizer": self.optimizer,
                "inputs": self.inputs, "outputs": self.outputs,
                "saved": one.saved, "gradients": one.gradients,
                "intermediates": one.intermediates, "workspace": one.workspace,
            }
            for one in self.moments
        ]  # fmt: skip

    def table(self) -> str:
        """What is in use over time, a row for each step, and a column for each kind that is."""
        columns = self.over_time()
        used = used_of(columns)
        rows: list[Sequence[str]] = [("step", *used, "all")]
        for moment, kinds in zip(self.moments, columns, strict=True):
            sizes = [size_text(kinds[kind]) for kind in used]
            rows.append((shortened(moment.step), *sizes, size_text(sum(kinds.values()))))
        return "\n".join(table(rows, left=1))

    def picture(self) -> str:
        """The same as an SVG."""
        return picture(self.over_time(), self.peak)

    def _repr_svg_(self) -> str:
        return self.picture()

    def __str__(self) -> str:
        lines = {self.is_training: self._line()}
        if self.other is not None:
            lines[not self.is_training] = self._other_line(self.other)
        names = {False: "  Inference: ", True: "  Training:  "}
        told = [f"{name}{lines[one]}" for one, name in names.items() if one in lines]
        return "\n".join(["Estimated Peak Memory Consumption:", *told])

    def _line(self) -> str:
        kinds = ["parameters", "inputs", "outputs", "intermediates"]
        if self.is_training:
            kinds[3:3] = ["saved", "gradients"]
        if self.optimizer:
            kinds.insert(1, "optimizer")
        parts = ", ".join(f"{kind} {size_text(getattr(self, kind))}" for kind in kinds)
        return f"~{size_text(self.peak)} ({parts})"

    def _other_line(self, other: Callable[[], Memory]) -> str:
        try:
            return other()._line()
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
    layers = _layers(graph)
    return tuple(
        Moment(f"{prefix}{layers.get(step[0], step[0])}", saved, gradients, *used[:2])
        for step, used in zip(plan.steps, _in_use(plan, 0), strict=True)
    )


def _layers(graph: Graph) -> dict[str, str]:
    """The layers of nodes, by the names that steps of plans have."""
    return {node.name or node.op_type: layer_of(node) for node in graph.nodes}


def _in_use(plan: Any, begin: int) -> list[list[int]]:
    """The bytes in use while each step runs: of intermediates, of workspace, and of what steps
    before `begin` keep for those from there on."""
    # Where blocks begin and end, so that each is looked at once.
    change = [[0, 0, 0] for _ in range(len(plan.steps) + 1)]
    at_once = min(plan.slices, get_num_threads())
    for size, first, last, _, is_workspace in plan.blocks:
        kind = 1 if is_workspace else 2 if first < begin <= last else 0
        change[first][kind] += size * at_once
        change[last + 1][kind] -= size * at_once
    found, used = [], [0, 0, 0]
    for steps in change[:-1]:
        used = [now + step for now, step in zip(used, steps, strict=True)]
        found.append(used)
    return found


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


def step_memory(
    graph: Graph, kinds: Mapping[str, str], parts: Mapping[str, str], stored: Container[str]
) -> Callable[[Any], Memory]:
    """What tells the memory of a whole step of training of its compiled plan, without the graph.

    `kinds` says which inputs are "parameters" and which of the "optimizer", `parts` which nodes
    are of the "backward" pass and which of the "optimizer", and `stored` has outputs that are
    written to inputs. Of the other outputs the first is the loss, behind which there are gradients.
    """
    given = {"parameters": 0, "optimizer": 0, "inputs": 0}
    for spec in graph.inputs:
        given[kinds.get(spec.name, "inputs")] += bytes_of(spec)
    loss, *each = [bytes_of(spec) for spec in graph.outputs if spec.name not in stored]
    gradients = sum(each)
    layers = _layers(graph)

    def memory(plan: Any) -> Memory:
        names = [step[0] for step in plan.steps]
        begin = next((n for n, name in enumerate(names) if name in parts), len(names))
        packed = kept_by_mkl(plan)
        told = [
            f"{parts.get(name, 'backward') if n >= begin else 'forward'}: {layers.get(name, name)}"
            for n, name in enumerate(names)
        ]
        moments = tuple(
            Moment(step, saved, gradients, intermediates, workspace + packed)
            for step, (intermediates, workspace, saved) in zip(
                told, _in_use(plan, begin), strict=True
            )
        )
        # What is saved lies in the memory that the plan keeps for its runs.
        saved = max((one.saved for one in moments), default=0)
        return Memory(
            given["parameters"] + int(plan.constant_bytes),
            given["inputs"],
            loss,
            int(plan.arena_bytes) - saved + packed,
            saved,
            gradients,
            is_training=True,
            optimizer=given["optimizer"],
            moments=moments,
        )

    return memory
