"""Optimized models as modules of TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..._compiled import Compiled
from ._runner import Runner
from ._source import TensorFlowSource
from ._variables import Watched


class OptimizedModule(tf.Module):  # type: ignore[misc]
    """An optimized model, called as the original with tensors.

    Its variables are those of a model of TensorFlow, or new ones with the elements and names of the
    weights of another's. It can be called inside of a tf.function, too.
    """

    def __init__(self, compiled: Compiled, model: Any) -> None:
        super().__init__(name=_scope(compiled.source.name))
        self._sol = Runner(compiled, variables_of(compiled), accepts_mode=compiled.source.has_modes)
        # What tf.Module finds variables by; what a module uses of others are none of it.
        source = compiled.source.base()
        own = None if not isinstance(source, TensorFlowSource) else source.traced.variables()
        every = self._sol.variables.items()
        self.weights = {name: one for name, one in every if own is None or name in own}
        # Not as it is: TensorFlow would find its variables twice.
        module = model if isinstance(model, tf.Module) else None
        self._original: Callable[[], Any] = lambda: module

    def __getattr__(self, name: str) -> Any:
        """An attribute of the module that it was made of."""
        original = None if name.startswith("_") else self._original()
        if original is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(original, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the model returns."""
        return self._sol(args, kwargs)

    @property
    def signature(self) -> tuple[Any, ...]:
        """A tf.TensorSpec for each input; axes that vary are None."""
        return tuple(
            tf.TensorSpec(
                [n if isinstance(n, int) else None for n in spec.shape or ()],
                tf.as_dtype(spec.dtype),
                spec.name,
            )
            for spec in self._sol.compiled.inputs
        )

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self._sol.compiled.inputs))
        return f"<{self._sol.compiled.source.name}, optimized: ({inputs})>"


def variables_of(compiled: Compiled) -> dict[str, Any]:
    """The variables of an optimized model, which have its weights from here on."""
    source = compiled.source.base()
    if isinstance(source, TensorFlowSource) and source.watched is not None:
        return source.watched.variables
    variables = {
        name: tf.Variable(tensor.numpy(), trainable=is_trained, name=_scope(name))
        for name, (tensor, is_trained) in weights_of(compiled).items()
    }
    hold(compiled, variables)
    return variables


def weights_of(compiled: Compiled) -> dict[str, tuple[Any, bool]]:
    """The weights that calls in inference and in training have, and whether each is trained."""
    more = compiled.source.weights_of_training()
    return compiled.weights() | {name: (tensor, False) for name, tensor in more.items()}


def hold(compiled: Compiled, variables: dict[str, Any]) -> None:
    """Has a model take its weights from variables."""
    compiled.holder = Watched(variables)


def _scope(name: str) -> str:
    """A name as TensorFlow allows names."""
    kept = "".join(one if one.isalnum() or one in "_./" else "_" for one in name)
    return kept if kept[:1].isalnum() else f"_{kept}".lstrip("_") or "model"
