"""Names for nodes that were given none: `convolution0`, `convolution1`, ..."""

from __future__ import annotations

import threading
from types import TracebackType


class NameManager:
    """Counts nodes by their operator, each thread on its own; as a context, it begins anew."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._outer: NameManager | None = None

    def get(self, name: str | None, hint: str) -> str:
        """The name given, or the next one of a hint."""
        if name:
            return name
        count = self._counts.get(hint, 0)
        self._counts[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> NameManager:
        self._outer = current()
        _local.manager = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _local.manager = self._outer


class Prefix(NameManager):
    """Puts a prefix before all names, those given too."""

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        return self._prefix + super().get(name, hint)


class _Local(threading.local):
    manager: NameManager | None = None


_local = _Local()


def current() -> NameManager:
    """The manager of this thread."""
    if _local.manager is None:
        _local.manager = NameManager()
    return _local.manager
