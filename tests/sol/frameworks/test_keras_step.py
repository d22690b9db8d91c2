"""Steps of training of models of Keras: the same losses and weights as Keras's own steps."""

from __future__ import annotations

import numpy
import pytest

from mx import sol
from tests.importers.tensorflow.running import keras, tf

ALL = ("forward", "loss", "backward", "optimizer")
STEPS = 5


def dense():
    """With losses of weights and of what layers give."""
    return [
        keras.Input((12,)),
        keras.layers.Dense(16, activation="relu", kernel_regularizer="l2"),
        keras.layers.Dense(3, activity_regularizer="l1"),
    ]


def convolutions():
    return [
        keras.Input((8, 8, 3)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.MaxPool2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(3),
    ]


MODELS = {"dense": (dense, (12,)), "convolutions": (convolutions, (8, 8, 3))}


def made(name: str):
    """The same model each time, a batch, and classes for it."""
    keras.utils.set_random_seed(0)
    layers, shape = MODELS[name]
    x = numpy.random.default_rng(1).random((6, *shape), "float32")
    return keras.Sequential(layers()), x, numpy.arange(6) % 3


def of_classes():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def squares(target, found):
    """A function as users write them: a number for each row."""
    return tf.reduce_mean(tf.square(tf.one_hot(target, 3) - found), -1)


def scheduled(**options):
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    return keras.optimizers.SGD(rate, momentum=0.9, **options)


def excluding():
    optimizer = keras.optimizers.AdamW(0.01, weight_decay=0.1)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    return optimizer


# Optimizers, and whether the plan has their step.
OPTIMIZERS = {
    "SGD": (lambda: keras.optimizers.SGD(0.05), True),
    "momentum": (lambda: keras.optimizers.SGD(0.05, momentum=0.9), True),
    "schedule": (scheduled, True),
    "Adam": (lambda: keras.optimizers.Adam(0.01), True),
    "amsgrad": (lambda: keras.optimizers.Adam(0.01, amsgrad=True), True),
    "AdamW": (excluding, True),
    "decay": (lambda: keras.optimizers.SGD(0.05, weight_decay=0.1), True),
    "momentum, decay": (lambda: keras.optimizers.SGD(0.05, 0.9, weight_decay=0.1), True),
    "Nesterov": (lambda: keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), True),
    "Nesterov alone": (lambda: keras.optimizers.SGD(0.05, nesterov=True), True),
    "Nesterov, schedule": (lambda: scheduled(nesterov=True, weight_decay=0.1), True),
    "Nadam": (lambda: keras.optimizers.Nadam(0.01, weight_decay=0.1), True),
    "Adadelta": (lambda: keras.optimizers.Adadelta(0.5), True),
    "Adadelta, decay": (lambda: keras.optimizers.Adadelta(0.5, weight_decay=0.1), True),
    "Adagrad": (lambda: keras.optimizers.Adagrad(0.05, weight_decay=0.1, epsilon=0.1), True),
    "Adamax": (lambda: keras.optimizers.Adamax(0.05, weight_decay=0.1, epsilon=0.1), True),
    "clipped": (lambda: keras.optimizers.Adam(0.01, clipnorm=0.1), False),
    "RMSprop": (lambda: keras.optimizers.RMSprop(0.01), True),
    "RMSprop, decay": (
        lambda: keras.optimizers.RMSprop(0.01, weight_decay=0.1, epsilon=0.01),
        True,
    ),
    "RMSprop, momentum": (lambda: keras.optimizers.RMSprop(0.01, momentum=0.9), True),
    "centered": (lambda: keras.optimizers.RMSprop(0.01, centered=True, epsilon=1e-3), True),
    "centered, momentum": (
        lambda: keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True, epsilon=1e-3),
        True,
    ),
    "Lion": (lambda: keras.optimizers.Lion(0.01), False),
}


def by_keras(model, loss, optimizer, x, y, steps: int = STEPS) -> list[float]:
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = tf.reduce_mean(loss(y, model(x, training=True))) + sum(model.losses)
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(value, variables), variables)
        losses.append(float(value))
    return losses


def assert_same(model, other, optimizer, another) -> None:
    for one, two in zip(model.variables, other.variables, strict=True):
        numpy.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-3, atol=1e-4)
    for one, two in zip(optimizer.variables, another.variables, strict=True):
        numpy.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("name", MODELS)
def test_steps_are_those_of_keras(name, kind) -> None:
    make, is_fused = OPTIMIZERS[kind]
    optimizers = make(), make()
    model, x, y = made(name)
    expected = by_keras(model, of_classes(), optimizers[0], x, y)
    other, _, _ = made(name)
    step = sol.training_step(other, of_classes(), optimizers[1])
    found = [float(step(x, y)) for _ in range(STEPS)]
    numpy.testing.assert_allclose(found, expected, rtol=1e-3)
    assert_same(other, model, optimizers[1], optimizers[0])
    assert step.fused == (ALL if is_fused else ALL[:3])


# Layers whose weights lie otherwise than in the graph, and the shape of what they take.
KINDS = {
    "one axis": (lambda: [keras.layers.Conv1D(5, 3, strides=2, padding="same")], (11, 3)),
    "two axes": (
        lambda: [
            keras.layers.Conv2D(18, (3, 2), padding="same", kernel_regularizer="l2"),
            keras.layers.Conv2D(16, 1, strides=2),
            keras.layers.Conv2D(7, 3, dilation_rate=2),
        ],
        (12, 13, 3),
    ),
    "three axes": (lambda: [keras.layers.Conv3D(4, (2, 3, 2))], (5, 6, 7, 2)),
    "by channels": (
        lambda: [
            keras.layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same"),
            keras.layers.DepthwiseConv2D(3),
            keras.layers.SeparableConv2D(8, 3),
        ],
        (9, 9, 8),
    ),
    "transposed": (lambda: [keras.layers.Conv2DTranspose(6, 3, strides=2)], (4, 5, 3)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("optimizer", ["SGD", "momentum", "Adam", "clipped"])
def test_kinds_of_convolutions(kind, optimizer) -> None:
    layers, shape = KINDS[kind]
    x, y = numpy.random.default_rng(1).random((4, *shape), "float32"), numpy.arange(4) % 3
    models, optimizers = [], []
    for _ in range(2):
        keras.utils.set_random_seed(0)
        ends = [keras.layers.Flatten(), keras.layers.Dense(3)]
        models.append(keras.Sequential([keras.Input(shape), *layers(), *ends]))
        optimizers.append(OPTIMIZERS[optimizer][0]())
    expected = by_keras(models[0], of_classes(), optimizers[0], x, y)
    step = sol.training_step(models[1], of_classes(), optimizers[1])
    numpy.testing.assert_allclose([float(step(x, y)) for _ in range(STEPS)], expected, rtol=1e-3)
    assert_same(models[1], models[0], optimizers[1], optimizers[0])


LOSSES = {
    "name": "sparse_categorical_crossentropy",
    "function": squares,
    "probabilities": lambda y, z: keras.losses.categorical_crossentropy(
        tf.one_hot(y, 3), z, from_logits=True
    ),
}


@pytest.mark.parametrize("kind", LOSSES)
def test_losses(kind) -> None:
    model, x, y = made("dense")
    optimizers = keras.optimizers.SGD(0.05), keras.optimizers.SGD(0.05)
    expected = by_keras(model, keras.losses.get(LOSSES[kind]), optimizers[0], x, y)
    other, _, _ = made("dense")
    step = sol.training_step(other, LOSSES[kind], optimizers[1])
    numpy.testing.assert_allclose([float(step(x, y)) for _ in range(STEPS)], expected, rtol=1e-3)
    assert step.fused == ALL


def test_an_optimized_model_and_one_that_changes() -> None:
    """A step has the weights of now, batches of other sizes, and what is trained of now."""
    model, x, y = made("convolutions")
    other, _, _ = made("convolutions")
    fast = sol.optimize(other, x)
    optimizers = [keras.optimizers.SGD(0.05, momentum=0.9) for _ in range(2)]
    step = sol.training_step(fast, of_classes(), optimizers[1])
    for one in (model, other):
        one.layers[0].kernel.assign(one.layers[0].kernel * 2)
    expected = by_keras(model, of_classes(), optimizers[0], x[:4], y[:4])
    found = [float(step(x[:4], y[:4])) for _ in range(STEPS)]
    numpy.testing.assert_allclose(found, expected, rtol=1e-3)
    assert step.fused == ALL
    # What was read of a variable stays as it was when the next step is done.
    before = other.layers[0].kernel.value.value()
    copy = before.numpy().copy()
    model.layers[0].trainable = other.layers[0].trainable = False
    expected = by_keras(model, of_classes(), optimizers[0], x, y)
    found = [float(step(x, y)) for _ in range(STEPS)]
    numpy.testing.assert_allclose(found, expected, rtol=1e-3)
    numpy.testing.assert_array_equal(before.numpy(), copy)
    numpy.testing.assert_array_equal(other.layers[0].kernel.numpy(), copy)
    numpy.testing.assert_allclose(fast(x).numpy(), model(x).numpy(), rtol=1e-3, atol=1e-3)


def unknown(target, found):
    """A loss that no graph can have."""
    return tf.py_function(lambda a: a, [tf.reduce_mean(found)], tf.float32) + tf.reduce_mean(found)


def test_what_a_plan_cannot_have_keras_does() -> None:
    model, x, y = made("dense")
    optimizers = keras.optimizers.SGD(0.05), keras.optimizers.SGD(0.05)
    expected = by_keras(model, unknown, optimizers[0], x, y)
    other, _, _ = made("dense")
    step = sol.training_step(other, unknown, optimizers[1])
    numpy.testing.assert_allclose([float(step(x, y)) for _ in range(STEPS)], expected, rtol=1e-3)
    assert step.fused == ()
    assert_same(other, model, optimizers[1], optimizers[0])


class Scale(keras.layers.Layer):
    """Multiplies by a weight without axes."""

    def build(self, shape):
        self.factor = self.add_weight(shape=(), initializer="ones")

    def call(self, x):
        return x * self.factor


class Halving(keras.layers.Layer):
    """Assigns to a variable that is trained, from where its gradient begins anew."""

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 3), initializer="ones")

    def call(self, x):
        self.w.assign(self.w / 2)
        return x @ self.w


OUTSIDE = tf.Variable(1.0)


def scaled(target, found):
    """Reads a variable that the model does not have."""
    return OUTSIDE * tf.reduce_mean(tf.square(tf.one_hot(target, 3) - found), -1)


def branching(target, found):
    """What TensorFlow cannot trace."""
    value = tf.reduce_mean(tf.square(tf.one_hot(target, 3) - found))
    return value if value < 1e9 else -value


def masked():
    return [keras.Input((4,)), keras.layers.Embedding(5, 4, mask_zero=True), keras.layers.Dense(3)]


def rows(*makers):
    """What makes layers for rows of numbers: each time others."""
    return lambda: [keras.Input((12,)), *(make() for make in makers)]


def classes(**options):
    return lambda: keras.layers.Dense(3, **options)


# Layers, a loss, and what the plan has.
UNUSUAL = {
    "a weight without axes": (rows(Scale, classes()), squares, ALL),
    "not built": (lambda: [keras.layers.Dense(3)], squares, ALL),
    "an assigned weight": (rows(Halving), squares, ()),
    "an outer variable": (rows(classes()), scaled, ()),
    "branches": (rows(classes()), branching, ()),
    "nothing to train": (rows(classes(trainable=False)), squares, ALL),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_models(kind) -> None:
    layers, loss, fused = UNUSUAL[kind]
    x, y = numpy.random.default_rng(1).random((6, 12), "float32"), numpy.arange(6) % 3
    found = []
    for by_step in (False, True):
        keras.utils.set_random_seed(0)
        model = keras.Sequential(layers())
        OUTSIDE.assign(1.0)
        optimizer = keras.optimizers.SGD(0.05)
        step = sol.training_step(model, loss, optimizer)
        losses = []
        for n in range(3):
            OUTSIDE.assign(n + 1.0)
            if by_step:
                losses.append(float(step(x, y)))
            else:
                losses += by_keras(model, loss, optimizer, x, y, 1)
        found.append((losses, int(optimizer.iterations)))
    numpy.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-3)
    assert found[1][1] == found[0][1] and step.fused == fused


def test_losses_by_name_know_masks() -> None:
    keras.utils.set_random_seed(0)
    model = keras.Sequential(masked())
    x, y = numpy.array([[1, 2, 0, 0], [3, 0, 0, 0]]), numpy.ones((2, 4, 3), "float32")
    model.compile(loss="mse")
    expected = model.evaluate(x, y, verbose=0)
    step = sol.training_step(model, "mse", keras.optimizers.SGD(0.0))
    assert float(step(x, y)) == pytest.approx(expected, rel=1e-5)
    assert step.fused == ALL


@pytest.mark.parametrize("names", [["first"], ["^bias$"], ["bias"]])
def test_what_does_not_decay(names) -> None:
    x, y = numpy.random.default_rng(1).random((6, 12), "float32"), numpy.arange(6) % 3
    models, optimizers = [], []
    for _ in range(2):
        keras.utils.set_random_seed(0)
        first = keras.layers.Dense(4, name="first")
        models.append(keras.Sequential([keras.Input((12,)), first, keras.layers.Dense(3)]))
        optimizers.append(keras.optimizers.AdamW(0.01, weight_decay=0.0))
        optimizers[-1].exclude_from_weight_decay(var_names=names)
    step = sol.training_step(models[1], squares, optimizers[1])
    for decay in (0.0, 0.5):  # which may be switched on
        for one in optimizers:
            one.weight_decay = decay
        by_keras(models[0], squares, optimizers[0], x, y)
        for _ in range(STEPS):
            step(x, y)
    assert step.fused == ALL
    assert_same(models[1], models[0], optimizers[1], optimizers[0])


ERRORS = {
    "no optimizer": (lambda m: (m, "mse", "sgd"), TypeError, "optimizer: expected a keras.optim"),
    "no loss": (lambda m: (m, 3, keras.optimizers.SGD()), ValueError, "loss: .*3"),
    "unknown loss": (lambda m: (m, "mze", keras.optimizers.SGD()), ValueError, "loss: .*mze"),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_errors(kind) -> None:
    make, error, text = ERRORS[kind]
    model, x, y = made("dense")
    with pytest.raises(error, match=f"sol.training_step: {text}"):
        sol.training_step(*make(model))(x, y)


@pytest.mark.parametrize(
    "args, kwargs, text",
    [
        ((numpy.ones((2, 12)),), {}, "expected arguments of the model and a target"),
        (([[1.0] * 12], [1]), {}, "expected tensors or arrays, got list, list"),
        ((numpy.ones((2, 12)), numpy.ones(2)), {"training": False}, "training: a step is always"),
    ],
)
def test_arguments(args, kwargs, text) -> None:
    model, _, _ = made("dense")
    step = sol.training_step(model, "mse", keras.optimizers.SGD())
    with pytest.raises(TypeError, match=f"sol.training_step: {text}"):
        step(*args, **kwargs)
