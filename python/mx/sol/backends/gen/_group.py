"""Groups of elementwise nodes: what each computes, of which shape and type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from ....graph.lowering._value import Declined
from ._algebra import Scalar, Vector
from ._kernel import Spec
from ._operators import OPERATORS, Call
from ._types import type_of


@dataclass(frozen=True)
class GroupNode:
    """A node of a group. `inputs` are numbers of values, None for one that is not given: first the
    inputs of the group, then what each of its nodes gives."""

    operator: str
    inputs: tuple[int | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Leaf:
    """An input of the group: its position, and the shape in which it is broadcast."""

    position: int
    shape: tuple[int, ...]
    dtype: str


class Expressions:
    """The nodes of a group with what they read; makes the C of all of them for one element."""

    def __init__(
        self,
        inputs: Sequence[Spec],
        nodes: Sequence[GroupNode],
        known: Mapping[int, numpy.ndarray[Any, Any]] | None = None,
    ) -> None:
        """Declined for a node that is not elementwise, or of types that are not taken."""
        self.inputs = list(inputs)
        self.nodes = list(nodes)
        self._numbers = {
            position: float(array.reshape(()))
            for position, array in (known or {}).items()
            if array.size == 1 and array.dtype.kind in "fiu"
        }
        # Of each value; of the inputs first.
        self.specs = list(inputs)
        self.leaves: dict[tuple[int, tuple[int, ...]], Leaf] = {}
        self._reads: list[list[Leaf | int | None]] = []
        for node in nodes:
            self._add(node)
        self.is_vector = self._works(True)
        if not self.is_vector and not self._works(False):
            self._lines(False, dict.fromkeys(self.leaves.values(), "x"), "")  # says why

    def output(self, number: int) -> Spec:
        """The spec of a value."""
        return self.specs[number]

    @property
    def is_heavy(self) -> bool:
        """Whether elements take long to compute."""
        return any(OPERATORS[node.operator].is_heavy for node in self.nodes)

    def _add(self, node: GroupNode) -> None:
        operator = OPERATORS.get(node.operator)
        if operator is None:
            raise Declined(f"{node.operator} is not elementwise")
        given = [None if number is None else self.specs[number] for number in node.inputs]
        shapes = shapes_of(node.operator, given)
        reads: list[Leaf | int | None] = []
        for number, shape in zip(node.inputs, shapes, strict=True):
            if number is None or shape is None:
                reads.append(None)
            elif number < len(self.inputs):
                leaf = Leaf(number, shape, self.inputs[number].dtype)
                reads.append(self.leaves.setdefault((number, shape), leaf))
            elif shape != self.specs[number].shape:
                raise Declined("a value that is seen in another shape")
            else:
                reads.append(number)
        self._reads.append(reads)
        shape = _broadcast([one for one in shapes if one is not None])
        call = self._call(len(self._reads) - 1, ["x"] * len(reads), Scalar)
        try:
            dtype = operator.formula(call)[1]
        except (KeyError, AssertionError, TypeError, AttributeError) as error:
            raise Declined(f"{node.operator}: {error}") from error
        self.specs.append(Spec(shape, dtype))

    def _call(self, index: int, args: Sequence[str | None], make: Any) -> Call:
        node, reads = self.nodes[index], self._reads[index]
        dtypes = [None if number is None else self.specs[number].dtype for number in node.inputs]
        kept = [None if read is None else arg for arg, read in zip(args, reads, strict=True)]
        numbers = {
            position: self._numbers[number]
            for position, number in enumerate(node.inputs)
            if number is not None and number in self._numbers
        }
        return Call(make, tuple(kept), tuple(dtypes), node.attributes, numbers)

    def _works(self, is_vector: bool) -> bool:
        try:
            self._lines(is_vector, dict.fromkeys(self.leaves.values(), "x"), "")
        except Declined:
            return False
        return True

    def _lines(
        self, is_vector: bool, given: Mapping[Leaf, str], suffix: str
    ) -> tuple[list[str], dict[int, str]]:
        make = Vector if is_vector else Scalar
        for leaf in self.leaves.values():
            make(leaf.dtype)
        names: dict[int, str] = {}
        lines = []
        for index, reads in enumerate(self._reads):
            args = [
                None if read is None else given[read] if isinstance(read, Leaf) else names[read]
                for read in reads
            ]
            number = len(self.inputs) + index
            text, dtype = OPERATORS[self.nodes[index].operator].expression(
                self._call(index, args, make)
            )
            make(dtype)
            kind = type_of(dtype)
            if not is_vector:
                text = kind.rounded(text)
            value = ("vf" if kind.is_float else "vi") if is_vector else kind.value
            names[number] = f"v{number}{suffix}"
            lines.append(f"const {value} {names[number]} = {text};")
        return lines, names

    def lines(
        self, given: Mapping[Leaf, str], suffix: str = ""
    ) -> tuple[list[str], dict[int, str]]:
        """C statements for one element or vector, and the names of what they compute.

        `given` are the expressions of the leaves, `suffix` makes names of its own.
        """
        return self._lines(self.is_vector, given, suffix)


def shapes_of(operator: str, inputs: Sequence[Spec | None]) -> list[tuple[int, ...] | None]:
    """The shapes in which an operator broadcasts its inputs."""
    shapes = [None if spec is None else spec.shape for spec in inputs]
    if operator == "CastLike":
        return [shapes[0], None]  # of which only the type counts
    if operator == "BatchNormalization":
        if len(shapes) != 5 or shapes[0] is None or len(shapes[0]) < 2:
            raise Declined("other inputs than five, or no channels")
        channels = (shapes[0][1],)
        if any(shape != channels for shape in shapes[1:]):
            raise Declined("statistics of another shape than the channels")
        return [shapes[0], *([channels + (1,) * (len(shapes[0]) - 2)] * 4)]
    return shapes


def _broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return tuple(numpy.broadcast_shapes(*shapes))
    except ValueError as error:
        raise Declined(str(error)) from error
