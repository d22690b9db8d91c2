"""What this package and others add to it: frameworks, passes.

A plugin is an object that an entry point names, in the group `mx.sol.frameworks` or
`mx.sol.passes`. What belongs to this package is named in the same way, as "module:attribute". Each
is imported when it is first asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

Plugin = TypeVar("Plugin")


class Registry(Generic[Plugin]):
    """The plugins of one kind, by name."""

    def __init__(self, kind: str, own: Mapping[str, str]) -> None:
        self.kind = kind
        self._own = own
        self._loaded: dict[str, Plugin] = {}

    @property
    def group(self) -> str:
        """What entry points of the kind are listed under."""
        return f"mx.sol.{self.kind}"

    def names(self) -> list[str]:
        """The names: those of this package, then those of others."""
        return list(self._points())

    def get(self, name: str) -> Plugin:
        """The plugin of a name. ValueError for a name that none has, ImportError as it raises."""
        if name not in self._loaded:
            point = self._points().get(name)
            if point is None:
                raise ValueError(
                    f"mx.sol: {name!r} is none of the {self.kind}: there are "
                    + ", ".join(self.names())
                )
            self._loaded[name] = point.load()
        return self._loaded[name]

    def __iter__(self) -> Iterator[Plugin]:
        # What is installed is looked up once, which takes longer than all else.
        for name, point in self._points().items():
            if name not in self._loaded:
                self._loaded[name] = point.load()
            yield self._loaded[name]

    def _points(self) -> dict[str, EntryPoint]:
        own = {name: EntryPoint(name, target, self.group) for name, target in self._own.items()}
        others = {point.name: point for point in points_of(self.group)}
        return {**own, **{name: point for name, point in others.items() if name not in own}}


def points_of(group: str) -> Sequence[EntryPoint]:
    """What packages that are installed list under a group."""
    return tuple(_installed(tuple(sys.path)).select(group=group))


@lru_cache(maxsize=1)
def _installed(path: tuple[str, ...]) -> Any:
    """What all packages of a path list: a look at one group reads the files of all of them."""
    return entry_points()


def registry_of(kind: str, own: Mapping[str, str]) -> Registry[Any]:
    """A registry of plugins that are called from here on as they are."""
    return Registry(kind, own)
