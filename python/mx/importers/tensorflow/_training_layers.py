"""Layers of Keras that are kept whole while a model is traced for training.

Batch normalization and dropout become calls of functions that say what they stand for; see
`_layers`. What Keras draws random numbers by, the state of a generator, stays as it is: they follow
from the seed of the graph.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ._patches import Patch, Patches

BATCH_NORM = "mxffi.batch_norm"
DROPOUT = "mxffi.dropout"
SEED = "mxffi.seed"


def _patches() -> list[Patch]:
    keras = sys.modules.get("keras")
    backend = getattr(getattr(keras, "src", None), "backend", None)
    if keras is None or backend is None or backend.backend() != "tensorflow":
        return []
    return [
        (keras.layers.BatchNormalization, "call", _batch_norm),
        (backend.random, "dropout", lambda _: _dropout),
        (keras.random.SeedGenerator, "next", lambda _: _next),
    ]


_training = Patches(_patches)


def training_layers() -> contextlib.AbstractContextManager[None]:
    """Has Keras write these layers as calls of functions that stand for them."""
    return _training.applied()


def _standing_for(name: str, function: Any, *settings: object) -> Any:
    implements = " ".join(map(str, (name, *settings)))
    return tf.function(function, experimental_implements=implements, autograph=False)


def _batch_norm(original: Any) -> Any:
    """What stands for `BatchNormalization.call`; in what is not plain it is that."""

    def call(self: Any, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        is_plain = isinstance(self.axis, int) and not self.renorm and mask is None
        if not training or not self.trainable or not is_plain or inputs.shape.rank is None:
            return original(self, inputs, training=training, mask=mask)
        wide = tf.float64 if inputs.dtype == tf.float64 else tf.float32
        mean, variance = (
            tf.cast(one, wide) for one in (self.moving_mean.value, self.moving_variance.value)
        )
        scale = tf.cast(self.gamma.value, wide) if self.scale else tf.ones_like(mean)
        offset = tf.cast(self.beta.value, wide) if self.center else tf.zeros_like(mean)

        def layer(x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
            return tf.identity(x), tf.identity(mean), tf.identity(variance)

        axis = self.axis % inputs.shape.rank
        whole = _standing_for(BATCH_NORM, layer, axis, self.momentum, self.epsilon)
        result, mean, variance = whole(tf.cast(inputs, wide), scale, offset, mean, variance)
        self.moving_mean.assign(mean)
        self.moving_variance.assign(variance)
        return tf.cast(result, self.compute_dtype)

    return call


def _dropout(
    inputs: Any, rate: float, noise_shape: Sequence[Any] | None = None, seed: Any = None
) -> Any:
    if rate in (0, 1):
        return tf.zeros_like(inputs) if rate else inputs
    whole = _standing_for(DROPOUT, lambda x: tf.identity(x), float(rate))
    if noise_shape is None:
        return whole(inputs)
    sizes = tf.shape(inputs)
    shape = [sizes[n] if one is None else one for n, one in enumerate(noise_shape)]
    return inputs * whole(tf.ones(tf.stack(shape), inputs.dtype))


def _next(self: Any, ordered: bool = True) -> Any:
    """What stands for a seed; the state of the generator is not changed."""
    return _standing_for(SEED, lambda: tf.zeros([2], tf.int32))()
