"""The cheapest set of things from which others can be made: a minimal cut."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)
_SOURCE: object = ("source", None)
_SINK: object = ("sink", None)


class Cut(Generic[Item]):
    """Items with prices, and which of them follow from which others."""

    def __init__(self) -> None:
        self._left: dict[object, dict[object, float]] = {_SOURCE: {}, _SINK: {}}
        self._items: list[Item] = []

    def price(self, item: Item, price: float) -> None:
        """An item, and what it costs to keep it."""
        self._items.append(item)
        self._arrow(("in", item), ("out", item), price)

    def have(self, item: Item) -> None:
        """An item that can only be kept, not made."""
        self._arrow(_SOURCE, ("in", item), float("inf"))

    def need(self, item: Item) -> None:
        """An item that has to be kept or made."""
        self._arrow(("out", item), _SINK, float("inf"))

    def follow(self, item: Item, other: Item) -> None:
        """Another item is made of this one, among others."""
        self._arrow(("out", item), ("in", other), float("inf"))

    def solve(self) -> set[Item]:
        """The items to keep, of the lowest price in all, so that as few as can be are made."""
        while (path := self._path()) is not None:
            flow = min(self._left[a][b] for a, b in path)
            for a, b in path:
                self._left[a][b] -= flow
                self._left[b][a] = self._left[b].get(a, 0) + flow
        # What can still reach the end is made of what is kept.
        behind = self._reaching()
        return {
            item for item in self._items if ("out", item) in behind and ("in", item) not in behind
        }

    def _arrow(self, a: object, b: object, most: float) -> None:
        self._left.setdefault(a, {})[b] = most
        self._left.setdefault(b, {}).setdefault(a, 0)

    def _path(self) -> list[tuple[object, object]] | None:
        """A shortest way from source to sink along which something can still flow."""
        before: dict[object, object] = {_SOURCE: None}
        waiting = deque([_SOURCE])
        while waiting:
            at = waiting.popleft()
            if at == _SINK:
                path = []
                while before[at] is not None:
                    path.append((before[at], at))
                    at = before[at]
                return path[::-1]
            for other, left in self._left[at].items():
                if left > 0 and other not in before:
                    before[other] = at
                    waiting.append(other)
        return None

    def _reaching(self) -> set[object]:
        """What has a way to the sink along which something can still flow."""
        found: set[object] = {_SINK}
        waiting: list[object] = [_SINK]
        while waiting:
            at = waiting.pop()
            for other in self._left[at]:
                if self._left[other].get(at, 0) > 0 and other not in found:
                    found.add(other)
                    waiting.append(other)
        return found
