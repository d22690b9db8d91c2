"""What plans are made of, in a form that files can keep: a plan made anew needs no graph.

A recipe has the calls that a builder of plans gets: inputs, constants, views, and steps, whose
kernels it has by the name of what makes them and its arguments. Those of libraries, and functions
of Python, it cannot have.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

import ffi

from ... import numpy as np
from ...op import TensorSpec, version

_PlanBuilder: Any = ffi.get_class("mx.graph.PlanBuilder")

# What may make kernels; a recipe can be anybody's who writes to the file.
MAKERS = frozenset(
    f"mx.graph.{name}"
    for name in ("attention", "lstm", "operator_kernel", "small_convolution", "small_product")
)
_OPERATORS = ("_npi.", "_npx.")
# Types of arrays that are kept.
_DTYPES = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32".split())


class NotKept(Exception):
    """A recipe cannot have this."""


@dataclass(frozen=True)
class Recipe:
    """The calls in order, and the arrays that they refer to."""

    calls: list[Any]  # as JSON has them
    arrays: list[Any]

    def text(self) -> bytes:
        """The calls as a file has them."""
        return json.dumps(self.calls, separators=(",", ":")).encode()

    @property
    def bytes(self) -> int:
        """Of the arrays."""
        return sum(array.nbytes for array in self.arrays)

    def inputs(self) -> list[Any]:
        """Arrays of zeros for the inputs."""
        rows = [call[1:] for call in self.calls if call[0] == "input"]
        return [np.zeros(tuple(shape), dtype=dtype) for shape, dtype in rows]

    def plan(self) -> Any:
        """The compiled plan. Raises what makers of kernels and builders do, and TypeError,
        ValueError, KeyError and IndexError for what makes no sense."""
        builder = _PlanBuilder()
        makers = {name: ffi.get_global_func(name) for name in MAKERS}
        for what, *given in self.calls:
            if what == "input":
                builder.add_input(tuple(given[0]), given[1])
            elif what == "constant":
                builder.add_constant(self.arrays[given[0]])
            elif what == "view":
                builder.add_view(*given)
            elif what == "step":
                maker, arguments, inputs, name = given
                kernel = makers[maker](*(_decoded(one, self.arrays) for one in arguments))
                builder.add_step(kernel, inputs, name)
            elif what == "outputs":
                return builder.build(given[0])
            else:
                raise ValueError(f"{what!r} is no call of a builder")
        raise ValueError("a recipe without outputs")


class RecordingBuilder:
    """A builder of plans that knows what it was told."""

    def __init__(self) -> None:
        self._builder = _PlanBuilder()
        self._calls: list[Any] = []
        self._arrays: dict[int, tuple[int, Any]] = {}  # their numbers, by ids
        self._kernels: dict[int, tuple[Any, str, list[Any]]] = {}
        self._is_kept = True

    def note(self, kernel: Any, maker: Any, arguments: Sequence[Any]) -> None:
        """What a kernel came from."""
        try:
            encoded = [self._encoded(one) for one in arguments]
        except NotKept:
            self._is_kept = False
            return
        self._kernels[id(kernel)] = kernel, maker.name, encoded

    def recipe(self) -> Recipe | None:
        """All that it was told; None where that cannot be kept, or it was not built."""
        if not self._is_kept or not self._calls or self._calls[-1][0] != "outputs":
            return None
        return Recipe(self._calls, [array for _, array in self._arrays.values()])

    def add_input(self, shape: Sequence[int], dtype: str) -> int:
        """As that of the builder, like all below."""
        self._calls.append(["input", list(map(int, shape)), str(dtype)])
        return int(self._builder.add_input(shape, dtype))

    def add_constant(self, array: Any) -> int:
        try:
            self._calls.append(["constant", self._number_of(array)])
        except NotKept:
            self._is_kept = False
        return int(self._builder.add_constant(array))

    def add_step(self, kernel: Any, inputs: Sequence[int], name: str) -> int:
        found = self._kernels.get(id(kernel))
        if found is None or found[1] not in MAKERS:
            self._is_kept = False
        else:
            self._calls.append(["step", *found[1:], list(inputs), name])
        return int(self._builder.add_step(kernel, inputs, name))

    def add_view(
        self, of: int, shape: Sequence[int], strides: Sequence[int], byte_offset: int
    ) -> int:
        rows = [list(map(int, each)) for each in (shape, strides)]
        self._calls.append(["view", of, *rows, int(byte_offset)])
        return int(self._builder.add_view(of, shape, strides, byte_offset))

    def strides(self, value: int) -> Sequence[int]:
        strides: Sequence[int] = self._builder.strides(value)
        return strides

    def build(self, outputs: Sequence[int]) -> Any:
        self._calls.append(["outputs", list(outputs)])
        return self._builder.build(outputs)

    def build_sliced(self, outputs: Sequence[int], slices: int) -> Any:
        self._is_kept = False
        return self._builder.build_sliced(outputs, slices)

    def build_storing(self, outputs: Sequence[int], stores: Sequence[tuple[int, int]]) -> Any:
        self._is_kept = False
        return self._builder.build_storing(outputs, stores)

    def _number_of(self, array: Any) -> int:
        if str(array.dtype) not in _DTYPES:
            raise NotKept
        return self._arrays.setdefault(id(array), (len(self._arrays), array))[0]

    def _encoded(self, argument: Any) -> Any:
        if argument is None or isinstance(argument, bool | int | float | str):
            return argument
        if isinstance(argument, tuple | list):
            items = [self._encoded(one) for one in argument]
            return {"tuple": items} if isinstance(argument, tuple) else items
        if isinstance(argument, TensorSpec):
            return {"spec": [list(argument.shape), str(argument.dtype)]}
        if isinstance(argument, np.ndarray):
            return {"array": self._number_of(argument)}
        if isinstance(argument, numpy.dtype):
            return {"dtype": str(argument)}
        if isinstance(argument, numpy.generic | numpy.ndarray) and argument.ndim == 0:
            if str(argument.dtype) in _DTYPES:
                return {"number": [str(argument.dtype), argument.item()]}
        if isinstance(argument, ffi.Function) and argument.name.startswith(_OPERATORS):
            return {"operator": [argument.name, version(argument)]}
        raise NotKept


def _decoded(encoded: Any, arrays: Sequence[Any]) -> Any:
    if isinstance(encoded, list):
        return [_decoded(one, arrays) for one in encoded]
    if not isinstance(encoded, Mapping):
        return encoded
    ((kind, given),) = encoded.items()
    if kind == "tuple":
        return tuple(_decoded(one, arrays) for one in given)
    if kind == "spec":
        return TensorSpec(tuple(given[0]), given[1])
    if kind == "array":
        return arrays[given]
    if kind == "dtype":
        return numpy.dtype(given)
    if kind == "number":
        return numpy.asarray(given[1], given[0])
    if kind == "operator" and given[0].startswith(_OPERATORS):
        operator = ffi.get_global_func(given[0])
        if version(operator) == given[1]:
            return operator
    raise ValueError(f"{encoded!r} is no argument of a kernel")
