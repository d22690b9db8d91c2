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
    last: Value | None = None  # the same elements where these have their channels last

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
class Step:
    """What is done with values. Inputs that are not read are None."""

    inputs: tuple[Value | None, ...]
    outputs: tuple[Value, ...]


@dataclass(frozen=True)
class Call(Step):
    """One kernel over values."""

    kernel: GenKernel
    label: str  # the nodes that it executes, and where the model says that they came from


@dataclass(frozen=True)
class Control(Step):
    """A line of C around calls; {0}, {1}, ... in it are the inputs, and the outputs behind them.

    What begins with one of the kind "if" or "loop" is closed by one of the kind "end". The outputs
    of these two are memory that is not to be used for anything else from there on.
    """

    text: str
    kind: str = ""  # "if", "else", "loop", "end", and "" for what is done once


@dataclass
class Program:
    """All steps of a model in order, and where each value is."""

    name: str
    inputs: list[Value]
    outputs: list[Value]
    steps: list[Step] = field(default_factory=list)
    # How often it is executed, each time for the next part of what callers give and get.
    slices: int = 1
    # Of values that are in the arena: where, in bytes.
    offsets: dict[Value, int] = field(default_factory=dict)
    arena_bytes: int = 0
    # Of constants: where among the weights, in bytes; and these in order.
    weight_offsets: dict[Value, int] = field(default_factory=dict)
    weights: list[Value] = field(default_factory=list)
    weight_bytes: int = 0

    @property
    def calls(self) -> list[Call]:
        """The steps that are kernels."""
        return [step for step in self.steps if isinstance(step, Call)]

    def whole(self, value: Value) -> Value:
        """An input or an output as callers have it, with all slices."""
        if self.slices == 1:
            return value
        return Value((self.slices * value.shape[0], *value.shape[1:]), value.dtype, name=value.name)

    @property
    def workspace(self) -> int:
        """The bytes that each thread needs of its own."""
        most = max((call.kernel.workspace for call in self.calls), default=0)
        return aligned(most)


def aligned(count: int) -> int:
    """A number of bytes, made a multiple of ALIGNMENT."""
    return -(-count // ALIGNMENT) * ALIGNMENT
