"""A graph, ready to be executed on an accelerator."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import ffi

from ...context import Context
from .._errors import GraphError
from .._graph import Graph
from .._spec import dims_of
from ..lowering._program import Step
from ..passes import PASSES
from ..plan import Plan
from ..profile import Profile
from ._device import Device
from ._placement import Placement, warn
from ._verify import Tolerance

_fallback = ffi.get_global_func("mx.acc.fallback")

MODES = ("auto", "whole", "error")


class PartitionedPlan(Plan):
    """Executes a graph on a device of an accelerator, and on the CPU what that does not execute.

    The library is asked about all nodes, and compiles groups of them, for the shapes that the
    inputs have: those of further shapes are compiled when they come, and kept. Outputs are arrays
    on the device. Several threads may execute one plan at once.

    `fallback` is "auto", "whole" or "error", as of `mx.acc_fallback`, whose mode it is by default:
    with "error" a node that would run on the CPU is NotImplementedError, which names all of those,
    and so is what fails there. In the other modes a library's failure is an AccFallbackWarning
    with its reason. `options` are what the library compiles with; `costs` says whether groups stay
    on the CPU for which the library tells costs above those of the CPU, and `optimize` whether
    passes make the graph smaller before.

    With `verify` the CPU executes everything, too, and a group's result that differs is a
    MismatchError, which names the first node that does, with both values: by more than a tolerance
    for its type, or than the pair of a relative one and one of the largest element.
    """

    def __init__(
        self,
        graph: Graph,
        ctx: Context,
        *,
        optimize: bool = True,
        fallback: str | None = None,
        options: Mapping[str, Any] | None = None,
        costs: bool = True,
        verify: bool | tuple[float, float] = False,
    ) -> None:
        if fallback is not None and fallback not in MODES:
            raise ValueError(
                f"PartitionedPlan: fallback: expected one of {MODES}, got {fallback!r}"
            )
        self._graph = graph.copy()
        for one in PASSES if optimize else ():
            one.run(self._graph.model)
        weights = set(self._graph.model.graph.initializers.values())
        self._inputs = [value for value in self._graph.model.graph.inputs if value not in weights]
        self._names = [value.name or "" for value in self._inputs]
        self._fallback = fallback
        self._costs = costs
        self._verify = Tolerance(*verify) if isinstance(verify, tuple) else verify
        self._device = Device(ctx, options or {})
        self._placements: dict[Any, Placement] = {}
        self._lock = threading.Lock()
        self._latest: Placement | None = None
        self._is_static = all(
            value.shape is not None and value.shape.is_static() for value in self._inputs
        )
        if self._is_static:
            self._placement(())

    def summary(self) -> str:
        """How many nodes the device executes, and the operators of the others."""
        return self.placement().summary()

    def placement(self) -> Placement:
        """Where the nodes run: for the latest shapes, or for any before there were some."""
        if self._latest is None:
            with self._lock:  # of the device's copies of weights
                return self._placed(())
        return self._latest

    def _mode(self) -> str:
        return self._fallback or str(_fallback(""))

    def run(self, inputs: Mapping[str, Any]) -> list[Any]:
        """The outputs in order, for inputs by their names; as a call."""
        given = self._check(inputs)
        placement = self._placement(given)
        return placement.run(dict(zip(placement.inputs, given, strict=True)))

    def profile(self, inputs: Mapping[str, Any]) -> Profile:
        """NotImplementedError: libraries are not asked how long nodes take."""
        raise NotImplementedError("PartitionedPlan: profile: only plans of the CPU have profiles")

    def steps(self) -> list[Step]:
        """Where each node that is on the CPU was executed, in the plans made so far."""
        return [step for placement in self._placements.values() for step in placement.steps()]

    def _placement(self, given: Any) -> Placement:
        key = () if self._is_static else tuple(_shape_of(content) for content in given)
        found = self._placements.get(key)
        if found is None:
            with self._lock:
                found = self._placements.get(key)
                if found is None:
                    found = self._placements[key] = self._placed(key)
        self._latest = found
        return found

    def _placed(self, shapes: tuple[Any, ...]) -> Placement:
        graph = self._graph.copy()
        known: dict[str, tuple[int, ...]] = {
            value.name or "": shape
            for value, shape in zip(self._inputs, shapes, strict=False)
            if shape is not None and dims_of(value.shape) is not None
        }
        try:
            graph.infer(known or None)
        except GraphError as error:
            # Some of what onnx executes it cannot infer. Without shapes nodes are on the CPU.
            warn(f"{error}. Nodes whose shapes that leaves unknown run on the CPU")
        return Placement(graph, self._device, self._mode(), self._costs, self._verify)


def _shape_of(content: Any) -> tuple[int, ...] | None:
    shape = getattr(content, "shape", None)
    return None if shape is None else tuple(shape)
