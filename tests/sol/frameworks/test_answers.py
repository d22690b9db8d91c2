"""Models of one framework in another: the same answers, weights by name, conventions."""

from __future__ import annotations

import contextlib
import copy
import functools
import pickle
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import pytest
import torch

import mx
from mx import sol
from tests.importers.tensorflow.running import keras, tf

from .networks import (
    BIAS,
    EXPECTED,
    HEAD,
    IMAGE,
    KERNEL,
    KINDS,
    LAST,
    MODELS,
    PARAMS,
    TARGETS,
    Module,
    Network,
    arrays,
    floats,
    jax_network,
    keras_network,
    onnx_network,
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", MODELS)
def test_the_same_answers(source, target, tmp_path) -> None:
    make, image, own = MODELS[source]
    fast = sol.optimize(make(), own(image), framework=target)
    if target == "onnx":
        fast.save(tmp_path / "network.onnx")
        fast = sol.optimize(tmp_path / "network.onnx")
    with torch.no_grad():
        result = fast(TARGETS[target](image))
    assert isinstance(result, KINDS[target])
    np.testing.assert_allclose(arrays(result), EXPECTED, rtol=1e-5, atol=1e-5)
    assert "network" in repr(fast).lower()
    assert len(sol.summary(fast).layers) >= 3


FILES = {
    "path": lambda path: path,
    "text": str,
    "bytes": lambda path: path.read_bytes(),
    "proto": onnx.load,
    "graph": mx.graph.load,
}


@pytest.mark.parametrize("form", FILES)
def test_forms_of_onnx(form, tmp_path) -> None:
    path = tmp_path / "network.onnx"
    onnx_network().save(path)
    fast = sol.optimize(FILES[form](path))
    np.testing.assert_allclose(fast(IMAGE), EXPECTED, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("source", MODELS)
def test_axes_as_asked_for(source) -> None:
    make, image, own = MODELS[source]
    for layout, given in (("NCHW", IMAGE), ("NHWC", LAST)):
        fast = sol.optimize(
            make(), own(image), framework="numpy", layout=layout, dtype="float64", batch_size=1
        )
        result = fast(given[:1].astype("float64"))
        assert result.dtype == np.float64
        np.testing.assert_allclose(result, EXPECTED[:1], rtol=1e-5, atol=1e-5)
        with pytest.raises(ValueError, match="axis 0: expected 1, got 2"):
            fast(given.astype("float64"))


@pytest.mark.parametrize("source", MODELS)
def test_batches(source) -> None:
    make, image, own = MODELS[source]
    example = own(image)
    dimensions = sol.report(sol.optimize(make(), example, framework="numpy")).dimensions
    free = [True] + [False] * (len(dimensions.lengths) - 1)
    fast = sol.optimize(make(), example, framework="numpy", vdims=free)
    assert dimensions.inputs and list(dimensions.inputs.values())[0][0] == "#0"
    for count in (1, 2):
        np.testing.assert_allclose(fast(image[:count]), EXPECTED[:count], rtol=1e-5, atol=1e-5)


# What is written is read at the next call -----------------------------------------------------


def test_weights_in_torch() -> None:
    fast = sol.optimize(keras_network(), tf.constant(LAST), framework="torch")
    names = ["network/conv/kernel", "network/conv/bias", "network/head/kernel"]
    assert sorted(fast.state_dict()) == sorted(names)
    fast = sol.optimize(onnx_network(), framework="torch")
    assert sorted(fast.state_dict()) == ["conv.bias", "conv.weight", "head.weight"]
    with torch.no_grad():
        fast.head.weight.mul_(2)
        np.testing.assert_allclose(fast(torch.tensor(IMAGE)), 2 * EXPECTED, rtol=1e-5, atol=1e-5)
        fast.load_state_dict(Network().state_dict())
        np.testing.assert_allclose(fast(torch.tensor(IMAGE)), EXPECTED, rtol=1e-5, atol=1e-5)


def test_weights_of_keras() -> None:
    model = keras_network()
    fast = sol.optimize(model, vdims=True)
    assert [one.path for one in fast.weights] == [one.path for one in model.weights]
    model.layers[-1].kernel.assign(2 * HEAD)
    np.testing.assert_allclose(fast(LAST), 2 * EXPECTED, rtol=1e-5, atol=1e-5)
    try:
        sol.config["watch_variables"] = False
        model.layers[-1].kernel.assign(HEAD)
        np.testing.assert_allclose(fast(LAST), 2 * EXPECTED, rtol=1e-5, atol=1e-5)
        sol.refresh(fast)
        np.testing.assert_allclose(fast(LAST), EXPECTED, rtol=1e-5, atol=1e-5)
    finally:
        del sol.config["watch_variables"]


def test_attributes_of_the_original() -> None:
    model = keras_network()
    fast = sol.optimize(model, vdims=True)
    assert fast.layers == model.layers and fast.get_layer("head") is model.get_layer("head")
    assert (fast.input_shape, fast.output_shape) == (model.input_shape, model.output_shape)
    told: list[str] = []
    fast.summary(print_fn=lambda text, line_break=False: told.append(text))
    assert "head" in "".join(told)
    module = Module()
    other = sol.optimize(module, tf.constant(LAST))
    assert other.head is module.head
    assert len(other.variables) == len(module.variables) and other.submodules == ()
    there = sol.optimize(module, tf.constant(LAST), framework="keras")
    for one in (fast, other, there, sol.optimize(tf.function(module), tf.constant(LAST))):
        for name in ("nothing", "get_concrete_function", "_private"):
            with pytest.raises(AttributeError, match=f"no attribute '{name}'"):
                getattr(one, name)


def functional() -> keras.Model:
    keras.utils.set_random_seed(2)
    rows, more = keras.Input((4,), name="rows"), keras.Input((3,), name="more")
    joined = keras.layers.Concatenate()([rows, keras.layers.Dense(2)(more)])
    return keras.Model([rows, more], keras.layers.Dense(2, name="head")(joined))


ROWS = {"rows": floats(6, 4), "more": floats(6, 3)}
# What a functional model of Keras takes, whichever of them is the example.
FORMS = {
    "list": list(ROWS.values()),
    "tuple": tuple(ROWS.values()),
    "dict": ROWS,
    "dict with more": {"other": floats(6, 1), **ROWS},
    "float64": [one.astype("float64") for one in ROWS.values()],
    "int64": [(9 * one).astype("int64") for one in ROWS.values()],
}


# Keras converts its variables in an old way when it writes them.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize("example", ["list", "tuple", "dict"])
def test_inputs_of_keras_in_all_forms(example, tmp_path) -> None:
    model, targets = functional(), floats(6, 2)
    fast = sol.optimize(model, FORMS[example], vdims=True)
    for given in FORMS.values():
        np.testing.assert_allclose(fast(given), model(given), rtol=1e-5, atol=1e-5)
    fast.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=False)
    for given in (FORMS["list"], ROWS):
        fast.fit(given, targets, batch_size=4, verbose=0)
        np.testing.assert_allclose(
            fast.predict(given, verbose=0), model(given), rtol=1e-5, atol=1e-5
        )
    # Weights are in files of the original's form, which either loads.
    fast.save_weights(tmp_path / "fast.weights.h5")
    for loading in (functional(), sol.optimize(functional(), FORMS[example])):
        loading.load_weights(tmp_path / "fast.weights.h5")
        np.testing.assert_allclose(loading(ROWS), model(ROWS), rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match=r"structure of the example, .*, got \(\['\*'\]\)"):
        fast(FORMS["list"][:1])


def test_why_no_axis_of_a_model_varies() -> None:
    model = keras.Sequential(
        [
            keras.Input((None,)),
            keras.layers.Embedding(9, 4, mask_zero=True),
            keras.layers.TimeDistributed(keras.layers.Dense(3)),
        ]
    )
    fast = sol.optimize(model, np.ones((2, 5), "int32"), vdims=True)
    with pytest.raises(ValueError, match="expected 2, got 3: .* alone: .*While .*list of arrays"):
        fast(np.ones((3, 5), "int32"))


def test_floats_of_other_types_in_keras() -> None:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
    x = ROWS["rows"]
    for fast in (
        sol.optimize(model, x.astype("float64")),
        sol.optimize(model, x, dtype="float64"),
        sol.optimize(model, x),
    ):
        for dtype in ("float64", "float32"):
            np.testing.assert_allclose(fast(x.astype(dtype)), model(x), rtol=1e-5, atol=1e-5)
    images = (9 * x).astype("uint8")
    fast = sol.optimize(model, images)
    np.testing.assert_allclose(fast(images), model(images), rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match="input .*: expected uint8, got float32"):
        fast(x)


def test_weights_in_keras() -> None:
    fast = sol.optimize(Network().eval(), torch.tensor(IMAGE), framework="keras", layout="NHWC")
    assert [one.path for one in fast.weights] == [
        "conv/weight", "conv/bias", "head/weight",
    ]  # fmt: skip
    assert fast.count_params() == KERNEL.size + BIAS.size + HEAD.size
    fast.set_weights([KERNEL, BIAS, 2 * HEAD.T])
    np.testing.assert_allclose(fast(LAST), 2 * EXPECTED, rtol=1e-5, atol=1e-5)


def test_variables_of_modules() -> None:
    module = Module()
    fast = sol.optimize(module, tf.constant(LAST))
    assert {id(one) for one in fast.variables} == {id(one) for one in module.variables}
    assert [tuple(spec.shape) for spec in fast.signature] == [(2, 8, 6, 3)]
    module.head.assign(2 * HEAD)
    np.testing.assert_allclose(fast(LAST), 2 * EXPECTED, rtol=1e-5, atol=1e-5)
    fast = sol.optimize(onnx_network(), framework="tensorflow")
    assert sorted(one.name for one in fast.trainable_variables) == [
        "conv.bias:0", "conv.weight:0", "head.weight:0",
    ]  # fmt: skip


def test_weights_in_jax() -> None:
    fast = sol.optimize(partial(jax_network, PARAMS), LAST)
    assert sorted(fast.weights) == ["params.bias", "params.head", "params.kernel"]
    np.testing.assert_array_equal(fast.weights["params.head"], HEAD)


# Weights that change ---------------------------------------------------------------------------


class Product(tf.Module):
    def __init__(self) -> None:
        super().__init__(name="product")
        self.weight = tf.Variable(tf.ones((3, 2)))

    def __call__(self, x):
        return x @ self.weight


class Doubled(Product):
    """Gives twice as much in training."""

    def __call__(self, x, training=False):
        return x @ self.weight * (2.0 if training else 1.0)


def linear(training=False):
    made = torch.nn.Linear(3, 2, bias=False).train(training)
    torch.nn.init.ones_(made.weight)
    return made


def fill_own(model, fast):
    """Has fives in what the model was made of."""
    if isinstance(model, torch.nn.Module):
        torch.nn.init.constant_(model.weight, 5)
    else:
        model.weight.assign(tf.fill((3, 2), 5.0))


def fill_parameter(model, fast):
    torch.nn.init.constant_(next(fast.parameters()), 5)


def fill_variable(model, fast):
    fast.variables[0].assign(tf.fill(fast.variables[0].shape, 5.0))


X = np.ones((4, 3), "float32")
# A model, the framework it is optimized for, and where its weights are changed.
CHANGED = {
    "torch": (linear, "torch", fill_own),
    "torch in numpy": (linear, "numpy", fill_own),
    "torch in jax": (linear, "jax", fill_own),
    "torch in tensorflow": (linear, "tensorflow", fill_variable),
    "torch in training in numpy": (partial(linear, True), "numpy", fill_own),
    "torch in training in jax": (partial(linear, True), "jax", fill_own),
    "tensorflow": (Product, "tensorflow", fill_own),
    "tensorflow in numpy": (Product, "numpy", fill_own),
    "tensorflow in torch": (Product, "torch", fill_parameter),
}


def under_a_tape(fast):
    if isinstance(fast, tf.Module):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            fast(x)


def memory_of_training(fast):
    with contextlib.suppress(NotImplementedError):  # of functions of NumPy's arrays
        sol.memory(fast, training=True)


# What is done between a change and the next call.
BETWEEN = {
    "nothing": lambda fast: None,
    "largest batch": lambda fast: sol.largest_batch(fast, "1MB"),
    "memory of training": memory_of_training,
    "a tape": under_a_tape,
}


@pytest.mark.parametrize("name", CHANGED)
def test_weights_that_change(name) -> None:
    make, target, change = CHANGED[name]
    own = X if isinstance(make(), tf.Module) else torch.tensor(X)
    for between in BETWEEN.values():
        model = make()
        fast = sol.optimize(model, own, framework=target)
        if target == "torch" and make is Product:
            fast.train()
        with torch.no_grad():
            np.testing.assert_array_equal(arrays(fast(TARGETS[target](X))), np.full((4, 2), 3.0))
            change(model, fast)
            between(fast)
            np.testing.assert_array_equal(arrays(fast(TARGETS[target](X))), np.full((4, 2), 15.0))


def test_gradients_of_weights_that_change_in_jax() -> None:
    model = linear()
    fast = sol.optimize(model, torch.tensor(X), framework="jax")
    gradient = jax.grad(lambda x: fast(x).sum())
    # Where only the gradient is asked for, jit leaves out the call.
    every = (gradient, jax.jit(gradient))
    for value in (1, 5, 6):
        torch.nn.init.constant_(model.weight, value)
        for one in every[:: 1 if value < 6 else -1]:
            np.testing.assert_array_equal(one(jnp.asarray(X)), np.full((4, 3), 2.0 * value))
    model.weight.data.numpy()[:] = 7  # which is not noticed
    sol.refresh(fast)
    np.testing.assert_array_equal(gradient(jnp.asarray(X)), np.full((4, 3), 14.0))


@pytest.mark.parametrize(("make", "expected"), [(linear, 4), (Product, 4), (Doubled, 8)])
def test_parameters_that_are_replaced_have_gradients(make, expected) -> None:
    own = torch.tensor(X) if make is linear else X
    fast = sol.optimize(make(), own, framework="torch").train(make is not linear)
    fast.requires_grad_(False)
    assert not fast(torch.tensor(X)).requires_grad
    fast.weight = torch.nn.Parameter(2 * fast.weight)
    fast(torch.tensor(X)).sum().backward()
    np.testing.assert_array_equal(fast.weight.grad, np.full(fast.weight.shape, expected))


# Inside of what frameworks compile ------------------------------------------------------------


def test_in_a_function_of_tensorflow() -> None:
    fast = sol.optimize(Module(), tf.constant(LAST))
    inside = tf.function(lambda x: fast(x) * 2)
    np.testing.assert_allclose(inside(LAST), 2 * EXPECTED, rtol=1e-5, atol=1e-5)


def test_in_a_model_of_keras() -> None:
    fast = sol.optimize(keras_network(), LAST, vdims=True)
    given = keras.Input((8, 6, 3))
    whole = keras.Model(given, fast(given) * 2)
    np.testing.assert_allclose(whole(LAST), 2 * EXPECTED, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(fast.predict(LAST, verbose=0), EXPECTED, rtol=1e-5, atol=1e-5)


def test_in_what_jax_compiles() -> None:
    fast = sol.optimize(partial(jax_network, PARAMS), LAST, vdims=True)
    inside = jax.jit(lambda x: fast(x) * 2)
    np.testing.assert_allclose(inside(LAST), 2 * EXPECTED, rtol=1e-5, atol=1e-5)
    each = jax.vmap(lambda x: fast(x[None])[0])(LAST)
    np.testing.assert_allclose(each, EXPECTED, rtol=1e-5, atol=1e-5)


@jax.jit
def jax_loss(params, batch, rate):
    hidden = jnp.tanh(batch["x"] @ params["w"] + params["b"])
    return rate * ((hidden - batch["y"]) ** 2).mean(), hidden


@jax.jit
def jax_table(table, tokens, x):
    return table[tokens] + x


def jax_arguments(function, batch: int) -> tuple:
    """Arguments whose batch has this length; the first one is fixed."""
    if function is jax_table:
        return jnp.ones((5, 3)), jnp.arange(batch), jnp.ones((batch, 3))
    params = {"w": jnp.ones((3, 4)) / 4, "b": jnp.arange(4.0)}
    return params, {"x": jnp.ones((batch, 3)), "y": jnp.ones((batch, 4))}, jnp.float32(0.5)


@pytest.mark.parametrize(
    ("function", "batch", "lengths"),
    # A parameter is as long as the batch by chance, and a table may be of any length.
    [(jax_loss, 8, (8,)), (jax_loss, 4, (4,)), (jax_table, 2, (5, 2))],
)
def test_which_first_axes_vary_in_jax(function, batch, lengths) -> None:
    fast = sol.optimize(function, *jax_arguments(function, batch), vdims=True)
    assert sol.report(fast).dimensions.lengths == lengths

    def loss(call, first, *rest):
        return sum(part.sum() for part in jax.tree.leaves(call(first, *rest)))

    for length in (batch, 1, 3):
        given = jax_arguments(function, length)
        found, expected = (
            jax.value_and_grad(partial(loss, call))(*given) for call in (fast, function)
        )
        jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-5), found, expected)


# What goes wrong ------------------------------------------------------------------------------


@tf.function
def inverse(x):
    return tf.linalg.inv(x)


@jax.jit
def jax_inverse(x):
    return jnp.linalg.inv(x)


@pytest.mark.parametrize(
    ("model", "example", "text"),
    [
        (inverse, tf.eye(3), "MatrixInverse .*test_answers.py:[0-9]+"),
        (jax_inverse, jnp.eye(3), "no rule for the primitive"),
    ],
)
def test_fallback(model, example, text) -> None:
    with pytest.raises(mx.graph.GraphError, match=text):
        sol.optimize(model, example)
    with pytest.warns(sol.SolWarning, match=text):
        assert sol.optimize(model, example, fallback=True) is model
    with pytest.raises(mx.graph.GraphError, match=text):
        sol.optimize(model, example, fallback=True, framework="numpy")


@pytest.mark.parametrize("vdims", [None, True], ids=["fixed", "any batch"])
def test_layers_in_training_inside_of_a_module_in_eval_mode(vdims) -> None:
    """They are in their own modes elsewhere, too; what a call would write only torch has."""
    module = torch.nn.Sequential(torch.nn.Linear(6, 40), torch.nn.Dropout(0.5)).eval()
    x = floats(50, 6)
    kept = sol.optimize(module, torch.tensor(x), framework="numpy", vdims=vdims)
    assert (kept(x) != 0).all()
    module[1].train()
    dropped = sol.optimize(module, torch.tensor(x), framework="numpy", vdims=vdims)
    made = dropped(x)
    assert 0.4 < (made == 0).mean() < 0.6
    np.testing.assert_allclose(made[made != 0], 2 * kept(x)[made != 0], rtol=1e-5)
    norm = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.BatchNorm1d(4)).eval()
    norm[1].train()
    with pytest.raises(NotImplementedError, match=r"framework='numpy': .* changes 1.running_mean"):
        sol.optimize(norm, torch.tensor(x), framework="numpy", vdims=vdims)


WRONG = [
    ("torch", lambda fast: fast(torch.ones(2, 3, 8, 6, dtype=torch.int32)), TypeError, "float32"),
    ("torch", lambda fast: fast(torch.ones(3, 3, 8, 6)), ValueError, "axis 0: expected 2, got 3"),
    ("torch", lambda fast: fast(IMAGE), TypeError, "expected a tensor, got ndarray"),
    ("tensorflow", lambda fast: fast(tf.ones((2, 3, 8, 6), tf.int32)), TypeError, "got int32"),
    ("keras", lambda fast: fast(), Exception, "missing"),
    ("jax", lambda fast: fast(jnp.ones((2, 3, 8, 6), "int32")), TypeError, "got int32"),
    ("jax", lambda fast: fast(jnp.ones((1, 3, 8, 6))), ValueError, "axis 0: expected 2, got 1"),
]


@functools.cache
def optimized(target):
    return sol.optimize(onnx_network(), IMAGE, framework=target)


@pytest.mark.parametrize(("target", "call", "kind", "text"), WRONG)
def test_wrong_calls(target, call, kind, text) -> None:
    fast = optimized(target)
    with pytest.raises(kind, match=text):
        call(fast)


def test_batch_sizes_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="batch_size: the first axis of the inputs of .* has one"):
        sol.optimize(onnx_network(False), batch_size=4)


def test_copies_in_torch() -> None:
    fast = sol.optimize(onnx_network(), framework="torch")
    other = copy.deepcopy(fast)
    with torch.no_grad():
        other.head.weight.mul_(2)
        result = other(torch.tensor(IMAGE))
        np.testing.assert_allclose(result, 2 * EXPECTED, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(fast(torch.tensor(IMAGE)), EXPECTED, rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match="save its state_dict"):
        pickle.dumps(fast)


def test_copies_keep_options_and_what_is_trained() -> None:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    fast = sol.optimize(model, X, framework="torch", memory_limit="1KB", fallback=True)
    next(fast.parameters()).requires_grad_(False)
    model.trainable = False
    other = copy.deepcopy(fast)
    assert [one.requires_grad for one in other.parameters()] == [False, True]
    assert other._sol.compiled.options() == fast._sol.compiled.options()


@pytest.mark.parametrize("made", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_functions_of_arrays(made, tmp_path) -> None:
    module, x = Network().eval(), torch.tensor(IMAGE)
    sol.optimize(module, x, framework="onnx").save(tmp_path / "network.onnx")
    fast = sol.optimize(tmp_path / "network.onnx", IMAGE)
    np.testing.assert_array_equal(made(fast)(IMAGE), fast(IMAGE))
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        made(sol.optimize(module, x, framework="numpy"))
