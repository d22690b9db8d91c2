"""Models whose sequences are known are deployed: nodes use the items instead."""

from __future__ import annotations

import numpy
import onnx_ir
import pytest
from onnx.reference import ReferenceEvaluator

from mx import sol
from mx.graph import Graph, GraphError, Plan, passes
from mx.graph._reference import OPERATORS
from mx.sol.backends.gen import Target
from mx.sol.deployments._lower import lower
from mx.sol.deployments._program import Program
from mx.sol.passes import PASSES, run
from tests.graph.build import graph_of

from .merged import Merged

C = Target.named("c")
X = numpy.arange(12, dtype="float32").reshape(6, 2)
# Nodes, of an input x of 6 x 2 elements.
CASES = {
    "parts": "<int64 k = {4}, int64 p = {1}> { q = SplitToSequence(x, k) h = SequenceAt(q, p) "
    "y = Neg(h) }",
    "parts of sizes": "<int64[3] k = {1, 0, 5}, int64 p = {-1}> { q = SplitToSequence(x, k) "
    "h = SequenceAt(q, p) y = Neg(h) }",
    "one part": "<int64[1] k = {6}, int64 p = {0}> { q = SplitToSequence<axis = -2>(x, k) "
    "y = SequenceAt(q, p) }",
    "all items": "{ q = SplitToSequence<axis = 1, keepdims = 0>(x) "
    "y = ConcatFromSequence<axis = 0>(q) }",
    "stacked": "{ a = Neg(x) q = SequenceConstruct(x, a) "
    "y = ConcatFromSequence<axis = -1, new_axis = 1>(q) }",
    "changed": "<int64 p = {0}, int64 one = {1}> { a = Neg(x) b = Abs(x) "
    "q = SequenceConstruct(x, a) r = SequenceErase(q, p) s = SequenceInsert(r, b, p) "
    "t = SequenceAt(s, one) y = Add(t, b) }",
    "changed from behind": "<int64 p = {-1}, int64 two = {-2}> { a = Neg(x) b = Exp(x) "
    "q = SequenceConstruct(x, a) r = SequenceInsert(q, b, p) s = SequenceErase(r, p) "
    "t = SequenceErase(s) u = SequenceInsert(t, a) z = Identity(u) y = SequenceAt(z, two) }",
    "length": "{ a = Neg(x) e = SequenceEmpty() q = SequenceInsert(e, a) n = SequenceLength(q) "
    "m = Cast<to = 1>(n) y = Mul(a, m) }",
    "last": "<int64 one = {1}> { q = SplitToSequence(x) n = SequenceLength(q) p = Sub(n, one) "
    "h = SequenceAt(q, p) y = Neg(h) }",
    "position of a shape": "{ q = SplitToSequence(x) s = Shape<start = 1>(x) p = Squeeze(s) "
    "h = SequenceAt(q, p) y = Neg(h) }",
    "mapped": "<int64 p = {1}> { q = SplitToSequence(x) a = Neg(x) "
    "r, t = SequenceMap(q, a, q) <body = f (float[1, 2] i, float[6, 2] j, float[1, 2] k) => "
    "(float[] o, float[] i) <float w = {3}> { b = Mul(i, w) c = Add(b, k) o = Add(c, a) }> "
    "u = ConcatFromSequence<axis = 0>(r) v = SequenceAt(t, p) y = Add(u, v) }",
    "mapped twice": "{ q = SplitToSequence(x) r = SequenceMap(q) <body = f (float[1, 2] i) => "
    "(float[] o) { s = SplitToSequence<axis = 1>(i) t = SequenceMap(s, i) <body = g "
    "(float[1, 1] j, float[1, 2] k) => (float[] p) { p = Mul(j, k) }> "
    "o = ConcatFromSequence<axis = 1>(t) }> y = ConcatFromSequence<axis = 0>(r) }",
    "optional": "{ a = Neg(x) o = Optional(a) b = OptionalGetElement(o) y = Neg(b) }",
    "optional of a sequence": "<int64 p = {4}> { q = SplitToSequence(x) o = Optional(q) "
    "i = Identity(o) h = OptionalHasElement(i) r = OptionalGetElement(i) s = SequenceAt(r, p) "
    "c = Cast<to = 1>(h) y = Add(s, c) }",
    "optional of nothing": "{ o = Optional<type = float[6, 2]>() h = OptionalHasElement(o) "
    "n = OptionalHasElement() i = OptionalHasElement(x) b = And(h, i) c = Or(b, n) "
    "d = Cast<to = 1>(c) y = Add(x, d) }",
    "tensor as an optional": "{ b = OptionalGetElement(x) y = Neg(b) }",
}  # fmt: skip


def made(text: str) -> Graph:
    return graph_of(f"g (float[6, 2] x) => (float[] y) {text}")


def expected(name: str) -> numpy.ndarray:
    """What onnx gives, or a plan of the graph as it is where onnx fails."""
    if "Optional" in CASES[name] or "SequenceMap" in CASES[name]:
        return numpy.asarray(Plan(made(CASES[name]), optimize=False).run({"x": X})[0])
    proto = onnx_ir.to_proto(made(CASES[name]).model)
    (found,) = ReferenceEvaluator(proto, new_ops=[*OPERATORS]).run(None, {"x": X})
    return numpy.asarray(found)


def program_of(name: str) -> Program:
    graph = made(CASES[name])
    graph.infer()
    report = {one.name: one.removed for one in run(PASSES.enabled, graph)}
    assert report["sequences"]
    assert not any("Sequence" in one.op_type or "Optional" in one.op_type for one in graph.nodes)
    return lower(graph, C)


def test_deployed() -> None:
    outputs = Merged([program_of(name) for name in CASES], C).call([X] * len(CASES))
    for name, output in zip(CASES, outputs, strict=True):
        numpy.testing.assert_array_equal(output, expected(name), err_msg=name)


@pytest.mark.parametrize("name", CASES)
def test_planned(name: str) -> None:
    for optimize in (True, False):
        (output,) = Plan(made(CASES[name]), optimize=optimize).run({"x": X})
        numpy.testing.assert_array_equal(output, expected(name))


def test_in_the_list_of_passes() -> None:
    assert "sequences" in [one.name for one in sol.passes]
    with sol.passes.without("sequences"):
        assert "sequences" not in [one.name for one in sol.passes.enabled]
    fast = sol.optimize(made(CASES["parts"]), X)
    numpy.testing.assert_array_equal(fast(X), expected("parts"))
    assert "sequences: 2 removed, 1 new: h, q" in str(sol.report(fast))


# Nodes, the operators that are left, and what a deployment says of them.
LEFT = {
    "a position that is given": (
        "{ q = SplitToSequence(x) y = SequenceAt(q, p) }",
        ["SplitToSequence", "SequenceAt"],
    ),
    "random numbers, of which there would be others": (
        "<int64 k = {3}, int64 i = {0}> { q = SplitToSequence(x, k) r = SequenceMap(q) <body = f "
        "(float[3, 2] m) => (float[] o) { o = RandomNormalLike(m) }> y = SequenceAt(r, i) }",
        ["SplitToSequence", "SequenceMap", "SequenceAt"],
    ),
    "items of a loop": (
        "<int64 i = {0}, bool t = {1}> { q = SplitToSequence(x) r = Loop(p, t, q) <body = f "
        "(int64 n, bool c, seq(float[]) s) => (bool c, seq(float[]) u) { u = SequenceErase(s) }> "
        "y = SequenceAt(r, i) }",
        ["SplitToSequence", "Loop", "SequenceAt"],
    ),
}


@pytest.mark.parametrize(("nodes", "left"), LEFT.values(), ids=LEFT)
def test_what_is_left(nodes: str, left: list[str]) -> None:
    graph = graph_of(f"g (float[6, 2] x, int64 p) => (float[] y) {nodes}")
    graph.infer()
    run(PASSES.enabled, graph)
    assert [one.op_type for one in graph.nodes] == left
    with pytest.raises(GraphError, match="sequences and optionals have no type in C|_type"):
        lower(graph, C)


ERRORS = {
    "a position": (
        "<int64 p = {6}> { q = SplitToSequence(x) y = SequenceAt(q, p) }",
        "expected a position of -6 to 5, of 6 items, got 6",
    ),
    "nothing to erase": (
        "{ e = SequenceEmpty() q = SequenceErase(e) r = SequenceInsert(q, x) "
        "y = ConcatFromSequence<axis = 0>(r) }",
        "SequenceErase.*expected one item or more, got an empty sequence",
    ),
    "an axis": (
        "{ q = SplitToSequence(x) y = ConcatFromSequence<axis = 2>(q) }",
        "ConcatFromSequence",
    ),
    "sizes": (
        "<int64[2] k = {1, 3}, int64 p = {0}> { q = SplitToSequence(x, k) y = SequenceAt(q, p) }",
        "SplitToSequence.*expected sizes with the sum 6",
    ),
    "an optional of nothing": (
        "{ o = Optional<type = float[6, 2]>() y = OptionalGetElement(o) }",
        "OptionalGetElement",
    ),
}


@pytest.mark.parametrize(("nodes", "words"), ERRORS.values(), ids=ERRORS)
def test_what_is_wrong_stays_an_error(nodes: str, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        Plan(made(nodes)).run({"x": X})


def test_an_optional_that_is_given_is_not_known() -> None:
    graph = graph_of("g (optional(float[2]) x) => (bool y) { y = OptionalHasElement(x) }")
    graph.infer()
    assert not passes.run(graph)
    plan = Plan(graph)
    assert plan.run({"x": None})[0] == [False] and plan.run({"x": X[0]})[0] == [True]


def test_names_that_are_taken() -> None:
    """As those that new nodes would have."""
    graph = graph_of(
        "g (float[6, 2] x) => (float[] y) <int64 k = {4}, int64 p = {1}> { s_sizes = Abs(x) "
        "[s] q = SplitToSequence(s_sizes, k) h = SequenceAt(q, p) y = Neg(h) }"
    )
    graph.infer()
    assert passes.run(graph, ["sequences"])
    (output,) = Plan(graph).run({"x": -X})
    numpy.testing.assert_array_equal(output, -X[4:])


def test_long_chains() -> None:
    """Of as many nodes that nothing may call itself for each."""
    inserted = "".join(f"q{i + 1} = SequenceInsert(q{i}, x) " for i in range(400))
    erased = "".join(f"r{i + 1} = SequenceErase(r{i}, p) " for i in range(399))
    graph = graph_of(
        f"g (float[2] x) => (float[] y) <int64 p = {{0}}> {{ q0 = SequenceEmpty() {inserted} "
        f"r0 = Identity(q400) {erased} y = SequenceAt(r399, p) }}"
    )
    graph.infer()
    assert len(passes.run(graph).removed["sequences"]) > 700
    assert [one.op_type for one in graph.nodes] == ["Identity"]
