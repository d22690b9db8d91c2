"""A builder of plans that writes down what it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ffi

from ._arguments import DTYPES, NotKept, encoded
from ._recipe import FUNCTIONS, Recipe

_PlanBuilder: Any = ffi.get_class("mx.graph.PlanBuilder")
_PREFIX = "mx.graph."


class RecordingBuilder:
    """A builder of plans that knows what it was told."""

    def __init__(self) -> None:
        self._builder = _PlanBuilder()
        self._calls: list[Any] = []
        self._arrays: dict[int, tuple[int, Any]] = {}  # their numbers, by ids
        self._kernels: dict[int, tuple[Any, str, list[Any]]] = {}
        self._is_kept = True
        # What backends remember from one kernel to the next, and what gives their parts of the
        # recipe when all are there; by the names of their makers.
        self.state: dict[str, Any] = {}
        self.parts: dict[str, Callable[[], Any]] = {}

    def note(self, kernel: Any, maker: Any, arguments: Sequence[Any]) -> None:
        """That a kernel came from a function of mx, given these arguments."""
        name = maker.name.removeprefix(_PREFIX)
        if name in FUNCTIONS:
            self.note_encoded(kernel, name, lambda: [self.encoded(one) for one in arguments])

    def note_encoded(self, kernel: Any, maker: str, encode: Callable[[], list[Any]]) -> None:
        """That a kernel came from the maker of a backend; `encode` gives its arguments, or raises
        NotKept."""
        try:
            self._kernels[id(kernel)] = kernel, maker, encode()
        except NotKept:
            self._is_kept = False

    def encoded(self, argument: Any) -> Any:
        """An argument as a recipe has it. NotKept where it cannot."""
        return encoded(argument, self.number_of)

    def number_of(self, array: Any) -> int:
        """The number of an array of mx, which becomes one of the recipe's. NotKept for one of a
        type that files do not have."""
        if str(array.dtype) not in DTYPES:
            raise NotKept
        return self._arrays.setdefault(id(array), (len(self._arrays), array))[0]

    def recipe(self) -> Recipe | None:
        """All that it was told; None where that cannot be kept, or it was not built."""
        if not self._is_kept or not self._calls or self._calls[-1][0] != "outputs":
            return None
        try:
            parts = {name: part() for name, part in self.parts.items()}
        except NotKept:
            return None
        return Recipe(self._calls, [array for _, array in self._arrays.values()], parts)

    def add_input(self, shape: Sequence[int], dtype: str) -> int:
        """As that of the builder, like all below."""
        self._calls.append(["input", list(map(int, shape)), str(dtype)])
        return int(self._builder.add_input(shape, dtype))

    def add_constant(self, array: Any) -> int:
        try:
            self._calls.append(["constant", self.number_of(array)])
        except NotKept:
            self._is_kept = False
        return int(self._builder.add_constant(array))

    def add_step(self, kernel: Any, inputs: Sequence[int], name: str) -> int:
        found = self._kernels.get(id(kernel))
        if found is None:
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
        self._calls.append(["outputs", list(outputs), 1])
        return self._builder.build(outputs)

    def build_sliced(self, outputs: Sequence[int], slices: int) -> Any:
        self._calls.append(["outputs", list(outputs), slices])
        return self._builder.build_sliced(outputs, slices)

    def build_storing(self, outputs: Sequence[int], stores: Sequence[tuple[int, int]]) -> Any:
        self._is_kept = False
        return self._builder.build_storing(outputs, stores)
