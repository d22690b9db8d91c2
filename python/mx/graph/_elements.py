"""The elements of a file's big weights, which are in the file for as long as nobody needs them."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BufferedIOBase
from typing import Any, TypeAlias, TypeVar, cast

import numpy

import ffi

from ._errors import GraphError

_content_hash = ffi.get_global_func("mx.acc.models.content_hash")

Bytes: TypeAlias = numpy.ndarray[Any, Any]
_T = TypeVar("_T")

# What a thread reads and hashes at a time: it stays in the processor's cache in between.
_BLOCK = 1 << 19
# Fewer bytes are read sooner than another thread has begun to.
_BYTES_OF_THREAD = 1 << 22
# Several weights share one piece of memory of this size: NumPy asks for huge pages for large ones
# alone, without which a new page for each 4 KB takes longer than reading them. It is there until
# kernels have packed all of them.
_ROOM = 1 << 23
# Libraries want it, and Linux reads into such memory several times as fast.
_ALIGNMENT = 64


class Elements:
    """Spans of bytes of a file that was opened."""

    def __init__(self, name: str, left: int) -> None:
        """`name` is the file's in messages, which has so many bytes."""
        self._name = name
        self._left = left  # bytes of which spans may be that have no memory yet
        self._spans: list[tuple[int, int]] = []
        self._arrays: list[Bytes] | None = None
        self._lock = threading.Lock()
        self._room = numpy.empty(0, "uint8")
        self._descriptor = -1

    def add(self, file: BufferedIOBase, offset: int, size: int) -> int:
        """A span that lies in the file; its number. What is no file of the system is read now."""
        if not self._spans:
            self._open(file)
        self._spans.append((offset, size))
        if self._arrays is not None:
            self._arrays.append(self._taken(size))
            file.seek(offset)
            file.readinto(self._arrays[-1].data)
        return len(self._spans) - 1

    def _open(self, file: BufferedIOBase) -> None:
        try:
            self._descriptor = os.dup(file.fileno())
        except OSError:  # bytes in memory
            self._arrays = []
            return
        # As long as somebody has this it is the same file, also if its name is another's.
        self._close = weakref.finalize(self, os.close, self._descriptor)
        self._stamp = self._stamp_now()

    def size(self, number: int) -> int:
        """How many bytes a span has."""
        return self._spans[number][1]

    def sizes(self) -> list[int]:
        """How many bytes each span has."""
        return [size for _, size in self._spans]

    def arrays(self) -> list[Bytes]:
        """The bytes of each span, which are read now unless they were before.

        GraphError where the file was changed since it was opened, and OSError.
        """
        with self._lock:
            if self._arrays is None:
                self._left = sum(self.sizes())
                arrays = [self._taken(size) for size in self.sizes()]

                def fill(number: int, begin: int, size: int, _: Bytes) -> None:
                    self._fill(arrays[number][begin : begin + size], number, begin)

                self._over_blocks(fill)
                self._arrays = arrays
                self._close()
            return self._arrays

    def hashes(self, key: Any) -> list[str]:
        """Of all blocks, as `mx.acc.models.content_hash` computes them. Raises as `arrays` does."""
        with self._lock:
            arrays = self._arrays

            def hash_of(number: int, begin: int, size: int, room: Bytes) -> str:
                if arrays is None:
                    block = room[:size]
                    self._fill(block, number, begin)
                else:
                    block = arrays[number][begin : begin + size]
                return str(_content_hash(block, key))

            return self._over_blocks(hash_of)

    def _over_blocks(self, use: Callable[[int, int, int, Bytes], _T]) -> list[_T]:
        """What `use` gives for each block: of the number of its span, where in that it begins, its
        size, and memory for one."""
        if not self._spans:
            return []
        blocks = list(self._blocks())
        count = max(1, min(os.cpu_count() or 1, sum(self.sizes()) // _BYTES_OF_THREAD))

        def work(first: int) -> list[_T]:
            room = _aligned(_BLOCK)
            return [use(*block, room) for block in blocks[first::count]]

        if count == 1:
            found = work(0)
        else:
            found = cast(list[_T], [None] * len(blocks))
            with ThreadPoolExecutor(count) as threads:
                for first, row in enumerate(threads.map(work, range(count))):
                    found[first::count] = row
        if self._arrays is None and self._stamp_now() != self._stamp:
            raise self._changed()
        return found

    def _blocks(self) -> Iterator[tuple[int, int, int]]:
        """Number of the span, begin in it, and size."""
        for number, size in enumerate(self.sizes()):
            for begin in range(0, size, _BLOCK):
                yield number, begin, min(_BLOCK, size - begin)

    def _fill(self, target: Bytes, number: int, begin: int) -> None:
        """Reads a part of a span."""
        offset = self._spans[number][0] + begin
        read = 0
        while read < target.size:
            came = os.preadv(self._descriptor, [target[read:].data], offset + read)
            if came == 0:
                raise self._changed()
            read += came

    def _stamp_now(self) -> tuple[int, int]:
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def _changed(self) -> GraphError:
        return GraphError(f"{self._name}: the file was changed since the graph was loaded")

    def _taken(self, size: int) -> Bytes:
        """Memory for a span."""
        taken = -(-size // _ALIGNMENT) * _ALIGNMENT
        if taken > self._room.size:
            self._room = _aligned(max(taken, min(_ROOM, self._left)))
        self._left -= size
        room, self._room = self._room[:size], self._room[taken:]
        return room


def _aligned(size: int) -> Bytes:
    memory = numpy.empty(size + _ALIGNMENT, "uint8")
    first = -memory.ctypes.data % _ALIGNMENT
    return memory[first : first + size]
