"""How the work of several threads overlaps, in functions that release the GIL."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

from benchmarks.compare.model import OURS, CaseResult, Column, Effort, GroupResult
from benchmarks.peers.common import optional, require

THREADS = (1, 2, 4, 8)
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
ELEMENTS = 1 << 16
CASE = "speed-up of exp of 65,536 float64 elements, {} threads"
SCALED = CASE.format(THREADS[-1])

MakeOperation = Callable[[], Callable[[], object]]


def in_place_exp(numpy: Any) -> MakeOperation:
    """Makes a call that needs no memory, so that only the work and the GIL are left."""

    def make() -> Callable[[], object]:
        x, out = (numpy.ones(ELEMENTS, dtype="float64") for _ in range(2))
        return lambda: numpy.exp(x, out=out)

    return make


def operations() -> dict[str, MakeOperation]:
    """The same function by contestant, on arrays of its own kind."""
    found = {OURS: in_place_exp(require("mx").np)}
    numpy = optional("numpy")
    if numpy is not None:
        found["numpy"] = in_place_exp(numpy)
    return found


def seconds(make: MakeOperation, threads: int, calls: int) -> float:
    """Time in which each of so many threads makes so many calls, on arrays of its own."""
    barrier = threading.Barrier(threads + 1)

    def work() -> None:
        operation = make()
        operation()
        barrier.wait()
        for _ in range(calls):
            operation()

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    barrier.wait()
    start = time.perf_counter()
    for worker in workers:
        worker.join()
    return time.perf_counter() - start


def scaling(effort: Effort) -> GroupResult:
    """How many times as many calls a second several threads make as one does."""
    result = GroupResult(f"Threads, on {CORES} cores", "x")
    calls = max(1, round(effort.block_seconds * 20_000))
    rates: dict[str, dict[int, list[float]]] = {}
    contestants = operations()
    for _ in range(effort.process_rounds):
        for name, operation in contestants.items():
            single = seconds(operation, 1, calls)
            for threads in THREADS:
                taken = seconds(operation, threads, calls)
                speed_up = threads * single / taken
                rates.setdefault(name, {}).setdefault(threads, []).append(speed_up)
    for threads in THREADS:
        columns = {}
        for name, values in rates.items():
            low, median, high = statistics.quantiles(values[threads], n=4, method="inclusive")
            columns[name] = Column(median, low, high, calls)
        result.cases[CASE.format(threads)] = CaseResult(columns)
    return result
