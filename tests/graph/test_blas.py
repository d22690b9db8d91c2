"""BLAS as a backend: products against NumPy in float64, and for which nodes it has kernels."""

import threading

import numpy as np
import onnx_ir
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

import ffi
import mx
from mx.graph import Graph, Plan
from mx.graph.lowering import BACKENDS, BLAS, OPERATORS, Chooser
from tests import library

from . import build
from .test_onnx_nodes import CASES, check_equal, content_of

library.load()
run_kernel = ffi.get_global_func("testing.run_kernel")
make = ffi.get_global_func("mx.graph.blas_product")
one_thread = ffi.get_global_func("mx.graph.plan_for_one_thread")

FIRST = Chooser((BLAS, *BACKENDS))


def normal(seed, shape, dtype="float32"):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def turned(array):
    return np.ascontiguousarray(np.swapaxes(array, -1, -2))


# Shapes of the factors.
FACTORS = {
    "matrices": ((3, 5), (5, 4)),
    "large": ((130, 70), (70, 90)),
    "row": ((1, 65), (65, 40)),
    "column": ((30, 65), (65, 1)),
    "number": ((1, 70), (70, 1)),
    "one term": ((3, 1), (1, 4)),
    "batch": ((2, 3, 5), (2, 5, 4)),
    "batches that broadcast": ((2, 1, 3, 5), (4, 5, 2)),
    "one second factor": ((2, 6, 3, 5), (5, 4)),
    "one second factor for rows": ((2, 6, 1, 5), (5, 4)),
    "one first factor": ((3, 5), (2, 5, 4)),
    "batch of rows": ((2, 1, 5), (2, 5, 4)),
    "no rows": ((0, 5), (5, 4)),
    "no columns": ((3, 5), (5, 0)),
    "no terms": ((3, 0), (0, 4)),
    "no items": ((0, 3, 5), (5, 4)),
}
# The factors alpha and beta, and the axes of what is added that have their whole extent.
ADDENDS = {
    "nothing": (1.0, 1.0, None),
    "alpha": (-0.5, 1.0, None),
    "all": (1.0, 1.0, (True, True)),
    "row": (2.0, 1.0, (False, True)),
    "column": (1.0, -0.25, (True, False)),
    "number": (0.5, 3.0, (False, False)),
    "left out": (1.0, 0.0, (True, True)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("alpha", "beta", "whole"), ADDENDS.values(), ids=ADDENDS)
@pytest.mark.parametrize(("left", "right"), FACTORS.values(), ids=FACTORS)
def test_kernel(left, right, alpha, beta, whole, dtype):
    a, b = normal(1, left, dtype), normal(2, right, dtype)
    expected = alpha * (np.float64(a) @ np.float64(b))
    added = []
    if whole is not None:
        shape = [n if all_ else 1 for n, all_ in zip(expected.shape[-2:], whole, strict=True)]
        added = [normal(3, shape, dtype)]
        expected = expected + beta * np.float64(added[0]) if beta else expected
    allowed = (2e-6 if dtype == "float32" else 1e-14) * (1 + abs(expected).max(initial=0) * 4)
    for flips in ((False, False), (True, False), (False, True), (True, True)):
        for relu in (False, True):
            given = [turned(one) if flip else one for one, flip in zip((a, b), flips, strict=True)]
            c = added[0].shape if added else None
            kernel = make(dtype, given[0].shape, given[1].shape, c, *flips, alpha, beta, relu)
            inputs = [mx.np.array(one) for one in (*given, *(added if beta else ()))]
            (found,) = run_kernel(kernel, inputs)
            assert str(found.dtype) == dtype and found.shape == expected.shape
            wanted = np.maximum(expected, 0) if relu else expected
            np.testing.assert_allclose(found.asnumpy(), wanted, rtol=0, atol=allowed)


def test_nan_and_infinity():
    """They are in the sums of their row alone, with what is added, and a Relu keeps a NaN."""
    a, b, c = normal(1, (4, 5)), np.abs(normal(2, (5, 6))), normal(3, (4, 1))
    a[0, 2], a[2, 4], c[3] = np.nan, -np.inf, np.nan
    kernel = make("float32", a.shape, b.shape, c.shape, False, False, 1.5, 2.0, True)
    (found,) = run_kernel(kernel, [mx.np.array(one) for one in (a, b, c)])
    with np.errstate(invalid="ignore"):
        expected = np.maximum(1.5 * (np.float64(a) @ b) + 2 * c, 0)
    assert np.isnan(expected[[0, 3]]).all() and (expected[2] == 0).all()
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=0, atol=1e-5)


REJECTED = {
    "type": (("int32", (2, 3), (3, 4)), TypeError, "dtype: expected float32 or float64, got int32"),
    "axes": (("float32", (3,), (3, 4)), ValueError, "a: expected 2 to 64 axes, got 1"),
    "terms": (("float32", (2, 3), (4, 4)), ValueError, "b: expected 3 rows, as a has columns"),
    "batch": (("float32", (2, 2, 3), (3, 3, 4)), ValueError, "b: expected axes that broadcast"),
    "negative": (("float32", (-1, 3), (3, 4)), ValueError, "a: expected extents of 0 or more"),
    "size": (("float32", (2**40, 3), (3, 4)), ValueError, "a: expected 0 to 2147483647"),
    "result": (("float32", (2**31 - 1, 1), (1, 2**31 - 1)), ValueError, "2 .. 48 elements"),
    "added": (("float32", (2, 3), (3, 4), (4, 2)), ValueError, "c: expected a shape that broad"),
    "alpha": (
        ("float32", (2, 3), (3, 4), None, False, False, 0.0),
        ValueError,
        "alpha: expected another number than 0",
    ),
}


@pytest.mark.parametrize(("arguments", "error", "message"), REJECTED.values(), ids=REJECTED)
def test_rejected(arguments, error, message):
    defaults = ("float32", (2, 3), (3, 4), None, False, False, 1.0, 1.0, False)
    with pytest.raises(error, match=message):
        make(*arguments, *defaults[len(arguments) :])


def test_for_one_thread():
    """BLAS would share its work with threads that are at other parts of a plan."""
    before = mx.get_num_threads()
    mx.set_num_threads(2)
    one_thread(True)
    try:
        with pytest.raises(NotImplementedError, match="BLAS shares its work"):
            make("float32", (2, 3), (3, 4), None, False, False, 1.0, 1.0, False)
    finally:
        one_thread(False)
        mx.set_num_threads(before)


# A model's text, the inputs that it has, and its steps, None for those of others.
NODES = {
    "product": ("y = MatMul(a, w)", "a", ["blas.sgemm"]),
    "followers": ("t = MatMul(a, w) u = Add(row, t) y = Relu(u)", "a", ["blas.sgemm+add+relu"]),
    "relu": ("t = MatMul(a, w) y = Relu(t)", "a", ["blas.sgemm+relu"]),
    "added once": ("y = Gemm(a, w, row)", "a", ["blas.sgemm+add"]),
    "column": ("y = Gemm<alpha = 0.5>(a, w, column)", "a", ["blas.sgemm+add"]),
    "number": ("y = Gemm<beta = 2.0>(a, w, number)", "a", ["blas.sgemm+add"]),
    "input added": ("y = Gemm<beta = 0.5>(a, w, c)", "ac", ["blas.sgemm+add"]),
    "left out": ("y = Gemm<beta = 0.0>(a, w, row)", "a", ["blas.sgemm"]),
    "second turned": ("y = Gemm<transB = 1>(a, v, row)", "a", ["blas.sgemm+add"]),
    "both turned": (
        "t = Transpose(a) y = Gemm<transA = 1, transB = 1>(t, v)", "a", ["blas.sgemm"]
    ),
    "views": ("t = Transpose(c) y = MatMul(t, a)", "ac", ["blas.sgemm"]),
    "grows": ("t = MatMul(a, w) y = Add(t, stack)", "a", ["blas.sgemm", None]),
    "images": ("y = Conv(images, filters, few)", "i", ["blas.sgemm+add"]),
    "images, relu": ("t = Conv(images, filters) y = Relu(t)", "i", ["blas.sgemm+relu"]),
}  # fmt: skip
CONSTANTS = {
    "w": (6, 5), "v": (5, 6), "row": (5,), "column": (20, 1), "number": (), "stack": (2, 20, 5),
    "filters": (4, 3, 1, 1), "few": (4,), "thin": (5, 1), "line": (6,), "narrow": (1, 4),
    "wide": (4, 3, 2, 1),
}  # fmt: skip
INPUTS = {"a": (20, 6), "c": (20, 5), "s": (8, 6), "p": (20, 1), "q": (2, 5), "i": (2, 3, 5, 7)}


def plan_of(text, names, chooser, dtype="float32"):
    """A plan of a model, its inputs and what the reference gives for them."""
    kind = {"float32": "float", "float64": "double"}[dtype]
    declared = ", ".join(
        f"{kind}[{', '.join(map(str, INPUTS[name]))}] {'images' if name == 'i' else name}"
        for name in names
    )
    rank = 4 if names == "i" else 3 if "stack" in text else 1 if "line" in text else 2
    output = ", ".join("NMKL"[:rank])
    model = build.model_of(f"agraph ({declared}) => ({kind}[{output}] y) {{ {text} }}")
    for seed, (name, extents) in enumerate(CONSTANTS.items()):
        array = np.asarray(normal(seed, extents, dtype), dtype)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    arrays = [normal(9 + n, INPUTS[name], dtype) for n, name in enumerate(names)]
    feeds = dict(zip([one.name for one in model.graph.input], arrays, strict=True))
    (expected,) = ReferenceEvaluator(model).run(None, feeds)
    return Plan(Graph(onnx_ir.from_proto(model)), optimize=False, chooser=chooser), feeds, expected


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("text", "names", "steps"), NODES.values(), ids=NODES)
def test_nodes(text, names, steps, dtype):
    plan, feeds, expected = plan_of(text, names, FIRST, dtype)
    allowed = {"float32": 1e-5, "float64": 1e-13}[dtype]
    np.testing.assert_allclose(plan(**feeds)[0].asnumpy(), expected, rtol=0, atol=allowed)
    found = [step[1] for step in plan.compiled(feeds).steps]
    wanted = [name and name.replace("sgemm", {"float32": "sgemm", "float64": "dgemm"}[dtype])
              for name in steps]  # fmt: skip
    assert len(found) == len(wanted)
    assert [name for name, one in zip(found, wanted, strict=True) if one] == [*filter(None, wanted)]


def test_memory_of_what_is_added():
    """A sum is made where the addend lies, which nobody reads afterwards."""
    plan, feeds, expected = plan_of("e = Exp(c) z = Gemm(a, w, e) y = Neg(z)", "ac", FIRST)
    np.testing.assert_allclose(plan(**feeds)[0].asnumpy(), expected, rtol=0, atol=1e-5)
    other, _, _ = plan_of("e = Exp(c) z = Neg(e) y = Neg(z)", "ac", FIRST)
    other(**feeds)
    assert plan.compiled(feeds).arena_bytes == other.compiled(feeds).arena_bytes


# Text, the input that it has, and why BLAS has no kernel.
DECLINED = {
    "few": ("y = MatMul(q, thin)", "q", "few elements"),
    "outer": ("y = MatMul(p, narrow)", "p", "a column times a row"),
    "vector": ("y = MatMul(a, line)", "a", "vectors"),
    "factor": ("y = Gemm<alpha = 0.0>(a, w)", "a", "a factor of 0, for which BLAS looks at no NaN"),
    "small": ("y = Gemm(s, w)", "s", "a few rows and a small matrix"),
    "windows": ("y = Conv(images, wide)", "i", "no product of matrices: windows"),
    "pads": ("y = Conv<pads = [0, 1, 0, 1]>(images, filters)", "i", "no product of matrices: pads"),
}


@pytest.mark.parametrize(("text", "names", "reason"), DECLINED.values(), ids=DECLINED)
def test_declined(text, names, reason):
    plan, feeds, expected = plan_of(text, names, FIRST)
    np.testing.assert_allclose(plan(**feeds)[0].asnumpy(), expected, rtol=0, atol=1e-5)
    (step,) = plan.steps()
    assert step.backend != "blas" and f"blas: {reason}" in " ".join(
        one.replace("left to the operators of mx: ", "") for one in step.reasons
    )


@pytest.mark.parametrize(("rows", "columns"), [(300, 40), (1030, 1024), (1030, 1023)])
def test_column_times_row(rows, columns):
    """Without BLAS: of a large result by the loops for few terms, where the processor has them."""
    text = f"agraph (float[1, {rows}] a, float[1, {columns}] b) => (float[{rows}, {columns}] y)"
    model = build.model_of(text + " { y = Gemm<transA = 1>(a, b) }")
    a, b = normal(1, (1, rows)), normal(2, (1, columns))
    plan = Plan(Graph(onnx_ir.from_proto(model)))
    np.testing.assert_array_equal(plan(a, b)[0].asnumpy(), a.T * b)
    (name,) = [step[1] for step in plan.compiled({"a": a, "b": b}).steps]
    is_large = rows * columns >= 1 << 20
    is_thin = ffi.get_global_func("mx.graph.training.thin_product")(rows, columns, 1)
    assert name == ("_npi.matmul" if is_large and is_thin else "_npi.multiply")


def test_other_operators_are_not_worth_a_word():
    plan, feeds, _ = plan_of("y = Trilu(a)", "a", FIRST)
    plan(**feeds)
    assert plan.steps()[0].reasons == ("onednn: no rule for this operator",)


def test_other_types_are_declined():
    graph = build.graph_of("g (float16[20,6] a, float16[6,5] b) => (float16[20,5] y) "
                           "{ y = MatMul(a, b) }")  # fmt: skip
    plan = Plan(graph, chooser=FIRST)
    plan(*(np.ones(shape, "float16") for shape in ((20, 6), (6, 5))))
    assert "blas: BLAS has float32 and float64: float16" in plan.steps()[0].reasons


@pytest.mark.parametrize("name", sorted(
    name for name in CASES if name.startswith(("test_matmul_", "test_gemm_"))
))  # fmt: skip
def test_cases_of_onnx(name):
    case = CASES[name]
    plan = Plan(Graph(onnx_ir.serde.deserialize_model(case.model)), chooser=FIRST)
    for inputs, outputs in case.data_sets:
        arrays = [content_of(one) for one in inputs]
        for one, expected in zip(plan(*arrays), map(content_of, outputs), strict=True):
            check_equal(one, expected, case.rtol, max(case.atol, 1e-6))
        (step,) = plan.steps()
        has_rows = all(array.ndim > 1 for array in arrays[:2])
        assert (
            step.backend == "blas" or not has_rows or "left to the operators" in str(step.reasons)
        )


def test_from_several_threads():
    a, b, c = (
        normal(seed, shape) for seed, shape in ((1, (300, 200)), (2, (200, 250)), (3, (250,)))
    )
    model = build.model_of("agraph (float[N, 200] a, float[200, 250] b, float[250] c) => "
                           "(float[N, M] y) { t = Gemm(a, b, c) y = Relu(t) }")  # fmt: skip
    plan = Plan(Graph(onnx_ir.from_proto(model)), chooser=Chooser((BLAS, OPERATORS)))
    expected = np.maximum(np.float64(a) @ b + c, 0)
    before = mx.get_num_threads()
    wrong = []

    def run():
        for _ in range(20):
            (found,) = plan(a, b, c)
            if abs(found.asnumpy() - expected).max() > 1e-3:
                wrong.append(1)

    try:
        for count in (1, 2, 3):
            mx.set_num_threads(count)
            threads = [threading.Thread(target=run) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not wrong
    finally:
        mx.set_num_threads(before)
    assert plan.steps()[0].backend == "blas"
