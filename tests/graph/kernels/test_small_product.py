"""Products of a few rows with a small matrix against float64, and for which Gemm they are taken."""

import numpy as np
import onnx_ir
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import ffi
import mx
from mx.graph import Graph, Plan
from tests import library

from .. import build

library.load()
run_kernel = ffi.get_global_func("testing.run_kernel")
make = ffi.get_global_func("mx.graph.small_product")
suits = ffi.get_global_func("mx.graph.suits_small_product")


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def kernel_of(rows, matrix, bias=None, transposed=False, relu=False):
    given = None if bias is None else mx.np.array(bias)
    return make(rows, mx.np.array(matrix), given, transposed, relu)


# Rows, columns, terms.
SIZES = [
    *((rows, 75, 33) for rows in range(1, 9)),
    (16, 84, 120),
    (1, 120, 400),
    (1, 1, 1),
    (2, 3, 1),
    (5, 1, 70),
    (7, 16, 2),
    (3, 130, 3),
    (1, 1, 2**16),
]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("rows", "columns", "terms"), SIZES)
def test_kernel(rows, columns, terms, transposed):
    a, matrix, bias = normal(1, rows, terms), normal(2, terms, columns), normal(3, columns)
    given = matrix.T.copy() if transposed else matrix
    exact = np.float64(a) @ matrix
    allowed = 3e-6 * max(1, np.abs(exact).max())
    kernel = kernel_of(rows, given, bias, transposed)
    assert tuple(kernel.shapes[0]) == exact.shape
    np.testing.assert_allclose(
        run_kernel(kernel, [mx.np.array(a)])[0].asnumpy(), exact + bias, rtol=0, atol=allowed
    )
    kernel = kernel_of(rows, given, None, transposed, relu=True)
    np.testing.assert_allclose(
        run_kernel(kernel, [mx.np.array(a)])[0].asnumpy(),
        np.maximum(exact, 0),
        rtol=0,
        atol=allowed,
    )


def test_nan_and_infinity():
    """They are in the sums of their row alone, and a Relu keeps a NaN."""
    a, matrix = normal(1, 3, 5), np.abs(normal(2, 5, 20))
    a[0, 2], a[2, 4] = np.nan, -np.inf
    (given,) = run_kernel(kernel_of(3, matrix, relu=True), [mx.np.array(a)])
    with np.errstate(invalid="ignore"):
        expected = np.maximum(np.float64(a) @ matrix, 0)
    assert np.isnan(expected[0]).all()
    np.testing.assert_allclose(given.asnumpy(), expected, rtol=0, atol=1e-5)


REJECTED = {
    "axes": ((1, np.zeros(3, "float32")), ValueError, "matrix: expected two axes, got"),
    "type": ((1, np.zeros((3, 4))), TypeError, "matrix: expected float32, got float64"),
    "rows": ((17, np.zeros((3, 4), "float32")), ValueError, "got 17 rows and 3 x 4 elements"),
    "no rows": ((0, np.zeros((3, 4), "float32")), ValueError, "got 0 rows"),
    "empty": ((1, np.zeros((0, 4), "float32")), ValueError, "got 1 rows and 0 x 4 elements"),
    "bias": (
        (1, np.zeros((3, 4), "float32"), np.zeros(3, "float32")),
        ValueError,
        "bias: expected the shape .4., got .3,.",
    ),
}


@pytest.mark.parametrize(("arguments", "error", "message"), REJECTED.values(), ids=REJECTED)
def test_rejected(arguments, error, message):
    with pytest.raises(error, match=message):
        kernel_of(*arguments)


@pytest.mark.parametrize(
    ("taken", "rows", "columns", "terms"),
    [
        (True, 1, 120, 400),
        (True, 16, 84, 120),
        (False, 16, 120, 400),
        (False, 17, 10, 10),
        (False, 1, 1000, 2048),
        (False, 0, 10, 10),
        (False, 1, 0, 10),
        (False, 1, 10, 0),
        (False, 2, 2**31 - 1, 2**31 - 1),
    ],
)
def test_choice(taken, rows, columns, terms):
    assert suits(rows, columns, terms) == taken


# A model's text behind its inputs `a` of 2 x 6 and `b`, its shape; and the steps, the first of the
# kernel, None for any other.
GEMMS = {
    "plain": ("y = Gemm(a, b)", (6, 5), ["small_product"]),
    "row added": ("y = Gemm(a, b, c)", (6, 5), ["small_product"]),
    "matrix of a row added": ("y = Gemm(a, b, d)", (6, 5), ["small_product"]),
    "transposed": ("y = Gemm <transB = 1> (a, b, c)", (5, 6), ["small_product"]),
    "relu": ("t = Gemm(a, b, c) y = Relu(t)", (6, 5), ["small_product+relu"]),
    "addend left out": ("y = Gemm <beta = 0.0> (a, b, c)", (6, 5), ["small_product"]),
    "factor": ("y = Gemm <alpha = 2.0> (a, b, c)", (6, 5), [None]),
    "column added": ("y = Gemm(a, b, e)", (6, 5), [None, None]),
    "first transposed": ("t = Gemm <transA = 1> (a, b) y = Relu(t)", (2, 5), [None]),
    "what kernels of others do": ("t = Gemm(a, b, c) y = Tanh(t)", (6, 5), [None]),
}


@pytest.mark.parametrize(("text", "shape", "steps"), GEMMS.values(), ids=GEMMS)
def test_gemm(text, shape, steps):
    model = build.model_of(f"agraph (float[2, 6] a) => (float[N, M] y) {{ {text} }}")
    constants = {"b": shape, "c": (5,), "d": (1, 5), "e": (2, 1)}
    for seed, (name, extents) in enumerate(constants.items()):
        model.graph.initializer.append(numpy_helper.from_array(normal(seed, *extents), name))
    a = normal(9, 2, 6)
    (expected,) = ReferenceEvaluator(model).run(None, {"a": a})
    plan = Plan(Graph(onnx_ir.from_proto(model)))
    np.testing.assert_allclose(plan(a)[0].asnumpy(), expected, rtol=0, atol=1e-5)
    names = [step[1] for step in plan.compiled({"a": a}).steps]
    assert [name.startswith("small_product") for name in names] == [bool(step) for step in steps]
    assert names[0] == steps[0] or steps[0] is None


def test_varying_matrix():
    """One that is an input of the graph is not packed."""
    nodes = [helper.make_node("Gemm", ["a", "b"], ["y"])]
    values = [
        helper.make_tensor_value_info(name, 1, shape)
        for name, shape in (("a", (2, 6)), ("b", (6, 5)), ("y", (2, 5)))
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "product", values[:2], values[2:]), ir_version=10
    )
    a, b = normal(1, 2, 6), normal(2, 6, 5)
    plan = Plan(Graph(onnx_ir.from_proto(model)))
    np.testing.assert_allclose(plan(a, b)[0].asnumpy(), a @ b, rtol=0, atol=1e-5)
    np.testing.assert_allclose(plan(a, 2 * b)[0].asnumpy(), 2 * a @ b, rtol=0, atol=1e-5)
