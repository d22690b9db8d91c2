"""Graphs of ONNX and MXNet that train in frameworks: statistics, dropout, what is rejected."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch

import mx
from mx import sol
from tests.importers.tensorflow.running import keras

from .trainings import ONES, ROWS, TARGETS, file_with, keras_rows, trained_by_keras

_random = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def seeds():
    torch.manual_seed(1)
    keras.utils.set_random_seed(1)
    yield
    sol.set_seed(None)


TEXT = """
    <ir_version: 8, opset_import: ["" : 17]> rows (float[N, 6] x) => (float[N, 4] y) {
        hidden = MatMul(x, first_weight)
        shifted = Add(hidden, first_bias)
        normal = BatchNormalization <epsilon = 0.001, momentum = 0.8>
            (shifted, norm_gamma, norm_beta, norm_moving_mean, norm_moving_var)
        active = Relu(normal)
        product = MatMul(active, last_weight)
        y = Add(product, last_bias)
    }"""
ORDER = [f"first_{one}" for one in ("weight", "bias")]
ORDER += [f"norm_{one}" for one in ("gamma", "beta", "moving_mean", "moving_var")]
ORDER += [f"last_{one}" for one in ("weight", "bias")]


def as_file(weights):
    """The bytes of a file with these weights."""
    made = onnx.parser.parse_model(TEXT)
    made.graph.initializer.extend(
        onnx.numpy_helper.from_array(one, name) for name, one in weights.items()
    )
    return made.SerializeToString()


def as_symbol(weights):
    hidden = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=5, name="first")
    hidden = mx.sym.BatchNorm(hidden, eps=1e-3, momentum=0.8, fix_gamma=False, name="norm")
    hidden = mx.sym.Activation(hidden, act_type="relu")
    params = {n: one.T.copy() if n.endswith("_weight") else one for n, one in weights.items()}
    return mx.sym.FullyConnected(hidden, num_hidden=4, name="last"), params


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("make", [as_file, as_symbol])
def test_graphs_train(make, target) -> None:
    labels = _random.standard_normal((8, 4)).astype("float32")
    model = keras.Sequential([keras.Input((6,)), *keras_rows()])
    own = [one for one in model.weights if "seed" not in one.path]
    given = {name: one.numpy() for name, one in zip(ORDER, own, strict=True)}
    framework = target.partition(",")[0]
    fast = sol.optimize(make(given), ROWS[:3], framework=framework, vdims=True)
    if framework == "torch":
        fast.train()
    found = TARGETS[target](fast, ROWS, labels)
    np.testing.assert_allclose(found, trained_by_keras(model, ROWS, labels, True), rtol=2e-4)
    if framework == "torch":
        weights = {name: one.detach().numpy() for name, one in fast.state_dict().items()}
        trained = {name for name, _ in fast.named_parameters()}
    else:
        every = fast.weights if framework == "keras" else fast.variables
        weights = {one.name.partition(":")[0]: one.numpy() for one in every}
        trained = {one.name.partition(":")[0] for one in fast.trainable_variables}
    assert trained == {name for name in ORDER if "moving" not in name}
    for name, one in zip(ORDER, own, strict=True):
        wanted = one.numpy()
        if make is as_symbol and name.endswith("_weight"):
            wanted = wanted.T
        np.testing.assert_allclose(weights[name], wanted, rtol=2e-4, atol=2e-5, err_msg=name)


IN = "f (float[40, 50] x) => (float[40, 50] y)"
X = mx.sym.var("x")
# Graphs that drop a share of ones, and that share.
DROPPING_GRAPHS = {
    "a node": (
        file_with(f"{IN} {{ y = Dropout(x, ratio) }}", ratio=np.array(0.25, "float32")), 0.25
    ),
    "a constant": (
        file_with(f"{IN} {{ a = Constant <value = float {{0.25}}> () y, z = Dropout(x, a) }}"), 0.25
    ),
    "a mask": (
        file_with(
            "f (float[40, 50] x) => (float[40, 50] y, bool[40, 50] z)"
            " { y, z = Dropout(x, ratio) }", ratio=np.array(0.25, "float32"),
        ), 0.25,
    ),
    "two": (mx.sym.Dropout(mx.sym.Dropout(X, p=0.25), p=0.5), 0.625),
    "along an axis": (mx.sym.Dropout(X, p=0.25, axes=(0,)), 0.25),
    "a ratio of 0": (
        file_with(f"{IN} {{ y = Dropout(x, ratio) }}", ratio=np.array(0, "float32")), 0
    ),
    "nothing": (mx.sym.Dropout(X, p=0), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", DROPPING_GRAPHS)
def test_graphs_drop(name) -> None:
    model, share = DROPPING_GRAPHS[name]
    fast = sol.optimize(model, ONES, framework="torch")
    x = torch.tensor(ONES, requires_grad=True)

    def call():
        result = fast(x)
        return result if isinstance(result, torch.Tensor) else result[0]

    np.testing.assert_array_equal(call().detach(), ONES)
    fast.train()
    torch.manual_seed(7)
    first, second = call(), call()
    first.sum().backward()
    made = first.detach().numpy()
    np.testing.assert_array_equal(x.grad, made)
    assert (first != second).any() == (share > 0)
    assert abs((made == 0).mean() - share) < 0.15
    np.testing.assert_allclose(made[made != 0].min(), made.max())
    if name == "along an axis":
        assert (made == made[0]).all()
    if name == "a mask":
        result, mask = fast(x)
        np.testing.assert_array_equal(mask, result.detach() != 0)
    torch.manual_seed(7)
    np.testing.assert_array_equal(call().detach(), made)


def test_recurrent_layers_of_symbols_drop_between() -> None:
    params = np.concatenate([np.eye(4).ravel()] * 4 + [np.zeros(16)]).astype("float32")
    rnn = mx.sym.RNN(
        X, state_size=4, num_layers=2, mode="rnn_relu", p=1.0, name="rnn"
    )  # fmt: skip
    values = {"rnn_parameters": params, "rnn_state": np.zeros((2, 3, 4), "float32")}
    rows = np.ones((5, 3, 4), "float32")
    fast = sol.optimize((rnn, values), rows, framework="torch")
    assert (fast(torch.tensor(rows)) > 0).all()
    # All that the first layer gives is dropped.
    assert (fast.train()(torch.tensor(rows)) == 0).all()


NORM = "BatchNormalization(x, one, zero, mean, variance)"
OF_CHANNELS = {
    "one": np.ones(50, "float32"), "zero": np.zeros(50, "float32"),
    "mean": np.zeros(50, "float32"), "variance": np.ones(50, "float32"),
}  # fmt: skip
WRONG_GRAPHS = {
    "inside of a branch": (
        file_with(
            "f (float[40, 50] x) => (float[40, 50] y) {"
            " total = ReduceSum <keepdims = 0> (x) is = Greater(total, zero0)"
            f" y = If (is) <then_branch = g () => (float[40, 50] a) {{ a = {NORM} }},"
            " else_branch = h () => (float[40, 50] b) { b = Identity(x) }> }",
            zero0=np.array(0, "float32"), **OF_CHANNELS,
        ),
        "BatchNormalization.*in training expected none inside of a branch",
    ),
    "a ratio that is computed": (
        file_with(
            f"{IN} {{ a = ReduceMean <keepdims = 0> (x) y = Dropout(x, a) }}"
        ),
        "Dropout.*ratio: expected a constant in training, got 'a', which is computed",
    ),
    "statistics that are given": (
        mx.sym.Group(list(mx.sym.BatchNorm(X, output_mean_var=True, name="norm"))),
        "norm.*in training: expected output_mean_var=False",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_GRAPHS)
def test_graphs_that_do_not_train(name) -> None:
    model, text = WRONG_GRAPHS[name]
    if not isinstance(model, bytes):
        model = (model, {f"norm_{one}": np.ones(50, "float32") for one in NORMS})
    fast = sol.optimize(model, ONES, framework="torch")
    fast(torch.tensor(ONES))
    with pytest.raises(mx.graph.GraphError, match=text):
        fast.train()(torch.tensor(ONES))


NORMS = ("gamma", "beta", "moving_mean", "moving_var")


def test_statistics_that_stay() -> None:
    """BatchNorm of symbols with use_global_stats is the same in training."""
    norm = mx.sym.BatchNorm(X, use_global_stats=True, name="norm")
    params = {f"norm_{one}": np.full(50, 2.0, "float32") for one in NORMS}
    fast = sol.optimize((norm, params), ONES, framework="torch")
    made = fast(torch.tensor(ONES))
    torch.testing.assert_close(fast.train()(torch.tensor(ONES)), made)
    assert (fast.norm_moving_mean == 2).all()
