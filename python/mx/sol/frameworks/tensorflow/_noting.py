"""Models that see others in their attributes instead of the layers and modules that they have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy
import tensorflow as tf
from tensorflow import nest

# What attributes begin with that TensorFlow keeps in a model.
_TENSORFLOWS = "_self_"


class Noter:
    """A layer or a module that notes how it is called."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.calls: list[tuple[Any, Any, Any]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = self._model(*args, **kwargs)
        self.calls.append((args, kwargs, made))
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def example(self) -> tuple[tuple[Any, ...], dict[str, Any]] | str:
        """Arguments of a call, or what keeps them from being those of all calls."""
        first, *others = [_specs(call) for call in self.calls]
        if any(one != first for one in others):
            return "it is called with several shapes of arguments"
        args, kwargs, _ = self.calls[0]
        args, kwargs = nest.map_structure(_eager, (args, kwargs))
        if any(map(tf.is_symbolic_tensor, nest.flatten((args, kwargs)))):
            return "it is called with tensors whose shapes are not known"
        return args, kwargs


def seeing(model: Any, instead: Mapping[int, Any], own: Collection[str] = ()) -> Any:
    """What has the attributes of a model, with others for those whose identities are given; not
    among its `own` ones and those of TensorFlow, which its framework reads."""
    seen = object.__new__(type(model))
    attributes = {
        key: value if key in own or key.startswith(_TENSORFLOWS) else _replaced(value, instead)
        for key, value in vars(model).items()
    }
    object.__setattr__(seen, "__dict__", attributes)
    return seen


def inside(model: Any, is_one: Callable[[Any], bool]) -> dict[str, Any]:
    """The models in the attributes of a model, and in lists and dicts there, by their paths."""
    found: dict[str, Any] = {}
    for key, value in vars(model).items():
        items: Iterable[tuple[Any, Any]] = ()
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, (list, tuple)):
            items = enumerate(value)
        if not key.startswith(_TENSORFLOWS):
            found |= {f"{key}.{part}": one for part, one in items if is_one(one)}
            found |= {key: value} if is_one(value) else {}
    # What has several names has the first.
    first = {id(one): name for name, one in reversed(found.items())}
    return {name: one for name, one in found.items() if first[id(one)] == name}


def without_training(kwargs: Mapping[str, Any], error: Exception) -> dict[str, Any]:
    """The keywords of an example without the one that is no tensor. NotImplementedError for a call
    in training, which parts are not made for."""
    if kwargs.get("training"):
        raise NotImplementedError(
            "sol.optimize: fallback=True: the example is a call in training, and parts are found"
            f" for one in inference: leave training= out; {error}"
        ) from error
    return {name: one for name, one in kwargs.items() if name != "training"}


def _replaced(value: Any, instead: Mapping[int, Any]) -> Any:
    if id(value) in instead:
        return instead[id(value)]
    if isinstance(value, dict) and any(id(one) in instead for one in value.values()):
        return {name: instead.get(id(one), one) for name, one in value.items()}
    if isinstance(value, (list, tuple)) and any(id(one) in instead for one in value):
        kind = list if isinstance(value, list) else tuple
        return kind(instead.get(id(one), one) for one in value)
    return value


def _specs(call: tuple[Any, Any, Any]) -> list[Any]:
    return [
        (str(one.shape), one.dtype) if isinstance(one, tf.Tensor) else one
        for one in nest.flatten(call[:2])
    ]


def _eager(one: Any) -> Any:
    """An argument that a function is traced with as an array of its shape."""
    if tf.is_symbolic_tensor(one) and one.shape.is_fully_defined():
        return numpy.zeros(one.shape, one.dtype.as_numpy_dtype)
    return one
