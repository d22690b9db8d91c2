"""Plans made of the calls that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ffi

from .... import numpy as np
from ._arguments import decoded

_PlanBuilder: Any = ffi.get_class("mx.graph.PlanBuilder")
_plan_for_one_thread = ffi.get_global_func("mx.graph.plan_for_one_thread")

# What replays raise where a recipe makes no sense, or no longer does.
FAILURES = (TypeError, ValueError, KeyError, IndexError, AttributeError, RuntimeError, ImportError)

# Makes a kernel of a backend of the arguments that this has told.
Maker = Callable[["Replay", Sequence[Any]], Any]
_makers: dict[str, Maker] = {}


def maker(name: str) -> Callable[[Maker], Maker]:
    """A decorator for what makes the kernels that a backend records under a name."""

    def add(function: Maker) -> Maker:
        _makers[name] = function
        return function

    return add


def _by_function(name: str) -> Maker:
    function = ffi.get_global_func(f"mx.graph.{name}")
    return lambda replay, arguments: function(*(decoded(one, replay.arrays) for one in arguments))


# A recipe can be anybody's who writes to the file: functions of others are none.
_OWN = frozenset(
    "attention lstm operator_kernel small_convolution small_product training.layer_norm".split()
)
FUNCTIONS = _OWN | {"blas_product"}


@dataclass
class Replay:
    """What makers find besides their arguments."""

    arrays: Sequence[Any]
    parts: Mapping[str, Any]  # of the recipe
    # What backends keep from one kernel to the next, and what they do when all are there.
    state: dict[str, Any] = field(default_factory=dict)
    finishers: list[Callable[[], None]] = field(default_factory=list)

    def kernel(self, name: str, arguments: Sequence[Any]) -> Any:
        """The kernel that a maker of this name makes. KeyError where there is none."""
        if name not in _makers and name in FUNCTIONS:
            _makers[name] = _by_function(name)
        return _makers[name](self, arguments)


@dataclass(frozen=True)
class Recipe:
    """The calls in order, and what they refer to."""

    calls: list[Any]  # as JSON has them, like the parts
    arrays: Sequence[Any]
    # What backends have for all of their kernels, by the names of their makers.
    parts: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> bytes:
        """All but the arrays as a file has it."""
        return json.dumps([self.calls, self.parts], separators=(",", ":")).encode()

    @staticmethod
    def of(text: bytes, arrays: Sequence[Any]) -> Recipe:
        """The recipe that has given this text. ValueError where none has."""
        calls, parts = json.loads(text)
        return Recipe(calls, arrays, parts)

    @property
    def bytes(self) -> int:
        """Of the arrays."""
        return sum(array.nbytes for array in self.arrays)

    @property
    def is_own(self) -> bool:
        """Whether all kernels are those of mx itself, and none of a library."""
        return all(call[1] in _OWN for call in self.calls if call[0] == "step")

    def inputs(self) -> list[Any]:
        """Arrays of zeros for the inputs."""
        rows = [call[1:] for call in self.calls if call[0] == "input"]
        return [np.zeros(tuple(shape), dtype=dtype) for shape, dtype in rows]

    def plan(self) -> Any:
        """The compiled plan. Raises FAILURES for what makes no sense."""
        slices = next((call[2] for call in self.calls if call[0] == "outputs"), 1)
        if slices == 1:
            return self._plan()
        _plan_for_one_thread(True)
        try:
            return self._plan()
        finally:
            _plan_for_one_thread(False)

    def _plan(self) -> Any:
        builder = _PlanBuilder()
        replay = Replay(self.arrays, self.parts)
        for what, *given in self.calls:
            if what == "input":
                builder.add_input(tuple(given[0]), given[1])
            elif what == "constant":
                builder.add_constant(self.arrays[given[0]])
            elif what == "view":
                builder.add_view(*given)
            elif what == "step":
                name, arguments, inputs, node = given
                builder.add_step(replay.kernel(name, arguments), inputs, node)
            elif what == "outputs":
                outputs, slices = given
                for finish in replay.finishers:
                    finish()
                return builder.build(outputs) if slices == 1 else builder.build_sliced(*given)
            else:
                raise ValueError(f"{what!r} is no call of a builder")
        raise ValueError("a recipe without outputs")
