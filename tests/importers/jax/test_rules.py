"""Every rule against JAX."""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import mx

_random = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape).astype("float32")


def positive(*shape: int) -> np.ndarray:
    return (_random.random(shape) * 0.8 + 0.1).astype("float32")


def bools(*shape: int) -> np.ndarray:
    return _random.random(shape) > 0.5


def check(function, *args) -> mx.graph.Graph:
    graph = mx.importers.jax.load(function, args)
    arrays = jax.tree_util.tree_leaves(args)
    results = [one.asnumpy() for one in mx.graph.Plan(graph)(*map(mx.np.array, arrays))]
    expected = [np.asarray(one) for one in jax.tree_util.tree_leaves(function(*args))]
    assert len(results) == len(expected)
    for got, one in zip(results, expected, strict=True):
        assert (got.dtype, got.shape) == (one.dtype, one.shape)
        np.testing.assert_allclose(got, one, rtol=3e-5, atol=3e-6)
    return graph


X, Y = floats(2, 3, 4), positive(2, 3, 4)
IMAGE, KERNEL = floats(2, 6, 7, 4), floats(3, 3, 4, 5)
ROWS = np.array([[0, 2], [1, 1]], "int32")
INTS = _random.integers(-9, 9, (3, 4)).astype("int32")
nn = jax.nn
NHWC = {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}

UNARY = (
    "abs atan asinh ceil cos cosh exp exp2 expm1 floor log1p neg sign sin sinh square tan tanh"
    " rint cbrt isfinite"
).split()
BINARY = (
    "add subtract multiply divide maximum minimum power less less_equal greater greater_equal equal"
    " not_equal remainder fmod floor_divide"
).split()


def one_two_three(x):
    return lax.switch(jnp.int32(x.sum() > 0) + 1, [lambda y: y, lambda y: -y, lambda y: y * 2], x)


def attention(x):
    q, k, v = (x[:, :, i::4].reshape(2, 3, 1, 1) for i in range(3))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) + jnp.where(jnp.tri(3) > 0, 0, -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v)


CASES = {
    **{name: (getattr(jnp, name if name != "neg" else "negative"), Y * 2) for name in UNARY},
    **{name: (getattr(jnp, name), Y) for name in "acos asin atanh log sqrt reciprocal".split()},
    "acosh": (jnp.acosh, Y + 1),
    **{name: (getattr(jnp, name), Y, positive(3, 1)) for name in BINARY},
    **{
        f"{name} of integers": (getattr(jnp, name), INTS, np.array([2, 3, -2, 5], "int32"))
        for name in "add multiply remainder floor_divide less maximum".split()
    },
    **{
        name: (getattr(nn, name), X)
        for name in "relu relu6 elu selu gelu silu sigmoid softplus softmax log_softmax".split()
    },
    "erf": (lambda x: (lax.erf(x), lax.erfc(x), lax.rsqrt(abs(x) + 1)), X),
    "erfc of half precision": (lambda x: lax.erfc(x.astype("float16")).astype("float32"), X),
    "powers": (lambda x: (x**3, x**-2, x**0, x**0.5), Y),
    "round": (lambda x: (jnp.round(x), lax.round(x)), X),
    "logic": (lambda x, y: (x & ~y, x | y, x ^ y), bools(5), bools(5)),
    "bits": (lambda x: (x & 3, x | 4, ~x), INTS),
    "where": (jnp.where, bools(3, 1), X, Y),
    "select": (lambda i, x, y: lax.select_n(i, x, y, x + 1), ROWS.clip(0, 2), X[0, :2, :2],
               Y[0, :2, :2]),
    "clip": (lambda x: jnp.clip(x, -0.5, 0.5), X),
    "casts": (lambda x: (x.astype(jnp.int32), x > 0, (x > 0) + 1.0), X),
    "sums": (lambda x: (x.sum((0, 2)), x.mean(1, keepdims=True), x.prod(-1), x.std()), X),
    "extremes": (lambda x: (x.max(0), x.min(-1), x.argmax(1), x.argmin(2)), X),
    "all, any": (lambda x: (x.all(0), x.any(1)), bools(3, 4)),
    "cumsum": (lambda x: (jnp.cumsum(x, 1), lax.cumsum(x, 2, reverse=True)), X),
    "sort": (lambda x: (jnp.sort(x, 1), jnp.argsort(x, 2)), X),
    "sort by several": (
        lambda x, y: (lax.sort((jnp.round(x), y), num_keys=2), lax.sort((x, y), dimension=0)), X, Y,
    ),
    "sort by three": (
        lambda x, y: lax.sort((x > 0, jnp.round(y * 3), x, y), dimension=1, num_keys=3), X, Y,
    ),
    "top_k": (lambda x: (lax.top_k(x, 2), lax.top_k(x, 2, axis=1)), X),
    "running": (
        lambda x: (lax.cummax(x, 1), lax.cummin(x, 0, True), lax.cumlogsumexp(x, 2, True)), X,
    ),
    "running integers": (lambda x: (lax.cummax(x, 1), lax.cummin(x, 0, True)), INTS),
    **{
        f"bits of {dtype}": (
            lambda x: (lax.population_count(x), lax.clz(x)),
            np.array([0, 1, 2, 3, 64, 100, 127, -1 % 256], dtype),
        )
        for dtype in ("uint8", "int32", "uint32", "int16")
    },
    "fewer bits": (
        lambda x: (lax.reduce_precision(x, 8, 7), lax.reduce_precision(x, 5, 10)),
        np.float32([1.2345678, -3e-5, 6.1e-5, 2.0**-14 - 2.0**-26, 2.0**-14 - 2.0**-25, 65519.9,
                    65520, -1e38, 3.4e38, 1e-40, np.inf, np.nan, 0]),
    ),
    "reshape": (lambda x: (x.reshape(4, -1), x.transpose(2, 0, 1), x[:, None].squeeze(1)), X),
    "concatenate": (lambda x, y: (jnp.concatenate([x, y], 1), jnp.stack([x, y])), X, Y),
    "split": (lambda x: jnp.split(x, [1, 3], 2), X),
    "pad": (lambda x: jnp.pad(x, [(1, 0), (0, 2), (0, 0)], constant_values=3), X),
    "slices": (lambda x: (x[:, 1:], x[..., ::2], x[:, ::-1], x[1, -1]), X),
    "tile and flip": (lambda x: (jnp.tile(x, (1, 2, 1)), jnp.flip(x, 2), jnp.roll(x, 1, 2)), X),
    "made": (lambda x: (x + jnp.arange(4), jnp.eye(3) + x[0, :, :3], jnp.full((2,), 3.0)), X),
    "take": (lambda x, i: (jnp.take(x, i, axis=1), x[:, i], x[i]), X, ROWS % 2),
    "take beyond": (lambda x, i: jnp.take(x, i, axis=0), X, ROWS),
    "windows": (lambda x, i: (jax.vmap(lambda r, k: lax.dynamic_slice(r, (k, 1), (2, 2)))(x, i),
                              x[:, i].at[i].get(mode="fill", fill_value=3.0),
                              jnp.take_along_axis(x, jnp.argsort(x, 1), 1)), X, ROWS[0]),
    "written": (lambda x, i: (x.at[0, 1].set(3.0), x.at[:, 1:3, ::2].set(9.0), x.at[:, i].set(7.0),
                              x.at[i % 2, :, i].set(x[0, :, 0]), x.at[-1, -2].set(4.0),
                              x.at[...].set(2.0), x.at[:0].set(1.0)), X, ROWS[0]),
    "combined": (lambda x, i: (x.at[i, i].add(1.0), x.at[:, i].multiply(2.0), x.at[0].max(0.5),
                               x.at[..., 1:3].min(0.3), jax.ops.segment_sum(x[0], i[:3], 2),
                               jnp.bincount(i, length=3)), X, np.array([2, 0, 2], "int32")),
    "written where they fit": (lambda x, i: (
        x.at[i].set(5.0), x.at[:, i].add(x[:, :1]), x.at[i].set(5.0, mode="clip"),
        jax.vmap(lambda r, k: r.at[k].set(0.0))(x, i[:2])),
        X, np.array([0, 3, 9, -1, -7], "int32")),
    "filled": (lambda x, i: [x.astype(kind).at[:, i].get(mode="fill")
                             for kind in ("float32", "int8", "uint8", "int32", "uint32", "bool")],
               abs(10 * X[0]), np.array([0, 3, 9], "int32")),
    "unique": (lambda i: jnp.unique(i, size=5), np.array([2, 0, 2, 7], "int32")),
    "searched": (lambda x, y: (jnp.searchsorted(jnp.sort(y[0, 0]), x), jnp.histogram(y, 5)[0],
                               lax.lt_to_p.bind(x, x * jnp.nan)), X, Y),
    "cumprod": (lambda x: (jnp.cumprod(x, 1), lax.cumprod(x, 2, reverse=True)), X),
    "associative scan": (lambda x: lax.associative_scan(jnp.add, x, axis=1), X),
    "any of no axes": (lambda x: x.any(()), bools(3, 4)),
    "pad between": (lambda x: lax.pad(x, 3.0, [(0, 0, 0), (1, -1, 2), (0, 2, 1)]), X),
    "points": (lambda x, i: x[i, i + 1], X, ROWS % 2),
    "dynamic slice": (lambda x, i: lax.dynamic_slice(x, (i, 0, i), (1, 3, 2)), X, np.int32(3)),
    "update": (lambda x, i: lax.dynamic_update_slice(x, x[:1, :2, :2] * 2, (i, i, 0)), X,
               np.int32(1)),
    "products": (lambda x, y: (x @ y.swapaxes(1, 2), x[0] @ y[0].T, x @ y[0].T, x[0, 0] @ y[0, 0]),
                 X, Y),
    "einsum": (lambda x, y: jnp.einsum("abc,dbc->adb", x, y), X, Y),
    "attention": (attention, X),
    "conv": (lambda x, w: nn.relu(lax.conv_general_dilated(x, w, (2, 1), "SAME", **NHWC)
                                  + jnp.arange(5)), IMAGE, KERNEL),
    "conv of groups": (lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1), [(1, 0), (0, 2)], rhs_dilation=(1, 2), feature_group_count=2, **NHWC),
        IMAGE, floats(3, 3, 2, 6)),
    "conv, channels first": (lambda x, w: lax.conv(x, w, (1, 1), "VALID"), floats(1, 3, 5, 6),
                             floats(4, 3, 2, 2)),
    "transposed": (lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", **NHWC), IMAGE, KERNEL),
    "transposed, valid": (lambda x, w: lax.conv_transpose(x, w, (2, 3), "VALID", **NHWC), IMAGE,
                          KERNEL),
    "max pool": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1),
                                             "SAME"), IMAGE),
    "mean pool": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 2, 1), "VALID")
                  / 4, IMAGE),
    "calls": (lambda x: jax.checkpoint(jax.jit(lambda y: y + 1))(x) * lax.stop_gradient(x), X),
    "cond": (lambda x: lax.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, x), X),
    "other branch": (lambda x: lax.cond(x.sum() > 9e9, lambda y: y * 2, lambda y: y - 1, x), X),
    "switch": (one_two_three, X),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x),
                                       (0, x)), X),
    "fori": (lambda x: lax.fori_loop(0, 4, lambda i, y: y + i * x, x), X),
    "scan": (lambda x: lax.scan(lambda c, row: (c + row, c * row), jnp.zeros((3, 4)), x), X),
    "scan back": (lambda x: lax.scan(lambda c, row: (c + row, c), x[0], x, reverse=True), X),
    "batch": (jax.vmap(lambda x, y: x @ y.T), X, Y),
    "gradient": (jax.grad(lambda x: (nn.relu(x) ** 2).sum()), X),
}  # fmt: skip


def test_gelu_is_one_node() -> None:
    graph = mx.importers.jax.load(partial(nn.gelu, approximate=False), (X,))
    mx.graph.passes.run(graph, ["activations", "unused"])
    assert [node.op_type for node in graph.nodes if node.op_type != "Constant"] == ["Gelu"]


@pytest.mark.parametrize(("x", "most"), [("float32", 8), ("float64", 32)])
def test_erfc_has_all_digits(x, most) -> None:
    with jax.enable_x64(True):
        numbers = np.concatenate([np.linspace(-6, 9, 301), [26, 30, 1e30, np.inf, -np.inf, np.nan]])
        numbers = numbers.astype(x)
        graph = mx.importers.jax.load(lax.erfc, (jnp.asarray(numbers),))
    found = mx.graph.Plan(graph).run({graph.inputs[0].name: mx.np.array(numbers)})[0].asnumpy()
    expected = np.array([math.erfc(one) for one in numbers.astype("float64")])
    # Beyond the smallest normal number digits go.
    digits = most * np.maximum(np.spacing(abs(expected).astype(x)), np.finfo(x).tiny)
    close = (abs(found - expected) <= digits) | (found == expected)
    assert close[:-1].all() and np.isnan(found[-1]), numbers[~close]


@pytest.mark.parametrize("name", CASES)
def test_rules(name) -> None:
    check(jax.jit(CASES[name][0]), *CASES[name][1:])


def network(params, x, *, scale):
    for layer in params["convs"]:
        x = lax.conv_general_dilated(x, layer["w"], (1, 1), "SAME", **NHWC) + layer["b"]
        mean, spread = layer["norm"]
        x = nn.relu((x - mean) * lax.rsqrt(spread + 1e-3))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    with jax.named_scope("head"):
        return {"scores": x.mean((1, 2)) @ params["head"] * scale, "features": x}


def parameters():
    convs = [
        {"w": floats(3, 3, a, b), "b": floats(b), "norm": (floats(b), positive(b))}
        for a, b in ((4, 5), (5, 3))
    ]
    return jax.tree_util.tree_map(jnp.asarray, {"convs": convs, "head": floats(3, 2)})


@pytest.mark.parametrize("bind", [partial, jax.tree_util.Partial])
def test_bound_parameters_are_weights(bind) -> None:
    params = parameters()
    graph = check(bind(jax.jit(network), params, scale=2.0), IMAGE)
    names = [f"params.convs.{i}.{one}" for i in (0, 1) for one in ("b", "norm.0", "norm.1", "w")]
    assert sorted(graph.weights) == sorted([*names, "params.head"])
    pointer = graph.weights["params.head"].ctypes.data
    assert pointer == params["head"].unsafe_buffer_pointer()
    assert [spec.name for spec in graph.inputs] == ["x"]
    assert [spec.name for spec in graph.outputs] == ["features", "scores"]
    kinds = [node.op_type for node in graph.nodes]
    # Of images one that comes in, and one that goes out.
    turned = [node.inputs[0].shape for node in graph.nodes if node.op_type == "Transpose"]
    assert [shape[0] for shape in turned].count(2) == 2 and "Expand" not in kinds
    (product,) = [node for node in graph.nodes if node.op_type in ("Gemm", "MatMul")]
    assert product.metadata_props["mx.module"] == "head"
    assert __file__ in product.metadata_props["mx.source"]


def test_a_precision_that_is_there() -> None:
    check(lambda x: lax.reduce_precision(x, 8, 23) * 2, X)


def test_arguments_are_inputs() -> None:
    graph = check(jax.jit(lambda params, x: x @ params["w"] + params["b"]),
                  {"w": floats(4, 2), "b": floats(2)}, floats(3, 4))  # fmt: skip
    assert [spec.name for spec in graph.inputs] == ["params_b", "params_w", "x"]


@pytest.mark.parametrize(
    ("function", "args", "kind", "text"),
    [
        (3, (X,), TypeError, "expected a function, got int"),
        (jnp.sin, (), TypeError, "expected an example of the arguments"),
        (jnp.linalg.inv, (floats(3, 3),), mx.graph.GraphError, "cannot import .*no rule"),
        (lambda x: lax.cond(x.sum() > 0, lambda y: y, lambda y: lax.digamma(y), x), (X,),
         mx.graph.GraphError,
         "digamma \\(.*test_rules.py:[0-9]+\\): there is no rule"),
        (lambda x: x.at[0].apply(jnp.sin), (X,), mx.graph.GraphError,
         "scatter \\(.*: elements that a function makes others of"),
        (lambda x: jax.random.normal(jax.random.key(1), (2,)) + x, (X[0, 0, :2],),
         mx.graph.GraphError, "random"),
        (lambda x: lax.reduce_precision(x, 8, 8), (X,), mx.graph.GraphError,
         "8 bits of the exponent and 8 of the mantissa, of float32"),
        (lambda x: lax.reduce_precision(x, 5, 23), (X,), mx.graph.GraphError, "5 bits"),
        (jax.jit(pow, static_argnums=1), (X, 2), TypeError, "static are bound by functools.part"),
        (lambda x: jax.pure_callback(np.sin, X, x), (X,), mx.graph.GraphError,
         "function of Python"),
    ],
)  # fmt: skip
def test_what_cannot_be_imported(function, args, kind, text) -> None:
    with pytest.raises(kind, match=text):
        mx.importers.jax.load(function, args)
