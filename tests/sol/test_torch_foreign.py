"""Gradients of ONNX models that are modules of torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import onnx_ir
import pytest
import torch
import torch.nn.functional as F
from onnx import TensorProto, helper, numpy_helper

from mx import sol
from mx.graph import Graph

pytestmark = pytest.mark.usefixtures("one_thread")


def onnx_model(activation: str) -> Graph:
    weight = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["hidden"]),
        helper.make_node(activation, ["hidden"], ["y"]),
    ]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [2, 4]), ("y", [2, 3]))
    ]
    graph = helper.make_graph(
        nodes, "net", values[:1], values[1:], [numpy_helper.from_array(weight, "weight")]
    )
    opsets = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return Graph(onnx_ir.from_proto(model))


# Nodes that give y of x, and the same by torch. i, j, n and p are weights of integers.
DECIDED = {
    "padded": ("y = Pad (x, p)", lambda x: F.pad(x, (2, -1, -1, 3))),
    "at": (
        "s = SplitToSequence <axis = 0> (x, n)  y = SequenceAt (s, i)",
        lambda x: x[1:],
    ),
    "erased": (
        "s = SequenceConstruct (x, x)  t = SequenceErase (s, j)"
        "  y = ConcatFromSequence <axis = 0> (t)",
        lambda x: x,
    ),
    "inserted": (
        "z = Exp (x)  s = SequenceConstruct (x)  t = SequenceInsert (s, z, j)"
        "  y = SequenceAt (t, j)",
        torch.exp,
    ),
}


@pytest.mark.parametrize(("nodes", "by_torch"), DECIDED.values(), ids=DECIDED)
def test_weights_that_decide_on_graphs(nodes: str, by_torch: Any) -> None:
    weights = "int64 i = {1}, int64 j = {0}, int64[2] n = {1, 3}, int64[4] p = {-1, 2, 3, -1}"
    text = f"g (float[4, 3] x) => (float[rows, columns] y) <{weights}> {{ {nodes} }}"
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    fast = sol.optimize(Graph(onnx_ir.from_proto(model)), framework="torch")
    x = torch.rand(4, 3, requires_grad=True)
    (by_torch(x) ** 2).sum().backward()
    wanted, x.grad = x.grad, None
    (fast(x) ** 2).sum().backward()
    torch.testing.assert_close(x.grad, wanted)


@pytest.mark.parametrize(("activation", "reads"), [("Sigmoid", True), ("Neg", False)])
def test_outputs_that_are_written_before_backward(activation: str, reads: bool) -> None:
    fast = sol.optimize(onnx_model(activation), framework="torch")
    x = torch.ones(2, 4, requires_grad=True)
    y = fast(x)
    y.mul_(10)
    if reads:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    else:
        y.sum().backward()
        torch.testing.assert_close(x.grad, -10 * fast.weight.sum(1).expand(2, 4))
