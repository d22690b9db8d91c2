"""The cache as those use it that compile: what is wrong with it is told once and stops nobody."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .._acc.fallback import tell
from . import _settings
from ._file import FileError, PieceFile, PieceWriter
from ._store import Store


class CacheWarning(RuntimeWarning):
    """A compiled model could not be kept, or one that is kept could not be used."""


_told: set[str] = set()


def warn(text: str, once: str = "") -> None:
    """Tells the user; what has the same `once` one time in a process."""
    if once in _told:
        return
    if once:
        _told.add(once)
    tell(text, CacheWarning)


class Cache:
    """The compiled models that are kept."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @staticmethod
    def find() -> Cache | None:
        """None where it is switched off or cannot be used."""
        if not _settings.is_on():
            wrong = _settings.misreading()
            if wrong is not None:
                warn(f"compiled models are not kept: {wrong}", once=wrong)
            return None
        try:
            return Cache(Store(_settings.usable_folder()))
        except OSError as error:
            path = _settings.folder()
            warn(f"compiled models are not kept in {path}: {error}", once=path)
            return None

    @staticmethod
    def has(key: str) -> bool:
        """Whether something is kept under a key, for those who would make nothing otherwise."""
        return _settings.is_on() and Store(_settings.folder()).has(key)

    @contextlib.contextmanager
    def locked(self, key: str) -> Iterator[None]:
        """Keeps others from compiling the same meanwhile, where that can be done."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(self._store.lock(key))
            except OSError as error:
                self._warn_not_kept(error)
            yield

    def open(self, key: str) -> PieceFile | None:
        """The file that is kept under a key; a damaged one is removed."""
        try:
            return self._store.open(key)
        except FileError as error:
            warn(f"{error}. It is removed, and the model is compiled anew")
            self.remove(key)
        except OSError as error:
            warn(f"a compiled model cannot be read: {error}", once=f"read {error.errno}")
        return None

    def remove(self, key: str) -> None:
        """Removes what is kept under a key."""
        with contextlib.suppress(OSError):
            self._store.remove(key)

    def limit(self) -> int:
        """How many bytes may be kept; 0, which is told, where that is set to no size."""
        try:
            return _settings.limit()
        except ValueError as error:
            self._warn_not_kept(error)
            return 0

    def write(self, key: str, write: Callable[[PieceWriter], dict[str, Any]]) -> None:
        """Keeps what `write` adds, and removes what was not used for longest where that is too
        much. Who calls it has the lock of the key."""
        try:
            most = _settings.limit()
            if self._store.write(key, write) > most:
                self._store.remove(key)
            self._store.trim(most)
        except (OSError, ValueError) as error:
            self._warn_not_kept(error)

    @staticmethod
    def _warn_not_kept(error: Exception) -> None:
        path = _settings.folder()
        warn(f"compiled models are not kept in {path}: {error}", once=path)
