"""Models of TensorFlow traced: what they are called with, and what they return."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow import nest

from mx.graph import Graph

from ._import import import_function
from ._layers import whole_layers
from ._training_layers import training_layers

Axes = Sequence[str | int | None]


def is_keras(model: object) -> bool:
    """Whether it is a layer or a model of Keras."""
    keras = sys.modules.get("keras")
    return keras is not None and isinstance(model, keras.layers.Layer)


class Traced:
    """A model with an example of its arguments."""

    def __init__(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if not callable(model):
            raise TypeError(
                "mx.importers.tensorflow.load: model: expected a keras.Model, a tf.Module with"
                f" __call__ or a function, got {type(model).__name__}"
            )
        self.model = model
        self.name = str(getattr(model, "name", "") or getattr(model, "__name__", "tensorflow"))
        if not args and not kwargs and is_keras(model):
            args = self._built_for()
        self.args, self.kwargs = tuple(args), dict(kwargs)
        self.leaves = nest.flatten((self.args, self.kwargs))
        self.positions = [n for n, leaf in enumerate(self.leaves) if is_array(leaf)]
        if not self.positions:
            raise TypeError(
                f"mx.importers.tensorflow.load: {self.name}: expected an example of the arguments"
                " with a tensor among them"
            )
        # What parameters are that a call leaves out.
        self.defaults: dict[str, Any] = {}
        self.paths = self._paths()
        # Whether the model does something else in training, as an argument says.
        self.takes_training = takes_training(model)
        self.outputs: Any = None  # the structure of what the model returns
        # The layers of Keras that have added losses in the last trace, and how many these are.
        self.losses: list[str] = []
        self.num_losses = 0
        # Variables that the model uses and does not have in its attributes, by name.
        self._outer: dict[str, Any] = {}

    def _built_for(self) -> tuple[Any, ...]:
        """Specifications of the inputs that a Keras model was built for."""
        tensors = getattr(self.model, "inputs", None)
        if not tensors:
            return ()
        alone = tensors[0] if len(tensors) == 1 else tensors
        structure = getattr(self.model, "_inputs_struct", alone)
        flat = nest.flatten(structure)
        specs = [tf.TensorSpec(tuple(x.shape), tf.as_dtype(x.dtype)) for x in flat]
        return (nest.pack_sequence_as(structure, specs),)

    def _paths(self) -> list[str]:
        """x, x_0, x_key: a name for each array among the arguments."""
        call = self.model.call if is_keras(self.model) else self.model
        call = getattr(call, "python_function", call)
        bound: Mapping[str, Any]
        try:
            signature = inspect.signature(call)
            parameters = signature.parameters.values()
            self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
            bound = dict(signature.bind(*self.args, **self.kwargs).arguments)
        except (TypeError, ValueError):
            bound = {f"input_{n}": one for n, one in enumerate(self.args)} | self.kwargs
        names = {}
        for name, value in bound.items():
            for path, leaf in _with_paths(value):
                names[id(leaf)] = "_".join(map(str, (name, *path)))
        counted = iter(range(len(self.positions)))
        return [names.get(id(self.leaves[n]), f"input_{next(counted)}") for n in self.positions]

    def shapes(self) -> list[tuple[int | None, ...]]:
        """The shapes of the arrays of the example."""
        return [tuple(_shape(self.leaves[n])) for n in self.positions]

    def graph(self, dynamic: bool | Mapping[str, Sequence[str | None]] = False) -> Graph:
        """The graph, in which the named axes vary."""
        axes: list[Axes] = []
        for name, shape in zip(self.paths, self.shapes(), strict=True):
            if dynamic is True:
                names: Axes = ("batch", *shape[1:]) if shape else ()
            else:
                names = (dynamic or {}).get(name, (None,) * len(shape))
            if len(names) != len(shape):
                raise ValueError(
                    f"mx.importers.tensorflow.load: dynamic[{name!r}]: expected a name or None for"
                    f" each of {len(shape)} axes, got {len(names)}"
                )
            axes.append([a if a is not None else b for a, b in zip(names, shape, strict=True)])
        if dynamic is not True and dynamic:
            unknown = set(dynamic) - set(self.paths)
            if unknown:
                raise ValueError(
                    f"mx.importers.tensorflow.load: dynamic names {', '.join(sorted(unknown))}; the"
                    f" inputs are {', '.join(self.paths)}"
                )
        return self.graph_of(axes)

    def graph_of(
        self,
        axes: Sequence[Axes],
        stops: bool = False,
        training: bool = False,
        losses: bool = False,
    ) -> Graph:
        """The graph of inputs with these axes: a length, or the name of one that varies.

        With `losses` those that layers of Keras add in a call are outputs, behind the model's own.

        For `training` what the model assigns to variables are more outputs, with the name of the
        variable as "mx.mutation" of their metadata, and random numbers follow from another input.
        """
        named = [
            [f"{name}_{i}" if one is None else one for i, one in enumerate(shape)]
            for name, shape in zip(self.paths, axes, strict=True)
        ]
        specs = [
            tf.TensorSpec(
                [one if isinstance(one, int) else None for one in shape],
                _dtype(self.leaves[n]),
            )
            for n, shape in zip(self.positions, named, strict=True)
        ]
        before = self.outputs
        try:
            # Where a function is traced that calls the model, variables have no elements.
            with tf.init_scope():
                with whole_layers(), training_layers() if training else contextlib.nullcontext():
                    traced = tf.function(functools.partial(self._flat, training, losses))
                    function = traced.get_concrete_function(*specs)
                self.losses = _forget_losses(self.model)
                names = _names_of(self.outputs)
                names += [f"added_loss_{n}" for n in range(self.num_losses if losses else 0)]
                return import_function(
                    function,
                    list(zip(self.paths, named, strict=True)),
                    names,
                    {id(one.handle): name for name, one in self._used_by(function).items()},
                    self.name,
                    stops,
                    training,
                )
        except BaseException:
            self.outputs = before  # of the graph that there is
            raise

    def _flat(self, training: bool, losses: bool, *tensors: Any) -> list[Any]:
        """The model as a function of the tensors alone, which gives a list."""
        leaves = list(self.leaves)
        for n, tensor in zip(self.positions, tensors, strict=True):
            leaves[n] = tensor
        args, kwargs = nest.pack_sequence_as((self.args, self.kwargs), leaves)
        if self.takes_training and "training" not in kwargs:
            kwargs = {**kwargs, "training": training}
        result = self.model(*args, **kwargs)
        self.outputs = result
        found = [one for one in nest.flatten(result) if is_array(one)]
        added = _losses_of(self.model)
        self.num_losses = len(added)
        return [tf.identity(one) for one in (*found, *(added if losses else ()))]

    def variables(self) -> dict[str, Any]:
        """The variables of the model by name; each is a `tf.Variable`. A function has those that
        it has used where it was traced."""
        found = self._own()
        return found if _has_attributes(self.model) else found | self._outer

    def used(self) -> dict[str, Any]:
        """The variables of the model, and those that it has used without having them."""
        return self._own() | self._outer

    def _own(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, variable in _named_variables(self.model):
            variable = variable_of(variable)
            if is_variable(variable):
                _add(found, name, variable, found)
        return found

    def _used_by(self, function: Any) -> dict[str, Any]:
        """The same when those of a function that was traced are among them."""
        own = self._own()
        for variable in function.graph.variables:
            _add(self._outer, variable.name.partition(":")[0], variable, own | self._outer)
        return own | self._outer


def _add(found: dict[str, Any], name: str, variable: Any, known: Mapping[str, Any]) -> None:
    """Adds a variable by a name that none has, if it is not known yet."""
    if any(one is variable for one in known.values()):
        return
    number, unique = 0, name
    while unique in known:
        number += 1
        unique = f"{name}_{number}"
    found[unique] = variable


def _losses_of(model: Any) -> list[Any]:
    """The losses that layers have added in a call."""
    if not is_keras(model):
        return []
    return [loss for layer in model._flatten_layers() for loss in layer._losses]


def _forget_losses(model: Any) -> list[str]:
    """The layers that have added losses; these are tensors of a function that has been traced."""
    if not is_keras(model):
        return []
    found = [layer for layer in model._flatten_layers() if layer._losses]
    for layer in found:
        layer._clear_losses()
    return [str(layer.name) for layer in found]


def is_variable(one: object) -> bool:
    """Whether it is a variable of TensorFlow."""
    return isinstance(one, tf.Variable)


def variable_of(one: Any) -> Any:
    """The variable of TensorFlow that one of Keras has, or that it is itself."""
    return one if is_variable(one) else getattr(one, "value", one)


def _has_attributes(model: Any) -> bool:
    """Whether the variables of a model are what its attributes lead to."""
    return is_keras(model) or isinstance(model, tf.Module)


def _named_variables(model: Any) -> list[tuple[str, Any]]:
    if is_keras(model):
        return [(one.path, one) for one in model.variables]
    if isinstance(model, tf.Module):
        found = model._flatten(predicate=is_variable, with_path=True)
        return [("/".join(map(str, path)), variable) for path, variable in found]
    variables = getattr(model, "variables", None) or ()
    return [(one.name.partition(":")[0], one) for one in variables]


def takes_training(model: Any) -> bool:
    """Whether calls of a model have an argument `training`."""
    return is_keras(model) or "training" in _parameters(model)


def trains_by_default(model: Any) -> bool:
    """Whether a call that says nothing of `training` is one in training."""
    parameter = _parameters(model.call if is_keras(model) else model).get("training")
    return parameter is not None and parameter.default not in (parameter.empty, None, False)


def _parameters(model: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(getattr(model, "python_function", model)).parameters
    except (TypeError, ValueError):
        return {}


def is_array(one: object) -> bool:
    """Whether a leaf of arguments or results is an array."""
    return isinstance(one, (tf.Tensor, tf.TensorSpec, tf.Variable, np.ndarray)) or (
        hasattr(one, "shape") and hasattr(one, "dtype") and hasattr(one, "__array__")
    )


def _shape(leaf: Any) -> Sequence[int | None]:
    return leaf.shape.as_list() if isinstance(leaf.shape, tf.TensorShape) else tuple(leaf.shape)


def _dtype(leaf: Any) -> Any:
    name = str(getattr(leaf.dtype, "name", leaf.dtype)).removeprefix("torch.")
    return tf.as_dtype(name)


def _with_paths(structure: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """The arrays of a structure, with the keys and positions that lead to them."""
    if isinstance(structure, Mapping):
        inside: list[tuple[Any, Any]] = [(key, structure[key]) for key in structure]
    elif isinstance(structure, (list, tuple)):
        fields = getattr(structure, "_fields", range(len(structure)))
        inside = list(zip(fields, structure, strict=True))
    else:
        return [((), structure)] if is_array(structure) else []
    return [((key, *path), leaf) for key, one in inside for path, leaf in _with_paths(one)]


def _names_of(structure: Any) -> list[str]:
    """A name for each array of what a model returns, in the order in which TensorFlow has them."""
    names = {id(leaf): path for path, leaf in _with_paths(structure)}
    found = []
    for leaf in nest.flatten(structure):
        if is_array(leaf):
            name = "_".join(map(str, names.get(id(leaf), ())))
            found.append(name if name and not name[0].isdigit() else f"output_{name}".rstrip("_"))
    return found
