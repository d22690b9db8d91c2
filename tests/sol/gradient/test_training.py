"""The forward and the backward graph: what is saved, what is left out, what is an error."""

from __future__ import annotations

from typing import Any

import numpy
import onnx.parser
import pytest

from mx.graph import Graph, GraphError, Plan, load
from mx.sol.gradient import as_inputs, training

from .test_rules import gradients

_HEAD = '<ir_version: 10, opset_import: ["" : 28]>'


def graph_of(text: str) -> Graph:
    return load(onnx.parser.parse_model(_HEAD + text).SerializeToString())


def operators(graph: Graph) -> list[str]:
    return [node.op_type for node in graph.nodes if node.op_type != "Constant"]


def names(values: Any) -> list[str]:
    return [one.name for one in values]


LAYERS = """
g (double[4, 3] x, double[3, 8] a, double[8] b, double[8, 2] c) => (double[4, 2] y) {
  m = MatMul (x, a)
  n = Add (m, b)
  h = Relu (n)
  y = MatMul (h, c)
}
"""


def test_what_both_graphs_have() -> None:
    made = training(graph_of(LAYERS), ["a", "b", "c"])
    assert names(made.forward.inputs) == ["x", "a", "b", "c"]
    assert made.saved == ("h",)
    assert names(made.forward.outputs) == ["y", "h"]
    # For the gradient of x nothing is computed.
    assert names(made.backward.inputs) == ["grad.y", "h", "x", "c"]
    assert made.grads == {"a": "grad.a", "b": "grad.b", "c": "grad.c"}
    assert sorted(names(made.backward.outputs)) == ["grad.a", "grad.b", "grad.c"]
    assert operators(made.backward).count("Gemm") == 3
    assert [one.shape for one in made.backward.outputs] == [(3, 8), (8,), (8, 2)]


def test_only_what_leads_from_inputs_to_outputs_is_differentiated() -> None:
    made = training(
        graph_of("""
        g (double[3] x, double[3] w, double[3] v) => (double[3] y, int64 i, double[3] z) {
          y = Mul (x, w)
          i = ArgMax <keepdims = 0> (w)
          f = Floor (v)
          z = Exp (f)
        }
        """),
        ["w", "v"],
    )
    assert made.grads == {"w": "grad.w"}
    assert names(made.backward.inputs) == ["grad.y", "x"]


def test_gradients_that_are_outputs_or_inputs_themselves() -> None:
    graph = graph_of("""
    g (double[3] a, double[3] b, double[3] c) => (double[3] y, double[3] z) {
      y = Add (a, b)
      z = Identity (c)
    }
    """)
    feeds = {name: numpy.ones(3) for name in "abc"}
    dy = {"y": numpy.array([1.0, 2, 3]), "z": numpy.array([4.0, 5, 6])}
    _, grads = gradients(graph, feeds, ["a", "b", "c"], dy)
    assert grads["a"].tolist() == grads["b"].tolist() == [1, 2, 3]
    assert grads["c"].tolist() == [4, 5, 6]


def test_outputs_that_are_needed_are_not_saved_twice() -> None:
    made = training(graph_of("g (double[3] x) => (double[3] y) { y = Exp (x) }"), ["x"])
    assert made.saved == () and names(made.backward.inputs) == ["grad.y", "y"]


def test_weights_and_parts_are_not_moved() -> None:
    made = training(
        graph_of("""
        g (double[4, 3] x, double[8, 3] w) => (double[4, 4] a, double[4, 4] b) {
          v = Transpose <perm = [1, 0]> (w)
          m = MatMul (x, v)
          a, b = Split <axis = 1, num_outputs = 2> (m)
        }
        """),
        ["x", "w"],
    )
    assert sorted(operators(made.backward)) == ["Concat", "Gemm", "Gemm"]
    made = training(
        graph_of("""
        g (double[2, 4, 3] x, double[5] u) => (double[4, 3] a, double[4, 3] b, double[2] c) {
          zero = Constant <value_int = 0> ()
          one = Constant <value_int = 1> ()
          a = Gather (x, one)
          d = Gather (x, zero)
          b = Neg (d)
          start = Constant <value_ints = [1]> ()
          end = Constant <value_ints = [3]> ()
          c = Slice (u, start, end)
        }
        """),
        ["x", "u"],
    )
    assert sorted(operators(made.backward)) == ["Concat", "Neg", "Pad", "Unsqueeze", "Unsqueeze"]


def test_choices_that_a_constant_has_made_are_left_out() -> None:
    made = training(
        graph_of("""
        g (double[3] x) => (double[3] y) <bool[3] c = {0, 0, 0}> {
          a = Exp (x)
          b = Neg (x)
          d = Where (c, b, a)
          y = Sin (d)
        }
        """),
        ["x"],
    )
    assert operators(made.forward) == ["Exp", "Sin"]


@pytest.mark.parametrize(
    ("opset", "given", "axis"), [(19, "", 1), (19, "<axis = 2>", 2), (20, "", 2)]
)
def test_transforms_are_those_of_the_version(opset: int, given: str, axis: int) -> None:
    text = f"g (double[2, 3, 4, 1] x) => (double[2, 3, 4, 2] y) {{ y = DFT {given} (x) }}"
    head = f'<ir_version: 10, opset_import: ["" : {opset}]>'
    graph = load(onnx.parser.parse_model(head + text).SerializeToString())
    x = numpy.random.default_rng(0).standard_normal((2, 3, 4, 1))
    (y, *_) = Plan(training(graph, ["x"]).forward)(x)
    expected = numpy.fft.fft(x[..., 0], axis=axis)
    numpy.testing.assert_allclose(
        y.asnumpy(), numpy.stack([expected.real, expected.imag], -1), atol=1e-12
    )


def test_what_is_cheap_is_computed_again() -> None:
    made = training(
        graph_of("""
        g (double[64, 64] x, double[64] s, double[64, 64] w) => (double[64, 64] y) {
          m = MatMul (x, w)
          a = Mul (m, s)
          b = Add (a, x)
          c = Relu (b)
          y = MatMul (c, w)
        }
        """),
        ["x", "s", "w"],
    )
    # Of m follow a, b and c, which the backward pass needs as well.
    assert made.saved == ("m",)
    assert [one for one in operators(made.backward) if one in ("Add", "Relu")].count("Relu") == 1


def test_random_elements_are_not_drawn_again() -> None:
    made = training(
        graph_of("""
        g (double[9] x, double[9] w) => (double[9] y) {
          d = RandomUniformLike (x)
          e = Mul (d, w)
          y = Mul (e, e)
        }
        """),
        ["w"],
    )
    assert "d" in made.saved and "RandomUniformLike" not in operators(made.backward)


def chain(length: int) -> Graph:
    """Products of matrices with an activation behind each that is not computed again at once."""
    nodes = []
    for index in range(length):
        nodes.append(f"m{index} = MatMul (h{index}, w)")
        nodes.append(f"h{index + 1} = Tanh (m{index})")
    body = "\n".join(nodes)
    head = f"g (double[128, 16] h0, double[16, 16] w) => (double[128, 16] h{length})"
    return graph_of(f"{head} {{\n{body}\n}}")


def test_a_limit_on_memory_is_kept() -> None:
    graph = chain(12)
    free = training(graph, ["w"])
    wanted = free.memory
    assert wanted.saved == 12 * 128 * 16 * 8
    limit = wanted.peak * 3 // 4
    made = training(graph, ["w"], memory_limit=limit)
    assert made.memory.peak <= limit
    assert made.memory.saved < wanted.saved
    assert operators(made.backward).count("Tanh") == 11 - len(made.saved)
    random = numpy.random.default_rng(0)
    feeds = {"h0": random.standard_normal((128, 16)), "w": random.standard_normal((16, 16)) / 4}
    dy = {"h12": random.standard_normal((128, 16))}
    _, first = gradients(graph, feeds, ["w"], dy)
    _, second = gradients(graph, feeds, ["w"], dy, memory_limit=limit)
    numpy.testing.assert_allclose(first["w"], second["w"], rtol=1e-12)


def test_a_limit_that_cannot_be_kept_is_an_error() -> None:
    with pytest.raises(GraphError, match=r"memory_limit: 1,000 bytes are too few for .*the least"):
        training(chain(3), ["w"], memory_limit=1000)


def test_memory_needs_shapes() -> None:
    text = "g (double[n] x) => (double[n] y) { a = Exp (x) y = Sin (a) }"
    with pytest.raises(GraphError, match=r"not known: give 'n' a length by Graph\.bind"):
        training(graph_of(text), ["x"], memory_limit=1 << 20)
    assert training(graph_of(text), ["x"]).saved == ("a",)


def test_peaks_are_those_of_a_schedule() -> None:
    text = "g (double[100] x) => (double[100] y) { a = Exp (x) b = Sin (a) y = Exp (b) }"
    memory = training(graph_of(text), ["x"]).memory
    assert memory.held == 800 and memory.saved == 1600
    # a, b and y: what is saved stays, b goes when y is there.
    assert memory.forward_peak == 2400
    assert memory.peak == 800 + memory.backward_peak


@pytest.mark.parametrize(
    ("wrt", "error", "match"),
    [
        (["q"], ValueError, "wrt: 'q' is no input of model: there are x, a, b, c"),
        ("x", TypeError, "expected names of inputs, got 'x'"),
        ([3], TypeError, "expected names of inputs"),
    ],
)
def test_wrong_names(wrt: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        training(graph_of(LAYERS), wrt)


def test_integers_have_no_gradients() -> None:
    graph = graph_of("g (int64[3] x) => (int64[3] y) { y = Neg (x) }")
    with pytest.raises(ValueError, match="'x' is no input of floating-point numbers"):
        training(graph, ["x"])
    with pytest.raises(TypeError, match="expected a Graph, got str"):
        training("x", [])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="memory_limit: expected a number of bytes, got 'x'"):
        training(graph, [], memory_limit="x")  # type: ignore[arg-type]


def test_errors_name_node_and_module() -> None:
    graph = graph_of("""
    g (float[2, 4] x, int64 p) => (float[2, 4] y) {
      z = Exp (x)
      s = SequenceConstruct (x, z)
      y = SequenceAt (s, p)
    }
    """)
    node = next(one for one in graph.nodes if one.op_type == "SequenceAt")
    node.metadata_props["mx.module"] = "encoder.choice"
    match = r"node '.*' \(SequenceAt\) in module 'encoder.choice' has no gradient: a position"
    with pytest.raises(GraphError, match=match):
        training(graph, ["x"])


def test_weights_become_inputs() -> None:
    graph = graph_of("""
    g (float[2, 3] x) => (float[2, 3] y) <float[3] w = {1, 2, 3}, float[3] v = {0, 0, 0}> {
      m = Mul (x, w)
      y = Add (m, v)
    }
    """)
    made = as_inputs(graph, ["w"])
    assert names(made.inputs) == ["x", "w"] and made.inputs[1].shape == (3,)
    assert list(made.weights) == ["v"] and list(graph.weights) == ["w", "v"]
    assert training(made, ["w"]).grads == {"w": "grad.w"}
    with pytest.raises(ValueError, match="'x' is no weight of model: w, v"):
        as_inputs(graph, ["x"])
