"""Streams and events."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..cases import Case, expected_of
from ..plugin import UNTOUCHED, Array, tensors
from ..suite import Group, Run
from ..trials import simple_case
from .copies import expect_same

group = Group("streams", "streams and events", on_devices=True)

ORDER = "What is given to one stream is done in order; between streams only events order it"
GONE = (
    "The structs that a call was given may be gone when it returns, and the library copies what it "
    "needs of them"
)
WAITS = "Destroying waits for what is under way."
MARKS = "Marks what was given to the stream so far, instead of what the event marked before."
WAIT = (
    "Has the stream wait for what the event marks at this call; with no stream, the calling thread."
)
SIZE = 1 << 20
ROUNDS = 20


@contextmanager
def _stream(run: Run) -> Iterator[int]:
    run.need("createStream", "destroyStream", "syncStream")
    run.need_memory()
    stream = run.plugin.create("Stream", run.device)
    if stream is None:
        run.finding("a stream", "NULL, which stands for blocking calls")
        run.skip("there is no stream")
    yield stream
    run.plugin.destroy("Stream", stream, run.device)


@contextmanager
def _event(run: Run) -> Iterator[int | None]:
    run.need("createEvent", "destroyEvent", "recordEvent", "waitEvent")
    event = run.plugin.create("Event", run.device)
    yield event
    run.plugin.destroy("Event", event, run.device)


def _sync(run: Run, stream: int) -> None:
    run.plugin.call("syncStream", run.device, stream)


def _numbers(size: int = SIZE, seed: int = 0) -> Array:
    values: Array = np.arange(seed, seed + size, dtype="float32")
    return values


@group.check("many", "A queue of work on a device; NULL stands for blocking calls.")
def many(run: Run) -> None:
    """Streams and events come and go, each with a handle of its own"""
    run.need("createStream", "destroyStream", "syncStream")
    for kind in ("Stream", "Event"):
        with run.step(f"16 at once, of create{kind}"):
            made = [run.plugin.create(kind, run.device) for _ in range(16)]
            run.expect(None not in made, "a handle", "NULL")
            run.expect(len(set(made)) == len(made), "16 different handles", len(set(made)))
            if kind == "Stream":
                for one in made:
                    run.plugin.call("syncStream", run.device, one)
            for one in made:
                run.plugin.destroy(kind, one, run.device)


@group.check("order", ORDER)
def order(run: Run) -> None:
    """Copies and runs that are given to a stream are done one after the other"""
    with _stream(run) as stream:
        made = simple_case(run, 4096)
        for number in range(ROUNDS):
            with run.step(f"there, a run, back: round {number}"):
                if made is None:
                    values = expected = _numbers(4096, number)
                    memory = output = run.plugin.to_device(values, run.device, stream)
                    inputs = [memory]
                else:
                    case, _, _, executor = made
                    values = _numbers(4096, number)
                    arrays = tuple(values + one for one in range(len(case.arguments)))
                    (expected,) = expected_of(Case(case.name, case.shapes, arrays))
                    inputs = [run.plugin.to_device(one, run.device, stream) for one in arrays]
                    output = run.plugin.empty(expected.shape, expected.dtype, run.device)
                    executor.run(inputs, [output], stream)
                came = np.zeros_like(expected)
                run.plugin.copy("copyFromAcc", came, output, stream)
                _sync(run, stream)
                expect_same(run, came, expected)
                for memory in {id(one): one for one in [*inputs, output]}.values():
                    memory.free()
        if made is not None:
            made[3].close()


@group.check("zero", ORDER)
def zero(run: Run) -> None:
    """Memory is set to 0 between the copies that are given to a stream before and behind that"""
    run.need("mx_zero")
    with _stream(run) as stream:
        for number in range(ROUNDS):
            with run.step(f"there, to 0, back: round {number}"):
                values = _numbers(seed=number + 1)
                memory = run.plugin.to_device(values, run.device, stream)
                run.plugin.call("mx_zero", run.device, memory.handle, 4, 4 * SIZE - 8, stream, 0)
                came = np.zeros_like(values)
                run.plugin.copy("copyFromAcc", came, memory, stream)
                _sync(run, stream)
                values[1:-1] = 0
                expect_same(run, came, values)
                memory.free()


@group.check("structs", GONE)
def structs(run: Run) -> None:
    """The structs of a call may be gone before the work is done"""
    with _stream(run) as stream:
        for number in range(ROUNDS):
            with run.step(f"tensors that are overwritten after the call, round {number}"):
                values = _numbers(seed=number)
                memory, came = (
                    run.plugin.empty(values.shape, "float32", run.device),
                    np.zeros_like(values),
                )
                for function, targets, sources in (
                    ("copyToAcc", memory, values),
                    ("copyFromAcc", came, memory),
                ):
                    to, given = tensors([targets]), tensors([sources])
                    run.plugin.call(function, run.device, to, given, 1, stream)
                    for side in (to, given):
                        for extents in (side[0].tensor.shape, side[0].tensor.strides):
                            extents[0] = -1
                        ctypes.memset(side, UNTOUCHED, ctypes.sizeof(side))
                _sync(run, stream)
                expect_same(run, came, values)
                memory.free()


@group.check("blocking", "Without a stream the copies are done when it returns.")
def blocking(run: Run) -> None:
    """Calls without a stream are done when they return, whatever is under way elsewhere"""
    with _stream(run) as stream, run.step("a copy without a stream beside one in a stream"):
        values = _numbers()
        one, other = (run.plugin.empty(values.shape, "float32", run.device) for _ in range(2))
        run.plugin.copy("copyToAcc", one, values, stream)
        run.plugin.copy("copyToAcc", other, values + 1)
        expect_same(run, run.plugin.to_host(other), values + 1)
        _sync(run, stream)
        expect_same(run, run.plugin.to_host(one), values)
        one.free()
        other.free()


@group.check("events", WAIT)
def events(run: Run) -> None:
    """A stream waits for what an event marks in another"""
    with _stream(run) as first, _stream(run) as second, _event(run) as event:
        for number in range(ROUNDS):
            with run.step(f"one stream writes, another reads: round {number}"):
                values, came = _numbers(seed=number), np.zeros(SIZE, "float32")
                memory = run.plugin.to_device(np.zeros_like(values), run.device)
                run.plugin.copy("copyToAcc", memory, values, first)
                run.plugin.call("recordEvent", run.device, event, first)
                run.plugin.call("waitEvent", run.device, event, second)
                run.plugin.copy("copyFromAcc", came, memory, second)
                _sync(run, second)
                expect_same(run, came, values)
                _sync(run, first)
                memory.free()


@group.check("host_waits", WAIT)
def host_waits(run: Run) -> None:
    """The calling thread waits for an event"""
    with _stream(run) as stream, _event(run) as event:
        with run.step("an event that marks nothing"):
            run.plugin.call("waitEvent", run.device, event, None)
            run.plugin.call("waitEvent", run.device, event, stream)
            _sync(run, stream)
        for number in range(ROUNDS):
            with run.step(f"a copy back, and a wait for it: round {number}"):
                values, came = _numbers(seed=number), np.zeros(SIZE, "float32")
                memory = run.plugin.to_device(values, run.device)
                run.plugin.copy("copyFromAcc", came, memory, stream)
                run.plugin.call("recordEvent", run.device, event, stream)
                run.plugin.call("waitEvent", run.device, event, None)
                expect_same(run, came, values)
                _sync(run, stream)
                memory.free()


@group.check("marks_again", MARKS)
def marks_again(run: Run) -> None:
    """An event that is recorded again marks the later position"""
    with _stream(run) as stream, _event(run) as event, run.step("two copies, each marked"):
        came = [np.zeros(SIZE, "float32") for _ in range(2)]
        memory = [run.plugin.to_device(_numbers(seed=number), run.device) for number in range(2)]
        for one, target in zip(memory, came, strict=True):
            run.plugin.copy("copyFromAcc", target, one, stream)
            run.plugin.call("recordEvent", run.device, event, stream)
        run.plugin.call("waitEvent", run.device, event, None)
        for number, target in enumerate(came):
            expect_same(run, target, _numbers(seed=number))
        _sync(run, stream)
        for one in memory:
            one.free()


@group.check("destroy", WAITS)
def destroy(run: Run) -> None:
    """What is under way is done when a stream has been destroyed"""
    run.need("createStream", "destroyStream", "syncStream")
    run.need_memory()
    for number in range(ROUNDS):
        with run.step(f"a copy back, and the stream's end: round {number}"):
            values, came = _numbers(seed=number), np.zeros(SIZE, "float32")
            memory = run.plugin.to_device(values, run.device)
            stream = run.plugin.create("Stream", run.device)
            run.plugin.copy("copyFromAcc", came, memory, stream)
            run.plugin.destroy("Stream", stream, run.device)
            expect_same(run, came, values)
            memory.free()
