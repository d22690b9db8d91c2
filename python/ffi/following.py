"""Keeps namespaces up to date with the names that are registered under a prefix."""

from __future__ import annotations

import os
from _thread import RLock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# By prefix: what to call with each name under it whose function changes.
_watchers: list[tuple[str, Callable[[str], None]]] = []
_lock = RLock()


def _free_lock() -> None:
    """Frees the lock in a forked child, where the thread that held it does not exist."""
    global _lock
    _lock = RLock()


os.register_at_fork(after_in_child=_free_lock)


def watch(prefix: str, changed: Callable[[str], None]) -> None:
    """Has `changed` called with each name that begins so and is registered, or removed, later.

    Changes by register_func, remove_global_func and load_library count; what C++ registers while
    it runs is only found by get_global_func. To see all names, call watch before listing them: one
    registered in between is then seen twice rather than never.
    """
    _watchers.append((prefix, changed))


def announce(names: Iterable[str]) -> None:
    """Calls the watchers of names whose function was set, replaced or removed."""
    for name in names:
        for prefix, changed in _watchers:
            if name.startswith(prefix):
                changed(name)


class Following:
    """Names of a namespace, such as a module's, whose values come from `find`; None removes one.

    Names that the namespace has from elsewhere are left alone.
    """

    __slots__ = ("_find", "_given", "_namespace")

    def __init__(self, namespace: dict[str, Any], find: Callable[[str], Any]) -> None:
        self._namespace = namespace
        self._find = find
        self._given: dict[str, Any] = {}

    def renew(self, names: Iterable[str]) -> None:
        """Looks names up anew."""
        for name in names:
            # find is called under the lock, so that the last thread stores the latest function.
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
