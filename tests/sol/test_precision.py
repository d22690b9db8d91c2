"""Products in 8 bits: only when asked for, as ONNX defines them, with the error in the report."""

from __future__ import annotations

import copy

import numpy
import onnx_ir
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from torch import nn

from mx import sol
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


@pytest.mark.parametrize(
    ("precision", "kind", "text"),
    [
        ("int4", ValueError, "precision: expected one of float32, int8, bf16, got 'int4'"),
        ("bf16", NotImplementedError, "precision='bf16': not implemented yet"),
    ],
)
def test_what_is_rejected(precision, kind, text) -> None:
    with pytest.raises(kind, match=text):
        sol.optimize(model(), torch.randn(4, 48), precision=precision)
