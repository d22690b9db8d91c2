"""Models of which plans execute parts, and their framework what cannot be read."""

from __future__ import annotations

import warnings
import weakref
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mx
from mx import sol
from mx.sol.frameworks._cut import failing, grouped
from tests.importers.tensorflow.running import keras, tf

from .networks import floats

layers = keras.layers
ROWS = floats(10, 6)


def inverse(x, size):
    """Of a matrix that has one."""
    return x @ tf.linalg.inv(4.0 * tf.eye(size) + tf.transpose(x) @ x)


class Solve(layers.Layer):
    """Cannot be read."""

    def call(self, x):
        return inverse(x, x.shape[-1])


# Keras ----------------------------------------------------------------------------------------


class Block(layers.Layer):
    """Layers in attributes and in a list, and one between them that cannot be read."""

    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self._first = layers.Dense(4, name="first")
        self.solve = Solve(name="solve")
        self.rest = [layers.Dense(4, activation="tanh", name="rest"), layers.Dropout(0.0)]

    def call(self, x, training=False):
        x = self.solve(self._first(x))
        for layer in self.rest:
            x = layer(x)
        return x


class Subclassed(keras.Model):
    def __init__(self) -> None:
        super().__init__(name="network")
        self.start, self.block = layers.Dense(4, name="start"), Block(name="block")

    def call(self, x):
        return self.block(self.start(x))


def functional():
    """Layers before, beside and behind one that cannot be read."""
    rows = keras.Input((6,))
    wide = layers.BatchNormalization(name="norm")(layers.Dense(8, name="wide")(rows))
    solved = Solve(name="solve")(layers.Dense(4, name="narrow")(wide))
    beside = layers.Dense(4, name="beside", activity_regularizer="l2")(wide)
    joined = layers.Add(name="joined")([solved, beside])
    return keras.Model(rows, layers.Dense(3, name="head")(joined), name="network")


def sequential():
    made = [layers.Dense(8, name="one"), layers.ReLU(), layers.Dense(4, name="two")]
    made += [Solve(name="solve"), Block(name="block"), layers.Dense(3, name="last")]
    return keras.Sequential([keras.Input((6,)), *made], name="network")


KERAS = {
    "functional": (functional, ["wide to beside", "joined to head"], ["solve"]),
    "sequential": (
        sequential,
        ["one to two", "block.first", "block.rest", "last"],
        ["solve", "block.solve"],
    ),
    "subclassed": (Subclassed, ["start", "block.first", "block.rest"], ["block.solve"]),
}


def keras_model(make):
    keras.utils.set_random_seed(1)
    model = make()
    model(ROWS)
    return model


@pytest.mark.parametrize("case", KERAS)
def test_layers_of_keras(case, tmp_path) -> None:
    make, parts, rest = KERAS[case]
    model, other = keras_model(make), keras_model(make)
    with pytest.warns(sol.SolWarning) as told:
        fast = sol.optimize(model, ROWS, vdims=True, fallback=True)
    (text,) = [str(one.message) for one in told]
    assert f"network: Keras executes all except the layers {', '.join(parts)}: " in text
    for name in rest:
        assert f"layer '{name}': mx.importers.tensorflow cannot import MatrixInverse" in text
    assert "test_fallback.py:" in text
    assert list(sol.report(fast).parts) == parts
    for rows in (ROWS, ROWS[:3], ROWS.astype("float64")):
        np.testing.assert_allclose(fast(rows), model(rows), rtol=1e-4, atol=1e-5)
    # Weights are the model's.
    assert [one.path for one in fast.weights] == [one.path for one in model.weights]
    for one in (model, other):
        one.weights[0].assign(one.weights[0] * 2)
    np.testing.assert_allclose(fast.predict(ROWS, verbose=0), model(ROWS), rtol=1e-4, atol=1e-5)
    targets, losses = floats(10, model(ROWS).shape[-1]), []
    for one in (fast, other):
        one.compile(keras.optimizers.SGD(0.05), "mse", jit_compile=False)
        found = one.fit(ROWS, targets, epochs=2, batch_size=4, verbose=0, shuffle=False)
        losses.append(found.history["loss"])
    np.testing.assert_allclose(*losses, rtol=1e-4)
    for own, expected in zip(model.weights, other.weights, strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-3, atol=1e-4)


def test_batches_of_other_sizes_stay_in_keras() -> None:
    """In `fit`, which calls a model where a function is traced."""
    make, *_ = KERAS["sequential"]
    losses, targets = [], None
    for one in (keras_model(make), keras_model(make)):
        fast = one
        if targets is None:
            with pytest.warns(sol.SolWarning, match="Keras executes all except"):
                fast = sol.optimize(one, ROWS, fallback=True)
            targets = floats(10, fast(ROWS).shape[-1])
        fast.compile(keras.optimizers.SGD(0.05), "mse", jit_compile=False)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", sol.SolWarning)
            found = fast.fit(ROWS, targets, batch_size=4, verbose=0, shuffle=False)
        losses.append(found.history["loss"])
        assert any("executed by Keras: its arg" in str(m.message) for m in told) == (
            fast is not one
        )
    np.testing.assert_allclose(*losses, rtol=1e-4)


@pytest.mark.filterwarnings("ignore:Layer 'solved' :UserWarning")
def test_masks_stay_in_keras() -> None:
    """A mask goes from the first layer to a recurrent one, and to what cannot be read."""
    tokens = keras.Input((6,), dtype="int32")
    vectors = layers.Embedding(9, 4, mask_zero=True, name="vectors")(tokens)
    solved = layers.Lambda(lambda x: inverse(x[:, 0], 4), name="solved")(vectors)
    results = [layers.LSTM(4, name="lstm")(vectors), layers.Dense(3, name="head")(solved)]
    model = keras.Model(tokens, results, name="network")
    given = np.array([[1, 2, 3, 4, 0, 0], [1, 2, 0, 0, 0, 0]], "int32")
    with pytest.warns(sol.SolWarning, match="the layers head: layers vectors to lstm: .* a mask"):
        fast = sol.optimize(model, given, fallback=True)
    for own, expected in zip(fast(given), model(given), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)


# TensorFlow -----------------------------------------------------------------------------------


class Dense(tf.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.kernel = tf.Variable(floats(inputs, outputs))

    def __call__(self, x):
        return tf.nn.relu(x @ self.kernel)


class SolveModule(tf.Module):
    def __call__(self, x):
        return inverse(x, 4)


class Network(tf.Module):
    def __init__(self) -> None:
        super().__init__(name="network")
        self.start, self.solve = [Dense(6, 8), Dense(8, 4)], SolveModule()
        self.heads = {"one": Dense(4, 3)}

    def __call__(self, x):
        for layer in self.start:
            x = layer(x)
        return self.heads["one"](self.solve(x))


class InFunction(Network):
    @tf.function
    def __call__(self, x):
        return super().__call__(x)


@pytest.mark.parametrize("make", [Network, InFunction])
def test_modules_of_tensorflow(make) -> None:
    model, x = make(), tf.constant(ROWS)
    with pytest.warns(
        sol.SolWarning,
        match=r"network: TensorFlow executes all except the modules start.0, start.1, heads.one:"
        r" module 'solve': .*MatrixInverse .*test_fallback.py:",
    ):
        fast = sol.optimize(model, x, fallback=True)
    assert list(sol.report(fast).parts) == ["start.0", "start.1", "heads.one"]
    assert {id(one) for one in fast.variables} == {id(one) for one in model.variables}
    model.start[0].kernel.assign(2 * model.start[0].kernel)
    grads = []
    for one in (fast, model):
        with tf.GradientTape() as tape:
            result = one(x)
        np.testing.assert_allclose(result, model(x), rtol=1e-4, atol=1e-5)
        grads.append(tape.gradient(result, model.trainable_variables))
    for own, expected in zip(*grads, strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-3, atol=1e-4)


class Inner(tf.Module):
    """A product, and what else a call does."""

    def __init__(self, does) -> None:
        super().__init__(name="inner")
        self.kernel, self.count = tf.Variable(floats(6, 4)), tf.Variable(0.0)
        self.does, self.last = does, None

    def __call__(self, x, *more):
        return self.does(self, x @ self.kernel, *more)

    def __getitem__(self, index):
        return self.kernel[index]


class Outer(tf.Module):
    """Calls it, and reads what it did, around what TensorFlow executes."""

    def __init__(self, does, calls) -> None:
        super().__init__(name="outer")
        self.inner, self.solve, self.calls = Inner(does), SolveModule(), calls
        self.scale, self.count, self.seen = 1.0, tf.Variable(0.0), None

    def __call__(self, x):
        self.count.assign_add(1.0)
        self.seen = float(self.count) if tf.executing_eagerly() else None
        return self.solve(self.calls(self, x)) * self.scale


def plain(inner, y, *more):
    return y * 2 if not more or more[0] is None else y + more[0]


def keeps(inner, y):
    inner.last = y
    return y * 2


def counts(inner, y):
    inner.count.assign_add(1.0)
    return y + inner.count


INNER = "the modules inner: "
DOING = {
    "an attribute": (
        keeps,
        lambda outer, x: outer.inner(x) + outer.inner.last,
        "it: module 'inner': the attribute 'last' of Inner is set in a call",
    ),
    "a variable": (
        counts,
        lambda outer, x: outer.inner(x),
        "it: module 'inner': inner: assigns to count in a call",
    ),
    "its methods": (plain, lambda outer, x: outer.inner(x) + outer.inner[0], INNER),
    "arrays of NumPy": (
        plain,
        lambda outer, x: outer.inner(x, np.ones(4, "f4")) + outer.inner(x, np.ones(4, "f4")),
        INNER,
    ),
    "other shapes": (
        plain,
        lambda outer, x: outer.inner(x, None if x.shape[0] == 10 else 1.0),
        INNER,
    ),
}


@pytest.mark.filterwarnings("ignore:inner is executed by TensorFlow:mx.sol.SolWarning")
@pytest.mark.parametrize("case", DOING)
def test_what_a_call_of_a_module_does_besides(case) -> None:
    does, calls, text = DOING[case]
    model, other = Outer(does, calls), Outer(does, calls)
    other.inner.kernel.assign(model.inner.kernel)
    with pytest.warns(sol.SolWarning, match=f"outer: TensorFlow executes .*{text}"):
        fast = sol.optimize(model, tf.constant(ROWS), fallback=True)
    assert float(model.count) == 0 and float(model.inner.count) == 0
    model.scale = other.scale = 2.0
    for given in (ROWS, ROWS[1:5], ROWS):
        expected = other(tf.constant(given))
        np.testing.assert_allclose(fast(tf.constant(given)), expected, rtol=1e-4, atol=1e-5)
        assert fast.seen == model.seen == other.seen
    # What is set on either is set on both.
    fast.scale = 3.0
    assert model.scale == 3.0


class Tied(keras.Model):
    """Reads the weights and a method of what it calls, and has an attribute."""

    def __init__(self) -> None:
        super().__init__(name="tied")
        self.vectors, self.solve = layers.Embedding(9, 4, name="vectors"), Solve(name="solve")
        self.block, self.scale = Counting(name="block"), 1.0

    def call(self, x):
        hidden = self.solve(self.block(self.vectors(x)[0])) + self.block.half(x)
        return self.scale * tf.matmul(hidden, self.vectors.embeddings, transpose_b=True)


class Counting(layers.Layer):
    def __init__(self, **kwargs) -> None:
        super().__init__(**kwargs)
        self.count = self.add_weight(name="count", initializer="zeros", trainable=False)

    def call(self, x):
        self.count.assign_add(1.0)
        return x + self.count

    def half(self, x):
        return self.count / 2


@pytest.mark.filterwarnings("ignore:vectors is executed by Keras:mx.sol.SolWarning")
def test_what_a_model_of_keras_reads_of_layers() -> None:
    model, other = Tied(), Tied()
    tokens = np.arange(8)[None]
    for one in (model, other):
        one(tokens)
    other.set_weights(model.get_weights())
    with pytest.warns(sol.SolWarning, match="layers vectors: .*assigns to block/count in a call"):
        fast = sol.optimize(model, tokens, fallback=True)
    assert float(model.block.count) == 1
    fast.scale = other.scale = 2.0
    for given in (tokens, tokens[:, :5], tokens):
        np.testing.assert_allclose(fast(given), other(given), rtol=1e-4, atol=1e-5)
    assert model.scale == 2.0 and float(model.block.count) == float(other.block.count)


# JAX ------------------------------------------------------------------------------------------

PARAMS = {"first": floats(6, 8), "second": floats(8, 4), "head": floats(4, 3)}


@jax.jit
def layer(x, kernel):
    return jax.nn.relu(x @ kernel)


@jax.jit
def network(params, x):
    hidden = jnp.tanh(layer(x, params["first"]) @ params["second"])
    with jax.named_scope("solver"):
        solved = jnp.linalg.inv(hidden.T @ hidden + jnp.eye(4))
    return {"rows": hidden @ solved @ params["head"], "mean": hidden.mean(), "number": 3}


@jax.jit
def drawn(key, x):
    jax.debug.print("drawing", ordered=True)
    noise = jax.random.normal(key, x.shape)
    jax.debug.print("drawn", ordered=True)
    return (x + noise) @ PARAMS["first"]


@jax.jit
def looped(x):
    """A loop whose results a graph has no length for."""
    last, sums = jax.lax.scan(lambda c, _: (jnp.tanh(c), c.sum(1)), x, None, length=3)
    return jnp.linalg.cholesky(last.T @ last + jnp.eye(6)) @ PARAMS["first"], sums


@jax.jit
def branching(x):
    """The branch follows from what a plan gives."""
    hidden = x @ PARAMS["first"]
    square = hidden.T @ hidden + jnp.eye(8)
    first = jnp.argmax(hidden[0]) > 100
    return jax.lax.cond(first, lambda y: y, jnp.linalg.cholesky, square) @ PARAMS["second"]


LU = r"cannot import lu \(module 'solver', .*test_fallback.py:[0-9]+\): there is no rule"
JAX = {
    "parameters": (network, (PARAMS, ROWS), "0 .*, 1 .*" + LU),
    "bound": (partial(network, PARAMS), (ROWS,), "0 .*, 1 .*" + LU),
    "loop": (looped, (ROWS,), r"0 .*, 1 .*cannot import cholesky"),
    "branch": (branching, (ROWS,), r"0 .*, 1 .*cannot import cholesky"),
    "keys": (
        drawn,
        (jax.random.key(1), ROWS),
        r"0 .*random_bits \(.*test_fallback.py:[0-9]+\): .*key",
    ),
}


def close(found, expected) -> None:
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-4), found, expected)


@pytest.mark.parametrize("case", JAX)
def test_functions_of_jax(case, capfd) -> None:
    function, args, text = JAX[case]
    with pytest.warns(sol.SolWarning, match=f"JAX executes all except the parts {text}"):
        fast = sol.optimize(function, *args, fallback=True)
    *first, rows = args

    def loss(call, rows):
        found = jax.tree.leaves(call(*first, rows))
        return sum((one**2).sum() for one in found if hasattr(one, "shape"))

    for given in (rows, rows[:4]):
        close(fast(*first, given), function(*first, given))
    close(jax.jit(fast)(*first, rows), function(*first, rows))
    close(jax.grad(partial(loss, fast))(rows), jax.grad(partial(loss, function))(rows))
    assert list(sol.report(fast).parts) == [str(n) for n in range(len(fast.parts()))]
    jax.effects_barrier()
    # Effects keep their order.
    printed = capfd.readouterr().out.split()
    assert printed == ["drawing", "drawn"] * (len(printed) // 2)


def test_arguments_of_jax_are_not_kept() -> None:
    with pytest.warns(sol.SolWarning, match="JAX executes all except"):
        fast = sol.optimize(partial(network, PARAMS), ROWS, fallback=True)
    with jax.checking_leaks():
        jax.jit(fast)(ROWS[:3])
    rows = ROWS[:5].view(Rows)
    kept = weakref.ref(rows)
    fast(rows)
    del rows
    assert kept() is None


class Rows(np.ndarray):
    """What can be looked for."""


# What goes wrong ------------------------------------------------------------------------------


@tf.function
def without_modules(x):
    return tf.linalg.inv(x)


@pytest.mark.parametrize(
    ("model", "example", "options", "kind", "text"),
    [
        (
            network,
            (PARAMS, ROWS),
            {"framework": "numpy"},
            mx.graph.GraphError,
            "fallback=True: framework='numpy': a model for numpy cannot have a part that jax",
        ),
        (
            without_modules,
            (tf.eye(3),),
            {"layout": "NCHW"},
            mx.graph.GraphError,
            "fallback=True: layout and dtype are of a model that is optimized as a whole; .*Matr",
        ),
        (
            functional,
            (ROWS,),
            {"kwargs": {"training": True}},
            NotImplementedError,
            "fallback=True: the example is a call in training.*leave training= out; .*MatrixInv",
        ),
    ],
)
def test_what_has_no_parts(model, example, options, kind, text) -> None:
    model = model() if model is functional else model
    with pytest.raises(kind, match=text):
        sol.optimize(model, *example, fallback=True, **options)


@pytest.mark.parametrize(
    ("count", "bad", "names", "most"),
    [
        (1, {0}, False, 1),
        (16, {5}, False, 8),
        (16, {0, 15}, False, 14),
        (7, set(range(7)), False, 12),
        # Where the reason names an item, that one is tried, and what is on either side.
        (16, {5}, True, 3),
        (16, {0, 15}, True, 4),
        (7, set(range(7)), True, 12),
    ],
)
def test_what_fails_is_found_in_few_attempts(count, bad, names, most) -> None:
    tried = []

    def blamed(why):
        return int(why.split(",")[0]) if names else None

    def attempt(first, stop):
        tried.append((first, stop))
        return ", ".join(str(n) for n in range(first, stop) if n in bad)

    found = failing(count, attempt(0, count), attempt, blamed)
    assert found == {n: str(n) for n in bad}
    assert len(tried) <= most + 1


@pytest.mark.parametrize(
    ("reads", "apart", "groups"),
    [
        ([[], [0], [1], [2]], {1}, [(False, [0]), (True, [1]), (False, [2, 3])]),
        # What does not depend on the one apart is executed before it.
        ([[], [0], [0], [1, 2]], {1}, [(False, [0, 2]), (True, [1]), (False, [3])]),
        ([[], [], [0], [1, 2]], {0, 2}, [(False, [1]), (True, [0]), (True, [2]), (False, [3])]),
        ([[], [0]], set(), [(False, [0, 1])]),
    ],
)
def test_groups_of_what_is_executed_at_once(reads, apart, groups) -> None:
    assert grouped(reads, [[n] for n in range(len(reads))], apart) == groups
