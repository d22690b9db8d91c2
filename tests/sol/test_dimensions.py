"""Which dimensions vary by the structure of a graph, and what outputs are in terms of these."""

from __future__ import annotations

import os

import numpy
import pytest

from mx import sol
from mx.sol.dims import Dimensions
from mx.sol.dims._fit import fitted
from tests.graph.build import graph_of


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (lambda n: n, "#0"),
        (lambda n: 7, 7),
        (lambda n: 3 * n, "3*#0"),
        (lambda n: 3 * n - 2, "3*#0 - 2"),
        (lambda n: n + 5, "#0 + 5"),
        (lambda n: n // 2, "#0//2"),
        (lambda n: (n - 1) // 2 + 1, "(#0 + 1)//2"),
        (lambda n: ((n - 2) // 2 - 3) // 3 + 1, "(#0 - 2)//6"),
        (lambda n: (n + 31) // 32, "(#0 + 31)//32"),
        (lambda n: 2 * (n // 2), None),
        (lambda n: n // 11, None),  # which does not divide what is tried
        (lambda n: n * n, None),
        (lambda n: n if n < 5000 else 5000, None),
    ],
)
@pytest.mark.parametrize("length", [1, 2, 31, 32, 224])
def test_what_follows_from_a_length(of, expected, length) -> None:
    assert fitted("#0", length, of) == expected


def ones(*shape: int) -> numpy.ndarray:
    return numpy.ones(shape, "float32")


def conv(x: str) -> str:
    """A convolution, windows, and a mean of all."""
    return f"""g (float{x} x) => (float[] y, float[] z)
    <float[8,3,3,3] w = {{{", ".join(["1"] * 216)}}}>
    {{ c = Conv(x, w) y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(c)
       z = GlobalAveragePool(y) }}"""


ONE = [ones(2, 3, 9, 9)]
WEIGHTS = "<float[4,5] w = {" + ", ".join(["1"] * 20) + "}>"

GRAPHS = {
    "what a convolution leaves open": (
        conv("[N,3,H,W]"),
        [],
        "x [#0, 3, #1, #2]; y [#0, 8, (#1 - 2)//2, (#2 - 2)//2], z [#0, 8, 1, 1]",
    ),
    "channels with a name": (
        conv("[N,C,H,W]"),
        ONE,
        "x [#0, 3, #1, #2]; y [#0, 8, (#1 - 2)//2, (#2 - 2)//2], z [#0, 8, 1, 1]",
    ),
    "a shape that is not declared": (
        conv("[]"),
        ONE,
        "x [#0, 3, #1, #2]; y [#0, 8, (#1 - 2)//2, (#2 - 2)//2], z [#0, 8, 1, 1]",
    ),
    "a factor of a matrix": (
        f"g (float[N,K] x) => (float[] y) {WEIGHTS} {{ y = MatMul(x, w) }}",
        [ones(2, 4)],
        "x [#0, 4]; y [#0, 5]",
    ),
    "names that go together": (
        "g (float[N,4] x, float[M,4] z) => (float[] y) { y = Add(x, z) }",
        [ones(3, 4), ones(3, 4)],
        "x [#0, 4], z [#1, 4]; y [broadcast(#0, #1), 4]",
    ),
    "even ones": (
        "g (float[N,3] x) => (float[] y) <int64[2] s = {2, -1}> { y = Reshape(x, s) }",
        [ones(4, 3)],
        "x [#0, 3]; y [2, ?]",
    ),
    "no axes": (
        "g (float[N] x) => (float[] y) { y = ReduceSum<keepdims=0>(x) }",
        [],
        "x [#0]; y []",
    ),
}


def text_of(dimensions: Dimensions) -> str:
    sides = (dimensions.inputs, dimensions.outputs)
    told = [
        [f"{name} [{', '.join(map(str, one))}]" for name, one in side.items()] for side in sides
    ]
    return "; ".join(", ".join(side) for side in told)


@pytest.mark.parametrize(("text", "example", "expected"), GRAPHS.values(), ids=GRAPHS)
def test_graphs(text, example, expected) -> None:
    fast = sol.optimize(graph_of(text), *example, vdims=True)
    assert text_of(fast.compiled.dimensions()) == expected


CHANNELS = r"node that gives 'c' \(Conv\): its weights are for 3 channels, its input has 4"
FIXED = {
    "declared channels": (conv("[N,3,9,9]"), ONE, (2, 4, 9, 9), f"axis 1: .*{CHANNELS}"),
    "named channels": (conv("[N,C,H,W]"), ONE, (2, 4, 9, 9), f"axis 1: .*{CHANNELS}"),
    "declared alone": (conv("[N,3,9,9]"), ONE, (2, 3, 9, 8), "axis 3: .*g declares it"),
    "a matrix": (
        f"g (float[N,K] x) => (float[] y) {WEIGHTS} {{ y = MatMul(x, w) }}",
        [ones(2, 4)],
        (2, 6),
        r"axis 1: expected 4, got 6: node that gives 'y' \(MatMul\)",
    ),
}


@pytest.mark.parametrize(("text", "example", "shape", "reason"), FIXED.values(), ids=FIXED)
def test_why_a_dimension_is_fixed(text, example, shape, reason) -> None:
    fast = sol.optimize(graph_of(text), *example, vdims=True)
    fast(*example)
    with pytest.raises(ValueError, match=f"input 'x': {reason}"):
        fast(ones(*shape))


def test_whom_reasons_are_asked_for() -> None:
    found = Dimensions({"x": ("#0", 3)}, {}, (2,), lambda name, axis: f"{name}[{axis}] is so")
    assert found.reason("x", 1) == found.reason("x", -1) == "x[1] is so"
    assert found.reason("x", 0) == "it is not fixed: #0 may vary"
    with pytest.raises(KeyError, match="there is no input 'y': there are x"):
        found.reason("y", 0)
    with pytest.raises(IndexError, match=r"input 'x' has no axis 2: its shape is \[#0, 3\]"):
        found.reason("x", 2)


def test_a_model_of_keras() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    keras = pytest.importorskip("keras")
    layers = [keras.layers.Conv2D(4, 3), keras.layers.MaxPooling2D()]
    for shape, behind, expected in (
        ((9, 9, 3), [keras.layers.Flatten()], "[#0, 9, 9, 3]; output [#0, 36]"),
        ((None, None, 3), [], "[#0, #1, #2, 3]; output [#0, (#1 - 2)//2, (#2 - 2)//2, 4]"),
    ):
        model = keras.Sequential([keras.Input(shape), *layers, *behind])
        told = sol.report(sol.optimize(model, ones(2, 9, 9, 3))).dimensions
        assert text_of(told).partition(" ")[2] == expected
        (name,) = told.inputs
        assert "weights are for 3 channels" in told.reason(name, 3)


def test_a_function_of_jax() -> None:
    jax = pytest.importorskip("jax")
    weights = jax.numpy.ones((4, 2))
    told = sol.report(sol.optimize(jax.jit(lambda x: x @ weights), ones(3, 4))).dimensions
    assert text_of(told) == "x [#0, 4]; output [#0, 2]"
    assert "contracting dimensions" in told.reason("x", 1)
