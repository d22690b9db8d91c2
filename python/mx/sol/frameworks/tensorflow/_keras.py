"""Optimized models as models of Keras."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf
from keras.src.backend.common.global_state import get_global_attribute
from tensorflow.python.framework.ops import EagerTensor

from ....importers.tensorflow._trace import is_keras
from ..._compiled import Compiled
from ._module import hold, variables_of, weights_of
from ._runner import Runner, without_losses
from ._source import TensorFlowSource


class OfOriginal(keras.Model):  # type: ignore[misc]
    """A model that executes another one, its `original` where that is of Keras."""

    def __getattr__(self, name: str) -> Any:
        """An attribute of the original, as a layer, `inputs` or `output_shape`."""
        original = self.__dict__.get("original")
        if original is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(original, name)

    @property
    def layers(self) -> list[Any]:
        """The layers of the original, which `get_layer` and `summary` know."""
        original = self.__dict__.get("original")
        found: list[Any] = super().layers
        return original.layers if isinstance(original, keras.Model) else found

    def predict_step(self, data: Any) -> Any:
        """What `predict` does with a batch: no losses of layers are computed."""
        with without_losses():
            return super().predict_step(data)

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """What a call with symbolic tensors of Keras gives."""
        kwargs.pop("training", None)
        return keras.src.backend.compute_output_spec(self.call, *args, **kwargs)

    def save_weights(self, *args: Any, **kwargs: Any) -> None:
        """Writes the file that the original writes: it loads it, and so does what is optimized of
        it."""
        self._weighted("save_weights")(*args, **kwargs)

    def load_weights(self, *args: Any, **kwargs: Any) -> None:
        """Reads a file that `save_weights` has written, or that of the original."""
        self._weighted("load_weights")(*args, **kwargs)

    def _weighted(self, method: str) -> Any:
        """A method of the original, where that is a model with it, or else of keras.Model."""
        own = getattr(super(), method)
        return getattr(getattr(self, "original", None), method, own)

    def get_config(self) -> Any:
        """NotImplementedError: what a plan was made of is saved, and optimized again."""
        raise NotImplementedError(
            "an optimized model cannot be saved as one of Keras: save the original, or its weights"
        )


class OptimizedModel(OfOriginal):
    """An optimized model, called as the original with tensors.

    Its weights are those of a model of Keras or TensorFlow, or new ones with the elements and names
    of the weights of another's. `predict` and other methods that only call the model are Keras's.
    Losses that layers add in a call are added by it.
    """

    def __init__(self, compiled: Compiled, model: Any) -> None:
        # The plan says which types it takes: Keras would convert floats to those of its own.
        super().__init__(name=plain(compiled.source.name), autocast=False)
        source = compiled.source.base()
        if isinstance(source, TensorFlowSource):
            if is_keras(model):
                self.original = model  # which Keras finds the weights by
            variables = variables_of(compiled)
        else:
            variables = _add_weights(self, compiled)
            hold(compiled, variables)
        self._sol = Runner(
            compiled,
            variables,
            accepts_mode=True,
            add_loss=self.add_loss,
            converts=_converted(compiled, model),
        )
        lists = [layer._losses for layer in self._flatten_layers()]
        # Not as it is: Keras copies lists that an attribute is set to.
        self._has_losses = lambda: any(lists)
        # Plans are no operations of XLA.
        self.supports_jit = False
        self.built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As models of Keras are called."""
        if kwargs or not all(map(_is_plain, args)) or self._is_inside_keras():
            return super().__call__(*args, **kwargs)
        # The rest of what Keras does before a call changes nothing here, and takes longer than
        # many a plan.
        self._clear_losses()
        return self.call(*args)

    def _is_inside_keras(self) -> bool:
        """Whether what Keras is doing, or has been told of this model, decides how it is called."""
        return (
            get_global_attribute("current_call_ctx") is not None
            or get_global_attribute("distribution") is not None
            or keras.src.backend.in_stateless_scope()
            or self.activity_regularizer is not None
            or not tf.executing_eagerly()  # where it keeps AutoGraph out
        )

    def call(self, *args: Any, training: bool | None = None, **kwargs: Any) -> Any:
        """What the model returns; in training layers do what they do then, as in the original."""
        if training is not None:
            kwargs["training"] = training
        if keras.src.backend.get_autocast_scope() is None:
            return self._sol(args, kwargs)
        # In which variables of Keras are not those of TensorFlow, but read and converted.
        with keras.src.backend.AutocastScope(None):
            return self._sol(args, kwargs)

    def _clear_losses(self) -> None:
        """Before each call; Keras asks each layer of the original, which takes longer than many a
        plan, and most have no losses."""
        if self._has_losses() or keras.src.backend.in_stateless_scope():  # type: ignore[no-untyped-call]
            super()._clear_losses()


def _is_plain(tensor: Any) -> bool:
    """Whether an argument is a tensor of which Keras knows nothing more."""
    return isinstance(tensor, EagerTensor) and not hasattr(tensor, "_keras_mask")


def _converted(compiled: Compiled, model: Any) -> str:
    """What is converted as Keras does it: floats for any layer, all numbers for the inputs of a
    functional model, if the plan takes those of the same types."""
    inputs = getattr(model, "inputs", None) if is_keras(model) else None
    own = sorted(str(one.dtype) for one in inputs or ())
    return "numbers" if own == sorted(str(one.dtype) for one in compiled.inputs) else "floats"


def _add_weights(model: Any, compiled: Compiled) -> dict[str, Any]:
    """Gives a model the weights of a graph, in layers that have their names."""
    found: dict[str, Any] = {}
    layers: dict[tuple[str, ...], Any] = {(): model}
    for name, (tensor, is_trained) in weights_of(compiled).items():
        *path, key = [plain(part) for part in name.replace("/", ".").split(".")]
        for depth in range(1, len(path) + 1):
            inside = tuple(path[:depth])
            if inside not in layers:
                layers[inside] = keras.layers.Layer(name=path[depth - 1])
                setattr(layers[inside[:-1]], f"part_{path[depth - 1]}", layers[inside])
                layers[inside].built = True
        array = tensor.numpy()
        weight = layers[tuple(path)].add_weight(
            shape=array.shape,
            dtype=array.dtype.name,
            trainable=is_trained,
            name=key,
            initializer=lambda shape, dtype, array=array: tf.constant(array),
        )
        found[name] = weight.value
    return found


def plain(name: str) -> str:
    """A name as Keras allows names."""
    return "".join(one if one.isalnum() or one == "_" else "_" for one in name) or "model"
