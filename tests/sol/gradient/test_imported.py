"""Gradients of what is made of several operators where a model is imported, against those of its
framework."""

from __future__ import annotations

from functools import partial

import jax
import numpy as np
import pytest
from jax import lax

from mx import sol
from tests.importers.tensorflow.running import floats, positive, tf

# Of some gradients there is no kernel.
pytestmark = pytest.mark.filterwarnings("ignore:.*NumPy executes:mx.sol.SolWarning")

X, Y = floats(2, 3, 4), positive(2, 3, 4)
ZEROS = np.float32([0, 2, 0]), np.float32([0, 3, 5])
BOXES = np.float32([[0, 0.1, 0.8, 0.9], [0.9, 0.5, 0, 1.4]])

OF_TENSORFLOW = {
    **{name: (getattr(tf.math, name), *ZEROS) for name in ("xlogy", "xdivy", "xlog1py")},
    "cumprod": (lambda x: tf.math.cumprod(x, 1, reverse=True), X),
    "cumulative_logsumexp": (lambda x: tf.math.cumulative_logsumexp(x, 1), X),
    "cross": (tf.linalg.cross, floats(4, 3), floats(4, 3)),
    "diag": (partial(tf.linalg.diag, k=(-1, 1), num_rows=3, num_cols=4), floats(2, 3, 3)),
    "diag_part": (partial(tf.linalg.diag_part, k=(0, 1)), X),
    "set_diag": (tf.linalg.set_diag, X, floats(2, 3)),
    "crops": (
        lambda x, boxes: tf.image.crop_and_resize(x, boxes, [1, 0], [3, 4]),
        floats(2, 5, 6, 3),
        BOXES,
    ),
}
OF_JAX = {
    "cummax": (partial(lax.cummax, axis=1), X),
    "cummin": (partial(lax.cummin, axis=2, reverse=True), X),
    "cumlogsumexp": (partial(lax.cumlogsumexp, axis=1, reverse=True), X),
    "sort": (lambda x, y: lax.sort((x, y), dimension=1, num_keys=2), X, Y),
    "top_k": (lambda x: lax.top_k(x, 2, axis=1)[0], X),
    "fewer bits": (lambda x: lax.reduce_precision(x, 8, 7), X),
}


def close(found, expected) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", OF_TENSORFLOW)
def test_of_tensorflow(name) -> None:
    function, *arrays = OF_TENSORFLOW[name]
    given = [tf.constant(one) for one in arrays]
    every = []
    for call in (sol.optimize(tf.function(function), *given), function):
        with tf.GradientTape() as tape:
            tape.watch(given)
            result = call(*given)
            loss = tf.reduce_sum(tf.sin(result) + result**2)
        every.append(tape.gradient(loss, given))
    for found, expected in zip(*every, strict=True):
        close(found, expected)


@pytest.mark.parametrize("name", OF_JAX)
def test_of_jax(name) -> None:
    function, *arrays = OF_JAX[name]
    fast = sol.optimize(jax.jit(function), *arrays)

    def loss(call, *given):
        return sum((jax.numpy.sin(one) + one**2).sum() for one in jax.tree.leaves(call(*given)))

    numbers = tuple(range(1, len(arrays) + 1))
    found, expected = (jax.grad(loss, numbers)(call, *arrays) for call in (fast, function))
    jax.tree.map(close, found, expected)
