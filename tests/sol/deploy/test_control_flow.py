"""If, Loop and Scan, deployed: as plans execute them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import pytest

from mx.graph import Graph, GraphError
from mx.graph.plan import Plan
from mx.sol.backends.gen import Target
from mx.sol.deployments._lower import lower
from tests.graph.build import graph_of

from .merged import Merged

C = Target.named("c")
X = numpy.random.default_rng(1).standard_normal((2, 3)).astype("float32")
TRUE = "on = Constant<value = bool {1}>()"


@dataclass(frozen=True)
class Case:
    """Inputs and outputs, nodes, and several calls."""

    inputs: str
    outputs: str
    nodes: str
    calls: tuple[tuple[object, ...], ...]

    def graph(self) -> Graph:
        """The nodes as a graph."""
        return graph_of(f"g ({self.inputs}) => ({self.outputs}) {{ {self.nodes} }}")


CHOICE = """y = If (c) <
  then_branch = t () => (float[2,3] a) { a = Relu(x) },
  else_branch = e () => (float[2,3] b) { m = Neg(x) b = Exp(m) }>"""
CASES = {
    "a choice": Case("float[2,3] x, bool c", "float[2,3] y", CHOICE, ((X, True), (X, False))),
    "a choice of what is known": Case(
        "float[2,3] x", "float[2,3] y", f"c = Constant<value = bool {{0}}>() {CHOICE}", ((X,),)
    ),
    "one input or the other": Case(
        "float[2,3] x, bool c",
        "float[2,3] y",
        """n = Neg(x) z = If (c) <
             then_branch = t () => (float[2,3] a) { a = Identity(x) },
             else_branch = e () => (float[2,3] b) { b = Identity(n) }>
           y = Add(z, n)""",
        ((X, True), (X, False)),
    ),
    "a sum over turns": Case(
        "float[2,3] x",
        "float[2,3] y, float[4,3] s",
        f"""{TRUE} n = Constant<value = int64 {{4}}>() y, s = Loop (n, on, x) <
             body = b (int64 i, bool k, float[2,3] a) => (bool q, float[2,3] c, float[3] r) {{
               f = Cast<to = 1>(i) d = Add(a, f) c = Add(d, x) q = Identity(k)
               ax = Constant<value = int64[1] {{0}}>() r = ReduceSum<keepdims = 0>(c, ax) }}>""",
        ((X,),),
    ),
    "until a limit, with states that are exchanged": Case(
        "float[2,3] x, float limit",
        "float[2,3] y, float[2,3] z",
        f"""{TRUE} e = Exp(x) y, z = Loop (, on, x, e) <
             body = b (int64 i, bool k, float[2,3] a, float[2,3] o)
               => (bool q, float[2,3] o, float[2,3] c) {{
                 c = Add(a, o) m = ReduceMax<keepdims = 0>(c) q = Less(m, limit) }}>""",
        ((X, numpy.float32(50)), (X, numpy.float32(-50))),
    ),
    "as often as an input says": Case(
        "float[2,3] x, int64 n",
        "float[2,3] y",
        f"""{TRUE} y = Loop (n, on, x) <
             body = b (int64 i, bool k, float[2,3] a) => (bool k, float[2,3] c) {{
               c = Mul(a, x) }}>""",
        ((X, 3), (X, 0), (X, -1)),
    ),
    "without a condition and states": Case(
        "float[2,3] x",
        "float[4,2,3] s",
        """n = Constant<value = int64 {4}>() s = Loop (n) <
             body = b (int64 i, bool k) => (bool q, float[2,3] r) {
               f = Cast<to = 1>(i) r = Mul(x, f) q = Identity(k) }>""",
        ((X,),),
    ),
    "a choice in a loop": Case(
        "float[2,3] x",
        "float[2,3] y",
        f"""{TRUE} n = Constant<value = int64 {{3}}>() two = Constant<value = int64 {{2}}>()
            w = Exp(x)
            y = Loop (n, on, x) <
             body = b (int64 i, bool k, float[2,3] a) => (bool k, float[2,3] c) {{
               odd = Less(i, two) v = Sin(w) c = If (odd) <
                 then_branch = t () => (float[2,3] p) {{ p = Add(a, v) }},
                 else_branch = e () => (float[2,3] q) {{ q = Sub(a, w) }}> }}>""",
        ((X,),),
    ),
    "columns from the last to the first": Case(
        "float[2,3] x, float[2] s",
        "float[2] z, float[2,3] y",
        """z, y = Scan (s, x) <
             num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1],
             scan_output_axes = [1], scan_output_directions = [1],
             body = b (float[2] a, float[2] i) => (float[2] c, float[2] r) {
               c = Add(a, i) r = Mul(c, i) }>""",
        ((X, X[:, 0]),),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def library() -> Merged:
    """All cases."""
    return Merged([lower(case.graph(), C) for case in CASES.values()], C)


@pytest.mark.parametrize("turn", range(max(len(case.calls) for case in CASES.values())))
def test_as_the_plan(library: Merged, turn: int) -> None:
    calls = {name: case.calls[min(turn, len(case.calls) - 1)] for name, case in CASES.items()}
    outputs = library.call([numpy.asarray(one) for call in calls.values() for one in call])
    for name, case in CASES.items():
        for wanted in Plan(case.graph())(*map(numpy.asarray, calls[name])):
            numpy.testing.assert_allclose(outputs.pop(0), wanted, rtol=1e-5, err_msg=name)


BODY = "body = b (int64 i, bool k, float[2,3] a) => "
REJECTED = [
    (
        f"{TRUE} y, s = Loop (n, on, x) <{BODY}(bool k, float[2,3] c, float[2,3] c) "
        "{ c = Neg(a) }>",
        "elements decide how many turns it has",
    ),
    (
        f"{TRUE} y = Loop (n, on, x) <{BODY}(bool k, float[4,3] c) "
        "{ c = Concat<axis = 0>(a, a) }>",
        "a state whose shape or type changes",
    ),
    (
        """y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu(x) },
             else_branch = e () => (float[3] b) { ax = Constant<value = int64[1] {0}>()
               b = ReduceSum<keepdims = 0>(x, ax) }>""",
        "graphs that give other shapes",
    ),
    (
        "y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu(x) },"
        " else_branch = e () => (float[M,2] b) { d = NonZero(x) b = Cast<to = 1>(d) }>",
        r"\(NonZero\): cannot be deployed",
    ),
]


@pytest.mark.parametrize(("nodes", "reason"), REJECTED)
def test_what_is_rejected(nodes: str, reason: str) -> None:
    graph = graph_of(f"g (float[2,3] x, int64 n, bool c) => (float[2,3] y) {{ {nodes} }}")
    with pytest.raises(GraphError, match=reason):
        lower(graph, C)
