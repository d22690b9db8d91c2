"""Plans of whole steps of training, as `sol.training_step` has them of each framework."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from .. import numpy as np
from ..graph.passes import Pass
from ..graph.passes.common import COMMON
from ._limited import arrays_of, within
from ._plans import plan_of
from ._step import StepGraph
from ._stops import remove_stops
from ._training import OnCompiled, Planned, Run
from .passes import run
from .schedule import Memory, step_memory
from .tuning import Choices, Tuner


class StepPlan:
    """A step for arguments of known shapes: `run` takes arrays for the inputs of its graph."""

    def __init__(
        self,
        made: StepGraph,
        given: Sequence[str],
        weights: Sequence[str],
        passes: Sequence[Pass],
        tuner: Tuner | None,
        stores: Mapping[str, str],
        on_compiled: OnCompiled,
    ) -> None:
        """`given` are the inputs of the model and its loss, of which `weights` are parameters; what
        is behind them is the optimizer's. `stores` are those outputs of the graph that the plan
        writes to inputs, and `on_compiled` gets the compiled plan."""
        graph = made.graph
        remove_stops(graph)
        run(passes, graph)
        if tuner is None:
            self._plan = plan_of(graph, Choices(), stores=stores)
        else:
            _, self._plan = tuner.plan(graph, arrays_of(graph.inputs, np.ones), stores=stores)
        tell = functools.partial(setattr, self, "run")
        self.run: Run = Planned(self._plan, tell, graph.name, on_compiled)
        self._inputs = graph.inputs
        kinds = {
            **dict.fromkeys(weights, "parameters"),
            **{spec.name: "optimizer" for spec in self._inputs[len(given) :]},
        }
        self._memory_of = step_memory(graph, kinds, made.parts, stores)
        self._memory: Memory | None = None

    def memory(self) -> Memory:
        """What a step takes. NotImplementedError where it takes several plans."""
        if self._memory is None:
            compiled = self._plan.compiled(arrays_of(self._inputs))
            if compiled is None:
                raise NotImplementedError(
                    "sol.training_step: memory: not known for a step that takes several plans"
                )
            self._memory = self._memory_of(compiled)
        return self._memory


P = TypeVar("P", bound=StepPlan)


def planned_step(
    make: Callable[[int | None, Sequence[Pass]], P],
    passes: Sequence[Pass],
    limit: int | None,
    name: str,
) -> P:
    """A plan of a step of the model of that name that takes no more bytes than a limit. `make`
    makes one of a graph that takes no more, by these passes.

    MemoryError, with the least that was found, where none fits.
    """
    if limit is None:
        return make(None, passes)

    def limited(memory_limit: int | None = None) -> P:
        if memory_limit is None:
            return make(None, passes)
        # Which would compute once what is meant to be computed again.
        return make(memory_limit, [one for one in passes if one.name != COMMON.name])

    return within(limited, lambda one: one.memory().peak, limit, "sol.training_step", name, 0)
