"""Products with elementwise nodes behind them, in plans."""

from __future__ import annotations

import numpy
import pytest

from mx.sol.backends.gen import Declined, GroupNode, Spec, Target, emit_group

random = numpy.random.default_rng(0)


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype(numpy.float32)


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
    ],
)
def test_declines(inputs, nodes, outputs, reason: str) -> None:
    group = [GroupNode(*node) for node in nodes]
    with pytest.raises(Declined, match=reason):
        emit_group(Target.named("c"), inputs, group, outputs, WEIGHTS)


def test_the_input_of_a_product_may_be_added_to_it() -> None:
    group = [GroupNode("MatMul", (0, 1)), GroupNode("Add", (0, 2)), GroupNode("Relu", (3,))]
    specs = [Spec((3, 4), "float32"), Spec((4, 4), "float32")]
    kernel = emit_group(Target.named("c"), specs, group, [4], {1: _of(4, 4)})
    assert "in[0]" in kernel.source and "in[2]" in kernel.source and "in[3]" not in kernel.source
