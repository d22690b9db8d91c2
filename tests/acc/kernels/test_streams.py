"""Streams, events and threads."""

import threading

import numpy as np
import pytest

from mxacc_check import abi
from mxacc_check.plugin import AccError

from .cases import SQUARE


def test_streams_and_events(plugin):
    first, second = plugin.create("Stream"), plugin.create("Stream")
    event = plugin.create("Event")
    plugin.call("waitEvent", 0, event, second)  # marks nothing
    values = np.arange(100_000, dtype="float32")
    memory, out, back = plugin.empty(values.shape), plugin.empty(values.shape), values * 0
    doubled = plugin.executor("add", {"x1": memory, "x2": memory}, [out])
    again = plugin.executor("add", {"x1": out, "x2": out}, [memory])
    plugin.copy("copyToAcc", memory, values, first)
    for _ in range(50):
        doubled.run([memory, memory], [out], first)
        again.run([out, out], [memory], first)
        plugin.copy("copyToAcc", memory, values, first)
    doubled.run([memory, memory], [out], first)
    plugin.call("recordEvent", 0, event, first)
    plugin.call("waitEvent", 0, event, second)
    plugin.copy("copyFromAcc", back, out, second)
    plugin.call("syncStream", 0, second)
    np.testing.assert_array_equal(back, 2 * values)
    plugin.call("waitEvent", 0, event, None)
    plugin.call("syncStream", 0, first)
    plugin.api.destroyEvent(plugin.api.self, 0, event)
    for stream in (first, second):
        plugin.api.destroyStream(plugin.api.self, 0, stream)
    for item in (doubled, again, memory, out):
        item.close() if hasattr(item, "close") else item.free()


@pytest.mark.parametrize("key", [(), (slice(None, None, -1),), (slice(None), slice(0, 6, 2))])
def test_copies_in_a_stream_are_in_order(plugin, key):
    # Through the host, whose arrays the copies before may still be writing to.
    stream = plugin.create("Stream")
    a, b = plugin.to_device(SQUARE), plugin.to_device(SQUARE * 0)
    between, back = SQUARE * 0, SQUARE * 0
    plugin.copy("copyFromAcc", between[key], a.view(key), stream)
    plugin.copy("copyToAcc", b.view(key), between[key], stream)
    plugin.copy("copyFromAcc", back[key], b.view(key), stream)
    plugin.call("syncStream", 0, stream)
    np.testing.assert_array_equal(back[key], SQUARE[key])
    plugin.api.destroyStream(plugin.api.self, 0, stream)
    a.free()
    b.free()


def test_temporary_memory_lasts_as_long_as_the_stream_needs_it(plugin):
    # Nothing here waits: copies from and to dense memory of the host are spread and gathered, the
    # sum has parts, and of the product one matrix is packed.
    stream = plugin.create("Stream")
    values = np.arange(60_000, dtype="float32").reshape(2, 30_000) % 7
    spread = plugin.to_device(np.zeros((2, 60_000), "float32"))
    evens = spread.view((slice(None), slice(None, None, 2)))
    total, back = plugin.empty((2,)), np.zeros_like(values)
    turned = evens.like(evens.array.T[:100], evens.array)
    product = plugin.empty((100, 100))
    summed = plugin.executor("sum", {"a": evens}, [total], axis="1")
    names = {"x1": turned, "x2": turned.like(turned.array.T, turned.array)}
    multiplied = plugin.executor("matmul", names, [product])
    plugin.copy("copyToAcc", evens, values, stream)
    summed.run([evens], [total], stream)
    multiplied.run(list(names.values()), [product], stream)
    plugin.copy("copyFromAcc", back, evens, stream)
    plugin.call("syncStream", 0, stream)
    np.testing.assert_array_equal(back, values)
    np.testing.assert_array_equal(plugin.to_host(total), values.sum(axis=1))
    expected = values.T[:100] @ values[:, :100]
    np.testing.assert_array_equal(plugin.to_host(product), expected)
    plugin.destroy("Stream", stream)
    for item in (summed, multiplied):
        item.close()
    for memory in (spread, total, product):
        memory.free()


# Bytes of memory of 32 that are set to 0, and what is said of others.
ZEROED = [((0, 32), None), ((8, 4), None), ((31, 1), None)]
ZEROED += [((0, 33), "beyond its memory of 32"), ((32, 1), "beyond"), ((2**64 - 1, 2), "above 2")]
ZEROED += [((0, 2**64 - 1), "negative extent")]


@pytest.mark.parametrize(("where", "message"), ZEROED, ids=str)
@pytest.mark.parametrize("streams", [False, True])
def test_zeroing(plugin, where, message, streams):
    values = np.arange(1, 33, dtype="uint8")
    stream = plugin.create("Stream") if streams else None
    memory, back = plugin.empty(32, "uint8"), values * 0
    plugin.copy("copyToAcc", memory, values, stream)
    if message is None:
        plugin.call("mx_zero", 0, memory.handle, *where, stream, 0)
        values[where[0] : sum(where)] = 0
    else:
        with pytest.raises(AccError, match=message) as caught:
            plugin.call("mx_zero", 0, memory.handle, *where, stream, 0)
        assert caught.value.code == "bad_argument"
    plugin.copy("copyFromAcc", back, memory, stream)
    if streams:
        plugin.call("syncStream", 0, stream)
        plugin.destroy("Stream", stream)
    np.testing.assert_array_equal(back, values)
    memory.free()
    with pytest.raises(AccError, match="not in living memory"):
        plugin.call("mx_zero", 0, memory.handle, 0, 1, None, 0)


def test_destroying_a_stream_waits(plugin):
    stream = plugin.create("Stream")
    memory, back = plugin.to_device(SQUARE), SQUARE * 0
    plugin.copy("copyFromAcc", back, memory, stream)
    plugin.api.destroyStream(plugin.api.self, 0, stream)
    np.testing.assert_array_equal(back, SQUARE)
    memory.free()


def test_many_threads(plugin):
    memory = plugin.to_device(SQUARE)
    shared = plugin.executor("add", {"x1": memory, "x2": memory}, [memory])
    assert shared.executor.flags & abi.CONCURRENT
    wrong = []

    def work(number: int) -> None:
        own, out = plugin.to_device(SQUARE + number), plugin.empty(SQUARE.shape)
        total = plugin.empty(())
        # A kernel of its own for each pair of threads, so that some are compiled at the same time.
        name = ["sum", "max", "min", "mean"][number % 4]
        reduced = plugin.executor(name, {"a": own}, [total])
        for _ in range(20):
            shared.run([own, own], [out])
            reduced.run([own], [total])
            ok = (plugin.to_host(out) == 2 * (SQUARE + number)).all() and np.isclose(
                plugin.to_host(total), getattr(np, name)(SQUARE + number), rtol=1e-5
            )
            if not ok:
                wrong.append(number)
        reduced.close()
        for item in (own, out, total):
            item.free()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shared.close()
    memory.free()
    assert not wrong
