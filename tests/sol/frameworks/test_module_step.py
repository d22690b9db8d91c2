"""Steps of training of modules of TensorFlow: losses and weights are those of tapes and Keras."""

from __future__ import annotations

import numpy
import pytest

from mx import sol
from tests.importers.tensorflow.running import keras, tf

ALL = ("forward", "loss", "backward", "optimizer")
STEPS = 5


def drawn(*shape):
    return numpy.random.default_rng(len(shape)).normal(0, 0.3, shape).astype("float32")


class Dense(tf.Module):
    """A layer inside of others."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.w = tf.Variable(drawn(rows, columns), name="kernel")
        self.b = tf.Variable(tf.zeros(columns), name="bias")

    def __call__(self, x):
        return x @ self.w + self.b


class Plain(tf.Module):
    """The same in training as in inference. It has a variable that nothing reads."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [Dense(12, 16), Dense(16, 3)]
        self.rest = tf.Variable(1.0, trainable=False)

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = tf.nn.relu(layer(x))
        return self.layers[-1](x)


class Counting(Plain):
    """Counts its calls: integers are trainable by default."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = tf.Variable(0)

    def __call__(self, x):
        self.calls.assign_add(1)
        return super().__call__(x)


class Normed(Plain):
    """Has statistics of its batches in training."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = tf.Variable(tf.zeros(16), trainable=False)

    def __call__(self, x, training=False):
        x = self.layers[0](x)
        mean = self.mean
        if training:
            mean = tf.reduce_mean(x, 0)
            self.mean.assign(0.9 * self.mean + 0.1 * mean)
        return self.layers[1](tf.nn.relu(x - 0.5 * mean))


class Counted(Normed):
    """Counts its calls in training."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = tf.Variable(0)

    def __call__(self, x, training=False):
        if training:
            self.calls.assign_add(1)
        return super().__call__(x, training=training)


class Compiled(Normed):
    """Is called as a function of TensorFlow."""

    @tf.function
    def __call__(self, x, training=False):
        return super().__call__(x, training=training)


class Lazy(tf.Module):
    """Makes variables in the first call, some of them inside of a function."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = None
        self.scale = None

    def __call__(self, x):
        if self.layers is None:
            self.layers = [Dense(12, 16), Dense(16, 3)]
        return self.scaled(self.layers[1](tf.nn.relu(self.layers[0](x))))

    @tf.function
    def scaled(self, x):
        if self.scale is None:
            self.scale = tf.Variable([1.0, 2.0, 3.0])
        return x * self.scale


MODELS = {one.__name__: one for one in (Plain, Counting, Normed, Compiled, Lazy)}


def batch():
    return numpy.random.default_rng(1).random((6, 12), "float32"), numpy.arange(6) % 3


def of_classes():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def squares(target, found):
    """A function as users write them: a number for each row."""
    return tf.reduce_mean(tf.square(tf.one_hot(target, 3) - found), -1)


def unknown(target, found):
    """A loss that no graph can have."""
    return tf.py_function(lambda a: a, [tf.reduce_mean(found)], tf.float32) + squares(target, found)


def scheduled():
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    return keras.optimizers.SGD(rate, momentum=0.9)


def excluding():
    optimizer = keras.optimizers.AdamW(0.01, weight_decay=0.1)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    return optimizer


# Optimizers, and whether the plan has their step.
OPTIMIZERS = {
    "schedule": (scheduled, True),
    "Adam": (lambda: keras.optimizers.Adam(0.01), True),
    "AdamW": (excluding, True),
    "clipped": (lambda: keras.optimizers.Adam(0.01, clipnorm=0.1), False),
}


def by_tensorflow(model, loss, optimizer, x, y, steps: int = STEPS) -> list[float]:
    losses = []
    mode = {"training": True} if isinstance(model, Normed) else {}
    for _ in range(steps):
        with tf.GradientTape() as tape:
            value = tf.reduce_mean(loss(y, model(x, **mode)))
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(value, variables), variables)
        losses.append(float(value))
    return losses


def assert_same(model, other, optimizer, another) -> None:
    for one, two in zip(model.variables, other.variables, strict=True):
        numpy.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-3, atol=1e-4)
    for one, two in zip(optimizer.variables, another.variables, strict=True):
        numpy.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("ignore:Gradients do not exist")
@pytest.mark.parametrize("kind", OPTIMIZERS)
@pytest.mark.parametrize("name", MODELS)
def test_steps_are_those_of_tensorflow(name, kind) -> None:
    make, is_fused = OPTIMIZERS[kind]
    model, other, (x, y) = MODELS[name](), MODELS[name](), batch()
    optimizers = make(), make()
    expected = by_tensorflow(model, of_classes(), optimizers[0], x, y)
    step = sol.training_step(other, of_classes(), optimizers[1])
    found = [float(step(x, y)) for _ in range(STEPS)]
    numpy.testing.assert_allclose(found, expected, rtol=1e-3)
    assert_same(other, model, optimizers[1], optimizers[0])
    assert step.fused == (ALL if is_fused else ALL[:3])


LOSSES = {
    "name": ("sparse_categorical_crossentropy", ALL),
    "function": (squares, ALL),
    "unknown": (unknown, ()),
}


@pytest.mark.parametrize("kind", LOSSES)
def test_losses(kind) -> None:
    loss, fused = LOSSES[kind]
    models, (x, y) = [Normed(), Normed()], batch()
    optimizers = [keras.optimizers.SGD(0.05) for _ in range(2)]
    expected = by_tensorflow(models[0], keras.losses.get(loss), optimizers[0], x, y)
    step = sol.training_step(models[1], loss, optimizers[1])
    numpy.testing.assert_allclose([float(step(x, y)) for _ in range(STEPS)], expected, rtol=1e-3)
    assert step.fused == fused
    assert_same(models[1], models[0], *optimizers[::-1])


@pytest.mark.parametrize("name", ["Plain", "Normed"])
def test_an_optimized_module(name) -> None:
    """A step has the weights of now, and batches of other sizes; what is optimized has its
    weights."""
    models, (x, y) = [MODELS[name](), MODELS[name]()], batch()
    fast = sol.optimize(models[1], x)
    optimizers = [keras.optimizers.SGD(0.05, momentum=0.9) for _ in range(2)]
    optimizers[1].build(fast.trainable_variables)
    step = sol.training_step(fast, of_classes(), optimizers[1])
    for rows in (6, 4):
        for one in models:
            one.layers[0].w.assign(one.layers[0].w * 2)
        expected = by_tensorflow(models[0], of_classes(), optimizers[0], x[:rows], y[:rows])
        found = [float(step(x[:rows], y[:rows])) for _ in range(STEPS)]
        numpy.testing.assert_allclose(found, expected, rtol=1e-3)
        assert step.fused == ALL
    numpy.testing.assert_allclose(fast(x).numpy(), models[0](x).numpy(), rtol=1e-3, atol=1e-3)


def test_integers_that_are_said_to_be_trained() -> None:
    model, (x, _) = Counted(), batch()
    fast = sol.optimize(model, x)
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(fast(x, training=True))
    assert tape.gradient(value, model.calls) is None and int(model.calls) == 1


class Beside(Plain):
    """Reads a variable that it does not have."""

    outer: list = []  # of each class; modules look at their own attributes

    def __call__(self, x):
        return super().__call__(x) * self.outer[0]


class Scaled(Plain):
    """Assigns to a variable that is trained, from where its gradient begins anew."""

    def __call__(self, x):
        self.layers[0].w.assign(self.layers[0].w * 0.9)
        return super().__call__(x)


class Bounded(Plain):
    """Has a constraint, which Keras applies."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = tf.Variable(1.0, constraint=lambda one: tf.clip_by_value(one, 0.99, 1.01))

    def __call__(self, x):
        return super().__call__(x) * self.factor


@pytest.mark.parametrize(
    ("kind", "fused"), [(Beside, ()), (Scaled, ()), (Bounded, ALL[:3])], ids=lambda one: str(one)
)
def test_unusual_modules(kind, fused) -> None:
    Beside.outer[:] = [tf.Variable(2.0, trainable=False)]
    models, (x, y) = [kind(), kind()], batch()
    optimizers = [keras.optimizers.SGD(0.05) for _ in range(2)]
    expected = by_tensorflow(models[0], squares, optimizers[0], x, y)
    step = sol.training_step(models[1], squares, optimizers[1])
    numpy.testing.assert_allclose([float(step(x, y)) for _ in range(STEPS)], expected, rtol=1e-3)
    assert step.fused == fused
    assert_same(models[1], models[0], *optimizers[::-1])


def test_memory() -> None:
    model, (x, y) = Plain(), batch()
    sgd = keras.optimizers.SGD(0.05, momentum=0.9)
    found = sol.training_step(model, squares, sgd).memory(x, y)
    weights = sum(one.numpy().nbytes for one in model.trainable_variables)
    assert found.is_training and found.inputs == x.nbytes + y.nbytes
    assert weights <= found.optimizer <= weights + 64
    text = "memory: TensorFlow does the step: "
    with pytest.raises(NotImplementedError, match=f"sol.training_step: {text}"):
        sol.training_step(model, unknown, sgd).memory(x, y)


def constant(target, found):
    """A loss of nothing that is trained."""
    return tf.reduce_mean(tf.cast(target, tf.float32))


def called(model, loss, optimizer, **kwargs):
    return sol.training_step(model, loss, optimizer)(*batch(), **kwargs)


class OfKeras(tf.Module):
    """Has variables that no module finds."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = keras.layers.Dense(3)

    def __call__(self, x):
        return self.layer(x)


SGD = keras.optimizers.SGD
ERRORS = {
    "a function": (
        lambda: called(tf.function(lambda x: x), squares, SGD()),
        TypeError,
        "model: expected a torch.nn.Module, a keras.Model or a tf.Module, got Function",
    ),
    "no optimizer": (
        lambda: called(Plain(), squares, tf.Variable(1.0)),
        TypeError,
        "optimizer: expected a keras.optimizers.Optimizer, got ResourceVariable",
    ),
    "layers of Keras": (
        lambda: called(OfKeras(), squares, SGD()),
        ValueError,
        "model: expected a tf.Module with variables that are trained, got OfKeras, which has none",
    ),
    "no loss": (lambda: called(Plain(), 3, SGD()), ValueError, "loss: .*3"),
    "training": (
        lambda: called(Plain(), squares, SGD(), training=True),
        TypeError,
        "training: a step is always one in training",
    ),
    "a limit": (
        lambda: sol.training_step(Plain(), unknown, SGD(), memory_limit="1GB")(*batch()),
        NotImplementedError,
        "memory_limit: TensorFlow does the step, whose memory is not known: ",
    ),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_errors(kind) -> None:
    call, error, text = ERRORS[kind]
    with pytest.raises(error, match=f"^sol.training_step: {text}"):
        call()


def test_a_loss_without_gradients_is_what_keras_says_it_is() -> None:
    for model in (Plain(), keras.Sequential([keras.Input((12,)), keras.layers.Dense(3)])):
        with pytest.raises(ValueError, match="No gradients provided for any variable"):
            called(model, constant, SGD())
