"""Modules of TensorFlow of which TensorFlow executes what cannot be read, and plans the parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from ....importers.tensorflow._trace import is_keras
from ..._compiled import Compiled
from .._cut import reason_of, tell
from ._module import OptimizedModule
from ._noting import (
    REASONS,
    Noter,
    Seeing,
    fitting,
    inside,
    noted,
    standing_in,
    unchanged,
    without_training,
)
from ._source import TensorFlowSource


class PartedModule(tf.Module):  # type: ignore[misc]
    """A module of which plans execute modules inside it. Its variables and attributes are the
    original's."""

    def __init__(self, original: Any, instead: Mapping[int, Any]) -> None:
        super().__init__(name=getattr(original, "name", None))
        seeing = Seeing(original, instead)
        # Not as it is: TensorFlow would find what is optimized as modules of this one, too.
        self._call: Callable[..., Any] = lambda *args, **kwargs: seeing.call(
            "__call__", *args, **kwargs
        )
        self.original = original

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the original returns."""
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """An attribute of the original."""
        if name == "original" or name.startswith("_self_"):
            raise AttributeError(name)
        return getattr(self.original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute, of the original where that has it."""
        original = self.__dict__.get("original")
        if original is not None and name not in self.__dict__ and name in vars(original):
            setattr(original, name, value)
        else:
            super().__setattr__(name, value)


def in_parts(
    model: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    planned: Callable[..., Compiled],
    error: Exception,
) -> Any:
    """A module in which modules are optimized that can be; the model itself where there are none,
    as of a function. A SolWarning says which, and why not all."""
    cut, named = _Cut(planned), without_training(kwargs, error)
    with unchanged(model):
        found = cut.inside(model, args, named, "", reason_of(error))
    name = getattr(model, "name", None) or getattr(model, "__name__", type(model).__name__)
    tell(str(name), "TensorFlow", list(cut.parts), cut.reasons, stacklevel=4)
    if found is None:
        return model
    found._sol_parts = lambda: [(name, one._sol) for name, one in cut.parts.items()]
    return found


class _Cut:
    """A module on its way into parts."""

    def __init__(self, planned: Callable[..., Compiled]) -> None:
        self._planned = planned
        # The paths of what is optimized, and why other modules are not.
        self.parts: dict[str, Any] = {}
        self.reasons: list[str] = []

    def inside(
        self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], path: str, why: str
    ) -> PartedModule | None:
        """A module that cannot be optimized, `why` says the reason, with optimized ones in it; None
        where there are none."""
        before = len(self.reasons)
        instead: dict[int, Any] = {}
        if isinstance(model, tf.Module) and not is_keras(model):
            models = inside(model, _is_one)
            noters = noted(model, models.values(), "__call__", args, kwargs) if models else {}
            for name, one in models.items():
                found = self._inner(one, noters[id(one)], f"{path}{name}")
                if found is not None:
                    instead[id(one)] = standing_in(one, fitting(one, found, "TensorFlow"))
        # What is wrong with a module inside was said there.
        if len(self.reasons) == before:
            self.reasons.append(f"module {path[:-1]!r}: {why}" if path else why)
        return PartedModule(model, instead) if instead else None

    def _inner(self, model: Any, noter: Noter, path: str) -> Any:
        if not noter.calls:
            return None
        example = noter.example()
        if isinstance(example, str):
            self.reasons.append(f"module {path!r}: {example}")
            return None
        args, kwargs = example
        try:
            if beside := noter.beside():
                raise NotImplementedError(beside)
            source = TensorFlowSource(model, args, kwargs, is_part=True)
            found = OptimizedModule(self._planned(source), model)
        except REASONS as error:
            return self.inside(model, args, kwargs, f"{path}.", reason_of(error))
        if not model.variables:
            return None
        self.parts[path] = found
        return found


def _is_one(value: Any) -> bool:
    """Whether a value is a module that may be called, or a layer of Keras."""
    return is_keras(value) or (isinstance(value, tf.Module) and callable(value))
