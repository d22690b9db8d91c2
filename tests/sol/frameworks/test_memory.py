"""The memory of steps of training of models of all frameworks, and in them."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest
import torch

from mx import sol
from tests.importers.tensorflow.running import keras, tf

from .networks import IMAGE, LAST, PARAMS, Module, Network, jax_network, keras_network, onnx_network

WEIGHTS = sum(one.nbytes for one in PARAMS.values())


def normed():
    """Does something else in training, and writes variables then."""
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((None, None, 3)),
            layers.Conv2D(4, 3, padding="same"),
            layers.BatchNormalization(),
            layers.Dropout(0.5),
            layers.GlobalAveragePooling2D(),
        ]
    )


# Weights of a convolution and of a batch norm, and the seed that dropout has.
NORMED, SEED = 4 * (3 * 3 * 3 * 4 + 4) + 4 * 4 * 4, 16
IN_ALL = WEIGHTS + LAST.nbytes
# Models with an example, the framework that they come back in, the bytes of what has gradients, the
# least of parameters, and the bytes of inputs beside the image.
CASES = {
    "keras": (keras_network, (LAST,), None, IN_ALL, WEIGHTS, 0),
    # Two of the four weights of a batch norm are trained.
    "keras, in training": (normed, (LAST,), None, NORMED - 32 + LAST.nbytes, NORMED, SEED),
    "a module": (Module, (LAST,), None, IN_ALL, WEIGHTS, 0),
    "jax": (lambda: jax_network, (PARAMS, LAST), None, IN_ALL, 0, WEIGHTS),
    "jax, bound": (
        lambda: functools.partial(jax_network, PARAMS), (LAST,), None, LAST.nbytes, WEIGHTS, 0,
    ),
    "onnx in torch": (onnx_network, (IMAGE,), "torch", WEIGHTS, WEIGHTS, 0),
    "torch in keras": (lambda: Network().eval(), (IMAGE,), "keras", IN_ALL, WEIGHTS, 0),
}  # fmt: skip


def optimized(model, example, framework):
    if isinstance(model, torch.nn.Module):
        example = map(torch.tensor, example)
    return sol.optimize(model, *example, framework=framework)


@pytest.mark.parametrize("name", CASES)
def test_training(name) -> None:
    make, example, framework, gradients, parameters, inputs = CASES[name]
    fast = optimized(make(), example, framework)
    found, inference = sol.memory(fast, training=True), sol.memory(fast)
    assert found.is_training and found.gradients == gradients
    assert found.inputs == LAST.nbytes + inputs and found.saved > 0
    assert found.parameters >= parameters
    parts = {one.step.partition(": ")[0] for one in found.moments}
    assert parts == {"forward", "backward"}
    assert str(found) == str(inference) and "not known" not in str(found)
    if not name.startswith("jax, "):
        return
    # A step of JAX runs the plan of inference before, too.
    assert found.parameters >= inference.parameters + WEIGHTS
    assert found.intermediates > inference.intermediates


@pytest.mark.parametrize("name", [one for one in CASES if one != "jax"])
def test_largest_batch(name) -> None:
    make, example, framework, *_ = CASES[name]
    model = make()
    peaks = []
    for batch in (2, 5):
        x = np.concatenate([example[-1]] * 3)[:batch]
        fast = optimized(model, [x], framework)
        peaks.append(sol.memory(fast, training=True).peak)
    assert peaks[0] < peaks[1]
    assert 2 <= sol.largest_batch(fast, peaks[1] - 1, training=True) < 5
    assert sol.largest_batch(fast, peaks[1], training=True) == 5
    assert sol.largest_batch(fast, 99, training=True) == 0


def test_gradients_twice() -> None:
    """Those of the second time are not those of memory that the first has written."""
    x = tf.constant(LAST)
    fast = sol.optimize(keras_network(), x)
    for _ in range(3):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum(fast(x, training=True) ** 2)
        first = [one.numpy() for one in tape.gradient(loss, fast.trainable_variables)]
        again = [one.numpy() for one in tape.gradient(loss, fast.trainable_variables)]
        for one, other in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, other)
    parameters = jax.tree_util.tree_map(jax.numpy.asarray, PARAMS)
    wanted = jax.grad(lambda p: (jax_network(p, LAST) ** 2).sum())(parameters)
    np.testing.assert_allclose(first[-1], wanted["head"], rtol=1e-3, atol=1e-4)
