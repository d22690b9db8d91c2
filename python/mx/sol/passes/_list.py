"""The list of passes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from ...graph import Graph
from ...graph._layout import keep_layouts_of_graph
from ...graph.passes import Pass
from ...graph.passes.layout import LAYOUT
from .._registry import Registry, registry_of


@dataclass(frozen=True)
class Removed:
    """What one pass has done to a graph: the nodes that are gone, how many there are new, and how
    many of those that stay have other metadata."""

    name: str
    removed: tuple[str, ...]
    added: int
    marked: int = 0

    def __str__(self) -> str:
        counts = {"new": self.added, "marked": self.marked}
        done = [f"{count} {what}" for what, count in counts.items() if count]
        if self.removed or not done:
            done = [f"{len(self.removed)} removed", *done]
        first = ", ".join(self.removed[:4]) + (", ..." if len(self.removed) > 4 else "")
        return f"{self.name}: {', '.join(done)}" + (f": {first}" if first else "")


class PassList(Sequence[Pass]):
    """Passes in the order in which they run; some may be switched off.

    Models are optimized by the passes that are on when `optimize` is called.
    """

    def __init__(self, passes: Sequence[Pass], off: Sequence[str] = ()) -> None:
        """`off` has the names of those that are off until somebody switches them on."""
        self._passes = list(passes)
        self._off = set(off)
        self._plugins: Registry[Pass] | None = registry_of("passes", {}, Pass)
        self._broken: list[tuple[str, str]] = []

    @property
    def names(self) -> list[str]:
        """The names in order, of those that are off, too."""
        return [one.name for one in self._all()]

    @property
    def enabled(self) -> tuple[Pass, ...]:
        """Those that are on."""
        return tuple(one for one in self._all() if one.name not in self._off)

    @property
    def broken(self) -> list[tuple[str, str]]:
        """The names of plugins that are left out, each with the reason."""
        self._all()
        return list(self._broken)

    def enable(self, *names: str) -> None:
        """Switches passes on. ValueError for a name of none."""
        self._off -= set(map(self._known, names))

    def disable(self, *names: str) -> None:
        """Switches passes off. ValueError for a name of none."""
        self._off |= set(map(self._known, names))

    @contextlib.contextmanager
    def without(self, *names: str) -> Iterator[None]:
        """Has passes off for what is in a `with` statement."""
        before = set(self._off)
        self.disable(*names)
        try:
            yield
        finally:
            self._off = before

    def add(self, one: Pass, before: str | None = None) -> None:
        """Adds a pass, at the end or before another. ValueError where its name is taken."""
        if not isinstance(one, Pass):
            raise TypeError(
                f"sol.passes.add: expected an mx.graph.passes.Pass, got {type(one).__name__}"
            )
        if one.name in self.names:
            raise ValueError(f"sol.passes.add: there is a pass {one.name!r} already")
        position = len(self._passes)
        if before is not None:
            position = self.names.index(self._known(before))
        self._passes.insert(position, one)

    def remove(self, name: str) -> Pass:
        """Takes a pass out of the list, and returns it. ValueError for a name of none."""
        found = self[self.names.index(self._known(name))]
        self._passes.remove(found)
        self._off.discard(name)
        return found

    @overload
    def __getitem__(self, index: int) -> Pass: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pass]: ...
    def __getitem__(self, index: int | slice) -> Pass | Sequence[Pass]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        return "\n".join(
            f"{'off' if one.name in self._off else 'on':<4}{one.name:<{width}}  {one.description}"
            for one in self._all()
        )

    def _known(self, name: str) -> str:
        if name not in self.names:
            raise ValueError(f"sol.passes: {name!r} is no pass: there are {', '.join(self.names)}")
        return name

    def _all(self) -> list[Pass]:
        """All passes; those of other packages are looked for when they are first asked for."""
        if self._plugins is not None:
            plugins, self._plugins = self._plugins, None
            for name, one, _ in plugins.look():
                try:
                    if one is not None:
                        self.add(one)
                except ValueError as error:  # a name that is taken
                    plugins.leave_out(name, error)
            self._broken = [(name, reason) for name, _, reason in plugins.look() if reason]
        return self._passes


def run(passes: Sequence[Pass], graph: Graph) -> tuple[Removed, ...]:
    """Runs passes over a graph, in place; tells what each did that did something."""
    done = []
    if LAYOUT not in passes:
        keep_layouts_of_graph(graph.model.graph)
    for one in passes:
        before = {node: dict(node.metadata_props) for node in graph.model.graph}
        names = one.run(graph.model)
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TypeError(
                f"mx.graph.passes.Pass {one.name!r}: expected run to return the names of the nodes"
                f" that are gone, got {type(names).__name__}"
            )
        removed = tuple(names)
        after = list(graph.model.graph)
        added = sum(node not in before for node in after)
        marked = sum(before.get(node, node.metadata_props) != node.metadata_props for node in after)
        if removed or added or marked:
            done.append(Removed(one.name, removed, added, marked))
    return tuple(done)
