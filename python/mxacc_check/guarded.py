"""Tensors on a device, with a margin around them that nobody is to touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .plugin import Array, HostMemory, Memory
from .suite import Run

CANARY = 0xA5


class Tensors:
    """Tensors like arrays on the device, with their elements or without; leave them by `free`.

    Where the library has no memory they are in that of the host.

    With a stream all that is copied is given to that; what came is there when it has been waited
    for.
    """

    def __init__(
        self,
        run: Run,
        arrays: Sequence[Array],
        margin: int = 0,
        filled: bool = True,
        stream: int | None = None,
        alignment: int = 64,
    ):
        self.run, self.arrays, self.margin, self.stream = run, arrays, margin, stream
        self.alignment = alignment
        self.wholes: list[Memory] = []
        self.views: list[Memory] = []
        self.given: list[Array] = []
        self.came: list[Array] = []
        for array in arrays:
            self._add(array, filled)

    def _add(self, array: Array, filled: bool) -> None:
        """Memory for all that a view reaches."""
        reach = [
            (extent - 1) * step for extent, step in zip(array.shape, array.strides, strict=True)
        ]
        low = sum(step for step in reach if step < 0)
        size = sum(map(abs, reach)) + array.itemsize if array.size else 0
        image = np.full(size + 2 * self.margin, CANARY, "uint8")
        first = self.margin - low
        if array.size and filled:
            laid: Array = np.ndarray(array.shape, array.dtype, image, first, array.strides)
            laid[...] = array
        plugin, device = self.run.plugin, self.run.device
        if plugin.has("mx_alloc"):
            whole = plugin.to_device(image, device, self.stream, alignment=self.alignment)
        else:
            whole = HostMemory(plugin, image.copy())
        view = Memory(plugin, device, whole.handle, array)
        view.device_type, view.byte_offset = whole.device_type, first
        self.wholes.append(whole)
        self.views.append(view)
        self.given.append(image)

    def fetch(self) -> None:
        """Copies what is there now back."""
        self.came = [whole.fetch(self.stream) for whole in self.wholes]

    def _laid(self, number: int, image: Array) -> Array:
        array, view = self.arrays[number], self.views[number]
        laid: Array = np.ndarray(array.shape, array.dtype, image, view.byte_offset, array.strides)
        return laid

    def values(self, number: int) -> Array:
        """The elements that came."""
        if not self.arrays[number].size:
            return np.empty_like(self.arrays[number])
        values: Array = self._laid(number, self.came[number]).copy()
        return values

    def written_beside(self, number: int) -> str:
        """Which bytes have changed that are none of the tensor's elements; empty if none has."""
        elements = np.zeros(len(self.given[number]), bool)
        if self.arrays[number].size:
            as_bytes = np.zeros(len(self.given[number]), "uint8")
            array, first = self.arrays[number], self.views[number].byte_offset
            strides = (*array.strides, 1)
            shape = (*array.shape, array.itemsize)
            laid: Array = np.ndarray(shape, "uint8", as_bytes, first, strides)
            laid[...] = 1
            elements = as_bytes == 1
        changed = np.flatnonzero((self.came[number] != self.given[number]) & ~elements)
        if not len(changed):
            return ""
        inside = np.flatnonzero(elements)
        position = int(changed[0])
        where = "in memory of no elements"
        if len(inside) and position < inside[0]:
            where = f"{int(inside[0]) - position} bytes before its first element"
        elif len(inside) and position > inside[-1]:
            where = f"{position - int(inside[-1]) - 1} bytes behind its last element"
        elif len(inside):
            where = f"at byte {position - int(inside[0])}, between its elements"
        return f"{len(changed)} bytes were, the first {where}"

    def free(self) -> None:
        for whole in self.wholes:
            if whole.handle is not None:
                whole.free()


class Workspace:
    """The workspace of a run: all of its bytes are alike, and margins are around them."""

    def __init__(
        self,
        run: Run,
        size: int,
        margin: int = 0,
        byte: int = CANARY,
        stream: int | None = None,
    ):
        alignment = run.plugin.alignment(run.device)
        margin = -(-margin // alignment) * alignment
        arrays = [np.full(size, byte, "uint8")] if size else []
        self.tensors = Tensors(run, arrays, margin, True, stream, alignment)

    @property
    def memory(self) -> Memory | None:
        """What run is given; None where it asks for no workspace."""
        return self.tensors.views[0] if self.tensors.views else None

    def fill(self) -> None:
        """Makes all bytes what they were at first."""
        for whole, image in zip(self.tensors.wholes, self.tensors.given, strict=True):
            whole.plugin.copy("copyToAcc", whole, image)

    def written_beside(self) -> str:
        """As Tensors.written_beside, after fetch."""
        return self.tensors.written_beside(0) if self.tensors.views else ""

    def is_untouched(self) -> bool:
        """Whether all bytes are as they were."""
        pairs = zip(self.tensors.came, self.tensors.given, strict=True)
        return all(bool((came == given).all()) for came, given in pairs)
