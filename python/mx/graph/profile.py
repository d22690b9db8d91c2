"""How long the steps of a run took."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from time import perf_counter_ns
from typing import Any


@dataclass(frozen=True)
class Timed:
    """One step of a run: the node, what executed it, the shapes that it gave, and when.

    A group of nodes that is one model of a device has `parts`, one a node, where its library tells
    of them. What the model takes around them is in its own duration alone.
    """

    name: str
    implementation: str
    shapes: tuple[tuple[int, ...], ...]
    begin_ns: int  # since the run began
    duration_ns: int
    parts: tuple[Timed, ...] = ()


class Recorder:
    """Collects the steps of one run as they end."""

    def __init__(self) -> None:
        self.steps: list[Timed] = []
        self._begin = perf_counter_ns()

    def __call__(self, done: Sequence[Any], times: Sequence[int]) -> None:
        """What a compiled plan has executed, and the nanoseconds that each step of it took."""
        at = perf_counter_ns() - self._begin - sum(times)
        for (name, implementation, _, shapes, _), time in zip(done, times, strict=True):
            told = tuple(tuple(shape) for shape in shapes)
            self.steps.append(Timed(name, implementation, told, at, time))
            at += time

    def add(
        self,
        name: str,
        implementation: str,
        shapes: Sequence[Sequence[int]],
        begin_ns: int,
        parts: Sequence[Timed] = (),
    ) -> None:
        """A step that ends now; `begin_ns` and those of its parts are of `time.perf_counter_ns`."""
        told = tuple(tuple(shape) for shape in shapes)
        took = perf_counter_ns() - begin_ns
        since = tuple(replace(part, begin_ns=part.begin_ns - self._begin) for part in parts)
        self.steps.append(Timed(name, implementation, told, begin_ns - self._begin, took, since))


@dataclass(frozen=True)
class Profile:
    """The steps of one run in order; `print` shows them as a table, the slowest marked."""

    steps: tuple[Timed, ...]
    outputs: tuple[Any, ...]

    @property
    def total_ns(self) -> int:
        """Nanoseconds of all steps."""
        return sum(step.duration_ns for step in self.steps)

    def table(self, most: int | None = None) -> str:
        """A row a step: microseconds, share, node, implementation, shapes; those of a group's parts
        follow it. With `most` the slowest ones, of groups with parts these."""
        if most is None:
            chosen = [(each, each is not step) for step in self.steps for each in _with_parts(step)]
        else:
            steps = [each for step in self.steps for each in step.parts or (step,)]
            steps.sort(key=lambda step: -step.duration_ns)
            chosen = [(step, False) for step in steps[:most]]
        total = max(self.total_ns, 1)
        rows = [("us", "%", "node", "implementation", "output")]
        for step, is_part in chosen:
            shapes = " ".join("x".join(map(str, shape)) or "0-d" for shape in step.shapes)
            share = 100 * step.duration_ns / total
            rows.append(
                (f"{step.duration_ns / 1e3:.1f}", f"{share:.1f}", "  " * is_part + step.name,
                 step.implementation, shapes)
            )  # fmt: skip
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = []
        for row in rows:
            numbers = [row[column].rjust(widths[column]) for column in (0, 1)]
            words = [row[column].ljust(widths[column]) for column in (2, 3, 4)]
            lines.append("  ".join([*numbers, *words]).rstrip())
        return "\n".join([*lines, f"{total / 1e3:.1f} us in {len(self.steps)} steps"])

    def save_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes what trace viewers read: chrome://tracing and Perfetto."""
        Path(path).write_text(json.dumps({"traceEvents": list(self._events())}), encoding="utf-8")

    def _events(self) -> Iterator[dict[str, Any]]:
        for step in chain.from_iterable(map(_with_parts, self.steps)):
            yield {
                "name": step.name,
                "cat": step.implementation,
                "ph": "X",
                "ts": step.begin_ns / 1e3,
                "dur": step.duration_ns / 1e3,
                "pid": 0,
                "tid": 0,
                "args": {"implementation": step.implementation, "shapes": step.shapes},
            }

    def __str__(self) -> str:
        return self.table()


def _with_parts(step: Timed) -> tuple[Timed, ...]:
    return (step, *step.parts)
