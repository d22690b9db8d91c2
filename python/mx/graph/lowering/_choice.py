"""Which backends are asked for a layer, and in which order: what others hand down to a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._table import Backend
from ._value import Followers, Value


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


class Chooser:
    """Says which backends a plan asks. What all of them decline, Python executes.

    This one asks all in the order in which it is given them. One that derives from it may have
    others for a layer; answers are right whatever it chooses.
    """

    # Whether layers may be those of a slice of a batch; not where they are measured as they are.
    may_slice = True

    def __init__(self, backends: Sequence[Backend]) -> None:
        self.backends = tuple(backends)
        self._asked: dict[str, tuple[Backend, ...]] = {}

    def order(self, layer: Layer) -> Sequence[Backend]:
        """The backends to ask for a layer, the preferred one first."""
        operator = layer.operator
        found = self._asked.get(operator)
        if found is None:
            found = self._asked[operator] = self.asked(operator)
        return found

    def asked(self, operator: str) -> tuple[Backend, ...]:
        """The backends that are asked for an operator, in their order."""
        return tuple(one for one in self.backends if one.is_asked(operator))

    def note(self, layer: Layer, backend: str, taken: int, outputs: Sequence[Value]) -> None:
        """Is told which backend has lowered a layer, with how many followers, and to what."""
        return None
