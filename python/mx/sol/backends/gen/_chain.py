"""A node of a graph and those behind it as one group, whose inputs are values of a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ....graph.lowering._value import Declined, Followers, Value
from ._emit_group import emit_group
from ._group import GroupNode
from ._kernel import GenKernel, Spec
from ._table import SINCE
from ._target import Target
from .products import PRODUCTS

# Constants of more elements are weights, which only kernels of products are written for.
_FEW = 64


class Chain:
    """Nodes of which each but the first reads what the one before gives."""

    def __init__(self) -> None:
        self.inputs: list[Value] = []  # each once
        self._nodes: list[tuple[str, tuple[int | None, ...], dict[str, Any]]] = []

    def __len__(self) -> int:
        return len(self._nodes)

    def with_node(
        self,
        operator: str,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
        position: int | None = None,
    ) -> Chain:
        """A longer chain. `position` says which input is what the node before gives."""
        longer = Chain()
        longer.inputs = list(self.inputs)
        read: list[int | None] = []
        for index, value in enumerate(inputs):
            if index == position:
                read.append(-1)
            elif value is None:
                read.append(None)
            else:
                read.append(longer._number(value))
        longer._nodes = [*self._nodes, (operator, tuple(read), attributes)]
        return longer

    def nodes(self) -> list[GroupNode]:
        """The nodes as emitters take them."""
        count = len(self.inputs)
        return [
            GroupNode(
                operator,
                tuple(count + index - 1 if number == -1 else number for number in read),
                attributes,
            )
            for index, (operator, read, attributes) in enumerate(self._nodes)
        ]

    def specs(self) -> list[Spec]:
        """The specs of the inputs."""
        return [Spec(value.shape, value.dtype) for value in self.inputs]

    def known(self) -> dict[int, numpy.ndarray[Any, Any]]:
        """The elements of inputs that are small constants: numbers, axes; and weights of products,
        which are packed."""
        operator, read, _ = self._nodes[0]
        packed = read if operator in PRODUCTS else ()
        return {
            number: value.known.elements
            for number, value in enumerate(self.inputs)
            if value.known is not None and (value.size <= _FEW or number in packed)
        }

    def _number(self, value: Value) -> int:
        for number, other in enumerate(self.inputs):
            if other is value or (value.known is not None and other.known is value.known):
                return number
        self.inputs.append(value)
        return len(self.inputs) - 1


# Raises Declined for a value that a kernel is not to read.
Check = Callable[[Value], None]


def longest(
    target: Target, first: Chain, followers: Followers, check: Check = lambda value: None
) -> tuple[GenKernel, Chain]:
    """The kernel of as many nodes as one can have, and these. Declined as the first node is."""
    kernel, chain = _emit(target, first, check), first
    while True:
        follower = followers.get(len(chain) - 1)
        if follower is None or follower.version < SINCE.get(follower.operator, 1):
            return kernel, chain
        try:
            longer = chain.with_node(
                follower.operator, follower.inputs, follower.attributes, follower.position
            )
            kernel, chain = _emit(target, longer, check), longer
        except Declined:
            return kernel, chain


def _emit(target: Target, chain: Chain, check: Check) -> GenKernel:
    for value in chain.inputs:
        check(value)
    last = len(chain.inputs) + len(chain) - 1
    return emit_group(target, chain.specs(), chain.nodes(), [last], chain.known())
