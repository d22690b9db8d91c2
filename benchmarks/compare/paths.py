"""The Cython path against the ctypes path of the same functions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from benchmarks.compare import cases
from benchmarks.compare.model import Effort, GroupResult
from benchmarks.compare.timing import LOOP_NAME, compare
from benchmarks.compare.worker import Worker, WorkerError

CYTHON = "cython"
CTYPES = "ctypes"
ENVIRONMENTS = {
    CYTHON: {"MXNET_ENABLE_CYTHON": "1", "MXNET_ENFORCE_CYTHON": "1"},
    CTYPES: {"MXNET_ENABLE_CYTHON": "0", "MXNET_ENFORCE_CYTHON": "0"},
}


def start_workers(stack: ExitStack) -> dict[str, Worker]:
    """A worker on each path, ended with the stack."""
    return {name: stack.enter_context(Worker(env)) for name, env in ENVIRONMENTS.items()}


def paths(effort: Effort) -> GroupResult:
    """Times both paths in turns. Ratios are those of cython to ctypes."""
    result = GroupResult("The Cython path and the ctypes path", "ns")
    with ExitStack() as stack:
        try:
            workers = start_workers(stack)
        except WorkerError as error:
            return failed(result, error)
        take_failures(result, workers)
        table = {
            case: {name: worker.block(case) for name, worker in workers.items()}
            for case in (*cases.WORKLOADS, *cases.CALLS)
            if all(case in worker.cases for worker in workers.values())
        }
        loop = workers[CYTHON].block(LOOP_NAME)
        result.cases = compare(table, effort, loop, CYTHON)
    return result


def take_failures(result: GroupResult, workers: Mapping[str, Worker]) -> None:
    """Notes what the workers could not prepare."""
    for name, worker in workers.items():
        notes = [f"{name}: {failure}" for failure in worker.failures]
        result.notes += notes
        result.failures += notes


def failed(result: GroupResult, error: Exception) -> GroupResult:
    """The result with the note that this project did not run."""
    note = f"not measured: {error}"
    result.notes.append(note)
    result.failures.append(note)
    return result
