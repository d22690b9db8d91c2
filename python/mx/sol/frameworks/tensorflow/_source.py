"""A model of TensorFlow or Keras with an example of its arguments, as the source of a graph."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy
import tensorflow as tf
from tensorflow import nest

from ....graph import Graph, GraphError
from ....importers._training import SEED
from ....importers.tensorflow._import import tensor_of
from ....importers.tensorflow._trace import Traced, is_array, is_keras, trains_by_default
from ..._errors import SolWarning
from ...dims import Choice, Dimensions
from ...gradient import as_inputs
from .._framework import InTraining, Parsed, Source, Weight
from .._graph_source import GraphSource
from ._variables import Watched

Axes = Sequence[str | int | None]
# How Keras calls the state of a generator of random numbers.
_SEEDS = "seed_generator_state"


class TensorFlowSource(Source):
    """See Source. The model is traced when its graph is asked for, for inference."""

    def __init__(
        self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], is_part: bool = False
    ) -> None:
        """`is_part` is whether the framework executes the model where a plan does not do all."""
        self.model, self._is_part = model, is_part
        # What a call does that does not say whether it is one in training.
        self.is_training = bool(kwargs.get("training", trains_by_default(model)))
        kwargs = {name: one for name, one in kwargs.items() if name != "training"}
        self.traced = Traced(model, args, kwargs)
        self.name = self.traced.name
        self.layout = "NHWC"
        if is_keras(model):
            import keras

            if keras.config.image_data_format() == "channels_first":
                self.layout = "NCHW"
        given = [self.traced.leaves[n] for n in self.traced.positions]
        is_example = not any(isinstance(one, tf.TensorSpec) for one in given)
        self.example = [_array_of(one) for one in given] if is_example else None
        self._free: GraphSource | None = None
        self.watched: Watched | None = None
        # The layers of Keras that add losses in inference, too.
        self.adding_losses: list[str] = []

    # -- graphs --

    @property
    def has_modes(self) -> bool:
        """See Source."""
        return self.traced.takes_training

    def dimensions(self) -> Dimensions:
        """The axes that a Keras model leaves open, the first axes of the inputs of others."""
        return self._of_any_size().dimensions()

    def parse(self, choice: Choice | None) -> Parsed:
        """The graph: of the example's shapes, or with names for the dimensions that vary."""
        if choice is None:
            assert self.example is not None
            shapes = [array.shape for array in self.example]
            return Parsed(self.parse_for(shapes), lambda shapes: True)
        return self._of_any_size().parse(choice)

    def parse_for(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The model traced for these shapes."""
        return self._noted(self.traced.graph_of(list(shapes)))

    def parse_for_gradients(self, shapes: Sequence[tuple[int, ...]]) -> Graph:
        """The same with nodes where the model ends gradients."""
        return self._noted(self.traced.graph_of(list(shapes), stops=True))

    def parse_for_training(
        self, shapes: Sequence[Axes], training: bool = True, losses: bool = True
    ) -> InTraining:
        """What the model does in training, or in inference, with the losses that layers add; axes
        that vary have names.

        GraphError for what cannot be imported, and for what it returns in training alone.
        """
        before = self.traced.outputs
        graph = self.traced.graph_of(list(shapes), stops=True, training=training, losses=losses)
        self._check_structure(before)
        inner = graph.model.graph
        known = self.traced.variables()
        weights = tuple(name for name in graph.weights if name in known)
        seeds = [one for one in inner.inputs if one.metadata_props.get("mx.role") == SEED]
        writes = [one.metadata_props.get("mx.mutation") for one in inner.outputs]
        graph = as_inputs(graph, weights)
        self._check_variables(graph, set(filter(None, writes)), known)
        inner = graph.model.graph
        for seed in [one for one in inner.inputs if one.metadata_props.get("mx.role") == SEED]:
            inner.inputs.remove(seed)
            inner.inputs.append(seed)
        written = tuple(filter(None, writes))
        traced = self.traced
        added = (traced.num_losses, tuple(traced.losses)) if losses else ()
        return InTraining(graph, weights, written, bool(seeds), *added)

    def weights_of_training(self) -> Mapping[str, Weight]:
        """See Source: the variables that inference does not read, without those of Keras's seeds,
        as each framework draws its own."""
        assert self.watched is not None
        return {
            name: tensor_of(variable, name)
            for name, variable in self.traced.variables().items()
            if self.has_modes
            and not variable.trainable
            and name not in self.watched.variables
            and not name.endswith(_SEEDS)
        }

    def _check_variables(self, graph: Graph, written: Set[str], known: Mapping[str, Any]) -> None:
        """GraphError where a call reads or assigns to variables that are not the model's, which
        would stand still, or assigns to some that are trained: the gradient would go through it.
        Integers have none, and are said to be trained unless somebody says they are not."""
        every = graph.model.graph.initializers.items()
        left = {name for name, one in every if one.metadata_props.get("mx.role") != "constant"}
        others = sorted(left | (written - known.keys()))
        if others:
            raise GraphError(
                f"{self.name}: a call uses {', '.join(others)}, no variable of the model"
            )
        frozen = self.frozen()
        trained = sorted(
            one for one in written - frozen if known[one].trainable and known[one].dtype.is_floating
        )
        if trained:
            raise GraphError(
                f"{self.name}: a call assigns to {', '.join(trained)}, which is trained"
            )

    def _check_structure(self, before: Any) -> None:
        """GraphError where a model returns another structure in training than in inference, or
        other constants in it."""
        if before is None:
            return
        found, self.traced.outputs = self.traced.outputs, before
        try:
            nest.assert_same_structure(before, found)
        except (TypeError, ValueError):
            is_same = False
        else:
            pairs = zip(nest.flatten(before), nest.flatten(found), strict=True)
            is_same = all(is_array(a) and is_array(b) or _is_same(a, b) for a, b in pairs)
        if not is_same:
            raise GraphError(
                f"{self.name}: returns {_structure(found)} in training, and {_structure(before)} in"
                " inference: a model has to return the same structure, with the same constants"
            )

    def frozen(self) -> set[str]:
        """See Source: variables of Keras that are, or are in layers that are, not `trainable`."""
        if not is_keras(self.model):
            return set()
        trained = {id(one.value) for one in self.model.variables if one.trainable}
        return {name for name, one in self.traced.variables().items() if id(one) not in trained}

    def modes(self) -> tuple[bool, ...]:
        """What decides what layers do in training: whether variables and layers are trained."""
        trained = [one.trainable for one in self.traced.variables().values()]
        if is_keras(self.model):
            trained += [layer.trainable for layer in self.model._flatten_layers()]
        return tuple(trained)

    def _of_any_size(self) -> GraphSource:
        if self._free is None:
            graph, why = self._traced_free()
            self._free = GraphSource(graph, self.example or (), {}, why=why)
            self._free.name = self.name
        return self._free

    def _traced_free(self) -> tuple[Graph, str]:
        """The graph with axes that vary, or, with the reason why there is none, one without."""
        open_axes = self._open_axes()
        try:
            return self._noted(self.traced.graph_of(open_axes)), ""
        except (GraphError, ValueError, TypeError, tf.errors.OpError) as error:
            if self.example is None:
                raise
            # What depends on the sizes is traced for those of the example alone.
            why = f"{self.name} can be read for its example alone: {' '.join(str(error).split())}"
            return self.parse_for([array.shape for array in self.example]), why

    def _open_axes(self) -> list[Axes]:
        """The shapes of the inputs, with names for axes that may vary."""
        shapes, names = self.traced.shapes(), self._input_names()
        built: list[Axes] = [(None, *shape[1:]) if shape else () for shape in shapes]
        if len(names) == len(shapes) and len(self.traced.args) == 1:
            own = [tf.TensorShape(one.shape) for one in self.model.inputs]
            # In the order of the example, which may have them by name.
            built = [tuple(one) for one in nest.flatten(_as_in(self.traced.args[0], own, names))]
        first = {shape[0] for shape in shapes if shape}
        found: list[Axes] = []
        for name, shape, axes in zip(self.traced.paths, shapes, built, strict=True):
            if len(axes) != len(shape):
                axes = (None, *shape[1:]) if shape else ()
            found.append(
                [
                    one
                    if one is not None
                    else ("batch" if not axis and len(first) == 1 else f"{name}_{axis}")
                    for axis, one in enumerate(axes)
                ]
            )
        return found

    def _noted(self, graph: Graph) -> Graph:
        self.adding_losses = self.traced.losses
        assigned = graph.model.metadata_props.get("mx.assigned")
        if assigned and self._is_part:
            raise NotImplementedError(f"{self.name}: assigns to {assigned} in a call")
        if assigned:
            warnings.warn(
                f"{self.name}: assigns to {assigned} in a call, which the optimized model does not",
                SolWarning,
                stacklevel=6,
            )
        variables = self.traced.used()
        found = {name: variables[name] for name in graph.weights if name in variables}
        if self.watched is None:
            self.watched = Watched(found)
        else:
            self.watched.add(found)
        return graph

    # -- weights --

    def weights(self) -> Mapping[str, Weight]:
        """The variables as they are now."""
        assert self.watched is not None
        return self.watched.weights()

    def has_changed(self) -> bool:
        """Whether a variable has been assigned to."""
        assert self.watched is not None
        return self.watched.has_changed()

    def look(self) -> None:
        """See Source."""
        assert self.watched is not None
        self.watched.look()

    # -- arguments --

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arrays among the arguments; the others have to be as in the example."""
        traced = self.traced
        example = (traced.args, traced.kwargs)
        given = _as_in(example, (tuple(args), self._without_defaults(kwargs)), self._input_names())
        try:
            nest.assert_same_structure(example, given)
        except (TypeError, ValueError):
            raise TypeError(
                f"{self.name}: expected arguments in the structure of the example,"
                f" {_arguments(example)}, got {_arguments(given)}"
            ) from None
        leaves = nest.flatten(given)
        tensors = set(traced.positions)
        for n, (leaf, told) in enumerate(zip(leaves, traced.leaves, strict=True)):
            if n not in tensors and leaf != told:
                raise ValueError(
                    f"{self.name}: expected {told!r}, as in the example: only arrays may be others;"
                    f" got {leaf!r}"
                )
        return [leaves[n] for n in traced.positions]

    def _input_names(self) -> list[str]:
        """The names by which a functional model of Keras takes its inputs in a dict."""
        inputs = getattr(self.model, "inputs", None) if is_keras(self.model) else None
        return [one.name for one in inputs or ()]

    def _without_defaults(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords without those that the example lacks, which have to be defaults."""
        traced, kept = self.traced, {}
        for name, value in kwargs.items():
            if name in traced.kwargs:
                kept[name] = value
            elif name == "training" and traced.takes_training:
                if value is not None and value is not False:
                    raise NotImplementedError(
                        f"{self.name}: training={value!r}: only models that are optimized for"
                        " TensorFlow or Keras take that; modules of torch have train()"
                    )
            elif name not in traced.defaults or not _is_same(value, traced.defaults[name]):
                raise TypeError(
                    f"{self.name}: there is no argument {name!r} in the example that the model was"
                    f" optimized with: add {name}= to the `kwargs` of sol.optimize"
                )
        return kept

    def unflatten(self, outputs: Sequence[Any]) -> Any:
        """What the model returns."""
        given = iter(outputs)
        leaves = [
            next(given) if is_array(leaf) else leaf for leaf in nest.flatten(self.traced.outputs)
        ]
        return nest.pack_sequence_as(self.traced.outputs, leaves)


def _as_in(example: Any, given: Any, names: Sequence[str]) -> Any:
    """Arguments in lists, tuples and dicts as those of the example: Keras makes tuples of lists in
    `fit`, and a functional model takes its inputs, which have `names`, in order and by name."""
    if type(given) in (list, tuple) and type(example) is dict and set(example) <= set(names):
        if len(given) == len(names):
            given = dict(zip(names, given, strict=True))
    elif type(given) is dict and type(example) in (list, tuple) and len(example) == len(names):
        if all(name in given for name in names):
            given = [given[name] for name in names]
    if type(example) in (list, tuple) and type(given) in (list, tuple):
        if len(example) == len(given):
            return type(example)(map(_as_in, example, given, [names] * len(given)))
    elif type(example) is dict and type(given) is dict and all(key in given for key in example):
        if len(given) == len(example) or (names and set(example) == set(names)):
            return {key: _as_in(one, given[key], names) for key, one in example.items()}
    return given


def _arguments(given: tuple[tuple[Any, ...], dict[str, Any]]) -> str:
    """The structure of arguments, in an error."""
    args, kwargs = given
    named = [f"{name}={_structure(one)}" for name, one in kwargs.items()]
    text = ", ".join([*map(_structure, args), *named])
    return f"({text if len(text) < 200 else text[:200] + '...'})"


def _structure(outputs: Any) -> str:
    """The structure of what a model returns, or takes, in an error."""
    return str(nest.map_structure(lambda one: "*" if is_array(one) else one, outputs))


def _is_same(value: Any, other: Any) -> bool:
    """Whether a value is another one, or cannot be told from it."""
    if value is other:
        return True
    return type(value) is type(other) and not is_array(value) and bool(value == other)


def _array_of(one: Any) -> Any:
    if isinstance(one, tf.Variable):
        return one.numpy()
    return one if hasattr(one, "__dlpack__") else numpy.asarray(one)
