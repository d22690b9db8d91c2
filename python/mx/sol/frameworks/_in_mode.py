"""Models in training, and those that calls change, as other frameworks than their own have them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...graph import Graph, GraphError
from .._compiled import Compiled
from ._framework import InTraining
from ._gradients import Gradients

Axes = Sequence[Sequence[int | str | None]]


class InMode:
    """A model in one mode of its layers, for arguments of all shapes.

    Each form of it has the weights in the order of the first one: `form`.
    """

    def __init__(
        self, compiled: Compiled, axes: Axes, training: bool, known: Collection[str] | None
    ) -> None:
        """`axes` are those of a first call, and `known` are the weights that there are, None for
        all that the model uses. GraphError where it needs others."""
        self.source, self._training = compiled.source, training
        self._count = len(compiled.inputs)
        told = tuple(tuple(n for n in one if isinstance(n, int)) for one in axes)
        if all(len(one) == len(own) for one, own in zip(told, axes, strict=True)):
            compiled.check(told)
        self.form: InTraining = self.source.parse_for_training(axes, training)
        used = (*self.form.weights, *self.form.writes, *self.form.counters)
        known = used if known is None else known
        missing = [name for name in dict.fromkeys(used) if name not in known]
        if missing:
            raise GraphError(
                f"{self.source.name}: in training it has weights that it does not have in"
                f" inference, {', '.join(missing)}: only its own framework trains it"
            )
        self._first = self._shapes_of(self.form)
        self.gradients = Gradients(compiled, self.form.weights, self._parse)

    def _shapes_of(self, form: InTraining) -> list[tuple[Any, ...]]:
        return [tuple(spec.shape or ()) for spec in form.graph.inputs[: self._count]]

    def _parse(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        own = list(shapes[: self._count])
        if own == self._first:
            return self.form.graph
        form, first = self.source.parse_for_training(own, self._training), self.form
        if (form.weights, form.writes, form.has_seed) != (
            first.weights,
            first.writes,
            first.has_seed,
        ):
            raise GraphError(
                f"{self.source.name}: uses other weights for the shapes {own} than for"
                f" {self._first}: optimize it for each of them"
            )
        return form.graph

    def given(self, arrays: Sequence[Any], seed: Any) -> list[Any]:
        """What the graph takes: inputs and weights, and the seed if it has random elements."""
        return [*arrays, seed] if self.form.has_seed else list(arrays)


def check_losses(mode: InMode) -> None:
    """GraphError where layers add losses in a call: a framework that has none of these asks."""
    if mode.form.num_losses:
        raise GraphError(
            f"{mode.source.name}: {', '.join(mode.form.adding_losses)}: losses that layers add in a"
            " call (add_loss, activity_regularizer) are for models that come back in Keras"
        )
