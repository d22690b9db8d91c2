"""One layer by one backend, alone: a plan of it that tells how long its parts take.

A kernel that wants its inputs in another order than they have in memory has that brought about
first, and what comes next may want it undone. A trial tells these apart from the kernel itself, as
neighbours of one backend do not need them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from ... import numpy as np
from ._choice import Layer
from ._constant import Constant
from ._lowering import Finisher, Lowering
from ._table import Backend
from ._value import REJECTIONS, Declined, Follower, Followers, NeedsElements, Value

# Gives the backends to ask for an operator that follows, the preferred one first.
Order = Callable[[str], Sequence[Backend]]

# Random numbers that arrays are made of, again and again: to draw all takes longer than a run.
_DRAWN = 1 << 16
# Runs of one trial: to make one and read its times takes longer than the shortest kernels.
_MOST_RUNS = 200
# Seconds that a run takes of which there need not be another one.
LONG = 0.1


class Common:
    """What trials that are made one after the other have in common."""

    def __init__(self) -> None:
        # What has to be done, once for all of them, before one is timed.
        self.finishers: dict[Any, Finisher] = {}
        self._arrays: dict[Any, Any] = {}

    def elements(self, shape: Sequence[int], dtype: str, number: int) -> Any:
        """An array to run with, the same for equal arguments. Nobody writes to it."""
        key = (tuple(shape), dtype, number)
        if key not in self._arrays:
            self._arrays[key] = _elements(shape, dtype, number)
        return self._arrays[key]

    def forget(self) -> None:
        """Keeps no array any longer."""
        self._arrays.clear()


@dataclass(frozen=True)
class Cost:
    """Microseconds of one run of a layer."""

    kernel: float
    into: dict[int, float]  # to bring operands, by their positions, to the order that it wants
    out: float  # to bring its output to the order in which others have it
    implementations: tuple[str, ...]

    @property
    def alone(self) -> float:
        """Of the layer between neighbours of another backend."""
        return self.kernel + sum(self.into.values()) + self.out

    def least(self, other: Cost) -> Cost:
        """The least of two measurements of the same."""
        into = {n: min(time, other.into.get(n, time)) for n, time in self.into.items()}
        return Cost(
            min(self.kernel, other.kernel), into, min(self.out, other.out), self.implementations
        )


def operands(layer: Layer, chain: Sequence[Follower]) -> list[Value | None]:
    """What a layer reads: the inputs of its node, then those of the nodes behind it."""
    return [*layer.inputs, *(value for one in chain for value in one.inputs)]


class Runs:
    """Counts the runs of a trial until they are enough."""

    def __init__(self, seconds: float, give_up: float, least: int) -> None:
        """Enough are runs that took so many seconds together, but at least `least`; before that
        two that took more than `give_up` microseconds, or one of more than twice that, as a first
        one takes longer than others. Of short ones no more than `_MOST_RUNS`, of those of `LONG`
        one."""
        self._seconds, self._give_up, self._least = seconds, give_up, least
        self._count, self._slow, self._total = 0, 0, 0.0

    def add(self, time: float) -> None:
        """Takes note of a run of so many microseconds."""
        self._count += 1
        self._slow += (time > self._give_up) + (time > 2 * self._give_up)
        self._total += time / 1e6

    def are_enough(self) -> bool:
        """Whether there is no need of another one."""
        if self._slow >= 2 or self._count >= _MOST_RUNS or self._total >= LONG * self._count > 0:
            return True
        return self._count >= self._least and self._total >= self._seconds


class Trial:
    """A layer by one backend: its node, and those behind it that may be one kernel with it."""

    def __init__(
        self,
        layer: Layer,
        chain: Sequence[Follower],
        backend: Backend,
        common: Common,
    ) -> None:
        """Lowers the node. Declined where the backend does not, with its reason.

        `chain` has the nodes behind it, of which it takes as many as it can: `taken`. To
        `common.finishers` is added what has to be done before it is timed.
        """
        self.backend = backend
        self._common = common
        self._to = to = _Recorder()
        to.finishers = common.finishers
        self._made: dict[Value, Value] = {}
        self._specs: list[Any] = []  # of the arrays that a run is given, and which of their like
        self._chain = [self._follower(one) for one in chain]
        inputs = [self._value(value) for value in layer.inputs]
        read = [*inputs, *(value for one in self._chain for value in one.inputs)]
        to.given = {value.number: n for n, value in enumerate(read) if value is not None}
        to.node_name, to.num_outputs, to.phase = layer.operator, layer.num_outputs, "kernel"
        to.precision = layer.precision
        self._outputs = self._lower(
            backend, layer.operator, layer.version, inputs, layer.attributes, self._chain
        )
        self.taken = to.taken
        self._plan: Any = None

    def finish(self, length: int, order: Order, layouts: Sequence[Any] | None) -> None:
        """Has the first `length` nodes of the chain be part of it; `order` for those not taken.

        Outputs are brought to `layouts`, those that another backend gives them, None for any.
        """
        to = self._to
        done = self.taken
        while done < length:
            follower = self._chain[done]
            given = list(follower.inputs)
            given[follower.position] = self._outputs[0]
            rest = self._chain[done + 1 : length]
            self._outputs = self._by_any(order(follower.operator), follower, given, rest)
            done += 1 + to.taken
        if layouts is not None:
            to.phase = "out"
            self._outputs = [
                _in_layout(to, value, layout)
                for value, layout in zip(self._outputs, layouts, strict=True)
            ]
        to.phase = "end"
        self.layouts = [value.layout for value in self._outputs]

    def build(self) -> None:
        """Makes the plan, when all finishers are done."""
        self._to.finishers = {}
        self._plan = self._to.build(self._outputs)

    def time(self, seconds: float, give_up: float, least: int = 2) -> Cost:
        """What it takes, the least of runs until they are enough."""
        tags = self._to.tags
        arrays = [self._common.elements(*one) for one in self._specs]
        best: list[int] = []
        runs = Runs(seconds, give_up, least)
        while not runs.are_enough():
            _, times = self._plan.profile(arrays)
            runs.add(sum(times) / 1e3)
            best = list(map(min, best, times)) if best else list(times)
        found = dict.fromkeys(tags, 0.0)
        for tag, nanoseconds in zip(tags, best, strict=False):
            found[tag] += nanoseconds / 1e3
        into = {tag: time for tag, time in found.items() if isinstance(tag, int)}
        names = [
            str(step[1])
            for tag, step in zip(tags, self._plan.steps, strict=False)
            if tag == "kernel"
        ]
        return Cost(found.get("kernel", 0.0), into, found.get("out", 0.0), tuple(names))

    def _by_any(
        self,
        backends: Sequence[Backend],
        node: Follower,
        inputs: Sequence[Value | None],
        chain: Sequence[Follower],
    ) -> list[Value]:
        self._to.num_outputs, self._to.node_name = 1, node.operator
        for backend in backends:
            try:
                return self._lower(
                    backend, node.operator, node.version, inputs, node.attributes, chain
                )
            except Declined:
                continue
        raise Declined(f"{node.operator} behind it: no backend has a kernel")

    def _lower(
        self,
        backend: Backend,
        operator: str,
        version: int,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
        chain: Sequence[Follower],
    ) -> list[Value]:
        self._to.taken, self._to.followers = 0, Followers(chain)
        try:
            outputs = backend.lower(self._to, operator, version, inputs, attributes)
            return outputs[: self._to.num_outputs]
        except NeedsElements:
            raise Declined("elements decide a shape") from None
        except REJECTIONS as error:
            raise Declined(str(error)) from error

    def _follower(self, one: Follower) -> Follower:
        inputs = tuple(self._value(value) for value in one.inputs)
        return Follower(one.operator, one.version, inputs, one.position, one.attributes)

    def _value(self, value: Value | None) -> Value | None:
        """A value like one of the graph's, in the same order in memory, with elements of its own.

        Weights are copies: what kernels pack of them goes with the trial.
        """
        if value is None or value in self._made:
            return None if value is None else self._made[value]
        to = self._to
        if value.known is not None:
            made = to.constant(Constant(value.known.elements))
            value.known.release()
        else:
            strides, shape = value.strides, value.shape
            if value.layout is None and strides is not None and value.size and min(strides) >= 0:
                made = to.strided_input(shape, value.dtype, strides)
                shape = (1 + sum((n - 1) * one for n, one in zip(shape, strides, strict=True)),)
            else:
                made = to.input(shape, value.dtype)
            alike = sum(one[:2] == (shape, value.dtype) for one in self._specs)
            self._specs.append((shape, value.dtype, alike))
            if value.layout is not None:
                made = value.layout.of(to, made)
        self._made[value] = made
        return made


class _Recorder(Lowering):
    """Knows of each step what it is for: a phase, or the position of the input it rearranges."""

    def __init__(self) -> None:
        super().__init__()
        self.phase = "setup"
        self.tags: list[str | int] = []
        self.given: dict[int | None, int] = {}

    def step(
        self, kernel: Any, inputs: Sequence[Value | None], layouts: Sequence[Any] = ()
    ) -> list[Value]:
        tag: str | int = self.phase
        if tag == "kernel" and kernel.name.startswith("onednn.reorder") and inputs[0] is not None:
            tag = self.given.get(inputs[0].number, tag)
        self.tags.append(tag)
        return super().step(kernel, inputs, layouts)


def _in_layout(to: Lowering, value: Value, layout: Any) -> Value:
    if value.layout == layout:
        return value
    made: Value = to.plain(value) if layout is None else layout.of(to, value)
    return made


def _elements(shape: Sequence[int], dtype: str, seed: int) -> Any:
    """Numbers around zero, and zeros of other types, which are indices of all that has elements."""
    if dtype in ("float32", "float64", "float16"):
        random = numpy.random.default_rng(seed)
        count = math.prod(shape)
        drawn = random.standard_normal(min(count, _DRAWN), "float32").astype(dtype)
        return np.asarray(numpy.resize(drawn, count).reshape(tuple(shape)))
    return np.zeros(tuple(shape), dtype=dtype)
