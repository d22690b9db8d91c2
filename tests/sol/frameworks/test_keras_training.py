"""Training of models of Keras and TensorFlow: batch statistics, dropout."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np
import pytest

import mx
from mx import sol
from tests.importers.tensorflow.running import keras, tf

layers = keras.layers
_random = np.random.default_rng(3)
IMAGES = _random.standard_normal((12, 6, 6, 3)).astype("float32")
ROWS = _random.standard_normal((12, 10)).astype("float32")
SEQUENCES = _random.standard_normal((12, 5, 4)).astype("float32")
LABELS = _random.integers(0, 4, 12)


@pytest.fixture(autouse=True)
def seeds():
    keras.utils.set_random_seed(1)
    yield
    sol.set_seed(None)


def images(p: float, **norm) -> list:
    return [
        layers.Conv2D(8, 3, padding="same", use_bias=False),
        layers.BatchNormalization(momentum=0.8, **norm),
        layers.ReLU(),
        layers.SpatialDropout2D(p),
        layers.GlobalAveragePooling2D(),
        layers.Dense(4),
    ]


def rows(p: float, **norm) -> list:
    return [
        layers.Dense(16),
        layers.BatchNormalization(**norm),
        layers.Dropout(p),
        layers.Dense(4),
    ]


def frozen(p: float) -> list:
    made = rows(p)
    made[1].trainable = False
    return made


def sequences(p: float) -> list:
    return [
        layers.LSTM(6, return_sequences=True, dropout=p),
        layers.BatchNormalization(axis=1),
        layers.GRU(5),
        layers.Dropout(p),
        layers.Dense(4),
    ]


class Spread(layers.Layer):
    """Adds a loss in training, and another one at any time."""

    def call(self, x, training=False):
        if training:
            self.add_loss(0.1 * keras.ops.mean(keras.ops.square(x)))
        self.add_loss([0.01 * keras.ops.sum(keras.ops.abs(x)), keras.ops.mean(x) ** 2])
        return x * 2


def regularized(p: float) -> list:
    made = [
        layers.Dense(16, activity_regularizer="l2", kernel_regularizer="l1", activation="tanh"),
        layers.ActivityRegularization(l1=0.01),
        Spread(),
        layers.Dropout(p),
    ]
    return [keras.Sequential(made), layers.Dense(4, bias_regularizer="l2")]


MODELS = {
    "regularized": (lambda: regularized(0), ROWS),
    "regularized, eager": (lambda: regularized(0), ROWS),
    "images": (lambda: images(0, scale=False, center=False), IMAGES),
    "rows": (lambda: rows(0), ROWS),
    "frozen": (lambda: frozen(0), ROWS),
    "renormalized": (lambda: rows(0, renorm=True), ROWS),
    "sequences": (lambda: sequences(0), SEQUENCES),
}


def model_of(made: list, x: np.ndarray):
    keras.utils.set_random_seed(1)
    return keras.Sequential([keras.Input(x.shape[1:]), *made], name="network")


def losses_of(model, x: np.ndarray, eager: bool = False, epochs: int = 3) -> list[float]:
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss, run_eagerly=eager, jit_compile=False)
    # The last batch of an epoch is a smaller one.
    told = model.fit(x, LABELS, epochs=epochs, batch_size=5, verbose=0, shuffle=False)
    return told.history["loss"]


@pytest.mark.parametrize("name", MODELS)
def test_curves(name) -> None:
    make, x = MODELS[name]
    curves, variables = [], []
    for optimized in (False, True):
        model = model_of(make(), x)
        before = [one.numpy() for one in model.weights]
        fast = sol.optimize(model, x[:5], vdims=[True]) if optimized else model
        curves.append(losses_of(fast, x, eager=name in ("rows", "regularized, eager")))
        curves[-1].append(fast.evaluate(x, LABELS, batch_size=5, verbose=0))
        variables.append([one.numpy() for one in model.weights])
        curves[-1].append(float(np.abs(fast.predict(x, verbose=0)).sum()))
    np.testing.assert_allclose(curves[1], curves[0], rtol=2e-4)
    assert curves[0][2] < curves[0][0]
    for path, first, got, wanted in zip(
        [one.path for one in model.weights], before, *variables, strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-5, err_msg=path)
        if "seed" not in path and not (name == "frozen" and "norm" in path):
            assert (first != wanted).any(), path


def test_curves_of_mixed_precision() -> None:
    """Variables of Keras are read as other types in its calls then."""
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("mixed_float16")
    try:
        models = [model_of(rows(0), ROWS) for _ in range(2)]
        fast = sol.optimize(models[1], ROWS[:5], vdims=[True])
        curves = [losses_of(one, ROWS) for one in (models[0], fast)]
    finally:
        keras.config.set_dtype_policy(policy)
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-2)
    assert curves[1][2] < curves[1][0]


RECURRENT = {
    "not masked": lambda: layers.LSTM(5),
    "masked": lambda: layers.LSTM(5, go_backwards=True),
    "masked cells": lambda: layers.RNN([layers.LSTMCell(5), layers.GRUCell(4, activation="relu")]),
}


@pytest.mark.parametrize("name", RECURRENT)
def test_steps_of_any_lengths(name) -> None:
    """Batch and time vary in batches of their own, for which a function is traced anew."""

    def tokens(*shape: int) -> np.ndarray:
        found = np.random.default_rng(shape).integers(0, 4, shape, dtype="int32")
        found[:, 0] = 1
        return found

    kept = []
    for optimized in (False, True):
        keras.utils.set_random_seed(1)
        given = [
            keras.Input((None,), dtype="int32"),
            layers.Embedding(4, 3, mask_zero=name[:3] != "not"),
        ]
        model = keras.Sequential(
            [*given, layers.GRU(4, return_sequences=True), RECURRENT[name](), layers.Dense(2)]
        )
        fast = sol.optimize(model, tokens(2, 6), vdims=True) if optimized else model
        fast.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=False)
        told = []
        for shape in ((2, 6), (3, 6), (2, 9)):
            x = tokens(*shape)
            told += [fast.train_on_batch(x, np.ones((len(x), 2))), float(np.sum(fast(x)))]
        kept.append(told)
    np.testing.assert_allclose(kept[1], kept[0], rtol=1e-5)


@pytest.mark.parametrize(
    "kind, eager",
    [
        ("Dropout", False),
        ("SpatialDropout1D", True),
        ("GaussianNoise", True),
        ("AlphaDropout", False),
    ],
)
def test_random_layers(kind, eager) -> None:
    x = np.ones((64, 20, 30), "float32")
    layer = getattr(layers, kind)(0.25)
    fast = sol.optimize(model_of([layer], x), x)
    call = (lambda x: fast(x, training=True)) if eager else tf.function(fast.call)
    given = {} if eager else {"training": True}
    sol.set_seed(5)
    first, second = call(x, **given).numpy(), call(x, **given).numpy()
    assert (first != second).any()
    sol.set_seed(5)
    np.testing.assert_array_equal(call(x, **given), first)
    np.testing.assert_array_equal(fast(x), x)
    wanted = layer(x, training=True).numpy()
    for of in (np.mean, np.std):
        assert abs(of(first) - of(wanted)) < 0.03, (kind, of(first), of(wanted))
    if kind == "SpatialDropout1D":
        assert (first == first[:, :1]).all()


@pytest.mark.parametrize("eager", [False, True])
def test_dropout_in_gradients(eager) -> None:
    x = tf.ones((40, 50))
    fast = sol.optimize(model_of([layers.Dropout(0.5)], x), x)

    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = fast(x, training=True)
        return y, tape.gradient(y, x), tape.gradient(y, x)

    for _ in range(3):
        y, first, again = (step if eager else tf.function(step))(x)
        np.testing.assert_array_equal(first, y)  # what the forward pass has dropped
        np.testing.assert_array_equal(again, y)
    tf.random.set_seed(4)
    first = fast(x, training=True)
    tf.random.set_seed(4)
    np.testing.assert_array_equal(fast(x, training=True), first)


@pytest.mark.parametrize("eager", [False, True])
def test_only_random_layers_draw_numbers(eager) -> None:
    fast = sol.optimize(model_of([layers.Dense(4)], ROWS), ROWS)
    call = partial(fast, training=True)
    found = []
    for one in (None, call if eager else tf.function(call)):
        tf.random.set_seed(4)
        if one is not None:
            one(ROWS)
        found.append(float(tf.random.normal(())))
    assert found[0] == found[1]


def test_gradients_of_calls_with_one_seed() -> None:
    fast = sol.optimize(model_of([layers.Dense(4, "tanh"), layers.Dropout(0.3)], ROWS), ROWS)

    def gradients(*factors):
        """Of calls that are all made before the first gradient."""
        x = tf.constant(ROWS)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            made = []
            for factor in factors:
                tf.numpy_function(lambda: sol.set_seed(3), [], [])
                made.append(fast(factor * x, training=True))
        return [tape.gradient(one, x) for one in made]

    try:
        wanted = [*gradients(1.0), *gradients(3.0)]
        for one, other in zip(tf.function(gradients)(1.0, 3.0), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    finally:
        sol.set_seed(None)


class Counting(tf.Module):
    """Normalizes by statistics of the batch, which it collects, and counts calls."""

    def __init__(self) -> None:
        super().__init__(name="counting")
        self.mean, self.variance = tf.Variable(tf.zeros(3), False), tf.Variable(tf.ones(3), False)
        self.scale, self.calls = tf.Variable(tf.ones(3)), tf.Variable(0, trainable=False)

    def __call__(self, x, training=False):
        if not training:
            return tf.nn.batch_normalization(x, self.mean, self.variance, None, self.scale, 1e-3)
        self.calls.assign_add(1)
        y, mean, variance = tf.compat.v1.nn.fused_batch_norm(x, self.scale, tf.zeros(3))
        self.mean.assign(0.75 * self.mean + 0.25 * mean)
        self.variance.assign(0.75 * self.variance + 0.25 * variance)
        return y + 0 * self.mean[0]


@pytest.mark.parametrize("example", [{}, {"training": True}])
def test_modules_of_tensorflow(example) -> None:
    x, found = tf.constant(IMAGES), []
    for optimized in (False, True):
        module = Counting()
        fast = sol.optimize(module, x, kwargs=example) if optimized else module
        for _ in range(3):
            with tf.GradientTape() as tape:
                called = fast(x) if example and optimized else fast(x, training=True)
                loss = tf.reduce_sum(called**3)
            found.append([loss, tape.gradient(loss, module.scale), module.calls])
        found.append([module.mean, module.variance, fast(x, training=False)])
    for got, wanted in zip(found[4:], found[:4], strict=True):
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-3)


class Switching(tf.Module):
    """Has a branch for each number."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = tf.Variable(2.0)

    def __call__(self, number, x):
        return tf.switch_case(
            number, [lambda: x * self.scale, lambda: tf.exp(x) + self.scale, lambda: x**2]
        )


def test_gradients_of_branches_by_number() -> None:
    module, x = Switching(), tf.constant(ROWS)
    fast = sol.optimize(module, tf.constant(0), x)
    for number in (0, 1, 2, 5, -1):
        found = []
        for model in (fast, module):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = model(tf.constant(number), x)
            found.append([y, *tape.gradient(y, [x, module.scale], unconnected_gradients="zero")])
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


class Choosing(keras.Model):
    def call(self, x, training=False, double=False, factor=1.0):
        y = x * 2 if double else x * 1
        return {"scores": y} if training and factor > 1 else y


class Noisy(keras.Model):
    def call(self, x, training=False):
        return x + keras.random.normal((10,), seed=3) if training else x * 1


ERRORS = {
    "a keyword that the example lacks": (
        lambda: sol.optimize(Choosing(), ROWS)(ROWS, double=True), TypeError,
        "no argument 'double' in the example",
    ),
    "an unknown keyword": (
        lambda: sol.optimize(Choosing(), ROWS)(ROWS, triple=True), TypeError, "'triple'",
    ),
    "training where there is none": (
        lambda: sol.optimize(tf.function(lambda x: x + 1), ROWS)(ROWS, training=True), TypeError,
        "'training'",
    ),
    "training elsewhere": (
        lambda: sol.optimize(Choosing(), ROWS, framework="numpy")(ROWS, training=True),
        NotImplementedError, "training=True",
    ),
    "training elsewhere, by the example": (
        lambda: sol.optimize(Choosing(), ROWS, kwargs={"training": True}, framework="numpy"),
        NotImplementedError, "kwargs: .* is called in training, .* for numpy",
    ),
    "another structure": (
        lambda: sol.optimize(Choosing(), ROWS, kwargs={"factor": 2.0})(
            ROWS, factor=2.0, training=True
        ),
        mx.graph.GraphError, "in training, and .* in inference",
    ),
    "losses of layers elsewhere": (
        lambda: sol.optimize(
            model_of([layers.Dense(4, activity_regularizer="l2")], ROWS), ROWS,
            framework="tensorflow",
        )(ROWS, training=True),
        mx.graph.GraphError, "dense.*activity_regularizer",
    ),
    "a seed that never changes": (
        lambda: sol.optimize(Noisy(), ROWS)(ROWS, training=True), mx.graph.GraphError,
        "a seed that the model has",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name) -> None:
    call, kind, text = ERRORS[name]
    with pytest.raises(kind, match=text):
        call()


class Answering(tf.Module):
    """Returns something else in training than in inference."""

    def __init__(self, in_training) -> None:
        super().__init__(name="answering")
        self.in_training = in_training

    def __call__(self, x, training=False):
        return 2 * x, self.in_training(x) if training else None


@pytest.mark.parametrize(
    "in_training",
    [
        lambda x: x + 1,
        lambda x: "a text",
        lambda x: tf.numpy_function(np.sin, [x], tf.float32),  # which cannot be imported
    ],
)
def test_inference_after_training_is_rejected(in_training) -> None:
    fast = sol.optimize(Answering(in_training), ROWS)
    with pytest.raises(mx.graph.GraphError):
        fast(ROWS, training=True)
    doubled, nothing = fast(ROWS)
    np.testing.assert_array_equal(doubled, 2 * ROWS)
    assert nothing is None


@pytest.mark.parametrize("conventions", [{}, {"dtype": "float64"}], ids=str)
def test_losses_of_single_calls(conventions) -> None:
    model = model_of(regularized(0), ROWS)
    fast = sol.optimize(model, ROWS, **conventions)
    for training in (True, False, True):
        model(ROWS, training=training)
        wanted = [float(one) for one in model.losses]
        found = []
        with tf.GradientTape() as tape:
            fast(ROWS, training=training)
            found = fast.losses
            total = tf.add_n(found)
        np.testing.assert_allclose(sorted(map(float, found)), sorted(wanted), rtol=1e-5)
        assert len(wanted) == (7 if training else 6)
        grads = tape.gradient(total, model.trainable_variables)
        with tf.GradientTape() as tape:
            model(ROWS, training=training)
            total = tf.add_n(model.losses)
        for one, other in zip(grads, tape.gradient(total, model.trainable_variables), strict=True):
            if one is not None:
                np.testing.assert_allclose(one, 0 if other is None else other, rtol=1e-4, atol=1e-5)


def test_layers_are_asked_for_losses_to_clear_only_where_there_are_some(monkeypatch) -> None:
    model = model_of([layers.Dense(8), layers.Dense(4)], ROWS)
    fast = sol.optimize(model, ROWS)
    asked = []
    clear = layers.Layer._clear_losses
    monkeypatch.setattr(layers.Layer, "_clear_losses", lambda one: asked.append(one) or clear(one))
    fast(ROWS)
    assert asked == []
    model.layers[0].add_loss(tf.constant(1.0))
    assert len(fast.losses) == 1
    fast(ROWS)
    assert model.layers[0] in asked
    assert fast.losses == []


class Around(keras.layers.Layer):
    """A layer that calls a model, which is told of training by Keras alone."""

    def __init__(self, model) -> None:
        super().__init__()
        self.model = model

    def call(self, x, training=None):
        return self.model(x)


def masked(x):
    given = tf.identity(x)
    given._keras_mask = tf.ones(given.shape[:1], "bool")
    return given


@pytest.mark.filterwarnings("error:Layer .* was passed an input with a mask")
def test_eager_calls_of_which_keras_decides() -> None:
    model = model_of([layers.Dropout(0.5, seed=1), layers.Dense(4)], ROWS)
    fast = sol.optimize(model, ROWS)
    given = tf.constant(ROWS)
    expected = model(given).numpy()
    np.testing.assert_allclose(fast(given), expected, rtol=1e-5, atol=1e-6)
    around = Around(fast)
    np.testing.assert_allclose(around(given), expected, rtol=1e-5, atol=1e-6)
    assert not np.allclose(around(given, training=True), expected)
    with pytest.raises(UserWarning, match="does not support masking"):
        fast(masked(given))
    fast.activity_regularizer = tf.reduce_sum
    outputs = fast(given)
    np.testing.assert_allclose(sum(fast.losses), expected.sum() / len(ROWS), rtol=1e-4)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)
    fast.activity_regularizer, fast.call = None, lambda x: x
    assert fast(given) is given


@pytest.mark.parametrize("framework", ["keras", "tensorflow"])
@pytest.mark.parametrize("training", [False, True])
def test_calls_with_constants_inside_of_functions(framework, training) -> None:
    model = model_of([layers.BatchNormalization(), layers.Dense(4, activation="tanh")], ROWS)
    fast, given = sol.optimize(model, ROWS, framework=framework), tf.constant(ROWS)

    def step(call):
        with tf.GradientTape() as tape:
            y = call(given, training=training) if training else call(given)
        return y, *tape.gradient(y, model.trainable_variables)

    inside = tf.function(partial(step, fast))
    for _ in range(2):
        for found, wanted in zip(inside(), step(model), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
        for one in model.trainable_variables:
            one.assign(one * 1.5)


class InTraining(keras.Model):
    """A model that trains where nobody says anything of it."""

    def __init__(self) -> None:
        super().__init__()
        self.drop = layers.Dropout(0.5)

    def call(self, x, training=True):
        return self.drop(x, training=training)


def dropped(x, training=True):
    return tf.nn.dropout(x, 0.5) if training else x


@pytest.mark.parametrize("make", [InTraining, lambda: tf.function(dropped)], ids=["model", "f"])
def test_calls_train_by_default_as_those_of_the_original(make) -> None:
    ones, model = tf.ones((40, 8)), make()
    fast = sol.optimize(model, ones)
    for one in (model, fast):
        assert set(np.unique(one(ones))) == {0, 2}
        np.testing.assert_array_equal(one(ones, training=False), ones)


def test_defaults_may_be_given() -> None:
    fast = sol.optimize(Choosing(), ROWS)
    # As equal as computed numbers are, and not the same objects.
    given = {"double": False, "factor": float("1.0"), "training": False}
    np.testing.assert_array_equal(fast(ROWS, **given), ROWS)


def test_traces_of_other_threads() -> None:
    """What layers are in a trace they are neither in other threads nor after it."""
    dropout, seeds = keras.src.backend.random.dropout, keras.random.SeedGenerator.next
    ones, events, zeros = np.ones((40, 50), "float32"), [threading.Event() for _ in "abc"], []

    class Waiting(keras.Model):
        def __init__(self, comes, goes) -> None:
            super().__init__()
            self.comes, self.goes, self.drops = comes, goes, layers.Dropout(0.5)

        def call(self, x, training=False):
            if training:
                self.comes.set()
                assert self.goes.wait(60)
            return self.drops(x, training=training)

    # The first trace begins first and ends first, within the second.
    first = sol.optimize(Waiting(events[0], events[1]), ones)
    second = sol.optimize(Waiting(events[1], events[2]), ones)
    threads = [
        threading.Thread(
            target=lambda one=one: zeros.append(
                float((one(ones, training=True) == 0).numpy().mean())
            )
        )
        for one in (first, second)
    ]
    threads[0].start()
    assert events[0].wait(60)
    zeros.append((layers.Dropout(0.5)(ones, training=True).numpy() == 0).mean())
    threads[1].start()
    threads[0].join(60)
    zeros.append((layers.Dropout(0.5)(ones, training=True).numpy() == 0).mean())
    events[2].set()
    threads[1].join(60)
    assert keras.src.backend.random.dropout is dropout
    assert keras.random.SeedGenerator.next is seeds
    np.testing.assert_allclose(zeros, [0.5] * 4, atol=0.1)
