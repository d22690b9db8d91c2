"""Models of Keras and modules of TensorFlow together with a loss of what they return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

from ....importers.tensorflow._trace import takes_training
from ._module import OptimizedModule
from ._parted_module import PartedModule


class WithLoss(keras.Model):  # type: ignore[misc]
    """A model and a loss of what it returns, with the losses that layers and weights add."""

    def __init__(self, model: Any, loss: Callable[..., Any]) -> None:
        super().__init__(name=model.name, autocast=False)
        self.inner, self.loss_of = model, loss
        self.built = True

    def call(self, *args: Any, training: bool | None = None, **kwargs: Any) -> Any:
        """The loss, a number; the target is the last argument."""
        *inputs, target = args
        value = tf.reduce_mean(
            self.loss_of(target, self.inner(*inputs, training=training, **kwargs))
        )
        added = [tf.reduce_sum(tf.cast(one, value.dtype)) for one in self.inner.losses]
        return tf.add_n([value, *added])

    def in_training(self, *args: Any, **kwargs: Any) -> Any:
        """The loss of a call in training."""
        return self(*args, training=True, **kwargs)

    def build_layers(self, args: Any, kwargs: Any) -> None:
        """Has layers make their variables, which some do in a first call."""
        if not all(layer.built for layer in self.inner._flatten_layers()):
            self.inner(*args[:-1], **kwargs)

    def modes(self) -> tuple[bool, ...]:
        """What decides what layers do in training, and may be another at the next call."""
        return tuple(layer.trainable for layer in self._flatten_layers())


class ModuleWithLoss(tf.Module):  # type: ignore[misc]
    """A module and a loss of what it returns."""

    def __init__(self, model: Any, loss: Callable[..., Any]) -> None:
        name = str(getattr(model, "name", ""))
        super().__init__(name=name if name.isidentifier() else None)
        self.inner, self.loss_of = model, loss

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The loss, a number; the target is the last argument."""
        *inputs, target = args
        return tf.reduce_mean(self.loss_of(target, self.inner(*inputs, **kwargs)))

    def in_training(self, *args: Any, **kwargs: Any) -> Any:
        """The loss of a call in training."""
        return self(*args, **kwargs)

    def build_layers(self, args: Any, kwargs: Any) -> None:
        """Nothing: variables that a first call makes are there when the module is traced."""

    def modes(self) -> tuple[bool, ...]:
        """Nothing: which variables are trained is told when they are made."""
        return ()


class ModuleInModes(ModuleWithLoss):
    """A module that takes `training`, which those that trace it look for, and a loss."""

    def __call__(self, *args: Any, training: bool = False, **kwargs: Any) -> Any:
        """The loss, a number; the target is the last argument."""
        return super().__call__(*args, training=training, **kwargs)

    def in_training(self, *args: Any, **kwargs: Any) -> Any:
        """The loss of a call in training."""
        return self(*args, training=True, **kwargs)


def with_loss(model: Any, loss: Any) -> WithLoss | ModuleWithLoss:
    """A model with a loss as `compile` of Keras takes it."""
    function = _loss_of(loss)
    if isinstance(model, keras.layers.Layer):
        return WithLoss(model, function)
    if isinstance(model, OptimizedModule):
        has_modes = model._sol.compiled.source.has_modes
    else:
        original = model.original if isinstance(model, PartedModule) else model
        has_modes = takes_training(original)
    return (ModuleInModes if has_modes else ModuleWithLoss)(model, function)


def _loss_of(loss: Any) -> Callable[..., Any]:
    """A loss as `compile` takes it: a function, a keras.losses.Loss or the name of one."""
    try:
        found = keras.losses.get(loss)
    except ValueError as error:
        raise ValueError(f"sol.training_step: loss: {error}") from None
    if isinstance(loss, str) and not isinstance(found, keras.losses.Loss):
        return _OfName(found)
    if not callable(found):
        kind = type(loss).__name__
        raise TypeError(f"sol.training_step: loss: expected a loss of Keras, got {kind}")
    made: Callable[..., Any] = found
    return made


class _OfName(keras.losses.Loss):  # type: ignore[misc]
    """A loss that has a name: a mean over what a mask of the model leaves, as `compile` has it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(name="loss")  # that of the class begins as names of scopes must not
        self._function = function

    def call(self, target: Any, found: Any) -> Any:
        """The loss of each row."""
        return self._function(target, found)
