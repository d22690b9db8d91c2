"""Models of Keras of which plans execute parts, and Keras the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
from keras.src.models.functional import operation_fn

from ._keras import OfOriginal, OptimizedModel, plain
from ._noting import fitting, own_of_keras

# The values of a call, by the identities of the symbolic tensors that stand for them.
Values = dict[int, Any]


class Section(keras.Model):  # type: ignore[misc]
    """Nodes of a functional model that are executed one after the other."""

    def __init__(self, name: str, nodes: Sequence[Any], ends: tuple[list[Any], list[Any]]) -> None:
        """`ends` are the symbolic tensors that it takes and gives."""
        super().__init__(name=plain(name), autocast=False)
        self._nodes, self.ends = Nodes(nodes), _Kept(ends)
        self.inside = self._nodes.layers()
        self.built = True

    @property
    def inputs(self) -> list[Any]:
        """The symbolic tensors that it takes."""
        return list(self.ends.kept[0])

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """What the layers give, for a list of tensors."""
        taken, given = self.ends.kept
        values = dict(zip(map(id, taken), inputs, strict=True))
        self._nodes.run(values, training)
        return [values[id(one)] for one in given]


@dataclass(frozen=True)
class _Kept:
    """What Keras does not look into when it is an attribute of a layer."""

    kept: Any


class Nodes:
    """Nodes of a functional model: calls of layers and of operations."""

    def __init__(self, nodes: Sequence[Any], instead: Mapping[int, Any] | None = None) -> None:
        self.nodes = list(nodes)
        # What is called instead of a layer, by the identity of the node.
        self.instead = dict(instead or {})

    def layers(self) -> list[Any]:
        """The layers that are called."""
        found = [self.instead.get(id(node), node.operation) for node in self.nodes]
        return list({id(one): one for one in found if isinstance(one, keras.Layer)}.values())

    def run(self, values: Values, training: bool | None) -> None:
        """Adds what the nodes give to the values, as Keras does it."""
        for node in self.nodes:
            args, kwargs = node.arguments.fill_in(values)
            operation = self.instead.get(id(node), node.operation)
            made = operation_fn(operation, training=training)(*args, **kwargs)
            values.update(zip(map(id, node.outputs), keras.tree.flatten(made), strict=True))


class Planned:
    """A section that a plan executes."""

    def __init__(self, section: Section, model: OptimizedModel) -> None:
        self._taken, self._given = section.ends.kept
        self.model, self._call = model, fitting(section, model, "Keras")

    def layers(self) -> list[Any]:
        """The optimized model."""
        return [self.model]

    def run(self, values: Values, training: bool | None) -> None:
        """Adds what the section gives to the values."""
        made = self._call([values[id(one)] for one in self._taken], training=training)
        values.update(zip(map(id, self._given), made, strict=True))


class Steps:
    """A functional model as nodes and sections."""

    def __init__(self, functional: Any, steps: Sequence[Nodes | Planned]) -> None:
        self._functional, self._steps = functional, steps

    def layers(self) -> list[Any]:
        """The layers that are called."""
        return [layer for step in self._steps for layer in step.layers()]

    def __call__(self, x: Any, training: bool | None = None) -> Any:
        """What the model gives."""
        values = first_values(self._functional, x)
        for step in self._steps:
            step.run(values, training)
        made = keras.tree.map_structure(
            lambda one: values[id(one)], self._functional._outputs_struct
        )
        return made[0] if isinstance(made, (list, tuple)) and len(made) == 1 else made


class PartedModel(OfOriginal):
    """A model, or a layer in one, of which plans execute parts, and Keras the rest."""

    def __init__(
        self,
        original: Any,
        run: Callable[..., Any],
        layers: Sequence[Any],
        converts: bool = True,
    ) -> None:
        """`converts` is whether Keras converts floats to the type of the original, which functional
        models do themselves."""
        casts = converts and original.autocast
        super().__init__(name=original.name, dtype=original.dtype_policy, autocast=casts)
        self._run = run
        self.inside = list(layers)  # whose losses Keras adds
        self.supports_jit = False
        self.built = True
        self.original = original  # which Keras finds the weights by

    def call(self, *args: Any, training: bool | None = None, **kwargs: Any) -> Any:
        """What the original returns."""
        if any(map(has_mask, keras.tree.flatten((args, kwargs)))):
            return self.original(*args, training=training, **kwargs)
        return self._run(*args, training=training, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute, of the original where that has it."""
        original = self.__dict__.get("original")
        is_own = name in self.__dict__ or name in own_of_keras()
        if original is not None and not is_own and name in vars(original):
            setattr(original, name, value)
        else:
            super().__setattr__(name, value)


def first_values(functional: Any, x: Any) -> Values:
    """The inputs of a functional model."""
    given = functional._standardize_inputs(x)
    return dict(zip(map(id, functional.inputs), given, strict=True))


def has_mask(value: Any) -> bool:
    """Whether Keras has a mask for a value, which a plan neither takes nor gives."""
    return keras.src.backend.get_keras_mask(value) is not None
