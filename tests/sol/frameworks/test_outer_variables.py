"""Variables that functions and models of TensorFlow use without having them in attributes."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import mx
from mx import sol
from tests.importers.tensorflow.running import keras, tf

X = np.random.default_rng(0).random((5, 4), "float32")


class Module(tf.Module):
    """Has one variable of two that it uses."""

    def __init__(self, outer) -> None:
        super().__init__()
        self.weight = tf.Variable(tf.ones((4, 3)))
        self.outer_of = lambda: outer

    def __call__(self, x):
        return tf.tanh(x @ self.weight) * self.outer_of()

    @tf.function
    def predict(self, x):
        return tf.tanh(x @ self.weight)


def closure():
    weight, bias = tf.Variable(tf.ones((4, 3))), tf.Variable([0.0, 1.0, 2.0])
    return tf.function(lambda x: tf.tanh(x @ weight + bias)), [weight, bias]


def same_names():
    first, second = (tf.Variable(tf.fill((4, 4), one), name="one") for one in (0.1, 0.2))
    return tf.function(lambda x: tf.tanh(x @ first) @ second), [first, second]


def of_keras():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="tanh")])
    return tf.function(lambda x: model(x)), [one.value for one in model.trainable_variables]


KEPT = Module(None)  # a function of a module does not keep it


def method():
    return KEPT.predict, [KEPT.weight]


def module():
    outer = tf.Variable(2.0)
    made = Module(outer)
    return made, [made.weight, outer]


def layer():
    outer = tf.Variable(2.0)
    made = keras.Sequential([keras.Input((4,)), keras.layers.Lambda(lambda x: x * outer)])
    return made, [outer]


def concrete():
    function, variables = closure()
    return function.get_concrete_function(tf.TensorSpec((None, 4))), variables


MADE = (closure, same_names, of_keras, method, module, layer, concrete)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("make", MADE, ids=lambda one: one.__name__)
def test_variables_have_gradients_and_are_read_again(make, compiled) -> None:
    model, variables = make()
    fast = sol.optimize(model, tf.constant(X), vdims=[True])
    call = tf.function(fast) if compiled else fast
    for rows in (5, 3):
        found = []
        for one in (call, model):
            with tf.GradientTape() as tape:
                result = one(tf.constant(X[:rows]))
                loss = tf.reduce_sum(result**2)
            found.append([result, *tape.gradient(loss, variables)])
        for got, wanted in zip(*found, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
        for variable in variables:
            variable.assign(variable * 0.5)


def test_whose_variables_they_are() -> None:
    """A function's are those that it uses, a module's those of its attributes."""
    for make, count in ((closure, 2), (same_names, 2), (module, 1)):
        model, variables = make()
        found = sol.optimize(model, tf.constant(X)).trainable_variables
        assert {id(one) for one in found} == {id(one) for one in variables[:count]}
    model, variables = closure()
    there = sol.optimize(model, tf.constant(X), framework="torch")
    there(torch.tensor(X)).sum().backward()
    assert [list(one.grad.shape) for one in there.parameters()] == [[4, 3], [3]]


def test_saved_models(tmp_path) -> None:
    """A saved model is read by its call, or by one of its signatures."""
    own, x = tf.Module(), tf.constant(X)
    function, (own.weight, own.bias) = closure()
    own.__call__ = tf.function(function.python_function, [tf.TensorSpec((None, 4), name="x")])
    tf.saved_model.save(own, tmp_path, signatures=own.__call__)
    saved = tf.saved_model.load(tmp_path)
    signature = saved.signatures["serving_default"]
    for model, fast, call in (
        (saved, sol.optimize(saved, x), lambda one: one(x)),
        (signature, sol.optimize(signature, kwargs={"x": x}), lambda one: one(x=x)["output_0"]),
    ):
        for _ in range(2):
            with tf.GradientTape() as tape:
                result = call(fast)
            assert [one.shape for one in tape.gradient(result, [saved.weight, saved.bias])]
            np.testing.assert_allclose(result, call(model), rtol=1e-4, atol=1e-5)
            saved.weight.assign(saved.weight * 0.5)


def test_functions_in_training() -> None:
    weight, mean = tf.Variable(tf.ones((4, 3))), tf.Variable(tf.zeros(3), trainable=False)
    calls = tf.Variable(0, trainable=False)

    @tf.function
    def function(x, training=False):
        hidden = x @ weight
        if training:
            mean.assign(0.5 * mean + 0.5 * tf.reduce_mean(hidden, 0))
            calls.assign_add(1)  # which no call in inference uses
        return hidden - mean

    fast = sol.optimize(function, tf.constant(X))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(fast(X, training=True) ** 2)
    assert tape.gradient(loss, weight) is not None
    np.testing.assert_allclose(mean, np.full(3, 0.5 * X.sum(1).mean()), rtol=1e-5)
    assert int(calls) == 1
    np.testing.assert_allclose(fast(X), function(X), rtol=1e-5)


def test_a_module_in_training_has_its_own() -> None:
    outer = tf.Variable(2.0)

    class Trained(tf.Module):
        def __call__(self, x, training=False):
            return x * outer

    with pytest.raises(mx.graph.GraphError, match="uses Variable, no variable of the model"):
        sol.optimize(Trained(), tf.constant(X))(X, training=True)
