"""Functions of TensorFlow of which plans execute what is between operations that cannot be read."""

from __future__ import annotations

import numpy as np
import pytest

import mx
from mx import sol
from tests.importers.tensorflow.running import keras, tf

from .networks import floats

ROWS = floats(5, 6)
SQUARE, NARROW, TABLE = (
    tf.Variable(floats(*shape), name="one") for shape in ((6, 6), (6, 4), (9, 6))
)
COUNT = tf.Variable(0.0, trainable=False)
FACTORS = tf.constant(floats(6, 6))
DENSE = keras.Sequential(
    [keras.Input((6,)), keras.layers.Dense(6, "gelu"), keras.layers.Dense(6, "silu")]
)


def inverse(x, factors=0.0):
    return tf.linalg.inv(tf.transpose(x) @ x + 9 * tf.eye(6) + factors)


@tf.custom_gradient
def straight(x):
    return tf.round(4 * x), lambda grad: 3 * grad


def between(x):
    hidden = tf.nn.silu(x @ SQUARE)
    return {"rows": hidden @ inverse(hidden) @ NARROW, "mean": tf.reduce_mean(hidden), "x": x}


def gathering(x):
    hidden = tf.gather(TABLE, tf.argmax(x, 1)) @ SQUARE
    for _ in tf.range(3):
        hidden = tf.tanh(hidden @ SQUARE)
    return hidden @ inverse(hidden) @ NARROW


def in_loop(x):
    hidden = x @ SQUARE
    for _ in tf.range(2):
        hidden = tf.tanh(hidden @ inverse(hidden) @ SQUARE)
    return hidden @ NARROW


def in_branch(x):
    hidden = x @ SQUARE
    if tf.reduce_sum(hidden) > 0:
        hidden = hidden @ inverse(hidden)
    else:
        hidden = hidden @ SQUARE @ inverse(hidden)
    return hidden @ NARROW


def in_call(x):
    @tf.function
    def inner(x, scale):
        return inverse(x @ SQUARE, FACTORS * scale)

    return tf.nn.relu(x @ SQUARE) @ inner(x, 0.2) @ NARROW + inner(x, 0.1)[0, 0]


def with_gradient(x):
    hidden = straight(tf.tanh(x @ SQUARE))
    return hidden @ inverse(hidden) @ NARROW


def of_sizes(x):
    """What is between has no size that is known."""
    found = tf.unique(tf.cast(tf.reshape(3 * x, [-1]), tf.int32))[0]
    return x @ inverse(x) @ NARROW + tf.cast(tf.size(found), tf.float32)


def of_keras(x):
    hidden = DENSE(x)
    return hidden @ inverse(hidden) @ NARROW


INVERSE = r"MatrixInverse .*there is no rule"
FUNCTIONS = {
    between: r"0 \([0-9]+ operations\), 1 \([0-9]+ operations\): " + INVERSE,
    gathering: "0 .*, 1 .*: " + INVERSE,
    in_loop: "0 .*, 1 .*: .*While .*" + INVERSE,
    in_branch: "0 .*, 1 .*: If .*" + INVERSE,
    in_call: "0 .*, 1 .*: StatefulPartitionedCall .*" + INVERSE,
    with_gradient: "0 .*: IdentityN .*: it has a gradient of its own; " + INVERSE,
    of_sizes: "0 .*: Unique .*" + INVERSE,
    of_keras: "0 .*, 1 .*: " + INVERSE,
}


def results_and_gradients(call, x):
    weights = [SQUARE, NARROW, TABLE, *(one.value for one in DENSE.trainable_variables)]
    with tf.GradientTape() as tape:
        tape.watch(x)
        results = call(x)
        loss = tf.add_n([tf.reduce_sum(one**2) for one in tf.nest.flatten(results)])
    grads = tape.gradient(loss, [x, *weights])
    return results, [None if one is None else tf.convert_to_tensor(one) for one in grads]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: one.__name__)
def test_parts(function) -> None:
    model, x = tf.function(function), tf.constant(ROWS)
    text = f"{function.__name__}: TensorFlow executes all except the parts {FUNCTIONS[function]}"
    with pytest.warns(sol.SolWarning, match=text):
        fast = sol.optimize(model, x, fallback=True)
    assert len(sol.report(fast).parts) >= 2
    for rows in (x, x[:4]):
        found, expected = results_and_gradients(fast, rows), results_and_gradients(model, rows)
        for one, other in zip(*map(tf.nest.flatten, (found, expected)), strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                scale = 1 + np.abs(other).max()
                np.testing.assert_allclose(one / scale, other / scale, rtol=1e-3, atol=1e-4)
        inside = tf.function(fast)(rows)
        tf.nest.map_structure(
            lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4),
            inside, model(rows),
        )  # fmt: skip
        SQUARE.assign(SQUARE * 0.9)


def test_variables_and_other_arguments(tmp_path) -> None:
    @tf.function
    def model(x, narrow=True):
        return x @ inverse(x @ SQUARE) @ (NARROW if narrow else SQUARE)

    with pytest.warns(sol.SolWarning, match="model: TensorFlow executes all except the parts"):
        fast = sol.optimize(model, ROWS, fallback=True)
    assert {id(one) for one in fast.trainable_variables} == {id(SQUARE), id(NARROW)}
    tf.train.Checkpoint(model=fast).save(tmp_path / "checkpoint")
    for kwargs in ({}, {"narrow": True}, {"narrow": False}):
        np.testing.assert_allclose(fast(ROWS, **kwargs), model(ROWS, **kwargs), rtol=1e-4)
    varying = tf.function(lambda x: fast(x), [tf.TensorSpec((None, 6))])
    with pytest.warns(sol.SolWarning, match="model is executed by TensorFlow: .* shapes are known"):
        np.testing.assert_allclose(varying(ROWS), model(ROWS), rtol=1e-4)


def assigning(x):
    COUNT.assign_add(1.0)
    return inverse(x @ SQUARE) @ SQUARE


def drawing(x):
    return inverse(x @ SQUARE + tf.random.normal((5, 6))) @ SQUARE


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (assigning, "AssignAddVariableOp .*: it has effects"),
        (drawing, "RandomStandardNormal .*: it has effects"),
        (lambda x: tf.linalg.inv(x[:, :5]), INVERSE),
    ],
)
def test_what_is_left_whole(function, text) -> None:
    model = tf.function(function)
    with pytest.warns(sol.SolWarning, match=f"TensorFlow executes it: .*{text}"):
        assert sol.optimize(model, tf.constant(ROWS), fallback=True) is model
    with pytest.raises(mx.graph.GraphError, match="mx.importers.tensorflow cannot import"):
        sol.optimize(model, tf.constant(ROWS))
