"""Work that keeps a stream busy for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .plugin import AccError, Array, Memory, Plugin
from .suite import Run

SIZE = 8 << 20
COPIES = 6


class Plug:
    """Copies of much, so that what is given to the stream behind them has to wait.

    A library that finds out too early, or does not wait at all, then reads what is not there yet.
    """

    def __init__(self, plugin: Plugin, dev_id: int):
        self._plugin = plugin
        self._array: Array = np.zeros(SIZE, "uint8")
        self._memory: Memory | None = None
        try:
            self._memory = plugin.empty(self._array.shape, "uint8", dev_id)
        except AccError:
            pass  # of a small device; then what is tried is found by chance only

    def put(self, stream: int | None) -> None:
        if self._memory is None:
            return
        for _ in range(COPIES):
            self._plugin.copy("copyToAcc", self._memory, self._array, stream)

    def free(self) -> None:
        if self._memory is not None:
            self._memory.free()


class Streams:
    """A stream on each of some devices, which copies keep busy."""

    def __init__(self, run: Run, devices: list[int]):
        self.run, self.devices = run, devices
        self.plugs = [Plug(run.plugin, device) for device in devices]
        self.handles = [run.plugin.create("Stream", device) for device in devices]

    def busy(self, number: int) -> int | None:
        """The stream, with much to do."""
        self.plugs[number].put(self.handles[number])
        return self.handles[number]

    def sync(self, number: int) -> None:
        self.run.plugin.call("syncStream", self.devices[number], self.handles[number])

    def close(self) -> None:
        for device, stream, plug in zip(self.devices, self.handles, self.plugs, strict=True):
            self.run.plugin.destroy("Stream", stream, device)
            plug.free()


@contextmanager
def busy_streams(run: Run, *devices: int) -> Iterator[Streams]:
    """Streams on these devices, or on the one that is tried."""
    run.need_memory()
    run.need("createStream", "destroyStream", "syncStream")
    made = Streams(run, list(devices or (run.device,)))
    try:
        yield made
    finally:
        made.close()  # what is under way reads memory that goes now
