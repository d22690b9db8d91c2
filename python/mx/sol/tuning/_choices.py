"""Which backend a plan asks first for each of its layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...graph.lowering import Backend, Chooser, Layer
from .._backends import backends

# Without measurements: the backends that come before all others, by operator.
_FIRST: dict[str, tuple[str, ...]] = {}


def by_table(operator: str) -> tuple[Backend, ...]:
    """All backends, in the order in which a layer of this operator asks them untuned."""
    found: dict[str, Backend] = {one.name: one for one in backends}
    first = [found[name] for name in _FIRST.get(operator, ()) if name in found]
    return (*first, *(one for one in found.values() if one not in first))


class Choices(Chooser):
    """Has a backend of its own first for some layers, by their positions in the graph."""

    def __init__(self, chosen: Mapping[int, str] | None = None) -> None:
        super().__init__(tuple(backends))
        self.chosen = dict(chosen or {})
        self._by_table: dict[str, tuple[Backend, ...]] = {}

    def order(self, layer: Layer) -> Sequence[Backend]:
        if layer.operator not in self._by_table:
            self._by_table[layer.operator] = by_table(layer.operator)
        order = self._by_table[layer.operator]
        name = self.chosen.get(layer.position)
        if name is None:
            return order
        return sorted(order, key=lambda one: one.name != name)
