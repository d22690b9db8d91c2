"""Trainings in each framework, with batches the last one of which is smaller."""

from __future__ import annotations

import numpy as np
import onnx
import torch

from tests.importers.tensorflow.running import keras, tf

layers = keras.layers
ROWS = np.random.default_rng(5).standard_normal((8, 6)).astype("float32")
ONES = np.ones((40, 50), "float32")
RATE = 0.1


def trained_by_torch(model, x: np.ndarray, labels: np.ndarray) -> list[float]:
    """The losses of steps with batches, the last one of which is smaller."""
    optimizer, found = torch.optim.SGD(model.parameters(), RATE), []
    for first in (0, 3, 6, 0, 3, 6):
        optimizer.zero_grad()
        made = model(torch.tensor(x[first : first + 3]))
        loss = ((made - torch.tensor(labels[first : first + 3])) ** 2).mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def trained_by_tensorflow(model, x: np.ndarray, labels: np.ndarray, compiled: bool) -> list[float]:
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        for one, grad in zip(
            model.trainable_variables, tape.gradient(loss, model.trainable_variables), strict=True
        ):
            one.assign_sub(RATE * grad)
        return loss

    call = tf.function(step, reduce_retracing=True) if compiled else step
    batches = [(x[n : n + 3], labels[n : n + 3]) for n in (0, 3, 6, 0, 3, 6)]
    return [float(call(*map(tf.constant, batch))) for batch in batches]


class Losses(keras.callbacks.Callback):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[float] = []
        self.total = 0.0

    def on_epoch_begin(self, epoch, logs=None) -> None:
        self.total = 0.0

    def on_train_batch_end(self, batch, logs=None) -> None:
        # Keras tells the mean of all rows so far.
        count = min(3 * (batch + 1), 8)
        self.found.append((logs["loss"] * count - self.total) / (count - 3 * batch))
        self.total = logs["loss"] * count


def trained_by_keras(model, x: np.ndarray, labels: np.ndarray, eager: bool) -> list[float]:
    model.compile(keras.optimizers.SGD(RATE), "mse", run_eagerly=eager, jit_compile=False)
    told = Losses()
    model.fit(x, labels, batch_size=3, epochs=2, verbose=0, shuffle=False, callbacks=[told])
    return told.found


TARGETS = {
    "keras": lambda *given: trained_by_keras(*given, eager=False),
    "keras, eager": lambda *given: trained_by_keras(*given, eager=True),
    "tensorflow": lambda *given: trained_by_tensorflow(*given, compiled=False),
    "tensorflow, compiled": lambda *given: trained_by_tensorflow(*given, compiled=True),
    "torch": trained_by_torch,
}


def keras_rows(**options) -> list:
    """Layers of a model of Keras for ROWS."""
    norm = layers.BatchNormalization(momentum=0.8, **options)
    return [layers.Dense(5), norm, layers.ReLU(), layers.Dropout(0), layers.Dense(4)]


def file_with(text: str, **weights: np.ndarray) -> bytes:
    """The bytes of a file of ONNX with these weights."""
    made = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>' + text)
    for name, one in weights.items():
        made.graph.initializer.append(onnx.numpy_helper.from_array(one, name))
    return made.SerializeToString()
