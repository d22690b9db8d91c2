"""Products with elementwise nodes behind them, in plans."""

from __future__ import annotations

import numpy
import onnx
import onnx_ir
import pytest
from onnx.reference import ReferenceEvaluator

from mx.graph import Graph, Plan
from mx.graph.lowering import BACKENDS, Chooser
from mx.sol.backends.gen import GEN, Declined, GroupNode, Spec, Target, emit_group
from tests.graph.build import model_of

random = numpy.random.default_rng(0)


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype(numpy.float32)


LINE = [Spec((2, 3, 9), "float32"), Spec((4, 3, 2), "float32"), Spec((1, 1, 8), "float32")]
BACK = [Spec((2, 3, 7), "float32"), Spec((3, 4, 2), "float32"), Spec((1, 1, 8), "float32")]
X, W = Spec((2, 3, 6, 6), "float32"), Spec((4, 3, 3, 3), "float32")
WEIGHTS = {1: _of(4, 3, 3, 3)}


@pytest.mark.parametrize(
    ("inputs", "nodes", "outputs", "reason"),
    [
        ([X, W], [("Conv", (0, 1)), ("Relu", (2,))], [2], "more than the last"),
        ([X, W], [("Conv", (0, 1)), ("Relu", (0,))], [3], "does not read"),
        ([X, W], [("Conv", (0, 1)), ("Cos", (2,))], [3], "no cos of vectors"),
        ([X, W], [("Conv", (0, 1)), ("Cast", (2,), {"to": 7})], [3], "no vectors of int64"),
        (
            [X, W, Spec((2, 4, 1, 4), "float32")],
            [("Conv", (0, 1)), ("Add", (3, 2))],
            [4],
            "operand of shape",
        ),
        (
            [X, W, Spec((1, 2, 4, 4, 4), "float32")],
            [("Conv", (0, 1)), ("Add", (3, 2))],
            [4],
            "operand of shape",
        ),
        (LINE, [("Conv", (0, 1)), ("Add", (3, 2))], [4], "operand of shape"),
        ([X, W], [("Conv", (0, 1)), ("CastLike", (0, 2))], [3], "only the type"),
        ([X, W], [("Conv", (0, 1)), ("CastLike", (2, 0))], [3], "only the type"),
        (BACK, [("ConvTranspose", (0, 1)), ("Add", (2, 3))], [4], "operand of shape"),
    ],
)
def test_declines(inputs, nodes, outputs, reason: str) -> None:
    group = [GroupNode(*node) for node in nodes]
    with pytest.raises(Declined, match=reason):
        emit_group(Target.named("c"), inputs, group, outputs, {1: _of(*inputs[1].shape)})


def test_the_input_of_a_product_may_be_added_to_it() -> None:
    group = [GroupNode("MatMul", (0, 1)), GroupNode("Add", (0, 2)), GroupNode("Relu", (3,))]
    specs = [Spec((3, 4), "float32"), Spec((4, 4), "float32")]
    kernel = emit_group(Target.named("c"), specs, group, [4], {1: _of(4, 4)})
    assert "in[0]" in kernel.source and "in[2]" in kernel.source and "in[3]" not in kernel.source


def test_plans_pack_weights_and_apply_what_follows() -> None:
    text = """agraph (float[1, 3, 8, 8] x, float[4, 1, 1] s) => (float[1, 4, 6, 6] y) {
        c = Conv(x, w) r = Relu(c) y = Mul(r, s)
    }"""
    model = model_of(text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(WEIGHTS[1], "w"))
    x, s = _of(1, 3, 8, 8), _of(4, 1, 1)
    plan = Plan(Graph(onnx_ir.from_proto(model)), chooser=Chooser((GEN, *BACKENDS)))
    (y,) = plan(x, s)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": x, "s": s})
    numpy.testing.assert_allclose(numpy.asarray(y), expected, rtol=1e-5, atol=1e-4)
    assert [step.implementation for step in plan.profile({"x": x, "s": s}).steps] == [
        "gen:conv+relu+mul"
    ]


STATISTICS = "float[5] s, float[5] b, float[5] m, float[5] v"
NORMED = "BatchNormalization(p, s, b, m, v)"


@pytest.mark.parametrize(
    ("x", "w", "text", "expected"),
    [
        ((2, 5, 3), (3, 5), f"p = MatMul(x, w) y = {NORMED}", ["gen:matmul+batchnormalization"]),
        ((3, 4), (4, 5), f"p = MatMul(x, w) y = {NORMED}", ["gen:matmul+batchnormalization"]),
        (
            (2, 3, 6),
            (5, 3, 2),
            f"c = Conv(x, w) p = Relu(c) y = {NORMED}",
            ["gen:conv+relu+batchnormalization"],
        ),
        ((3, 4), (4, 5), "p = MatMul(x, w) y = Add(p, one)", ["gen:matmul", "gen:add"]),
        ((3, 4), (4, 5), "p = MatMul(x, w) y = CastLike(s, p)", None),
    ],
)
def test_shapes_in_which_operands_are_seen(x, w, text: str, expected: list[str] | None) -> None:
    """Statistics belong to axis 1 even where the last one has as many elements."""
    shape = ", ".join(map(str, x))
    head = f"(float[{shape}] x, {STATISTICS}) => (y)"
    model = model_of(f"agraph {head} <float[1, 1, 1] one = {{1}}> {{ {text} }}")
    model.graph.initializer.append(onnx.numpy_helper.from_array(_of(*w), "w"))
    given = {name: numpy.abs(_of(5)) for name in "sbmv"} | {"x": _of(*x)}
    plan = Plan(Graph(onnx_ir.from_proto(model)), optimize=False, chooser=Chooser((GEN, *BACKENDS)))
    (wanted,) = ReferenceEvaluator(model).run(None, given)
    (got,) = plan.run(given)
    assert got.shape == wanted.shape
    numpy.testing.assert_allclose(numpy.asarray(got), wanted, rtol=1e-4, atol=1e-4)
    if expected is not None:
        assert [step.implementation for step in plan.profile(given).steps] == expected
