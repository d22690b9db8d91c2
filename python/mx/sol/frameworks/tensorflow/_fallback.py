"""Models of Keras of which Keras executes what cannot be read: which parts are optimized."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf
from keras.src.models.functional import Functional

from ..._compiled import Compiled
from .._cut import failing, grouped, reason_of, tell
from ._keras import OptimizedModel
from ._noting import (
    REASONS,
    Noter,
    Seeing,
    fitting,
    noted,
    standing_in,
    unchanged,
    without_training,
)
from ._parted import Nodes, PartedModel, Planned, Section, Steps, Values, first_values, has_mask
from ._source import TensorFlowSource

_MASK = "it takes or gives a mask, which no plan does"


def in_parts(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    planned: Callable[..., Compiled],
    error: Exception,
) -> Any:
    """A model whose layers are optimized that can be, those that follow each other as one, and that
    Keras executes for the rest; the model itself where there are none.

    Its weights are the original's. A SolWarning says which layers, and why not all.
    """
    cut, named = _Cut(planned), without_training(kwargs, error)
    found, why = None, reason_of(error)
    if not args and not named:
        cut.reasons.append(f"{why}; parts are found for an example of the arguments")
    else:
        with unchanged(model):
            found = cut.inside(model, args, named, "", why)
    tell(model.name, "Keras", list(cut.parts), cut.reasons, stacklevel=4)
    if found is None:
        return model
    found._sol_parts = lambda: [(name, one._sol) for name, one in cut.parts.items()]
    return found


class _Cut:
    """A model on its way into parts."""

    def __init__(self, planned: Callable[..., Compiled]) -> None:
        self._planned = planned
        # The paths of what is optimized, and why other layers are not.
        self.parts: dict[str, OptimizedModel] = {}
        self.reasons: list[str] = []

    def inside(
        self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], path: str, why: str
    ) -> PartedModel | None:
        """A model that cannot be optimized, `why` says the reason, with optimized layers; None
        where there are none."""
        before, found = len(self.reasons), None
        functional = _functional_of(model)
        if any(map(has_mask, keras.tree.flatten((args, dict(kwargs))))):
            self.reasons.append(f"layer {path[:-1]!r}: {_MASK}" if path else _MASK)
        elif functional is None:
            found = self._composite(model, args, kwargs, path)
        elif len(args) == 1 and not kwargs:
            found = self._graph(model, functional, args[0], path, why)
        # What is wrong with a layer inside was said there.
        if len(self.reasons) == before:
            self.reasons.append(f"layer {path[:-1]!r}: {why}" if path else why)
        return found

    # -- functional models --

    def _graph(self, model: Any, functional: Any, x: Any, path: str, why: str) -> Any:
        by_depth = functional._nodes_by_depth
        nodes = [
            node
            for depth in sorted(by_depth, reverse=True)
            for node in by_depth[depth]
            if node.operation is not None and not node.is_input
        ]
        values = first_values(functional, x)
        Nodes(nodes).run(values, training=False)

        def section(some: Sequence[Any]) -> Section:
            return Section(model.name, some, _ends(some, nodes, functional.outputs))

        def attempt(first: int, stop: int) -> str:
            found = self._optimized(section(nodes[first:stop]), values)
            return found if isinstance(found, str) else ""

        bad = failing(len(nodes), why, attempt)
        reads = [[id(one) for one in node.input_tensors] for node in nodes]
        writes = [[id(one) for one in node.outputs] for node in nodes]
        steps: list[Nodes | Planned] = []
        for is_apart, group in grouped(reads, writes, bad):
            some = [nodes[n] for n in group]
            if is_apart:
                steps += [self._apart(nodes[n], values, path, bad[n]) for n in group]
                continue
            # What has no weights takes no longer in Keras than a call of a plan.
            step: Any = Nodes(some)
            if any(layer.weights for layer in step.layers()):
                names = list(dict.fromkeys(f"{path}{node.operation.name}" for node in some))
                name = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
                made = section(some)
                ends = [values[id(one)] for some_ends in made.ends.kept for one in some_ends]
                # Inside of a section masks are what they are in Keras.
                found = _MASK if any(map(has_mask, ends)) else self._optimized(made, values)
                if isinstance(found, str):
                    self.reasons.append(f"layers {name}: {found}")
                else:
                    self.parts[name] = found
                    step = Planned(made, found)
            steps.append(step)
        run = Steps(functional, steps)
        if all(isinstance(one, Nodes) and not one.instead for one in steps):
            return None
        return PartedModel(model, run, run.layers(), converts=False)

    def _optimized(self, section: Section, values: Values) -> OptimizedModel | str:
        """A section optimized for the values of the example, or why that cannot be."""
        taken, given = section.ends.kept
        if not all(isinstance(values[id(one)], tf.Tensor) for one in (*taken, *given)):
            return "it takes or gives what is no tensor"
        return self._made(section, ([values[id(one)] for one in taken],), {})

    def _made(self, layer: Any, args: Any, kwargs: Any) -> OptimizedModel | str:
        try:
            return OptimizedModel(self._planned(TensorFlowSource(layer, args, kwargs, True)), layer)
        except REASONS as error:
            return reason_of(error)

    def _apart(self, node: Any, values: Values, path: str, why: str) -> Nodes:
        """A node that Keras executes: a layer with optimized ones inside, or without."""
        layer = node.operation
        args, kwargs = node.arguments.fill_in(values)
        kwargs = {name: one for name, one in kwargs.items() if name != "training"}
        found = self._rejected(layer, args, kwargs, f"{path}{layer.name}", why)
        return Nodes([node], {} if found is None else {id(node): found})

    def _rejected(self, layer: Any, args: Any, kwargs: Any, path: str, why: str) -> Any:
        if isinstance(layer, keras.Layer) and layer._layers:
            return self.inside(layer, args, kwargs, f"{path}.", why)
        self.reasons.append(f"layer {path!r}: {why}")
        return None

    # -- others that have layers inside --

    def _composite(
        self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], path: str
    ) -> Any:
        """A model or a layer whose `call` sees optimized layers in its attributes."""
        # As Keras converts the arguments of any layer but a functional model.
        convert, dtype = model.dtype_policy.convert_input, model.input_dtype
        args, kwargs = keras.tree.map_structure(
            lambda one: convert(one, model.autocast, dtype), (tuple(args), dict(kwargs))
        )
        noters = noted(model, model._layers, "call", args, kwargs)
        instead: dict[int, Any] = {}
        for layer in model._layers:
            found = self._inner(layer, noters[id(layer)], f"{path}{layer.name}")
            if found is not None:
                instead[id(layer)] = found
        if not instead:
            return None
        rest = [one for one in model._layers if id(one) not in instead]
        stand_ins = {
            id(layer): standing_in(layer, fitting(layer, instead[id(layer)], "Keras"))
            for layer in model._layers
            if id(layer) in instead
        }
        return PartedModel(model, _call_of(model, stand_ins), [*instead.values(), *rest])

    def _inner(self, layer: Any, noter: Noter, path: str) -> Any:
        if not noter.calls:
            return None
        example = noter.example()
        if any(map(has_mask, keras.tree.flatten(noter.calls))):
            example = _MASK
        if isinstance(example, str):
            self.reasons.append(f"layer {path!r}: {example}")
            return None
        args, named = example
        kwargs = {name: one for name, one in named.items() if name != "training"}
        found = noter.beside() or self._made(layer, args, kwargs)
        if isinstance(found, str):
            return self._rejected(layer, args, kwargs, path, found)
        if not layer.weights:
            return None
        self.parts[path] = found
        return found


def _call_of(model: Any, instead: Mapping[int, Any]) -> Callable[..., Any]:
    """The `call` of a model that sees other layers in its attributes."""
    seeing = Seeing(model, instead)
    takes_training = "training" in inspect.signature(type(model).call).parameters

    def call(*args: Any, training: bool | None = None, **kwargs: Any) -> Any:
        if takes_training:
            kwargs["training"] = training
        return seeing.call("call", *args, **kwargs)

    return call


def _functional_of(model: Any) -> Any:
    """A functional model, or what a sequence of layers is as one; None for others."""
    if isinstance(model, keras.Sequential) and type(model).call is keras.Sequential.call:
        return model._functional
    is_one = isinstance(model, Functional) and type(model).call is Functional.call
    return model if is_one else None


def _ends(
    some: Sequence[Any], every: Sequence[Any], outputs: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """The tensors that nodes read of others, and those that others read of them."""
    inside = {id(node) for node in some}
    written = {id(one): one for node in some for one in node.outputs}
    read = {id(one): one for node in some for one in node.input_tensors}
    others = {id(one) for node in every if id(node) not in inside for one in node.input_tensors}
    others |= set(map(id, outputs))
    taken = [one for key, one in read.items() if key not in written]
    return taken, [one for key, one in written.items() if key in others]
