"""What must not grow: the cost of a call with the registry, and memory with the calls made."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.compare import cases
from benchmarks.compare.model import CaseResult, Column, Effort, GroupResult
from benchmarks.compare.paths import failed, start_workers
from benchmarks.compare.timing import compare_blocks
from benchmarks.compare.worker import LOOP_CASE, Worker, WorkerError

INSTALLED = "registry as installed"
GROWN = "registry grown"
CALL_CASES = (cases.NO_ARGUMENTS, cases.THREE_INTS, cases.ZEROS)


def registry(effort: Effort) -> GroupResult:
    """A call with the functions that come with the package, and with many more registered."""
    result = GroupResult(f"{effort.registry_size:,} more functions registered", "ns")
    with ExitStack() as stack:
        try:
            workers = {
                GROWN: stack.enter_context(Worker({}, effort.registry_size)),
                INSTALLED: stack.enter_context(Worker({})),
            }
        except WorkerError as error:
            return failed(result, error)
        for case in (*CALL_CASES, cases.LOOKUP):
            blocks = {name: worker.block(case) for name, worker in workers.items()}
            loop = workers[INSTALLED].block(LOOP_CASE)
            result.cases[case] = compare_blocks(blocks, effort, loop, GROWN)
    return result


def memory(effort: Effort) -> GroupResult:
    """Growth of resident memory over many calls of every argument kind, on both paths."""
    result = GroupResult(f"Resident memory after {effort.memory_calls:,} calls", "KiB")
    with ExitStack() as stack:
        try:
            workers = start_workers(stack)
        except WorkerError as error:
            return failed(result, error)
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
