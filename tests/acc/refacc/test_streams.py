"""Streams and events of refacc."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from mxacc_check.plugin import AccError, Plugin

ONES = np.ones(4, "float32")
LONG = 20_000  # microseconds that each piece of work takes


@pytest.fixture
def plugin(load) -> Plugin:
    return load(streams=1)


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_there_are_none_unless_asked_for(load):
    plugin = load()
    assert not plugin.has("createStream") and not plugin.has("waitEvent")


def test_work_is_done_in_order(plugin):
    stream = plugin.create("Stream")
    memory, out, back = plugin.empty((4,)), plugin.empty((4,)), np.zeros(4, "float32")
    executor = plugin.executor("add", {"x1": memory, "x2": memory}, [out])
    again = plugin.executor("add", {"x1": out, "x2": out}, [memory])
    plugin.copy("copyToAcc", memory, ONES, stream)
    for _ in range(5):
        executor.run([memory, memory], [out], stream)
        again.run([out, out], [memory], stream)
    plugin.copy("copyFromAcc", back, memory, stream)
    plugin.call("syncStream", 0, stream)
    assert (back == 4.0**5).all()
    plugin.api.destroyStream(plugin.api.self, 0, stream)
    executor.close()
    again.close()


def test_calls_return_before_the_work_is_done(plugin):
    stream = plugin.create("Stream")
    memory = plugin.to_device(ONES)
    plugin.configure(slow=LONG)
    calling = seconds(lambda: [plugin.copy("copyToAcc", memory, ONES, stream) for _ in range(5)])
    waiting = seconds(lambda: plugin.call("syncStream", 0, stream))
    assert calling < waiting
    assert calling + waiting >= 5 * LONG / 1e6
    plugin.api.destroyStream(plugin.api.self, 0, stream)


def test_destroying_waits(plugin):
    stream = plugin.create("Stream")
    memory, back = plugin.to_device(ONES), np.zeros(4, "float32")
    plugin.configure(slow=LONG)
    plugin.copy("copyFromAcc", back, memory, stream)
    plugin.api.destroyStream(plugin.api.self, 0, stream)
    assert (back == 1).all()


@pytest.mark.parametrize("waiter", ["stream", "host"])
def test_an_event_orders_two_streams(plugin, waiter):
    first, second, event = plugin.create("Stream"), plugin.create("Stream"), plugin.create("Event")
    memory, back = plugin.empty((4,)), np.zeros(4, "float32")
    plugin.configure(slow=LONG)
    plugin.copy("copyToAcc", memory, ONES, first)
    plugin.call("recordEvent", 0, event, first)
    plugin.configure(slow=0)
    plugin.call("waitEvent", 0, event, second if waiter == "stream" else None)
    plugin.api.destroyEvent(plugin.api.self, 0, event)
    plugin.copy("copyFromAcc", back, memory, second)
    plugin.call("syncStream", 0, second)
    assert (back == 1).all()
    for stream in (first, second):
        plugin.api.destroyStream(plugin.api.self, 0, stream)


def test_an_event_marks_what_was_recorded_last(plugin):
    stream, event = plugin.create("Stream"), plugin.create("Event")
    plugin.call("waitEvent", 0, event, None)
    memory = plugin.to_device(ONES)
    plugin.call("recordEvent", 0, event, stream)
    plugin.configure(slow=LONG)
    plugin.copy("copyToAcc", memory, ONES, stream)
    plugin.call("recordEvent", 0, event, stream)
    assert seconds(lambda: plugin.call("waitEvent", 0, event, None)) > LONG / 2e6
    plugin.api.destroyEvent(plugin.api.self, 0, event)
    plugin.api.destroyStream(plugin.api.self, 0, stream)


def test_the_first_error_of_the_work_is_told_once(plugin):
    stream = plugin.create("Stream")
    memory, lost = plugin.to_device(ONES), plugin.to_device(ONES)
    plugin.configure(slow=LONG)
    plugin.copy("copyToAcc", memory, ONES, stream)
    plugin.copy("copyToAcc", lost, ONES, stream)
    lost.free()
    with pytest.raises(AccError, match="was freed before"):
        plugin.call("syncStream", 0, stream)
    plugin.call("syncStream", 0, stream)
    plugin.api.destroyStream(plugin.api.self, 0, stream)
    assert plugin.configure()["violations"] == "1"


# What is told of five pieces of work, 11 to 15, of which the second and the fourth fail.
TOLD = {"named": [("bad_index", 12), ("memory", 14)], "unnamed": [("bad_index", 0)]}


@pytest.mark.parametrize("failures", TOLD)
def test_what_is_told_of_faults_of_work(load, failures):
    plugin = load(streams=1, failures=failures)
    stream, memory, back = plugin.create("Stream"), plugin.to_device(ONES), ONES * 0
    plugin.configure(faults="work@2=bad_index,work@4=memory")
    for number in range(11, 16):
        offset = 4 * (number - 12) if 12 <= number < 16 else 0
        plugin.call("mx_zero", 0, memory.handle, offset, 4, stream, number)
    told = []
    for _ in range(5):
        try:
            plugin.call("syncStream", 0, stream)
        except AccError as error:
            assert error.message == "the fault that was asked for at work"
            told.append((error.code, error.work))
    assert told == TOLD[failures]
    plugin.configure(faults="")
    plugin.copy("copyFromAcc", back, memory)
    assert back.tolist() == [0, 0, 1, 0]  # what failed has done nothing
    plugin.api.destroyStream(plugin.api.self, 0, stream)


def test_waiting_is_done_also_where_it_is_told_to_fail(plugin):
    stream, memory, back = plugin.create("Stream"), plugin.to_device(ONES), ONES * 0
    plugin.configure(slow=LONG, faults="syncStream=failed")
    plugin.copy("copyFromAcc", back, memory, stream)
    with pytest.raises(AccError, match="the fault that was asked for at syncStream"):
        plugin.call("syncStream", 0, stream)
    assert (back == 1).all()
    plugin.configure(faults="")
    plugin.api.destroyStream(plugin.api.self, 0, stream)


def test_an_operator_that_looks_at_signals_does_not_wait_for_python(accelerators, tmp_path):
    """In a stream it runs while the thread that waits for the stream may have Python's lock."""
    script = f"""
import mx
ctx = mx.load_acc({str(accelerators / "librefacc.so")!r})
a = mx.np.arange(6, dtype="float32", ctx=ctx).reshape(2, 3)
print(mx.np.stack(a).tolist(), mx.np.concatenate(a).tolist(), len(mx.np.array_split(a, 2)))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "REFACC_STREAMS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    rows = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert done.stdout == f"{rows} {rows[0] + rows[1]} 2\n", done.stderr
