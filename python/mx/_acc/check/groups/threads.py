"""Several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from .. import abi
from ..cases import Case, expected_of
from ..plugin import AccError, Array, Executor
from ..suite import Group, Run
from .operators import need_operators, simple_case

group = Group("threads", "several threads at once")

ANY = (
    "All other functions may be called by several threads at once, unless MXAccDeviceInfo::flags "
    "has kMXAccOneThread: then MXNet takes a lock of the device's."
)
CONCURRENT = "run may be called by several threads at once"
COUNT = 8
ROUNDS = 25


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


@group.check("memory", ANY)
def memory(run: Run) -> None:
    """Threads allocate, copy and free"""
    run.need_memory()

    def work(number: int) -> str | None:
        for turn in range(ROUNDS):
            values = np.full(1000 + 100 * number + turn, number * ROUNDS + turn, "float32")
            one = run.plugin.to_device(values, run.device)
            came = run.plugin.to_host(one)
            one.free()
            if not (came == values).all():
                return f"{int((came != values).sum())} elements came back otherwise"
        return None

    with run.step(f"{COUNT} threads, {ROUNDS} rounds"):
        _together(run, work)


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


def _run_once(run: Run, case: Case, executor: Executor, seed: int) -> str | None:
    """Runs an executor on arrays of this thread's."""
    arrays: tuple[Array, ...] = tuple(array + np.float32(seed) for array in case.arguments)
    (expected,) = expected_of(Case(case.name, case.geometry, arrays))
    inputs = [run.plugin.to_device(array, run.device) for array in arrays]
    output = run.plugin.empty(expected.shape, expected.dtype, run.device)
    executor.run(inputs, [output])
    came = run.plugin.to_host(output)
    for one in (*inputs, output):
        one.free()
    return None if (came == expected).all() else f"{case.text} gives {came[:4]}..."


@group.check("executors", ANY)
def executors(run: Run) -> None:
    """Threads make executors and run them"""
    need_operators(run)
    if simple_case(run) is None:
        run.skip("the library carries out neither add nor negative nor multiply")

    def work(number: int) -> str | None:
        for turn in range(ROUNDS):
            made = simple_case(run)
            if made is None:
                return "an operator that was supported is no longer"
            wrong = _run_once(run, made[0], made[3], number + turn)
            made[3].close()
            if wrong:
                return wrong
        return None

    with run.step(f"{COUNT} threads, {ROUNDS} executors each"):
        _together(run, work)


@group.check("one_executor", CONCURRENT)
def one_executor(run: Run) -> None:
    """Threads share an executor that says it is kMXAccConcurrent"""
    need_operators(run)
    made = simple_case(run)
    if made is None:
        run.skip("the library carries out neither add nor negative nor multiply")
        return
    case, _, _, executor = made
    if not executor.executor.flags & abi.CONCURRENT:
        executor.close()
        run.skip("executors are not kMXAccConcurrent")

    def work(number: int) -> str | None:
        for turn in range(4 * ROUNDS):
            wrong = _run_once(run, case, executor, number + turn)
            if wrong:
                return wrong
        return None

    with run.step(f"{COUNT} threads, {4 * ROUNDS} runs each"):
        _together(run, work)
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
