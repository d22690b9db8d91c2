"""Attributes of others that are something else for as long as a thread traces, and for it alone."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

# An owner, the name of its attribute, and what gives a stub for what the attribute is.
Patch = tuple[Any, str, Callable[[Any], Any]]


class Patches:
    """Functions that are replaced in threads that ask for it; others call what was before.

    The owners are changed by the first that asks and restored by the last, so that traces may
    overlap, in whichever order they end.
    """

    def __init__(self, patches: Callable[[], Sequence[Patch]]) -> None:
        self._patches = patches
        self._lock = threading.Lock()
        self._uses = 0
        self._before: list[tuple[Any, str, Any]] = []
        self._local = threading.local()

    @contextlib.contextmanager
    def applied(self) -> Iterator[None]:
        """Within it this thread gets the stubs."""
        with self._lock:
            if not self._uses:
                self._install()
            self._uses += 1
        depth = self._depth()
        self._local.depth = depth + 1
        try:
            yield
        finally:
            self._local.depth = depth
            with self._lock:
                self._uses -= 1
                if not self._uses:
                    self._restore()

    def _depth(self) -> int:
        return int(getattr(self._local, "depth", 0))

    def _install(self) -> None:
        for owner, name, stub_of in self._patches():
            original = getattr(owner, name)
            self._before.append((owner, name, original))
            setattr(owner, name, self._choosing(original, stub_of(original)))

    def _restore(self) -> None:
        while self._before:
            setattr(*self._before.pop())

    def _choosing(self, original: Any, stub: Any) -> Any:
        @functools.wraps(original)
        def choosing(*args: Any, **kwargs: Any) -> Any:
            return (stub if self._depth() else original)(*args, **kwargs)

        return choosing
