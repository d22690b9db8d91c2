"""Products in 8 bits and of bfloat16: only when asked for, with the error in the report."""

from __future__ import annotations

import copy
import os
import subprocess
import sys

import numpy
import onnx_ir
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn

from mx import _onednn, sol
from mx.graph import Plan
from mx.graph.lowering import BACKENDS, Chooser
from mx.sol.backends.gen import GEN
from mx.sol.passes.bf16 import BF16
from mx.sol.passes.int8 import INT8
from tests.graph.build import graph_of

NUMBERS = ", ".join(str((n * 37 % 101 - 50) / 25) for n in range(32 * 32))
WEIGHTS = f"""float[32,32] w = {{{NUMBERS}}}, float[32] b = {{{", ".join(["0.5"] * 32)}}},
float[2,2] s = {{1, 2, 3, 4}}"""
# The body of a graph of x, and how many products are in 8 bits then.
CASES = {
    "product": ("y = MatMul(x, w)", 1),
    "product of more axes": ("a = Unsqueeze(x, k) c = MatMul(a, w) y = Squeeze(c, k)", 1),
    "matrix": ("y = Gemm(x, w, b)", 1),
    "turned matrix": ("a = Gemm<transB=1>(x, w) y = Relu(a)", 1),
    "two of one input": ("a = MatMul(x, w) c = Gemm(x, w) y = Add(a, c)", 2),
    "scaled": ("y = Gemm<alpha=0.5>(x, w, b)", 0),
    "turned input": ("a = Transpose(x) y = Gemm<transA=1>(a, w)", 0),
    "no weight": ("a = Gemm<transB=1>(x, x) y = Relu(a)", 0),
    "weight first": ("a = Transpose(x) y = MatMul(w, a)", 0),
    "small": ("i = Slice(x, z, t, o) y = MatMul(i, s)", 0),
}


@pytest.mark.parametrize(("body", "count"), CASES.values(), ids=CASES.keys())
def test_products(body, count) -> None:
    graph = graph_of(
        f"""g (float[6,32] x) => (float[] y) <{WEIGHTS}, int64[1] k = {{0}}, int64[1] z = {{0}},
        int64[1] t = {{2}}, int64[1] o = {{1}}> {{ {body} }}"""
    )
    graph.infer()
    x = numpy.random.default_rng(0).standard_normal((6, 32)).astype("float32")
    (exact,) = ReferenceEvaluator(onnx_ir.to_proto(graph.model)).run(None, {"x": x})
    with_int8 = sol.optimize(graph, precision="int8")
    found = with_int8(x)
    numpy.testing.assert_allclose(found, exact, atol=0.03 * abs(exact).max())
    assert len(INT8.run(graph.model)) == count
    operators = [node.op_type for node in graph.nodes]
    assert operators.count("MatMulInteger") == count
    assert operators.count("DynamicQuantizeLinear") == min(count, 1)
    onnx_ir.passes.common.CheckerPass()(graph.model)
    (expected,) = ReferenceEvaluator(onnx_ir.to_proto(graph.model)).run(None, {"x": x})
    numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * abs(exact).max())


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 40)).eval()


def test_a_module_of_torch() -> None:
    x = torch.randn(4, 48)
    plain, fast = model(), sol.optimize(model(), x, precision="int8")
    with torch.no_grad():
        expected = plain(x)
        error = float((fast(x) - expected).abs().max() / expected.abs().max())
        assert 1e-6 < error < 0.05
        found = sol.report(fast)
        assert found.error == pytest.approx(error, rel=1e-3)
        assert "Precision: int8, largest error on the example: " in str(found)
        assert sol.report(sol.optimize(plain, x)).error is None
        # Weights are quantized anew when they change.
        fast[2].weight.mul_(100)
        plain[2].weight.mul_(100)
        assert (fast(x) - plain(x)).abs().max() < 0.05 * plain(x).abs().max()
        assert sol.report(copy.deepcopy(fast)).error == pytest.approx(error, rel=0.5)


def test_the_setting() -> None:
    graph = graph_of(f"g (float[6,32] x) => (float[] y) <{WEIGHTS}> {{ y = MatMul(x, w) }}")
    sol.config["precision"] = "int8"
    try:
        assert sol.report(sol.optimize(graph)).error is not None
        assert sol.report(sol.optimize(graph, precision="float32")).error is None
    finally:
        del sol.config["precision"]
    assert sol.report(sol.optimize(graph)).error is None


def test_what_is_rejected() -> None:
    expected = "precision: expected one of float32, int8, bf16, got 'int4'"
    with pytest.raises(ValueError, match=expected):
        sol.optimize(model(), torch.randn(4, 48), precision="int4")


def has_bfloat16() -> bool:
    try:
        return _onednn.load().has_bfloat16()
    except ImportError:
        return False


IMAGE = f"""float[32,4,2,4] f = {{{NUMBERS}}}, float[32] b = {{{", ".join(["0.5"] * 32)}}},
float[32,1,1,32] e = {{{NUMBERS}}}"""
# Of x of (6, 32), which is a batch of images, too; how many products are of bfloat16 then.
ROUNDED = {
    **{title: (body, count) for title, (body, count) in CASES.items() if "more" not in title},
    "product with what follows": ("a = MatMul(x, w) c = Add(a, b) y = Relu(c)", 1),
    "product of more axes": ("a = Unsqueeze(x, k) c = MatMul(a, w) y = Squeeze(c, k)", 1),
    "turned weight": ("u = Transpose(w) y = MatMul(x, u)", 1),
    "scaled": ("y = Gemm<alpha=0.5>(x, w, b)", 1),
    "turned input": ("a = Transpose(x) y = Gemm<transA=1>(a, w)", 1),
}


@pytest.mark.parametrize(("body", "count"), ROUNDED.values(), ids=ROUNDED.keys())
@pytest.mark.filterwarnings("ignore::mx.sol.SolWarning")
def test_bfloat16_products(body, count) -> None:
    graph = graph_of(
        f"""g (float[6,32] x) => (float[] y) <{WEIGHTS}, int64[1] k = {{0}}, int64[1] z = {{0}},
        int64[1] t = {{2}}, int64[1] o = {{1}}> {{ {body} }}"""
    )
    graph.infer()
    x = numpy.random.default_rng(0).standard_normal((6, 32)).astype("float32")
    check_rounding(graph, x, count)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("y = Conv(x, f, b)", 1),
        ("a = Conv<pads=[1,1,1,1], strides=[2,2]>(x, f) c = Relu(a) y = Add(c, c)", 1),
        ("a = Conv(x, f) c = Relu(a) y = Conv<group=32>(c, e)", 1),
    ],
)
@pytest.mark.filterwarnings("ignore::mx.sol.SolWarning")
def test_bfloat16_convolutions(body, count) -> None:
    graph = graph_of(f"g (float[2,4,9,40] x) => (float[] y) <{IMAGE}> {{ {body} }}")
    graph.infer()
    x = numpy.random.default_rng(0).standard_normal((2, 4, 9, 40)).astype("float32")
    check_rounding(graph, x, count)


def check_rounding(graph, x, count) -> None:
    """The error is that of factors of 8 bits, and there where factors are rounded only."""
    (exact,) = ReferenceEvaluator(onnx_ir.to_proto(graph.model)).run(None, {"x": x})
    fast = sol.optimize(graph, precision="bf16")
    error = abs(fast(x) - exact).max() / abs(exact).max()
    if count and has_bfloat16():
        assert 1e-5 < error < 0.02
        assert "Precision: bf16, largest error" in str(sol.report(fast))
    else:
        assert error < 1e-5
    BF16.run(graph.model)
    assert sum("mx.precision" in node.metadata_props for node in graph.nodes) == count


@pytest.mark.skipif(not has_bfloat16(), reason="no AVX512_BF16")
def test_bfloat16_is_added_up_in_float32() -> None:
    """Of factors that are exact in bfloat16 the sum has more digits than that has."""
    graph = graph_of(f"g (float[6,32] x) => (float[] y) <{WEIGHTS}> {{ y = MatMul(x, w) }}")
    weights = numpy.ones((32, 32), "float32")
    graph.model.graph.initializers["w"].const_value = onnx_ir.tensor(weights)
    x = numpy.ones((6, 32), "float32")
    x[:, 0] = 1024
    assert (sol.optimize(graph, precision="bf16")(x) == 1024 + 31).all()


@pytest.mark.filterwarnings("ignore::mx.sol.SolWarning")
def test_generated_products(tmp_path) -> None:
    """Tuning may choose them beside oneDNN's, and what is deployed has half the weights."""
    graph = graph_of(
        f"g (float[6,32] x) => (float[] y) <{WEIGHTS}> {{ a = MatMul(x, w) y = Relu(a) }}"
    )
    graph.infer()
    x = numpy.random.default_rng(0).standard_normal((6, 32)).astype("float32")
    sizes = [
        sol.deploy(sol.optimize(graph, precision=one), "source", path=tmp_path).weights_bytes
        for one in ("float32", "bf16")
    ]
    assert sizes == [4 * 32 * 32, 2 * 32 * 32]
    (exact,) = ReferenceEvaluator(onnx_ir.to_proto(graph.model)).run(None, {"x": x})
    BF16.run(graph.model)
    plan = Plan(graph, optimize=False, chooser=Chooser((GEN, *BACKENDS)))
    error = abs(plan.run({"x": x})[0].asnumpy() - exact).max() / abs(exact).max()
    assert [step[1] for step in plan.compiled({"x": x}).steps] == ["gen:matmul+relu"]
    if GEN.target.has("avx512_bf16"):
        assert 1e-5 < error < 0.02
    else:
        assert error < 1e-5


def test_a_processor_without_bfloat16() -> None:
    program = """
import warnings, numpy
from mx import sol
from tests.sol.test_precision import WEIGHTS
from tests.graph.build import graph_of
graph = graph_of(f"g (float[6,32] x) => (float[] y) <{WEIGHTS}> {{ y = MatMul(x, w) }}")
x = numpy.ones((6, 32), "float32")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = sol.optimize(graph, precision="bf16")(x)
print(*(one.message for one in caught))
numpy.testing.assert_array_equal(found, sol.optimize(graph)(x))
"""
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "precision='bf16': the processor has no AVX512_BF16: the model computes in" in told
