"""Which backends are asked for a layer, and in which order: what others hand down to a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._table import Backend
from ._value import Followers, Value

# Estimates that differ by less than this part of the larger one say nothing.
_NOISE = 0.2


@dataclass(frozen=True, eq=False)
class Layer:
    """A node for which a backend is looked for."""

    name: str
    position: int  # among the nodes of the graph, constants not counted
    operator: str
    version: int  # since which the operator is as it is
    inputs: tuple[Value | None, ...]
    attributes: dict[str, Any]
    num_outputs: int
    followers: Followers  # which the kernel of the node may compute, too
    precision: str = ""  # as Lowering has it
    has_one_shape: bool = False  # whether it is certain that there is no plan for other shapes


class Chooser:
    """Says which backends a plan asks. What all of them decline, Python executes.

    This one asks all in the order in which it is given them, but for layers of which they estimate
    that a later one is clearly faster. One that derives from it may have others for a layer;
    answers are right whatever it chooses.
    """

    # Whether layers may be those of a slice of a batch; not where they are measured as they are.
    may_slice = True
    # Whether to remember of what plans are made.
    records = False

    def __init__(self, backends: Sequence[Backend]) -> None:
        self.backends = tuple(backends)
        self.contested = contested(backends)
        self._asked: dict[str, tuple[Backend, ...]] = {}

    def order(self, layer: Layer) -> Sequence[Backend]:
        """The backends to ask for a layer, the preferred one first."""
        operator = layer.operator
        found = self._asked.get(operator)
        if found is None:
            found = self._asked[operator] = self.asked(operator)
        return by_estimate(self.estimates(layer), found) if operator in self.contested else found

    def estimates(self, layer: Layer) -> Mapping[str, float]:
        """The microseconds that backends expect a layer to take, where an order is decided by
        them."""
        if layer.operator not in self.contested:
            return {}
        every = ((one.name, one.estimate(layer)) for one in self.asked(layer.operator))
        return {name: estimate for name, estimate in every if estimate is not None}

    def asked(self, operator: str) -> tuple[Backend, ...]:
        """The backends that are asked for an operator, in the order without estimates."""
        return tuple(one for one in self.backends if one.is_asked(operator))

    def note(self, layer: Layer, backend: str, taken: int, outputs: Sequence[Value]) -> None:
        """Is told which backend has lowered a layer, with how many followers, and to what."""
        return None


def contested(backends: Sequence[Backend]) -> frozenset[str]:
    """The operators whose cost several of the backends estimate."""
    counts = Counter(operator for one in backends for operator in one.estimates)
    return frozenset(operator for operator, count in counts.items() if count > 1)


def by_estimate(found: Mapping[str, float], backends: Sequence[Backend]) -> Sequence[Backend]:
    """The backends in their order, but those that are estimated to be clearly faster before others.

    A backend without an estimate keeps its position.
    """
    left = [one for one in backends if one.name in found]
    if not left or min(found.values()) >= (1 - _NOISE) * max(found.values()):
        return backends
    ranked = []
    while left:
        most = min(found[one.name] for one in left) / (1 - _NOISE)
        ranked.append(next(one for one in left if found[one.name] <= most))
        left.remove(ranked[-1])
    others = iter(ranked)
    return [next(others) if one.name in found else one for one in backends]
