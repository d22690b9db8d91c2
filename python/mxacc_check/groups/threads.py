"""Several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .. import abi, stress
from ..cases import Case, call_of, expected_of
from ..plugin import AccError
from ..stress import Job, copy_job, operator_job
from ..suite import Group, Run
from ..trials import executor_of, need_operators

group = Group("threads", "several threads at once", on_devices=True)

ANY = (
    "All other functions may be called by several threads at once, unless MXAccDeviceInfo::flags "
    "has kMXAccOneThread: then MXNet takes a lock of the device's."
)
CONCURRENT = "run may be called by several threads at once"
COUNT = 8
ROUNDS = 25
# Of threads that are no Python's, which take microseconds for each.
NATIVE_ROUNDS = 400
QUICK_ROUNDS = 120
# A round of memory alone is short.
MEMORY_FACTOR = 8


def _together(run: Run, work: Callable[[int], str | None]) -> None:
    """Runs work(number) in threads; what one returns is wrong."""
    if run.plugin.info(run.device).flags & abi.ONE_THREAD:
        run.plugin.one_at_a_time()
    wrong: dict[int, str] = {}
    start = threading.Barrier(COUNT)

    def body(number: int) -> None:
        start.wait()
        try:
            text = work(number)
        except AccError as error:
            text = str(error)
        except Exception as error:
            text = repr(error)
        if text is not None:
            wrong[number] = text

    threads = [threading.Thread(target=body, args=(number,)) for number in range(COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        number, text = next(iter(wrong.items()))
        run.finding(
            "the same as in one thread", f"{len(wrong)} of {COUNT}, such as {number}: {text}"
        )


def _stress(run: Run, jobs: Sequence[Job], what: str, factor: int = 1) -> None:
    """Has threads of the runtime library do jobs at once."""
    rounds = factor * (QUICK_ROUNDS if run.quick else NATIVE_ROUNDS)
    one_thread = bool(run.plugin.info(run.device).flags & abi.ONE_THREAD)
    with run.step(f"{COUNT} threads, {rounds} times each: {what}"):
        wrong = stress.run(run.plugin, run.device, jobs, COUNT, rounds, one_thread)
        run.expect(not wrong, "the same as in one thread", wrong)


@group.check("memory", ANY)
def memory(run: Run) -> None:
    """Threads allocate, copy and free"""
    run.need_memory()
    sizes = (1, 77, 1000, 4096, 3, 20000, 512, 9)
    jobs = [copy_job(np.full(size, number + size, "float32")) for number, size in enumerate(sizes)]
    _stress(run, jobs, "memory, and copies there and back", MEMORY_FACTOR)


@group.check(
    "handles",
    "*out may be any handle that is not NULL and that no other living memory of the device has.",
)
def handles(run: Run) -> None:
    """No two threads get the same memory"""
    run.need_memory()
    found: list[int | None] = []

    def work(number: int) -> str | None:
        found.extend([run.plugin.alloc(64, 64, run.device) for _ in range(4 * ROUNDS)])
        return None

    with run.step(f"{COUNT} threads, {4 * ROUNDS} pieces each"):
        _together(run, work)
        run.expect(len(set(found)) == len(found), f"{len(found)} handles", len(set(found)))
        for handle in set(found):
            run.plugin.free(run.device, handle)


def _variants(case: Case, count: int) -> Iterator[Case]:
    """A case with other numbers each time."""
    for number in range(count):
        arguments = tuple(
            item + item.dtype.type(number)
            if isinstance(item, np.ndarray) and item.dtype.kind == "f"
            else item
            for item in case.arguments
        )
        yield replace(case, arguments=arguments)


def _jobs(run: Run, shared: bool) -> list[Job]:
    """Operators of several kinds that the library executes, each with several inputs."""
    x = np.linspace(-1, 1, 24 * 40, dtype="float32").reshape(24, 40)
    given = [
        Case("add", "(24, 40)", (x, x[:1].copy())),
        Case("matmul", "(24, 40)", (x, x.T.copy()), is_sum=True),
        Case("sum", "(24, 40)", (x,), {"axis": 1}, is_sum=True),
        Case("exp", "(24, 40)", (x,)),
        Case("softmax", "(24, 40)", (x,)),
        Case("negative", "(24, 40)", (x,)),
        Case("max", "(24, 40)", (x,), {"axis": 0}),
        Case("transpose", "(24, 40)", (x,)),
        Case("concatenate", "(24, 40)", ([x, x],), {"axis": 0}),
    ]
    jobs = []
    for case in given:
        executor = executor_of(run, case, call_of(case), expected_of(case))
        if executor is None:
            continue
        concurrent = executor.executor.flags & abi.CONCURRENT
        if not shared:
            executor.close()
        elif not concurrent:
            executor.close()
            continue
        for one in _variants(case, 3):
            jobs.append(operator_job(one, expected_of(one), executor if shared else None))
    # Neighbours among threads begin with operators that are alike.
    return jobs


def _need_jobs(run: Run, shared: bool, otherwise: str) -> list[Job]:
    need_operators(run)
    jobs = _jobs(run, shared)
    if not jobs:
        run.skip(otherwise)
    return jobs


@group.check("executors", ANY)
def executors(run: Run) -> None:
    """Threads make executors and run them"""
    jobs = _need_jobs(run, False, "the library executes none of the operators that are tried")
    _stress(run, jobs, "an executor, its run, and its end")


@group.check("one_executor", CONCURRENT)
def one_executor(run: Run) -> None:
    """Threads share executors that say that they are kMXAccConcurrent"""
    jobs = _need_jobs(run, True, "executors are not kMXAccConcurrent")
    _stress(run, jobs, "runs of executors that all share")
    for executor in {id(job.executor): job.executor for job in jobs}.values():
        if executor is not None:
            executor.close()


@group.check(
    "errors", "stays valid until the calling thread's next call into the library, or until finalize"
)
def errors(run: Run) -> None:
    """Each thread has errors of its own"""
    run.need_memory()

    def work(number: int) -> str | None:
        for turn in range(ROUNDS):
            size = (1 << 60) + number * ROUNDS + turn
            try:
                run.plugin.alloc(size, 64, run.device)
            except AccError as error:
                if error.malformed:
                    return error.malformed
            else:
                return f"{size} bytes were allocated"
        return None

    with run.step(f"{COUNT} threads, {ROUNDS} errors each"):
        _together(run, work)
