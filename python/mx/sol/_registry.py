"""What this package and others add to it: frameworks, passes.

A plugin is an object that an entry point names, in the group `mx.sol.frameworks` or
`mx.sol.passes`. What belongs to this package is named in the same way, as "module:attribute". Each
is imported when it is first asked for; one of another package that cannot be is left out, with a
SolWarning that says why.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from ._errors import SolWarning

Plugin = TypeVar("Plugin")


class Registry(Generic[Plugin]):
    """The plugins of one kind, by name."""

    def __init__(self, kind: str, own: Mapping[str, str], expected: type = object) -> None:
        """Plugins are instances of `expected`."""
        self.kind = kind
        self._own = own
        self._expected = expected
        self._loaded: dict[str, Plugin] = {}
        self._broken: dict[str, str] = {}

    @property
    def group(self) -> str:
        """What entry points of the kind are listed under."""
        return f"mx.sol.{self.kind}"

    def names(self) -> list[str]:
        """The names: those of this package, then those of others."""
        return list(self._points())

    def get(self, name: str) -> Plugin:
        """The plugin of a name. ValueError for a name that none has, TypeError for a plugin that is
        something else, ImportError as it raises."""
        # What is no text may be no key either.
        if not isinstance(name, str) or name not in self._loaded:
            point = self._points().get(name) if isinstance(name, str) else None
            if point is None:
                raise ValueError(
                    f"mx.sol: {name!r} is none of the {self.kind}: there are "
                    + ", ".join(self.names())
                )
            self._load(name, point)
        return self._loaded[name]

    def __iter__(self) -> Iterator[Plugin]:
        for _, plugin, _ in self.look():
            if plugin is not None:
                yield plugin

    def look(self) -> Iterator[tuple[str, Plugin | None, str]]:
        """All by name, each with what is wrong with it, "" for nothing."""
        # What is installed is looked up once, which takes longer than all else.
        for name, point in self._points().items():
            if name not in self._loaded and name not in self._broken:
                try:
                    self._load(name, point)
                # Code of other packages may raise anything.
                except Exception as error:
                    if name in self._own:
                        raise
                    self.leave_out(name, error)
            yield name, self._loaded.get(name), self._broken.get(name, "")

    def leave_out(self, name: str, error: Exception) -> None:
        """Has a plugin no longer among the others, and says so."""
        self._loaded.pop(name, None)
        self._broken[name] = f"{type(error).__name__}: {error}"
        package = getattr(getattr(self._points().get(name), "dist", None), "name", None)
        by = f" of the package {package}" if package else ""
        text = f"{self.group}: {name!r}{by} is broken, and left out: {self._broken[name]}"
        warnings.warn(text, SolWarning, stacklevel=3)

    def _load(self, name: str, point: EntryPoint) -> None:
        plugin = point.load()
        if not isinstance(plugin, self._expected):
            raise TypeError(
                f"mx.sol: {point.value}, of {self.group}: expected an instance of "
                f"{self._expected.__name__}, got {type(plugin).__name__}"
            )
        self._loaded[name] = cast(Plugin, plugin)

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


def registry_of(kind: str, own: Mapping[str, str], expected: type = object) -> Registry[Any]:
    """A registry of plugins that are called from here on as they are."""
    return Registry(kind, own, expected)
