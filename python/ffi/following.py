"""Namespaces that have what is registered under a prefix, and follow what comes and goes."""

from __future__ import annotations

import os
from _thread import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# Prefixes of names, each with what is called with every name of it that changes its function.
_watchers: list[tuple[str, Callable[[str], None]]] = []
_lock = RLock()


def _free_lock() -> None:
    """Another thread may hold it while a process forks, and the child has no such thread."""
    global _lock
    _lock = RLock()


os.register_at_fork(after_in_child=_free_lock)


def watch(prefix: str, changed: Callable[[str], None]) -> None:
    """Has `changed` called with each name that begins so and is registered, or removed, later.

    By register_func, remove_global_func and load_library, that is: what C++ registers by itself
    while it runs is told to nobody, and get_global_func finds it. Whoever wants to know all names
    watches first and lists them then: what is registered in between is told twice, and not never.
    """
    _watchers.append((prefix, changed))


def announce(names: Iterable[str]) -> None:
    """Tells those who watch about names that have another function now, or none."""
    for name in names:
        for prefix, changed in _watchers:
            if name.startswith(prefix):
                changed(name)


class Following:
    """Names of a namespace, a module's for one, that are kept as `find` says: a value, or None.

    What the namespace has from elsewhere stays, and what it was given goes when find has no more.
    """

    __slots__ = ("_find", "_given", "_namespace")

    def __init__(self, namespace: dict[str, Any], find: Callable[[str], Any]) -> None:
        self._namespace = namespace
        self._find = find
        self._given: dict[str, Any] = {}

    def renew(self, names: Iterable[str]) -> None:
        """Looks names up anew."""
        for name in names:
            # Asked under the lock, so that of several threads the last one sees the latest.
            with _lock:
                self._renew(name)

    def _renew(self, name: str) -> None:
        namespace, given = self._namespace, self._given
        if name in namespace and namespace[name] is not given.get(name, namespace):
            return
        found = self._find(name)
        if found is not None:
            namespace[name] = given[name] = found
        elif given.pop(name, None) is not None:
            namespace.pop(name, None)
