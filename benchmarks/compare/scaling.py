"""How the work of several threads overlaps, in functions that release the GIL.

A call of ours on an array uses all cores already, so that several threads cannot make many more of
them: what counts is how many calls they make in a second beside NumPy's, which use one core each.
"""

from __future__ import annotations

import os
import threading
import time
import timeit
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from benchmarks.compare.model import OURS, CaseResult, Effort, GroupResult
from benchmarks.compare.timing import calibrate, column
from benchmarks.peers import mxffi_peer, tvm_ffi_peer
from benchmarks.peers.build import MissingPeer
from benchmarks.peers.common import optional, require

THREADS = (1, 2, 4, 8)
TVM = "tvm-ffi"
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
ELEMENTS = 1 << 16
STEPS = 20_000
NUMPY = "numpy"
EXP = "exp of 65,536 float64 elements"
WORK = "a C++ function that computes in registers"
SINGLE_BLOCKS = 50  # of Effort.block_seconds: how long one thread is measured

MakeOperation = Callable[[], Callable[[], object]]


def in_place_exp(numpy: Any) -> MakeOperation:
    """Makes a call that needs no memory, so that only the work and the GIL are left."""

    def make() -> Callable[[], object]:
        x, out = (numpy.ones(ELEMENTS, dtype="float64") for _ in range(2))
        return lambda: numpy.exp(x, out=out)

    return make


def case(work: str, threads: int) -> str:
    """Name of a row."""
    one = "to one of NumPy's threads, " if work == EXP else ""
    return f"speed-up of {work}, {one}{threads} threads"


SCALED = case(WORK, THREADS[-1])
BESIDE_NUMPY = case(EXP, THREADS[-1])


def exps() -> dict[str, MakeOperation]:
    """The same function of arrays by contestant, on arrays of its own kind."""
    found = {OURS: in_place_exp(require("mx").np)}
    numpy = optional(NUMPY)
    if numpy is not None:
        found[NUMPY] = in_place_exp(numpy)
    return found


def works() -> dict[str, MakeOperation]:
    """The same C++ function by contestant: it touches no memory and is called without the GIL."""
    found: dict[str, MakeOperation] = {}
    for name, load in ((OURS, mxffi_peer.work), (TVM, tvm_ffi_peer.work)):
        with suppress(MissingPeer):
            found[name] = partial(partial, load(), STEPS)
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


def calls_within(make: MakeOperation, duration: float) -> int:
    """How many calls one thread makes in so many seconds."""
    operation = make()
    return calibrate(lambda number: timeit.timeit(operation, number=number), duration)


def scaling(effort: Effort) -> GroupResult:
    """How many times as many calls a second several threads make as one does: their own, or NumPy's
    where that is in the row."""
    result = GroupResult(f"Threads, on {CORES} cores", "x")
    for work, contestants in ((EXP, exps()), (WORK, works())):
        if OURS not in contestants:
            result.notes.append(f"{work}: left out, the library could not be built")
            continue
        # The same number for everyone, so that everyone does the same.
        calls = calls_within(contestants[OURS], effort.block_seconds * SINGLE_BLOCKS)
        rates: dict[int, dict[str, list[float]]] = {threads: {} for threads in THREADS}
        for _ in range(effort.process_rounds):
            singles = {name: seconds(make, 1, calls) for name, make in contestants.items()}
            for name, make in contestants.items():
                one = singles.get(NUMPY, singles[name])
                for threads in THREADS:
                    taken = singles[name] if threads == 1 else seconds(make, threads, calls)
                    rates[threads].setdefault(name, []).append(threads * one / taken)
        for threads, values in rates.items():
            columns = {name: column(rounds, calls) for name, rounds in values.items()}
            result.cases[case(work, threads)] = CaseResult(columns)
    return result
