"""The tables, a group each. Every group runs in a process of its own: see `run_apart`.

As a program: `python -m benchmarks.compare.groups NAME OUTPUT [--quick]` runs one group here and
writes its result as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.compare import accelerators, cases
from benchmarks.compare.growth import memory, registry
from benchmarks.compare.imports import imports
from benchmarks.compare.inline import inline
from benchmarks.compare.instructions import instructions
from benchmarks.compare.libraries import libraries
from benchmarks.compare.model import OURS, QUICK, Effort, GroupResult
from benchmarks.compare.operators import operators
from benchmarks.compare.paths import paths
from benchmarks.compare.scaling import CORES, scaling
from benchmarks.compare.timing import LOOP, SETTLE_SECONDS, block_of, compare
from benchmarks.peers import roster

ROOT = Path(__file__).resolve().parents[2]


def compare_all(
    title: str,
    loaders: Sequence[roster.Loader],
    order: Sequence[str],
    effort: Effort,
    settle_seconds: float = 0.0,
) -> GroupResult:
    """A table of times in nanoseconds, of everyone who is present."""
    gathered = roster.Gathered(loaders)
    table = {
        case: {column: block_of(call) for column, call in gathered.calls[case].items()}
        for case in order
        if case in gathered.calls
    }
    rows = compare(table, effort, block_of(LOOP), OURS, settle_seconds)
    return GroupResult(title, "ns", rows, gathered.notes, gathered.failures)


def calls(effort: Effort) -> GroupResult:
    """The argument cases."""
    return compare_all("Cost of a call", roster.CALLS, cases.both_ways(cases.CALLS), effort)


def values(effort: Effort) -> GroupResult:
    """Objects, containers and texts, in and out."""
    return compare_all("Values in and out", roster.VALUES, cases.both_ways(cases.VALUES), effort)


def workloads(effort: Effort) -> GroupResult:
    """The workloads on small arrays."""
    return compare_all("Small arrays", roster.WORKLOADS, cases.both_ways(cases.WORKLOADS), effort)


def large(effort: Effort) -> GroupResult:
    """Large products. A pause lets the thread pools of the others stop spinning."""
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "?")
    title = f"Large products, BLAS threads: {threads}"
    return compare_all(title, roster.LARGE, cases.LARGE, effort, SETTLE_SECONDS)


def elementwise(effort: Effort) -> GroupResult:
    """Operators on arrays that a cache holds, one thread each."""
    title = f"Operators on {cases.ELEMENTS:,} elements"
    return compare_all(title, roster.ELEMENTWISE, cases.ELEMENTWISE, effort)


@dataclass(frozen=True)
class Group:
    """A group's function, and the environment variables its process gets."""

    run: Callable[[Effort], GroupResult]
    environment: Mapping[str, str] = field(default_factory=dict)


def threads(count: int) -> dict[str, str]:
    """Environment that gives every BLAS the same number of threads."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return dict.fromkeys(names, str(count))


GROUPS: Mapping[str, Group] = {
    "calls": Group(calls),
    "values": Group(values),
    "workloads": Group(workloads),
    "elementwise": Group(elementwise, threads(1)),
    "operators": Group(operators, threads(1)),
    "large": Group(large, threads(CORES)),
    "large-one-thread": Group(large, threads(1)),
    "threads": Group(scaling),
    "paths": Group(paths),
    "libraries": Group(libraries),
    "instructions": Group(instructions),
    "inline": Group(inline),
    "imports": Group(imports),
    "accelerator": Group(accelerators.accelerators, threads(1)),
    "accelerator-memory": Group(accelerators.memory),
    "registry": Group(registry),
    "memory": Group(memory),
}


def run_apart(name: str, quick: bool) -> GroupResult:
    """Runs a group in a fresh process. A process that dies is a failure in the group's notes."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "result.json"
        command = [sys.executable, "-m", "benchmarks.compare.groups", name, str(output)]
        environment = {**os.environ, **GROUPS[name].environment}
        done = subprocess.run(
            command + ["--quick"] * quick,
            cwd=ROOT,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return GroupResult.from_json(json.loads(output.read_text()))
    note = f"exit status {done.returncode}: {done.stderr.strip()[-600:]}"
    return GroupResult(name, "ns", {}, [note], [note])


def main() -> None:
    """Runs one group in this process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=GROUPS)
    parser.add_argument("output", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    result = GROUPS[options.name].run(QUICK if options.quick else Effort())
    options.output.write_text(json.dumps(result.to_json()))


if __name__ == "__main__":
    main()
