"""Loads that a thread of their own does: who has begun one can give it up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class GivenUp(Exception):
    """Nobody wants the models any more that a load was to give."""


class Load:
    """One load. Any thread may give it up.

    There is no lock, as the garbage collector may be who gives it up, in any thread.
    """

    def __init__(self) -> None:
        self.is_given_up = False
        self._graph: Any = None  # the mx.acc.ModelGraph that is being compiled

    def give_up(self) -> None:
        """Has no model be compiled from now on, and asks the library to stop with the one that it
        compiles."""
        self.is_given_up = True
        graph = self._graph
        if graph is not None:
            graph.give_up()

    @contextmanager
    def compiling(self, graph: Any) -> Iterator[None]:
        """Around compiling a graph. Raises GivenUp, also instead of what the library fails with
        once the load was given up."""
        self._graph = graph  # before the look, so that none of the two misses the other
        try:
            self._check()
            yield
        except Exception:
            self._check()
            raise
        finally:
            self._graph = None

    def _check(self) -> None:
        if self.is_given_up:
            raise GivenUp


_threads = threading.local()


def of_this_thread() -> Load | None:
    """The load that this thread does; None for a user's thread."""
    load: Load | None = getattr(_threads, "load", None)
    return load


@contextmanager
def under_way(load: Load) -> Iterator[None]:
    """While this thread does a load."""
    _threads.load = load
    try:
        yield
    finally:
        _threads.load = None
