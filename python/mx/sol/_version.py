"""A graph of a model with its plan, and a plan that was kept for the next start."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..graph import Graph, PartitionedPlan, Plan
from ..graph._explanation import Explanation
from ..graph.lowering._segment import Step
from ..graph.plan import own_arrays
from ..graph.profile import Profile
from .passes import Removed

Optimized = tuple[Graph, tuple[Removed, ...]]


class KeptPlan:
    """A compiled plan that needs no graph; for what only a graph tells, the plan of that is made.
    Several threads may execute it."""

    def __init__(self, compiled: Any, names: Sequence[str], make: Callable[[], Plan]) -> None:
        """`names` are those of the inputs; `make` gives the plan of the graph."""
        self._compiled = compiled
        self._names = tuple(names)
        self._make = make
        self._made: Plan | None = None
        self._lock = threading.Lock()

    def run(self, inputs: Mapping[str, Any]) -> list[Any]:
        """See Plan."""
        if len(inputs) == len(self._names) and all(name in inputs for name in self._names):
            arrays = [inputs[name] for name in self._names]
            outputs = self._compiled.try_run(arrays)
            if outputs is not None:
                return own_arrays(outputs, arrays)
        return self._whole().run(inputs)  # which has the errors

    def compiled(self, inputs: Mapping[str, Any]) -> Any | None:
        """See Plan."""
        return self._compiled

    def weight_bytes(self, compiled: Any) -> int:
        """See Plan."""
        if compiled is self._compiled:
            return int(compiled.constant_bytes)
        return self._whole().weight_bytes(compiled)

    def profile(self, inputs: Mapping[str, Any]) -> Profile:
        """See Plan."""
        return self._whole().profile(inputs)

    def steps(self) -> list[Step]:
        """See Plan."""
        return self._whole().steps()

    def summary(self) -> str:
        """See Plan."""
        return self._whole().summary()

    def explain(self) -> Explanation:
        """See Plan."""
        return self._whole().explain()

    def _whole(self) -> Plan:
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made


class Version:
    """One graph of a model with its plan, for as long as the weights stay as they are."""

    def __init__(
        self,
        parsed: Graph,
        plan: Plan | PartitionedPlan | KeptPlan,
        optimized: Optimized | Callable[[], Optimized],
    ) -> None:
        """`optimized` is the graph behind the passes with what those removed, or gives both when
        they are asked for."""
        self.parsed = parsed
        self.plan = plan
        self._lock = threading.Lock()
        self._optimized = optimized

    @property
    def graph(self) -> Graph:
        """The graph behind the passes."""
        return self._passed()[0]

    @property
    def removed(self) -> tuple[Removed, ...]:
        """What the passes have removed."""
        return self._passed()[1]

    def _passed(self) -> Optimized:
        with self._lock:
            if callable(self._optimized):
                self._optimized = self._optimized()
            return self._optimized
