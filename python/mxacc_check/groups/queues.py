"""Streams that are far behind: what is given to them waits for its turn, and for events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from .. import abi, cases
from ..cases import Case
from ..plug import Streams, busy_streams
from ..plugin import AccError, Array, Memory
from ..suite import Group, Run
from ..trials import need_operators, simple_case
from .copies import expect_same

group = Group("queues", "streams that are far behind", on_devices=True)

ORDER = "What is given to one stream is done in order; between streams only events order it"
WAIT = (
    "Has the stream wait for what the event marks at this call; with no stream, the calling thread."
)
ACROSS = (
    "The event may be one of another device of the library: that is how copies between devices are "
    "ordered."
)
MARKS = "Marks what was given to the stream so far, instead of what the event marked before."
SYNC = (
    "Waits until all work given to the stream is done, whatever it returns. Then tells one failure "
    "that was not told before, and MXNet calls it until it tells none."
)
LENGTH = 4096
STEPS = 40


@contextmanager
def _event(run: Run, device: int) -> Iterator[int | None]:
    run.need("createEvent", "destroyEvent", "recordEvent", "waitEvent")
    event = run.plugin.create("Event", device)
    try:
        yield event
    finally:
        run.plugin.destroy("Event", event, device)


def _numbers(seed: int) -> Array:
    values: Array = np.arange(seed, seed + LENGTH, dtype="float32")
    return values


def _other_device(run: Run) -> int:
    """Another device that can be used; skips the check where there is none."""
    numbers = range(run.plugin.num_devices())
    usable = [one for one in numbers if not run.plugin.info(one).flags & abi.UNUSABLE]
    others = [one for one in usable if one != run.device]
    if not others:
        run.skip("there is no other device")
    return others[0]


@group.check("copies", ORDER)
def copies(run: Run) -> None:
    """Copies there, on the device and back are done one after the other"""
    with busy_streams(run) as streams, run.step(f"{STEPS} copies, each of what the last one wrote"):
        stream = streams.busy(0)
        run.need("copyWithinAcc")
        values = _numbers(1)
        there = [run.plugin.to_device(np.zeros_like(values), run.device) for _ in range(2)]
        run.plugin.copy("copyToAcc", there[0], values, stream)
        came = []
        for number in range(STEPS):
            source, target = there[number % 2], there[1 - number % 2]
            half = slice(number % 7, None)
            try:
                run.plugin.copy("copyWithinAcc", target.view(half), source.view(half), stream)
            except AccError as error:
                if error.code != "unsupported":
                    raise
                run.skip(f"it does not copy within the device: {error.message}")
            came.append(run.plugin.to_host(target, stream))
        streams.sync(0)
        expected = [values.copy(), np.zeros_like(values)]
        for number, one in enumerate(came):
            expected[1 - number % 2][number % 7 :] = expected[number % 2][number % 7 :]
            expect_same(run, one, expected[1 - number % 2])
        for memory in there:
            memory.free()


@group.check("zero", ORDER)
def zero(run: Run) -> None:
    """Memory is set to 0 in its turn"""
    run.need("mx_zero")
    with busy_streams(run) as streams, run.step("there, to 0 behind the first elements, back"):
        values, stream = _numbers(1), streams.busy(0)
        memory = run.plugin.to_device(values + 1, run.device)
        run.plugin.copy("copyToAcc", memory, values, stream)
        run.plugin.zero(memory, 64, values.nbytes - 64, stream)
        came = run.plugin.to_host(memory, stream)
        streams.sync(0)
        values[16:] = 0
        expect_same(run, came, values)
        memory.free()


@group.check("operators", ORDER)
def operators(run: Run) -> None:
    """Each operator reads what the one before it in the stream wrote"""
    need_operators(run)
    made = simple_case(run, LENGTH)
    if made is None:
        run.skip("the library executes neither add nor negative nor multiply")
        return
    case, call, _, executor = made
    with busy_streams(run) as streams, run.step(f"{STEPS} times {case.text}"):
        stream = streams.busy(0)
        first, other = _numbers(1) / LENGTH, np.full(LENGTH, 0.5, "float32")
        values = first
        memory = [run.plugin.to_device(values * 0, run.device) for _ in range(2)]
        second = run.plugin.to_device(other * 0, run.device)
        run.plugin.copy("copyToAcc", memory[0], first, stream)
        run.plugin.copy("copyToAcc", second, other, stream)
        for number in range(STEPS):
            inputs = [memory[number % 2], second][: len(call.inputs)]
            executor.run(inputs, [memory[1 - number % 2]], stream)
            arguments = (values, other)[: len(call.inputs)]
            (values,) = cases.expected_of(Case(case.name, "", arguments))
        came = run.plugin.to_host(memory[0], stream)
        streams.sync(0)
        wrong = cases.difference(case, came, values, run.options.tolerance)
        run.expect(wrong is None, "what the CPU gives", wrong)
        for one in (*memory, second):
            one.free()
    executor.close()


# ---- events ----


def _through(run: Run, first: int, second: int) -> None:
    """One stream writes, another reads what it wrote, each on a device of its own."""
    with busy_streams(run, first, second) as streams, _event(run, first) as event:
        step = f"a stream of device {second} waits for one of device {first}"
        with run.step(step if first != second else "a stream waits for another"):
            values, came = _numbers(3), np.zeros(LENGTH, "float32")
            memory = run.plugin.to_device(values * 0, first)
            stream = streams.busy(0)
            run.plugin.copy("copyToAcc", memory, values, stream)
            run.plugin.call("recordEvent", first, event, stream)
            run.plugin.call("waitEvent", second, event, streams.handles[1])
            _read(run, memory, came, second, streams)
            expect_same(run, came, values)
            streams.sync(0)
            memory.free()


def _read(run: Run, memory: Memory, came: Array, device: int, streams: Streams) -> None:
    """Copies memory to the host by the second stream, and by its device where that is another."""
    if memory.dev_id == device:
        run.plugin.copy("copyFromAcc", came, memory, streams.handles[1])
        streams.sync(1)
        return
    run.need("copyWithinAcc")
    here = run.plugin.to_device(came, device)
    try:
        run.plugin.copy_all("copyWithinAcc", [here], [memory], streams.handles[1])
    except AccError as error:
        if error.code != "unsupported":
            raise
        run.skip(f"it does not copy between devices: {error.message}")
    streams.sync(1)
    run.plugin.copy("copyFromAcc", came, here)
    here.free()


@group.check("events", WAIT)
def events(run: Run) -> None:
    """A stream waits for another that is far behind"""
    _through(run, run.device, run.device)


@group.check("devices", ACROSS)
def devices(run: Run) -> None:
    """A stream waits for an event of another device"""
    run.need("createEvent")
    other = _other_device(run)
    _through(run, other, run.device)
    _through(run, run.device, other)


@group.check("host_waits", WAIT)
def host_waits(run: Run) -> None:
    """The calling thread waits for a stream that is far behind"""
    with busy_streams(run) as streams, _event(run, run.device) as event, run.step("a copy back"):
        stream, values = streams.busy(0), _numbers(5)
        memory = run.plugin.to_device(values, run.device)
        came = np.zeros_like(values)
        run.plugin.copy("copyFromAcc", came, memory, stream)
        run.plugin.call("recordEvent", run.device, event, stream)
        run.plugin.call("waitEvent", run.device, event, None)
        expect_same(run, came, values)
        streams.sync(0)
        memory.free()


@group.check("marks_again", MARKS)
def marks_again(run: Run) -> None:
    """An event that is recorded again marks the later position"""
    with busy_streams(run) as streams, _event(run, run.device) as event:
        with run.step("before and behind what takes long"):
            stream, values = streams.handles[0], _numbers(7)
            memory = run.plugin.to_device(values, run.device)
            came = np.zeros_like(values)
            run.plugin.call("recordEvent", run.device, event, stream)
            streams.busy(0)
            run.plugin.copy("copyFromAcc", came, memory, stream)
            run.plugin.call("recordEvent", run.device, event, stream)
            run.plugin.call("waitEvent", run.device, event, None)
            expect_same(run, came, values)
            streams.sync(0)
            memory.free()


# ---- ends ----


def _at_the_end(run: Run, end: Callable[[Streams], None], what: str) -> None:
    with busy_streams(run) as streams, run.step(what):
        stream, values = streams.busy(0), _numbers(9)
        memory = run.plugin.to_device(values, run.device)
        came = np.zeros_like(values)
        run.plugin.copy("copyFromAcc", came, memory, stream)
        end(streams)
        expect_same(run, came, values)
        memory.free()


@group.check("sync", SYNC)
def sync(run: Run) -> None:
    """A stream that is far behind is waited for"""
    _at_the_end(run, lambda streams: streams.sync(0), "a copy back, and syncStream")


@group.check("destroy", "Destroying waits for what is under way.")
def destroy(run: Run) -> None:
    """A stream that is far behind does its work before it is gone"""

    def end(streams: Streams) -> None:
        run.plugin.destroy("Stream", streams.handles[0], run.device)
        streams.handles[0] = run.plugin.create("Stream", run.device)

    _at_the_end(run, end, "a copy back, and destroyStream")
