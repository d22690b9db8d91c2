"""Gradients of optimized models for frameworks that differentiate calls of others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ...graph import Graph
from .._compiled import Compiled, as_array, on_host
from .._training import TrainingPlans
from ..gradient import as_inputs

Parse = Callable[[Sequence[tuple[int, ...]]], Graph]
Key = tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]

# Kinds of calls whose plans are kept; of more the oldest go.
_MOST = 16


class Gradients:
    """Calls of an optimized model that can be differentiated, by inputs and by weights."""

    def __init__(
        self, compiled: Compiled, weights: Sequence[str], parse: Parse | None = None
    ) -> None:
        """`parse` gives the graph for shapes of all that `forward` takes, where that is not the one
        of the model with its weights behind its inputs."""
        self.compiled = compiled
        self.weights = list(weights)
        self._parse = parse or self._with_weights
        self._plans: dict[Key, TrainingPlans] = {}
        self._lock = threading.Lock()

    def forward(self, arrays: Sequence[Any], wrt: Sequence[int]) -> GradientCall:
        """Runs the model for inputs with the weights behind them; gradients are wanted for those
        that `wrt` numbers.

        Errors name the input that does not fit. GraphError for what has no gradient.
        """
        return GradientCall(self.plans([tuple(one.shape) for one in arrays], wrt), arrays, wrt)

    def plans(self, shapes: Sequence[tuple[int, ...]], wrt: Sequence[int]) -> TrainingPlans:
        """The plans of a call for arrays of these shapes. Raises as `forward`."""
        key = tuple(shapes), tuple(wrt)
        with self._lock:
            if key not in self._plans:
                while len(self._plans) >= _MOST:
                    del self._plans[next(iter(self._plans))]
                self._plans[key] = self._made(shapes, wrt)
            return self._plans[key]

    def forget(self) -> None:
        """Has plans made anew for the next calls."""
        with self._lock:
            self._plans.clear()

    def of(self, compiled: Compiled) -> Gradients:
        """Those of a model with other dimensions that vary: itself for its own."""
        return self if compiled is self.compiled else Gradients(compiled, self.weights)

    def _made(self, shapes: Sequence[tuple[int, ...]], wrt: Sequence[int]) -> TrainingPlans:
        compiled = self.compiled
        compiled.check(tuple(shapes[: len(compiled.inputs)]))
        graph = self._parse(shapes)
        names = [spec.name for spec in graph.inputs]
        wanted = [names[n] for n in wrt]
        return TrainingPlans(
            graph,
            wanted,
            compiled.context,
            compiled.passes,
            {},
            compiled.memory_limit,
            tuner=compiled.training_tuner(),
        )

    def _with_weights(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        given = shapes[: len(self.compiled.inputs)]
        return as_inputs(self.compiled.source.parse_for_gradients(given), self.weights)


class GradientCall:
    """One call, until its gradients have been computed."""

    def __init__(self, plans: TrainingPlans, arrays: Sequence[Any], wrt: Sequence[int]) -> None:
        self.plans, self.arrays, self._wrt = plans, [as_array(one) for one in arrays], wrt
        made = list(plans.forward(self.arrays))
        # Nothing once a backward pass has written gradients where these lay.
        self._made = [made]
        self.outputs = [on_host(one) for one in made[: len(plans.outputs)]]
        # Whether each output depends on what gradients are wanted for.
        self.differentiable = [spec.name in plans.differentiable for spec in plans.outputs]

    @property
    def read_outputs(self) -> list[int]:
        """The numbers of the outputs whose elements `backward` reads."""
        read = set(self.plans.backward_inputs)
        return [n for n, spec in enumerate(self.plans.outputs) if spec.name in read]

    def backward(self, grads: Sequence[Any]) -> list[Any]:
        """The gradients of all inputs and weights, for gradients of the outputs, of which None is
        zero, and those that are left out at the end. They are None for those that nothing depends
        on, or that were not asked for.

        Most calls are differentiated once, and their gradients take the memory of what they have
        saved: a second time the model runs once more for it.
        """
        plans = self.plans
        found: list[Any] = [None] * len(self.arrays)
        if plans.backward_graph is None or not plans.grads:
            return found
        given, had = self.given(grads)
        run = plans.last_backward
        if run is None:
            run = plans.backward
            self._made.append(had)
        made = dict(zip(plans.gradients, run(given), strict=True))
        for n in self._wrt:
            name = plans.grads.get(plans.inputs[n])
            found[n] = None if name is None else on_host(made[name])
        return found

    def given(self, grads: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What the backward pass takes, for such gradients of the outputs; and what the forward
        pass has made, which this call has no longer."""
        plans = self.plans
        values = dict(zip(plans.inputs, self.arrays, strict=True))
        names = [spec.name for spec in plans.outputs]
        try:
            had = self._made.pop()
        except IndexError:
            had = list(plans.forward(self.arrays))
        values.update(zip([*names, *plans.saved], had, strict=True))
        wanted = frozenset(plans.backward_inputs)
        every = [*grads, *[None] * (len(self.outputs) - len(grads))]
        for spec, output, grad in zip(plans.outputs, self.outputs, every, strict=True):
            if f"grad.{spec.name}" not in wanted:
                continue
            if grad is None:
                grad = numpy.zeros(output.shape, spec.dtype)
            values[f"grad.{spec.name}"] = as_array(grad)
        return [values[name] for name in plans.backward_inputs], had
