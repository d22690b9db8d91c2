"""Text that describes objects, parts of which are added once it is known that they matter."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any


class Text:
    """What a capture depends on, as text."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._numbers: dict[int, int] = {}
        self._alive: list[Any] = []  # so that an identity stays that of one object
        self._names: set[str] = set()
        self._all_names = False
        self._waiting: dict[str, list[Callable[[], None]]] = {}
        self._ready: deque[Callable[[], None]] = deque()
        self._checked: set[CodeType] = set()

    def add(self, *parts: object) -> None:
        """Adds text."""
        self._parts.append(repr(parts))

    def digest(self) -> str:
        """A hash of all that was added, once what is named is described, too."""
        while self._ready:
            self._ready.popleft()()
        return hashlib.sha256("\n".join(self._parts).encode("utf-8", "surrogatepass")).hexdigest()

    def use(self, names: Iterable[str]) -> None:
        """Has attributes of these names described: code reads them."""
        for name in names:
            if name not in self._names:
                self._names.add(name)
                self._ready.extend(self._waiting.pop(name, ()))

    def use_all(self) -> None:
        """Has all attributes described: code reads some whose names are not known."""
        self._all_names = True
        for waiting in self._waiting.values():
            self._ready.extend(waiting)
        self._waiting.clear()

    def when_used(self, name: str, describe: Callable[[], None]) -> None:
        """Calls a function once code reads attributes of the name."""
        if self._all_names or name in self._names:
            self._ready.append(describe)
        else:
            self._waiting.setdefault(name, []).append(describe)

    def is_new(self, one: Any) -> bool:
        """Whether an object comes for the first time; adds which one it is."""
        number = self._numbers.setdefault(id(one), len(self._numbers))
        is_new = number == len(self._alive)
        if is_new:
            self._alive.append(one)
        self.add("object", number)
        return is_new
