"""Models of several frameworks, deployed; and one that was trained as it had been optimized."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy
import pytest
import torch

from mx import sol
from tests.importers.tensorflow.running import keras, tf

from .loaded import Array, Library

RANDOM = numpy.random.default_rng(2)
X = RANDOM.standard_normal((2, 6, 12)).astype("float32")
W = RANDOM.standard_normal((12, 3, 4)).astype("float32")


def keras_attention() -> tuple[Any, Array]:
    """Attention of Keras, which is made of EinsumDense, and EinsumDense itself."""
    layers = keras.layers
    given = keras.Input((6, 12))
    hidden = layers.MultiHeadAttention(3, 4, name="attention")(given, given)
    hidden = layers.LayerNormalization()(hidden + given)
    hidden = layers.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d")(hidden)
    model = keras.Model(given, hidden)
    return sol.optimize(model, tf.constant(X)), model(X).numpy()


def tensorflow_einsum() -> tuple[Any, Array]:
    """tf.einsum of an input and a variable, and of two inputs."""

    class Scores(tf.Module):
        def __init__(self) -> None:
            self.weight = tf.Variable(W)

        @tf.function
        def __call__(self, x: Any) -> Any:
            heads = tf.einsum("btc,chd->bhtd", x, self.weight)
            return tf.einsum("bhtd,bhsd->bhts", heads, tf.nn.relu(heads))

    model = Scores()
    return sol.optimize(model, tf.constant(X)), model(tf.constant(X)).numpy()


@jax.jit
def jax_scores(weight: Any, x: Any) -> Any:
    heads = jnp.einsum("btc,chd->bthd", x, weight)
    scores = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", heads, heads), axis=-1)
    return jnp.einsum("bhts,bshd->bthd", scores, heads)


def jax_einsum() -> tuple[Any, Array]:
    model = partial(jax_scores, W / 8)
    return sol.optimize(model, jnp.asarray(X)), numpy.asarray(model(X))


def torch_trained() -> tuple[Any, Array]:
    """Trained as it had been optimized: it is the optimized model that has new weights."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(12, 8), torch.nn.BatchNorm1d(6), torch.nn.GELU(), torch.nn.Linear(8, 2)
    )
    x = torch.tensor(X)
    fast = sol.optimize(model.train(), x)
    optimizer = torch.optim.Adam(fast.parameters(), 0.05)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = (fast(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] / 2
    with torch.no_grad():
        return fast.eval(), model.eval()(x).numpy()


MODELS: dict[str, Callable[[], tuple[Any, Array]]] = {
    "Keras": keras_attention,
    "TensorFlow": tensorflow_einsum,
    "JAX": jax_einsum,
    "torch, trained": torch_trained,
}


@pytest.mark.parametrize("name", MODELS)
def test_deployed(name: str, tmp_path: Path) -> None:
    fast, expected = MODELS[name]()
    made = sol.deploy(fast, path=tmp_path, lib_name="model")
    output = numpy.zeros(expected.shape, "float32")
    assert Library(made.files[0]).call([X, output]) == 0
    numpy.testing.assert_allclose(output, expected, rtol=2e-3, atol=2e-4)
