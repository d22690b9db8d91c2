"""What must not grow: the cost of a call with the registry, and memory with the calls made."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.compare import cases
from benchmarks.compare.model import CaseResult, Column, Effort, GroupResult
from benchmarks.compare.paths import failed, start_workers, take_failures
from benchmarks.compare.timing import LOOP_NAME, Rounds, in_turns, summarize
from benchmarks.compare.worker import Worker, WorkerError

INSTALLED = "registry as installed"
GROWN = "registry grown"
CALL_CASES = (cases.NO_ARGUMENTS, cases.THREE_INTS, cases.ZEROS)


def registry(effort: Effort) -> GroupResult:
    """A call with the functions that come with the package, and with many more registered.

    The rounds come from several pairs of processes: where a process happens to have its memory
    makes a difference of its own.
    """
    result = GroupResult(f"{effort.registry_size:,} more functions registered", "ns")
    rounds: dict[str, Rounds] = {}
    for _ in range(effort.process_pairs):
        try:
            measure_pair(effort, rounds)
        except WorkerError as error:
            return failed(result, error)
    for case, values in rounds.items():
        result.cases[case] = summarize(values, {}, GROWN)
    return result


def measure_pair(effort: Effort, rounds: dict[str, Rounds]) -> None:
    """Adds the rounds of a fresh pair of processes, by case."""
    with Worker({}, effort.registry_size) as grown, Worker({}) as installed:
        pair = {GROWN: grown, INSTALLED: installed}
        table = {
            case: {name: worker.block(case) for name, worker in pair.items()}
            | {LOOP_NAME: installed.block(LOOP_NAME)}
            for case in (*CALL_CASES, cases.LOOKUP)
            if case in grown.cases and case in installed.cases
        }
        for case, row in in_turns(table, effort).items():
            for name, values in row.without_loop().items():
                rounds.setdefault(case, {}).setdefault(name, []).extend(values)


def memory(effort: Effort) -> GroupResult:
    """Growth of resident memory over many calls of every argument kind, on both paths."""
    result = GroupResult(f"Resident memory after {effort.memory_calls:,} calls", "KiB")
    with ExitStack() as stack:
        try:
            workers = start_workers(stack)
        except WorkerError as error:
            return failed(result, error)
        take_failures(result, workers)
        for case in (*cases.CALLS, *cases.WORKLOADS):
            grown = {
                name: worker.growth(case, effort.memory_calls) / 1024
                for name, worker in workers.items()
                if case in worker.cases
            }
            if grown:
                columns = {n: Column(v, v, v, effort.memory_calls) for n, v in grown.items()}
                result.cases[case] = CaseResult(columns)
    return result
