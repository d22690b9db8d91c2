"""A line on a terminal that says how far tuning is."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TextIO

from ._measure import Progress

_WIDTH = 24


class Bar(Progress):
    """Draws a bar over itself, and takes it away at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begin = perf_counter()
        self._length = 0

    def __call__(self, done: int, total: int) -> None:
        """Draws it."""
        if done >= total:
            self._stream.write("\r" + " " * self._length + "\r" if self._length else "")
        else:
            filled = _WIDTH * done // total
            bar = "#" * filled + "." * (_WIDTH - filled)
            text = f"tuning [{bar}] {done} of {total} layers, {perf_counter() - self._begin:.1f} s"
            self._stream.write("\r" + text.ljust(self._length))
            self._length = len(text)
        self._stream.flush()


def progress(shown: bool | None) -> Progress:
    """A bar if it is to be shown; for None where the standard error output is a terminal."""
    stream = sys.stderr
    if shown or (shown is None and stream is not None and stream.isatty()):
        return Bar(stream)
    return Progress()
