"""Models of Keras: read as TensorFlow's, and optimized models as models of Keras."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...context import Context
from ...graph.passes import Pass
from ._framework import Framework, Source
from .tensorflow import parts_in

if TYPE_CHECKING:
    from .._compiled import Compiled

INSTALL = "pip install keras tensorflow-cpu"


class Keras(Framework):
    """Keras, on TensorFlow. On torch its models are modules of torch, and read as such."""

    name = "keras"
    models = "a keras.Model"
    target = "keras"

    def reads(self, model: object) -> bool:
        """Whether it is a layer or a model."""
        keras = sys.modules.get("keras")
        layers = getattr(keras, "layers", None)
        return layers is not None and isinstance(model, layers.Layer)

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """What tracing makes of a model; without an example, for the inputs that it was built
        for."""
        _need_tensorflow()
        from .tensorflow._source import TensorFlowSource

        return TensorFlowSource(model, args, kwargs)

    def executes_training(self) -> bool:
        """Where the model is of TensorFlow or Keras, too; others have no such argument."""
        return True

    def wrap(self, compiled: Compiled, model: Any) -> Any:
        """A keras.Model."""
        _need_tensorflow()
        from .tensorflow._keras import OptimizedModel

        return OptimizedModel(compiled, model)

    def fall_back(
        self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], how: Any, error: Exception
    ) -> Any:
        """A model of which Keras executes what cannot be optimized, and plans the parts."""
        from .tensorflow._fallback import in_parts

        return in_parts(model, args, kwargs, how, error)

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
        _need_tensorflow()
        from .tensorflow._step import TrainingStep

        return TrainingStep(model, loss, optimizer, context, passes, memory_limit)

    def parts(self, model: Any) -> list[tuple[str, Any]] | None:
        """The model, or what is optimized of its layers."""
        return parts_in(model) if self.reads(model) else None

    def missing(self) -> str:
        """What to install."""
        return "" if find_spec("keras") and find_spec("tensorflow") else INSTALL


def _need_tensorflow() -> None:
    try:
        import keras
    except ModuleNotFoundError as error:
        raise ImportError(
            f"sol.optimize: framework='keras' needs keras: {INSTALL}", name=error.name
        ) from error
    if keras.backend.backend() != "tensorflow":
        raise NotImplementedError(
            "sol.optimize: models of Keras are optimized on TensorFlow, and on torch where they are"
            f" modules of it; Keras is set to {keras.backend.backend()!r}"
        )


FRAMEWORK = Keras()
