"""The values of a graph while its nodes become kernels, and why one cannot."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy

from ._constant import Constant

# What operators, and so rules, raise for arguments that they do not take.
REJECTIONS = (
    TypeError, ValueError, NotImplementedError, ArithmeticError, LookupError, AttributeError
)  # fmt: skip


class Declined(Exception):
    """A backend has no kernel for a node; the text says why, for people."""


class BackendFailed(Declined):
    """A backend cannot make kernels that its rules have promised: plans have to do without it."""

    def __init__(self, backend: Any, reason: str) -> None:
        super().__init__(f"{backend.name}: {reason}")
        self.backend = backend


class NeedsElements(Exception):
    """A node cannot be lowered before the elements of a value are known."""

    def __init__(self, value: Value) -> None:
        super().__init__("the elements of a value decide a shape")
        self.value = value


@dataclass(frozen=True)
class Follower:
    """A node that alone uses the output of the one before, so that one kernel may do both."""

    operator: str
    version: int  # since which the operator is as it is
    inputs: tuple[Value | None, ...]
    position: int  # among the inputs, of what the node before gives; None stands there
    attributes: dict[str, Any]


class Followers:
    """The followers of a node, each looked at when it is first asked for."""

    def __init__(self, rest: Iterable[Follower] = ()) -> None:
        self._rest = iter(rest)
        self._seen: list[Follower] = []

    def get(self, index: int) -> Follower | None:
        """The follower of that index, from 0 on; None behind the last one."""
        while len(self._seen) <= index:
            follower = next(self._rest, None)
            if follower is None:
                return None
            self._seen.append(follower)
        return self._seen[index]


@dataclass(eq=False)
class Value:
    """A tensor of known shape and element type, of which elements may be known, too."""

    shape: tuple[int, ...]
    dtype: str
    number: int | None = None  # in the builder of the plan
    known: Constant | None = None  # of which the elements are known
    layout: Any = None  # of oneDNN where its memory is blocked; None for strides
    strides: tuple[int, ...] | None = None  # in elements, of a view that is not row-major

    @property
    def constant(self) -> numpy.ndarray[Any, Any] | None:
        """The elements, None where they are not known. Who only asks whether looks at `known`."""
        return None if self.known is None else self.known.elements

    @property
    def size(self) -> int:
        """How many elements it has."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count
