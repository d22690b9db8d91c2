"""Models of TensorFlow: read by the graph of a function, and optimized models as modules."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ....context import Context
from ....graph.passes import Pass
from .._framework import Framework, Source

if TYPE_CHECKING:
    from ..._compiled import Compiled

INSTALL = "pip install tensorflow-cpu"


class TensorFlow(Framework):
    """TensorFlow. Nothing of it is imported before a model of it comes, or is asked for."""

    name = "tensorflow"
    models = "a tf.Module that can be called, a tf.function"
    target = "tensorflow"

    def reads(self, model: object) -> bool:
        """Whether it is a module or a function of TensorFlow, and no layer of Keras."""
        tf = sys.modules.get("tensorflow")
        if tf is None or not hasattr(tf, "Module"):
            return False
        keras = sys.modules.get("keras")
        if keras is not None and isinstance(model, keras.layers.Layer):
            return False
        concrete = tf.types.experimental.ConcreteFunction  # as signatures of saved models are
        if hasattr(model, "get_concrete_function") or isinstance(model, concrete):
            return True
        return isinstance(model, (tf.Module, tf.__internal__.tracking.AutoTrackable)) and callable(
            model
        )

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """What tracing makes of a model and an example."""
        from ._source import TensorFlowSource

        return TensorFlowSource(model, args, kwargs)

    def executes_training(self) -> bool:
        """Where the model is of TensorFlow or Keras, too; others have no such argument."""
        return True

    def wrap(self, compiled: Compiled, model: Any) -> Any:
        """A tf.Module."""
        _need_tensorflow()
        from ._module import OptimizedModule

        return OptimizedModule(compiled, model)

    def fall_back(
        self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], how: Any, error: Exception
    ) -> Any:
        """A module of which TensorFlow executes what cannot be optimized, and plans modules inside
        it; or a function, and plans what is between operations. With a SolWarning."""
        from . import _parted_function, _parted_module
        from ._noting import without_training

        if hasattr(model, "get_concrete_function"):
            named = without_training(kwargs, error)
            return _parted_function.in_parts(model, args, named, how, error)
        return _parted_module.in_parts(model, args, kwargs, how, error)

    def training_step(
        self,
        model: Any,
        loss: Any,
        optimizer: Any,
        context: Context,
        passes: Sequence[Pass],
        memory_limit: int | None,
    ) -> Any:
        """See sol.training_step."""
        import keras
        import tensorflow as tf

        if not isinstance(model, tf.Module):
            kind = type(model).__name__
            raise TypeError(
                "sol.training_step: model: expected a torch.nn.Module, a keras.Model or a"
                f" tf.Module, got {kind}"
            )
        if keras.backend.backend() != "tensorflow":
            raise NotImplementedError(
                "sol.training_step: optimizer: modules of TensorFlow are trained by those of Keras"
                f" on TensorFlow; Keras is set to {keras.backend.backend()!r}"
            )
        from ._step import TrainingStep

        return TrainingStep(model, loss, optimizer, context, passes, memory_limit)

    def parts(self, model: Any) -> list[tuple[str, Any]] | None:
        """The module itself, or those inside it that are optimized."""
        return parts_in(model) if self.reads(model) else None

    def missing(self) -> str:
        """What to install."""
        return "" if find_spec("tensorflow") else INSTALL


def parts_in(model: Any) -> list[tuple[str, Any]] | None:
    """The parts of an optimized model of TensorFlow or Keras; None where it is none."""
    runner = getattr(model, "_sol", None)
    if runner is not None:
        return [("", runner)]
    inside = getattr(model, "_sol_parts", None)
    return None if inside is None else list(inside())


def _need_tensorflow() -> None:
    try:
        import tensorflow  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            f"sol.optimize: framework='tensorflow' needs tensorflow: {INSTALL}", name="tensorflow"
        ) from error


FRAMEWORK = TensorFlow()
