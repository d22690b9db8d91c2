"""Gradients of models of all frameworks, of one in another, and where they end."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import mx
from mx import sol
from tests.importers.tensorflow.running import keras, tf

from .networks import (
    IMAGE,
    LAST,
    PARAMS,
    Module,
    Network,
    arrays,
    jax_network,
    keras_network,
    onnx_network,
    symbol_network,
)


def expected_gradients():
    network, image = Network(), torch.tensor(IMAGE, requires_grad=True)
    (network(image) ** 2).sum().backward()
    return image.grad.numpy(), [one.grad.numpy() for one in network.parameters()]


def close(got, wanted) -> None:
    np.testing.assert_allclose(arrays(got), wanted, rtol=2e-4, atol=2e-4)


def test_gradients_in_torch() -> None:
    of_image, of_weights = expected_gradients()
    fast = sol.optimize(onnx_network(False), framework="torch")
    image = torch.tensor(IMAGE, requires_grad=True)
    (fast(image) ** 2).sum().backward()
    close(image.grad, of_image)
    found = {name: one.grad for name, one in fast.named_parameters()}
    for name, wanted in zip(("conv.weight", "conv.bias", "head.weight"), of_weights, strict=True):
        close(found[name], wanted)
    loss = (fast(image) ** 2).sum()
    with torch.no_grad():
        fast.head.weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_in_tensorflow(compiled) -> None:
    of_image, (of_kernel, of_bias, of_head) = expected_gradients()
    module = Module()
    fast = sol.optimize(module, tf.constant(LAST))

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(fast(x) ** 2)
        return tape.gradient(loss, [x, module.kernel, module.bias, module.head])

    found = (tf.function(step) if compiled else step)(tf.constant(LAST))
    wanted = [of_image.transpose(0, 2, 3, 1), of_kernel.transpose(2, 3, 1, 0), of_bias, of_head.T]
    for got, one in zip(found, wanted, strict=True):
        close(got, one)


def by_torch(fast):
    image = torch.tensor(IMAGE, requires_grad=True)
    (fast(image) ** 2).sum().backward()
    return image.grad, [one.grad for one in fast.parameters()]


def by_tensorflow(fast):
    with tf.GradientTape() as tape:
        tape.watch(image := tf.constant(IMAGE))
        loss = tf.reduce_sum(fast(image) ** 2)
    of_image, *of_weights = tape.gradient(loss, [image, *fast.trainable_variables])
    return of_image, of_weights


def by_jax(fast):
    return jax.grad(lambda image: (fast(image) ** 2).sum())(jnp.asarray(IMAGE)), []


@pytest.mark.parametrize("make", [onnx_network, symbol_network])
@pytest.mark.parametrize(
    ("target", "call"),
    [("torch", by_torch), ("tensorflow", by_tensorflow), ("keras", by_tensorflow), ("jax", by_jax)],
)
def test_gradients_of_graphs(make, target, call) -> None:
    of_image, of_weights = expected_gradients()
    found, weights = call(sol.optimize(make(), IMAGE, framework=target))
    close(found, of_image)
    # No two weights have the same shape; functions of JAX have none.
    by_shape = {tuple(one.shape): one for one in weights}
    assert len(by_shape) == (0 if target == "jax" else len(of_weights))
    for wanted in of_weights if by_shape else ():
        close(by_shape[wanted.shape], wanted)


def test_training_in_keras() -> None:
    losses = []
    for optimized in (False, True):
        model = keras_network()
        fast = sol.optimize(model, LAST) if optimized else model
        fast.compile(keras.optimizers.SGD(0.05), "mse", jit_compile=False)
        history = fast.fit(LAST, np.ones((2, 5), "float32"), epochs=4, verbose=0, batch_size=2)
        losses.append(history.history["loss"])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_gradients_in_jax() -> None:
    of_image, (of_kernel, of_bias, of_head) = expected_gradients()
    fast = sol.optimize(jax_network, PARAMS, LAST)

    def loss(params, x):
        return (fast(params, x) ** 2).sum()

    for gradient in (jax.grad(loss, (0, 1)), jax.jit(jax.grad(loss, (0, 1)))):
        of_params, found = gradient(PARAMS, jnp.asarray(LAST))
        close(found, of_image.transpose(0, 2, 3, 1))
        close(of_params["kernel"], of_kernel.transpose(2, 3, 1, 0))
        close(of_params["bias"], of_bias)
        close(of_params["head"], of_head.T)


def test_a_step_of_jax_is_told_how() -> None:
    with pytest.raises(NotImplementedError, match=r"training_step: model: .* jax.value_and_grad"):
        sol.training_step(jax_network, lambda found, target: found.sum(), None)


def last_of_loop(x):
    """A loop of whose result a graph does not say how many axes it has."""
    return jax.lax.scan(lambda c, one: (0.9 * c + one, None), jnp.zeros(2), x[:, None])[0]


@pytest.mark.parametrize(
    "function",
    [
        *(jax.nn.relu6, jax.lax.erfc, functools.partial(jax.nn.gelu, approximate=False)),
        last_of_loop,
    ],
)
def test_gradients_of_functions_of_jax(function) -> None:
    x = jnp.array([-7.0, -0.3, 0, 0.4, 2, 6, 9])
    fast = sol.optimize(jax.jit(function), x)
    found, expected = (jax.grad(lambda x, one=one: one(x).sum())(x) for one in (fast, function))
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)


def test_where_gradients_end() -> None:
    @jax.jit
    def of_jax(x):
        return x * jax.lax.stop_gradient(x)

    @tf.function
    def of_tensorflow(x):
        return tf.nn.silu(x) * tf.stop_gradient(x)

    x = jnp.arange(3.0)
    fast = sol.optimize(of_jax, x)
    np.testing.assert_array_equal(jax.grad(lambda x: fast(x).sum())(x), x)
    x = tf.constant([0.5, -1.0])
    gradients = []
    for one in (of_tensorflow, sol.optimize(of_tensorflow, x)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = one(x)
        gradients.append(tape.gradient(y, x))
    np.testing.assert_allclose(*gradients, rtol=1e-5)


def test_gradients_that_others_define() -> None:
    @tf.custom_gradient
    def straight(x):
        return tf.round(x), lambda grad: grad

    @jax.custom_vjp
    def straight_of_jax(x):
        return jnp.round(x)

    straight_of_jax.defvjp(lambda x: (jnp.round(x), None), lambda _, grad: (grad,))
    fast = sol.optimize(tf.function(straight), tf.ones(3))
    x = tf.constant([0.4, 1.6, 2.0])
    np.testing.assert_array_equal(fast(x), [0, 2, 2])
    with tf.GradientTape() as tape, pytest.raises(mx.graph.GraphError, match="custom_gradient"):
        tape.watch(x)
        fast(x)
    fast = sol.optimize(jax.jit(straight_of_jax), jnp.ones(3))
    with pytest.raises(Exception, match="custom_vjp"):
        jax.grad(lambda x: fast(x).sum())(jnp.ones(3))


def test_derivatives_that_others_define() -> None:
    @jax.custom_jvp
    def steep(x):
        return x * x

    steep.defjvp(lambda primals, tangents: (steep(*primals), 100 * tangents[0]))
    x = jnp.array([-1.0, 0.0, 2.0])
    fast = sol.optimize(jax.jit(steep), x)
    np.testing.assert_array_equal(fast(x), [1, 0, 4])
    with pytest.raises(Exception, match="custom_jvp"):
        jax.grad(lambda x: fast(x).sum())(x)


@pytest.mark.parametrize(
    "function", [jax.nn.relu, jax.nn.relu6, jax.nn.silu], ids=lambda f: f.__name__
)
def test_derivatives_that_jax_defines(function) -> None:
    x = jnp.array([-1.0, 0.0, 0.5, 7.0])
    fast = sol.optimize(jax.jit(function), x)
    wanted = jax.grad(lambda x: function(x).sum())(x)
    np.testing.assert_allclose(jax.grad(lambda x: fast(x).sum())(x), wanted, rtol=1e-5)


@pytest.mark.parametrize("compiled", [False, True])
def test_second_gradients_in_tensorflow(compiled) -> None:
    x = tf.constant([1.0, 2.0])
    fast = sol.optimize(tf.function(lambda x: x * x * x), x)

    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = fast(x)
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    with pytest.raises(NotImplementedError, match="no second gradients"):
        (tf.function(second) if compiled else second)(x)


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_of_gathered_rows_in_tensorflow(compiled) -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    fast = sol.optimize(tf.function(lambda x: x * x), x)

    def first(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.gather(fast(x), [2, 0, 2])
        return tape.gradient(y, x)

    found = (tf.function(first) if compiled else first)(x)
    np.testing.assert_array_equal(found, [[2, 4], [0, 0], [20, 24]])


@pytest.mark.parametrize("kwargs", [{}, {"training": True}], ids=str)
def test_jacobians_in_tensorflow(kwargs) -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    model = keras.Sequential([keras.Input((2,)), keras.layers.Activation("tanh")])
    fast = sol.optimize(model, x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, wanted = fast(x, **kwargs), model(x)
    found = tape.jacobian(y, x, experimental_use_pfor=False)
    np.testing.assert_allclose(found, tape.jacobian(wanted, x), rtol=1e-5, atol=1e-6)
    with pytest.raises(NotImplementedError, match="one gradient at a time: .*use_pfor=False"):
        tape.jacobian(y, x)
