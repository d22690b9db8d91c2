"""Modules that train in another framework than theirs: statistics, dropout, what calls change."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn

import mx
from mx import sol
from tests.importers.tensorflow.running import keras, tf

from .networks import arrays
from .trainings import ONES, ROWS, TARGETS, keras_rows, trained_by_keras, trained_by_torch

layers = keras.layers
_random = np.random.default_rng(5)
IMAGES = _random.standard_normal((8, 3, 5, 4)).astype("float32")


@pytest.fixture(autouse=True)
def seeds():
    torch.manual_seed(1)
    keras.utils.set_random_seed(1)
    yield
    sol.set_seed(None)


class Tied(nn.Module):
    """Has one weight twice."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(6, 6), nn.Linear(6, 6)
        self.two.weight = self.one.weight
        self.norm, self.head = nn.BatchNorm1d(6), nn.Linear(6, 4)

    def forward(self, x):
        return self.head(self.norm(self.two(torch.tanh(self.one(x)))))


def rows(**options) -> nn.Module:
    norm = nn.BatchNorm1d(5, **options)
    return nn.Sequential(nn.Linear(6, 5), norm, nn.ReLU(), nn.Dropout(0), nn.Linear(5, 4))


def frozen() -> nn.Module:
    model = rows().train()
    model[1].eval()
    return model


def fixed() -> nn.Module:
    model = rows()
    model[0].weight.requires_grad_(False)
    return model


def images() -> nn.Module:
    conv, norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4, momentum=None)
    return nn.Sequential(
        conv, norm, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 4)
    )


# Models of torch, what they are trained with, and conventions.
OF_TORCH = {
    "rows": (rows, ROWS, {}),
    "averages of all batches": (lambda: rows(momentum=None), ROWS, {}),
    "no averages": (lambda: rows(track_running_stats=False), ROWS, {}),
    "norm in eval mode": (frozen, ROWS, {}),
    "a parameter without gradient": (fixed, ROWS, {}),
    "tied": (Tied, ROWS, {}),
    "images": (images, IMAGES, {"layout": "NHWC"}),
}  # fmt: skip


def given_of(x: np.ndarray, options) -> np.ndarray:
    return x.transpose(0, 2, 3, 1).copy() if options else x


# All models in Keras, and one everywhere.
CASES = [(name, "keras") for name in OF_TORCH] + [("rows", one) for one in list(TARGETS)[1:-1]]
CASES += [("images", "torch")]


@pytest.mark.parametrize(("name", "target"), CASES)
def test_models_of_torch_train(name, target) -> None:
    make, x, options = OF_TORCH[name]
    model, labels = make(), _random.standard_normal((8, 4)).astype("float32")
    framework = target.partition(",")[0]
    fast = sol.optimize(
        model, torch.tensor(x[:3]), framework=framework, vdims=True, **options
    )  # fmt: skip
    if framework == "torch":
        fast.train()
    found = TARGETS[target](fast, given_of(x, options), labels)
    own = copy.deepcopy(model)
    if name != "norm in eval mode":
        own.train()
    np.testing.assert_allclose(found, trained_by_torch(own, x, labels), rtol=2e-4)
    own.eval()
    if framework == "torch":
        fast.eval()
        made = fast(torch.tensor(given_of(x, options))).detach()
        weights = fast.state_dict()
    else:
        made, weights = fast(given_of(x, options)), {
            (one.path if framework == "keras" else one.name[:-2].replace(".", "/")): one.numpy()
            for one in (fast.weights if framework == "keras" else fast.variables)
        }  # fmt: skip
    np.testing.assert_allclose(made, own(torch.tensor(x)).detach(), rtol=2e-4, atol=2e-5)
    # Statistics and counters, too, are what they are in torch; what is one weight is one there.
    wanted = {name: one for name, one in own.state_dict().items() if name != "one.weight"}
    separator = "." if framework == "torch" else "/"
    assert {one.replace(".", separator) for one in wanted} == set(weights)
    for path, one in wanted.items():
        got = weights[path.replace(".", separator)]
        np.testing.assert_allclose(got, one.detach(), rtol=2e-4, atol=2e-5, err_msg=path)


def keras_frozen() -> list:
    made = keras_rows()
    made[1].trainable = False
    return made


def keras_images() -> list:
    norm = layers.BatchNormalization(scale=False)
    return [layers.Conv2D(4, 3), norm, layers.GlobalAveragePooling2D(), layers.Dense(4)]


def keras_sequences() -> list:
    return [layers.LSTM(5, return_sequences=True), layers.BatchNormalization(), layers.GRU(4)]


OF_KERAS = {
    "rows": (keras_rows, ROWS, {}),
    "renormalized": (lambda: keras_rows(renorm=True), ROWS, {}),
    "frozen": (keras_frozen, ROWS, {}),
    "sequences": (keras_sequences, IMAGES[:, 0], {}),
    "images": (keras_images, IMAGES.transpose(0, 2, 3, 1).copy(), {}),
    "images, turned": (keras_images, IMAGES.transpose(0, 2, 3, 1).copy(), {"layout": "NCHW"}),
}


@pytest.mark.parametrize("name", OF_KERAS)
def test_models_of_keras_train_in_torch(name) -> None:
    make, x, options = OF_KERAS[name]
    labels = _random.standard_normal((8, 4)).astype("float32")
    model = keras.Sequential([keras.Input(x.shape[1:]), *make()])
    fast = sol.optimize(model, x[:3], framework="torch", vdims=[True], **options).train()
    found = trained_by_torch(fast, x.transpose(0, 3, 1, 2).copy() if options else x, labels)
    np.testing.assert_allclose(found, trained_by_keras(model, x, labels, True), rtol=2e-4)
    weights = fast.state_dict()
    for one in model.weights:
        if "seed" not in one.path:
            got = weights[one.path]
            np.testing.assert_allclose(got, one.numpy(), rtol=2e-4, atol=2e-5, err_msg=one.path)
    fast.eval()
    made = fast(torch.tensor(x.transpose(0, 3, 1, 2).copy() if options else x))
    np.testing.assert_allclose(arrays(made), model(x), rtol=2e-4, atol=2e-5)


class Counting(tf.Module):
    """Normalizes by statistics that it collects, in training, and counts these calls."""

    def __init__(self) -> None:
        super().__init__(name="counting")
        self.mean, self.calls = tf.Variable(tf.zeros(6), False), tf.Variable(0, trainable=False)

    def __call__(self, x, training=False):
        if training:
            self.calls.assign_add(1)
            self.mean.assign(0.5 * self.mean + 0.5 * tf.reduce_mean(x, 0))
        return x - self.mean


class Counter(nn.Module):
    """Changes buffers in any call, one of which it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(6))
        self.register_buffer("calls", torch.tensor(0), persistent=False)

    def forward(self, x):
        self.calls += 1
        self.total += x.sum(0)
        return x * self.total


def calls_of(call, x) -> list[np.ndarray]:
    return [np.array(arrays(call(x[n : n + 2]))) for n in (0, 2, 4)]


@pytest.mark.parametrize("example", [{}, {"training": True}])
def test_modules_of_tensorflow_in_torch(example) -> None:
    module = Counting()
    fast = sol.optimize(module, tf.constant(ROWS[:2]), kwargs=example, framework="torch")
    assert fast.training == bool(example)
    found = calls_of(fast.train(), torch.tensor(ROWS))
    np.testing.assert_allclose(found, calls_of(lambda x: module(x, training=True), ROWS), rtol=1e-5)
    assert int(fast.calls) == 3 == int(module.calls)
    np.testing.assert_allclose(fast.eval()(torch.tensor(ROWS[:2])), module(ROWS[:2]), rtol=1e-5)
    assert int(fast.calls) == 3


def in_function(fast):
    return tf.function(fast)


CHANGING = {
    "tensorflow": ("tensorflow", lambda fast: fast, tf.constant),
    "tensorflow, compiled": ("tensorflow", in_function, tf.constant),
    "keras": ("keras", lambda fast: fast, tf.constant),
    "torch": ("torch", lambda fast: fast, torch.tensor),
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_calls_change(name) -> None:
    framework, how, own = CHANGING[name]
    model = Counter().eval()
    # A convention makes it another module in torch.
    fast = sol.optimize(model, torch.tensor(ROWS[:2]), framework=framework, dtype="float32")
    np.testing.assert_allclose(
        calls_of(how(fast), own(ROWS)), calls_of(model, torch.tensor(ROWS)), rtol=1e-5
    )
    state = fast.state_dict() if framework == "torch" else {one.name: one for one in fast.variables}
    (calls,) = (one for path, one in state.items() if "calls" in path)
    assert int(calls) == 3


def dropping() -> nn.Module:
    return nn.Sequential(nn.Dropout(0.25), nn.Identity())


DROPPING = {
    "keras": (dropping, torch.tensor, tf.random.set_seed),
    "tensorflow": (dropping, torch.tensor, tf.random.set_seed),
    "torch": (lambda: keras.Sequential([layers.Dropout(0.25)]), tf.constant, torch.manual_seed),
}


@pytest.mark.parametrize("framework", DROPPING)
def test_dropout(framework) -> None:
    make, own, seed = DROPPING[framework]
    model = make()
    fast = sol.optimize(model, own(ONES), framework=framework)

    def call():
        """The result in training, and its gradient."""
        if framework == "torch":
            x = torch.tensor(ONES, requires_grad=True)
            y = fast.train()(x)
            y.sum().backward()
            return y.detach().numpy(), x.grad.numpy()
        x = tf.constant(ONES)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fast(x, training=True)
        return y.numpy(), tape.gradient(y, x).numpy()

    for again in (seed, sol.set_seed):
        again(7)
        (first, of_first), (second, _) = call(), call()
        assert set(np.unique(first)) == {0, np.float32(4 / 3)}
        assert 0.2 < (first == 0).mean() < 0.3
        np.testing.assert_array_equal(of_first, first)
        assert (first != second).any()
        again(7)
        np.testing.assert_array_equal(call()[0], first)
    if framework == "torch":
        fast.eval()
    given = torch.tensor(ONES) if framework == "torch" else ONES
    np.testing.assert_array_equal(fast(given), ONES)


class Auxiliary(nn.Module):
    """Returns more in training."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.other = nn.Linear(6, 4), nn.Linear(6, 4)

    def forward(self, x):
        return (self.head(x), self.other(x)) if self.training else self.head(x)


class Named(Auxiliary):
    """Returns another text in training."""

    def forward(self, x):
        return self.head(x), "training" if self.training else "inference"


class Switched(Auxiliary):
    """Has other parameters in training."""

    def forward(self, x):
        return self.other(x) if self.training else self.head(x)


def norm_in_training() -> nn.Module:
    model = rows().eval()
    model[1].train()
    return model


def lossy():
    return keras.Sequential([keras.Input((6,)), layers.Dense(4, activity_regularizer="l2")])


ROW = torch.tensor(ROWS)
WRONG = {
    **{
        f"changes in {one}": (
            lambda one=one: sol.optimize(norm_in_training(), ROW, framework=one),
            NotImplementedError,
            f"framework='{one}': Sequential changes 1.running_mean, .* models for {one} do not"
            " keep: those for torch, tensorflow, keras do",
        )
        for one in ("numpy", "jax", "mxnet", "onnx")
    },
    "another structure": (
        lambda: sol.optimize(Auxiliary(), ROW, framework="keras")(ROWS, training=True),
        mx.graph.GraphError,
        "Auxiliary: returns another structure in training",
    ),
    "other constants": (
        lambda: sol.optimize(Named(), ROW, framework="keras")(ROWS, training=True),
        mx.graph.GraphError,
        "Named: returns another structure in training than in inference, or other constants",
    ),
    "other parameters": (
        lambda: sol.optimize(Switched(), ROW, framework="tensorflow")(ROWS, training=True),
        mx.graph.GraphError,
        "Switched: in training it has weights that .* other.weight, other.bias: only its own",
    ),
    "losses of layers": (
        lambda: sol.optimize(lossy(), ROWS, framework="torch").train()(ROW),
        mx.graph.GraphError,
        "dense.*activity_regularizer.* come back in Keras",
    ),
    "a mode that a function is traced for": (
        lambda: tf.function(sol.optimize(Auxiliary(), ROW, framework="tensorflow"))(
            ROWS, training=tf.constant(True)
        ),
        TypeError,
        "Auxiliary: training: expected True or False, got a tensor",
    ),
    "a keyword of Keras": (
        lambda: sol.optimize(lossy(), ROWS, framework="torch")(ROW, training=True),
        NotImplementedError,
        "training=True: .* modules of torch have train",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_train(name) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind, match=text):
        call()
