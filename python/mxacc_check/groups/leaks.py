"""What calls leave behind in the process and on the device."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial

import numpy as np

from .. import abi, cases, resources
from ..cases import Case
from ..chains import Chain, X, infer, loaded, supported
from ..plugin import AccError, Array, Executor, Memory
from ..suite import Group, Run
from ..trials import Trial, executor_of, need_operators, simple_case

group = Group("leaks", "memory that calls leave behind", on_devices=True)

FREED = (
    "Where a function fails, what it was to fill in is not looked at, and nothing is left "
    "allocated."
)
STATE = "Frees state; no run is under way, in a stream neither."
RUN = (
    "Executes the operator; shapes, types and strides are those it was asked for, data and "
    "byte_offset differ from call to call."
)
COPIES = "Copies count tensors of the host, sources, into tensors on the device"
STREAMS = "Streams and events: all of them, or none."
ROUNDS = 400
QUICK = 150
# Bytes: a leak of less than this by each call may be the allocator's rounding.
LEAST = 48
REPEATS = 3


def _free_memory(run: Run) -> int:
    """Of the device; that of a host-visible one is the process's, or everybody's."""
    info = run.plugin.info(run.device)
    return 0 if info.flags & abi.HOST_VISIBLE else int(info.memory_free)


def _loop(run: Run, what: str, call: Callable[[], None]) -> None:
    """Whether calls lose memory each time, and not at first alone, as where caches fill."""
    rounds = QUICK if run.quick else ROUNDS
    with run.step(f"{rounds} times {what}"):
        if resources.is_sanitized():
            run.note("with a sanitizer in the process leaks are its business")
            return
        of_process, of_device = [], []
        for _ in range(REPEATS):
            before = resources.allocated(), _free_memory(run)
            for _ in range(rounds):
                call()
            of_process.append((resources.allocated() - before[0]) // rounds)
            of_device.append((before[1] - _free_memory(run)) // rounds)
            if of_process[-1] < LEAST and of_device[-1] < LEAST:
                return
        if of_process[-1] >= LEAST:
            got = f"{of_process[-1]} bytes more by each call"
            run.finding("as much memory of the process as before", got)
        # Others use the device, too, but not by the same amount each time.
        if LEAST <= max(of_device) < 2 * min(of_device):
            got = f"{of_device[-1]} bytes less by each call"
            run.finding("as much free memory of the device as before", got)


@group.check("memory", "Frees what mx_alloc gave.")
def memory(run: Run) -> None:
    """Allocating and freeing"""
    run.need_memory()

    def once(size: int) -> None:
        run.plugin.free(run.device, run.plugin.alloc(size, 64, run.device))

    for size in (1, 1000, 100000):
        _loop(run, f"{size} bytes", partial(once, size))


@group.check("copies", COPIES)
def copies(run: Run) -> None:
    """Copies there and back, with and without a stream"""
    run.need_memory()
    values = np.arange(300, dtype="float32")
    there, came = run.plugin.to_device(values, run.device), np.zeros_like(values)
    stream = run.plugin.create("Stream", run.device) if run.plugin.has("createStream") else None

    def call(stream: int | None = None) -> None:
        run.plugin.copy("copyToAcc", there, values, stream)
        run.plugin.copy("copyFromAcc", came, there, stream)
        if stream is not None:
            run.plugin.call("syncStream", run.device, stream)

    _loop(run, "a copy there and back", call)
    if stream is not None:
        _loop(run, "a copy there and back in a stream", lambda: call(stream))
        run.plugin.destroy("Stream", stream, run.device)
    there.free()


@group.check("streams", STREAMS)
def streams(run: Run) -> None:
    """Streams and events that come and go"""
    run.need("createStream", "destroyStream", "createEvent", "recordEvent", "waitEvent")
    stream = run.plugin.create("Stream", run.device)

    def event() -> None:
        made = run.plugin.create("Event", run.device)
        run.plugin.call("recordEvent", run.device, made, stream)
        run.plugin.call("waitEvent", run.device, made, stream)
        run.plugin.call("syncStream", run.device, stream)
        run.plugin.destroy("Event", made, run.device)

    def one_stream() -> None:
        run.plugin.destroy("Stream", run.plugin.create("Stream", run.device), run.device)

    _loop(run, "an event that is recorded and waited for", event)
    _loop(run, "a stream", one_stream)
    run.plugin.destroy("Stream", stream, run.device)


def _simple(run: Run) -> list[Case]:
    """Operators of several kinds that the library executes."""
    x = np.arange(12, dtype="float32").reshape(3, 4)
    given = [
        Case("add", "", (x, x + 1)),
        Case("negative", "", (x,)),
        Case("sum", "", (x,), {"axis": 0}, is_sum=True),
        Case("matmul", "", (x, x.T.copy()), is_sum=True),
        Case("softmax", "", (x,)),
        Case("transpose", "", (x,)),
        Case("take", "", (x[0].copy(), np.array([1, 0])), {"mode": "clip"}),
    ]
    found = []
    for case in given:
        executor = executor_of(run, case, cases.call_of(case), cases.expected_of(case))
        if executor is not None:
            executor.close()
            found.append(case)
    return found


@group.check("executors", STATE)
def executors(run: Run) -> None:
    """Executors that come and go"""
    need_operators(run)

    def once(case: Case, call: cases.Call, expected: list[Array]) -> None:
        executor = executor_of(run, case, call, expected)
        if executor is not None:
            executor.close()

    for case in _simple(run):
        made = partial(once, case, cases.call_of(case), cases.expected_of(case))
        _loop(run, f"an executor of {case.name}", made)


@group.check("runs", RUN)
def runs(run: Run) -> None:
    """Operators that are executed"""
    need_operators(run)
    stream = run.plugin.create("Stream", run.device) if run.plugin.has("createStream") else None

    def once(executor: Executor, inputs: list[Memory], outputs: list[Memory]) -> None:
        executor.run(inputs, outputs, stream)
        if stream is not None:
            run.plugin.call("syncStream", run.device, stream)

    for case in _simple(run):
        call, expected = cases.call_of(case), cases.expected_of(case)
        executor = executor_of(run, case, call, expected)
        if executor is None:
            continue
        inputs = [run.plugin.to_device(one, run.device) for one in call.inputs.values()]
        outputs = [run.plugin.to_device(one, run.device) for one in expected]
        _loop(run, f"a run of {case.name}", partial(once, executor, inputs, outputs))
        executor.close()
        for one in (*inputs, *outputs):
            one.free()
    if stream is not None:
        run.plugin.destroy("Stream", stream, run.device)


@group.check("models", "Frees state; no infer is under way, in a stream neither.")
def models(run: Run) -> None:
    """Models that come and go, and their runs"""
    chain = Chain(supported(run)[:1])

    def once() -> None:
        with loaded(run, chain):
            pass

    _loop(run, f"a model of {chain.operators[0]}", once)
    with loaded(run, chain) as model:
        _loop(run, f"a run of a model of {chain.operators[0]}", lambda: _infer(run, model))


def _infer(run: Run, model: abi.MXAccModel) -> None:
    infer(run, model, X, 0)


@group.check("errors", FREED)
def errors(run: Run) -> None:
    """Calls that fail"""
    run.need_memory()

    def fail() -> None:
        try:
            handle = run.plugin.alloc(1 << 60, 64, run.device)
        except AccError:
            return
        run.plugin.free(run.device, handle)

    _loop(run, "an allocation of too much", fail)


@group.check(
    "device",
    "Frees all that is allocated, before finalize; *live is how many there were.",
    fresh=True,
)
def device(run: Run) -> None:
    """Executors leave no memory of the device behind"""
    need_operators(run)
    run.need("mx_releaseAll")
    with run.step("20 executors, each run once and freed"):
        for _ in range(20):
            made = simple_case(run)
            if made is None:
                run.skip("the library executes neither add nor negative nor multiply")
            case, call, expected, executor = made
            Trial(run, case, call, expected, executor).once("a run")
            executor.close()
        live = ctypes.c_size_t(0)
        run.plugin.call("mx_releaseAll", run.device, ctypes.byref(live))
        run.expect(live.value == 0, "no memory alive", f"{live.value} pieces")
    run.close()
