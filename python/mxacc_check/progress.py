"""What a child is doing, in memory that outlives it."""

from __future__ import annotations

import mmap
import os
import tempfile

_NUMBER, _CALL, _STEP = slice(0, 8), slice(8, 72), slice(72, 1096)
_SIZE = mmap.PAGESIZE


def _field(span: slice, text: str) -> bytes:
    size: int = span.stop - span.start
    return text.encode(errors="replace")[: size - 1].ljust(size, b"\0")


class Progress:
    """A page that the process which runs the checks writes and its parent reads.

    A process that is gone can no longer say what killed it.
    """

    def __init__(self, descriptor: int):
        self._page = mmap.mmap(descriptor, _SIZE)
        self._number = 0

    def call(self, function: str) -> None:
        """The next thing to be done is a call of that function of the library."""
        self._page[_CALL] = _field(_CALL, function)
        self._count()

    def step(self, text: str) -> None:
        """What is tried now, in words."""
        self._page[_STEP] = _field(_STEP, text)
        self._count()

    def _count(self) -> None:
        self._number += 1
        self._page[_NUMBER] = self._number.to_bytes(8, "little")

    def number(self) -> int:
        """Changes whenever something has been begun."""
        return int.from_bytes(self._page[_NUMBER], "little")

    def last(self) -> tuple[str, str]:
        """The last function that was called, and the last step."""
        texts = (self._page[span].rstrip(b"\0").decode() for span in (_CALL, _STEP))
        call, step = texts
        return call, step

    def clear(self) -> None:
        self._page[:] = bytes(_SIZE)


def new_page() -> int:
    """A descriptor for the page of a Progress, which a child may inherit."""
    with tempfile.TemporaryFile() as file:
        file.truncate(_SIZE)
        return os.dup(file.fileno())
