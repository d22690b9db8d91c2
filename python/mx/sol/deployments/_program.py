"""A model as calls of kernels over buffers whose positions are fixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy

from ...graph.lowering._constant import Constant
from ...graph.lowering._value import Value as Tensor
from ..backends.gen import GenKernel, Spec

Array = numpy.ndarray[Any, Any]

# What begins at a multiple of this many bytes, in the arena and among the weights.
ALIGNMENT = 64


@dataclass(eq=False)
class Value(Tensor):
    """A row-major tensor between kernels; `known` where its elements are.

    Several may be the same memory in other shapes: each names in `of` the one that is first.
    """

    of: Value | None = None
    name: str = ""

    @property
    def root(self) -> Value:
        """The value whose memory this one is."""
        return self if self.of is None else self.of

    @property
    def spec(self) -> Spec:
        """Shape and data type, as emitters take them."""
        return Spec(self.shape, self.dtype)

    @property
    def nbytes(self) -> int:
        """The bytes of its elements."""
        return self.spec.bytes

    def reshaped(self, shape: tuple[int, ...]) -> Value:
        """The same memory in another shape."""
        return Value(shape, self.dtype, of=self.root)


def constant_of(array: Array) -> Value:
    """A value whose elements are known."""
    array = numpy.ascontiguousarray(array).reshape(numpy.shape(array))
    return Value(array.shape, str(array.dtype), known=Constant(array))


@dataclass(frozen=True)
class Call:
    """One kernel over values. Inputs that the kernel does not read are None."""

    kernel: GenKernel
    inputs: tuple[Value | None, ...]
    outputs: tuple[Value, ...]
    label: str  # the nodes that it executes, and where the model says that they came from


@dataclass
class Program:
    """All calls of a model in order, and where each value is."""

    name: str
    inputs: list[Value]
    outputs: list[Value]
    calls: list[Call] = field(default_factory=list)
    # Of values that are in the arena: where, in bytes.
    offsets: dict[Value, int] = field(default_factory=dict)
    arena_bytes: int = 0
    # Of constants: where among the weights, in bytes; and these in order.
    weight_offsets: dict[Value, int] = field(default_factory=dict)
    weights: list[Value] = field(default_factory=list)
    weight_bytes: int = 0

    @property
    def workspace(self) -> int:
        """The bytes that each thread needs of its own."""
        most = max((call.kernel.workspace for call in self.calls), default=0)
        return aligned(most)


def aligned(count: int) -> int:
    """A number of bytes, made a multiple of ALIGNMENT."""
    return -(-count // ALIGNMENT) * ALIGNMENT
