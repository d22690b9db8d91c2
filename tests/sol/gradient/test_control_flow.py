"""Gradients of If, Loop and Scan against torch, and of operators inside of them."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import onnx.parser
import onnx_ir
import pytest
from onnx import helper

from mx.graph import Graph, load
from mx.sol.gradient import coverage
from mx.sol.gradient._rules import EXPANSIONS

from .cases import CASES
from .test_rules import gradients, trained, weights_of, wrt_of

torch = pytest.importorskip("torch")

_HEAD = '<ir_version: 10, opset_import: ["" : 28]>'

IF = """
g (bool c, double[2, 3] a, double[3] w, double unused) => (double[2, 3] y, double[2, 3] z) {
  b = Mul (a, w)
  y = If (c) <
    then_branch = t () => (double[2, 3] p) { q = Exp (b)  p = Mul (q, a) },
    else_branch = e () => (double[2, 3] r) { r = Add (a, w) }
  >
  z = Neg (b)
}
"""
# Without the constant around a branch nobody knows how many axes values in it have.
IF_AXES = """
g (bool c, double[2, 3] a, double[3] w) => (double[3, 2] y) {
  axes = Constant <value_ints = [1]> ()
  y = If (c) <
    then_branch = t () => (double[3, 2] p) {
      column = Unsqueeze (w, axes)
      m = MatMul (a, column)
      sums = Squeeze (m, axes)
      turned = Transpose (a)
      p = Mul (turned, sums)
    },
    else_branch = e () => (double[3, 2] r) {
      sums = ReduceSum <keepdims = 0> (a, axes)
      m = Einsum <equation = "i,j->ij"> (w, sums)
      r = Exp (m)
    }
  >
}
"""
LOOP = """
g (int64 n, double[2, 3] x, double[3, 3] w, double[4, 2, 3] u)
=> (double[2, 3] y, double[k, 2, 3] s) {
  y, s = Loop (n, , x) <
    body = b (int64 i, bool going, double[2, 3] h) => (bool on, double[2, 3] g, double[2, 3] o) {
      on = Identity (going)
      v = Gather (u, i)
      m = MatMul (h, w)
      a = Add (m, v)
      g = Tanh (a)
      o = Mul (g, h)
    }
  >
}
"""
SCAN = """
g (double[2, 3] x, double[3, 3] w, double[4, 2, 3] u) => (double[2, 3] y, double[4, 2, 3] s)
{
  y, s = Scan <num_scan_inputs = 1, scan_input_directions = [1],
    body = b (double[2, 3] h, double[2, 3] v) => (double[2, 3] g, double[2, 3] o) {
      m = MatMul (h, w)
      a = Add (m, v)
      g = Tanh (a)
      o = Mul (g, h)
    }
  > (x, u)
}
"""

SCAN_BACKWARDS = SCAN.replace("[4, 2, 3] s)", "[2, 3, 4] s)").replace(
    "scan_input_directions", "scan_output_axes = [-1], scan_output_directions"
)


def _if(c: Any, a: Any, w: Any, unused: Any) -> Any:
    return ((a * w).exp() * a if c else a + w), -(a * w)


def _if_axes(c: Any, a: Any, w: Any) -> Any:
    return (a.T * (a @ w) if c else torch.outer(w, a.sum(1)).exp(),)


def _loop(n: Any, x: Any, w: Any, u: Any) -> Any:
    kept = []
    for step in range(int(n)):
        g = torch.tanh(x @ w + u[step])
        kept.append(g * x)
        x = g
    return x, torch.stack(kept)


def _scan(x: Any, w: Any, u: Any) -> Any:
    return _loop(4, x, w, u.flip(0))


def _scan_backwards(x: Any, w: Any, u: Any) -> Any:
    y, s = _loop(4, x, w, u)
    return y, s.flip(0).permute(1, 2, 0)


@pytest.mark.parametrize(
    ("text", "function", "first"),
    [
        (IF, _if, {"c": numpy.array(True)}),
        (IF, _if, {"c": numpy.array(False)}),
        (IF_AXES, _if_axes, {"c": numpy.array(True)}),
        (IF_AXES, _if_axes, {"c": numpy.array(False)}),
        (LOOP, _loop, {"n": numpy.array(3)}),
        (SCAN, _scan, {}),
        (SCAN_BACKWARDS, _scan_backwards, {}),
    ],
)
def test_torch(text: str, function: Any, first: dict[str, Any]) -> None:
    graph = load(onnx.parser.parse_model(_HEAD + text).SerializeToString())
    random = numpy.random.default_rng(2)
    feeds = dict(first)
    for spec in graph.inputs:
        if spec.name not in feeds:
            assert spec.shape is not None
            feeds[spec.name] = random.standard_normal(spec.shape)
    given = [torch.tensor(array, requires_grad=array.dtype == "f8") for array in feeds.values()]
    outputs = function(*given)
    dy = {
        spec.name: random.standard_normal(tuple(value.shape))
        for spec, value in zip(graph.outputs, outputs, strict=True)
    }
    sum((v * torch.tensor(w)).sum() for v, w in zip(outputs, dy.values(), strict=True)).backward()
    wrt = [name for name, array in feeds.items() if array.dtype == "f8"]
    found, grads = gradients(graph, feeds, wrt, dy)
    for array, wanted in zip(found, outputs, strict=True):
        numpy.testing.assert_allclose(array, wanted.detach().numpy(), rtol=1e-9)
    for name, value in zip(feeds, given, strict=True):
        if name in grads:
            wanted = torch.zeros_like(value) if value.grad is None else value.grad
            numpy.testing.assert_allclose(grads[name], wanted.numpy(), rtol=1e-9, atol=1e-12)


def _body(graph: onnx.GraphProto, prefix: str) -> onnx.GraphProto:
    """The node of a case as a graph that reads the inputs from around it."""
    made = helper.make_graph([], prefix, [], [])
    for node in graph.node:
        made.node.add().CopyFrom(node)
        made.node[-1].output[:] = [name and prefix + name for name in node.output]
    for value in graph.output:
        made.output.add().CopyFrom(value)
        made.output[-1].name = prefix + value.name
    return made


def _value(name: str, dtype: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, dtype, [])


def _in_branch(graph: onnx.GraphProto, outputs: list[str]) -> onnx.NodeProto:
    branches = {f"{one}_branch": _body(graph, one) for one in ("then", "else")}
    return helper.make_node("If", ["chosen"], outputs, **branches)


def _in_loop(graph: onnx.GraphProto, outputs: list[str]) -> onnx.NodeProto:
    body = _body(graph, "body")
    body.node.append(helper.make_node("Identity", ["going"], ["on"]))
    body.output.insert(0, _value("on", onnx.TensorProto.BOOL))
    body.input.extend(
        [_value("step", onnx.TensorProto.INT64), _value("going", onnx.TensorProto.BOOL)]
    )
    return helper.make_node("Loop", ["chosen"], outputs, body=body)


# Those without a rule of their own: they are replaced before a graph is differentiated. What some
# are short for computes shapes, by their options in other ways.
_REPLACED = {*EXPANSIONS, *coverage()["body"]}
_BY_SHAPES = {"RotaryEmbedding", "LSTM", "GRU", "RNN"}


@pytest.mark.parametrize(
    "name",
    [key for key, case in CASES.items() if key in _REPLACED or case.operator in _BY_SHAPES],
)
@pytest.mark.parametrize(
    ("inside", "chosen", "weights"), [(_in_branch, True, None), (_in_loop, 2, (1, 2))]
)
def test_operators_inside(inside, chosen, weights, name) -> None:
    case = CASES[name]
    dy = weights_of(case, trained(name).forward)
    _, wanted = trained(name).gradients(case.feeds(), dy)
    proto = onnx_ir.to_proto(case.graph().model)
    outer = proto.graph
    node = inside(outer, [one.name for one in outer.output])
    kind = onnx.TensorProto.BOOL if weights is None else onnx.TensorProto.INT64
    outputs = [
        helper.make_tensor_value_info(one.name, one.type.tensor_type.elem_type, None)
        for one in outer.output
    ]
    inputs = [_value("chosen", kind), *outer.input]
    made = helper.make_graph([node], "case", inputs, outputs, list(outer.initializer))
    graph = Graph(
        onnx_ir.from_proto(
            helper.make_model(made, opset_imports=list(proto.opset_import), ir_version=10)
        )
    )
    graph.infer()
    if weights is not None:
        dy = {key: numpy.stack([one * array for one in weights]) for key, array in dy.items()}
    feeds = {"chosen": numpy.array(chosen), **case.feeds()}
    _, grads = gradients(graph, feeds, wrt_of(case), dy)
    for key in wrt_of(case):
        total = wanted[key] * sum(weights or (1,))
        numpy.testing.assert_allclose(grads[key], total, rtol=1e-5, atol=3e-6)
