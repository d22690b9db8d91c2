"""Models that see others in their attributes instead of the layers and modules that they have."""

from __future__ import annotations

import contextlib
import functools
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy
import tensorflow as tf
from tensorflow import nest

from ....graph import GraphError
from ....importers.tensorflow._trace import is_keras
from ..._errors import SolWarning
from .._part import OTHERS

# What attributes begin with that TensorFlow keeps in a model.
_TENSORFLOWS = "_self_"
_NOTHING = object()
# What keeps a part from being optimized, which its framework executes then.
REASONS = (GraphError, NotImplementedError, TypeError, ValueError, tf.errors.OpError)


class Noter:
    """Notes how a layer or a module is called."""

    def __init__(self, model: Any) -> None:
        self._model = model
        inner = model._flatten_layers() if is_keras(model) else [model, *model.submodules]
        self._before = [(one, _attributes(one)) for one in inner]
        self.calls: list[tuple[Any, Any, Any]] = []
        # What the model sees instead of it for the example.
        self.stand_in = standing_in(model, self._call)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        made = self._model(*args, **kwargs)
        self.calls.append((args, kwargs, made))
        return made

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

    def beside(self) -> str:
        """What the calls did besides returning something, which no plan does."""
        for one, before in self._before:
            name = _changed(before, _attributes(one))
            if name:
                return f"the attribute {name!r} of {type(one).__name__} is set in a call"
        return ""


def standing_in(model: Any, call: Callable[..., Any]) -> Any:
    """What is a model in all but its calls, which `call` executes."""
    kind: Any = type(model)
    names = {
        "__call__": lambda self, *args, **kwargs: call(*args, **kwargs),
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
    }
    made = object.__new__(type(kind)(kind.__name__, (kind,), names))
    object.__setattr__(made, "__dict__", model.__dict__)
    return made


def fitting(model: Any, found: Any, framework: str) -> Callable[..., Any]:
    """What calls the optimized model that was made of another one, and where that does not take the
    arguments, the other one."""
    runner = getattr(found, "_sol", None)
    told: list[bool] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        if runner is None or runner.fits(args, kwargs):
            return found(*args, **kwargs)
        if not told:
            told.append(True)
            text = f"{runner.compiled.source.name} is executed by {framework}: {OTHERS}"
            warnings.warn(text, SolWarning, stacklevel=4)
        return model(*args, **kwargs)

    return call


class Seeing:
    """Calls a model that has the attributes of another, with others for those whose identities are
    given; not among those of its framework. What a call sets is set in the original when the call
    ends, if that `keeps` it."""

    def __init__(self, model: Any, instead: Mapping[int, Any], keeps: bool = True) -> None:
        self._model, self._instead, self._keeps = model, instead, keeps
        # What is called as long as these are the attributes: tf.function traces others anew.
        self._seen: Any = None
        self._attributes: dict[str, list[Any]] = {}

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """What a method gives."""
        attributes = _attributes(self._model)
        if self._seen is None or _changed(self._attributes, attributes):
            self._seen, self._attributes = self._made(), attributes
        seen, before = self._seen, dict(vars(self._seen))
        try:
            return getattr(seen, method)(*args, **kwargs)
        finally:
            given = {
                key: value
                for key, value in vars(seen).items()
                if value is not before.get(key, _NOTHING) and not _is_own(self._model, key)
            }
            if given and self._keeps:
                # Not by setattr: what the framework notes of attributes is in common.
                self._model.__dict__.update(given)
                self._attributes = _attributes(self._model)

    def _made(self) -> Any:
        seen, model = object.__new__(type(self._model)), self._model
        attributes = {
            key: value if _is_own(model, key) else _replaced(value, self._instead)
            for key, value in vars(model).items()
        }
        object.__setattr__(seen, "__dict__", attributes)
        return seen


def noted(
    model: Any, inner: Iterable[Any], method: str, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[int, Noter]:
    """How the models inside are called for the example, by their identities."""
    inner = list(inner)
    for _ in range(2):
        noters = {id(one): Noter(one) for one in inner}
        stand_ins = {key: one.stand_in for key, one in noters.items()}
        Seeing(model, stand_ins, keeps=False).call(method, *args, **kwargs)
        # What is set in the first call alone is set up.
        if not any(one.beside() for one in noters.values()):
            break
    return noters


@contextlib.contextmanager
def unchanged(model: Any) -> Iterator[None]:
    """Puts back what calls for the example assign to variables."""
    every = getattr(model, "variables", ())  # a function has none
    variables = [one.value if is_keras(model) else one for one in every]
    before = [(one, tf.identity(one)) for one in variables]
    try:
        yield
    finally:
        for variable, elements in before:
            if not numpy.array_equal(variable.numpy(), elements.numpy()):
                variable.assign(elements)


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


def _changed(before: dict[str, list[Any]], after: dict[str, list[Any]]) -> str:
    """The name of an attribute that is another one, or ""."""
    for name in before.keys() | after.keys():
        some, others = before.get(name, []), after.get(name, [])
        if len(some) != len(others) or not all(map(operator.is_, some, others)):
            return name
    return ""


def _attributes(model: Any) -> dict[str, list[Any]]:
    """The attributes of a model that are not its framework's, each with what is in lists there."""
    found = {}
    for name, one in vars(model).items():
        if not _is_own(model, name):
            items = one.values() if isinstance(one, dict) else one
            found[name] = [one, *(items if isinstance(one, (dict, list)) else ())]
    return found


def _is_own(model: Any, name: str) -> bool:
    """Whether an attribute is one of the framework."""
    return name.startswith(_TENSORFLOWS) or (is_keras(model) and name in own_of_keras())


@functools.cache
def own_of_keras() -> frozenset[str]:
    """The attributes by which Keras finds weights and losses."""
    import keras

    return frozenset(vars(keras.Model(name="own")))


def _specs(call: tuple[Any, Any, Any]) -> list[Any]:
    return [
        (str(one.shape), one.dtype) if isinstance(one, tf.Tensor) else repr(one)
        for one in nest.flatten(call[:2])
    ]


def _eager(one: Any) -> Any:
    """An argument that a function is traced with as an array of its shape."""
    if tf.is_symbolic_tensor(one) and one.shape.is_fully_defined():
        return numpy.zeros(one.shape, one.dtype.as_numpy_dtype)
    return one
