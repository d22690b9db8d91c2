"""Which backend of the CPU executes each node, and what is said of those that declined it."""

import numpy
import pytest

from mx.graph import Plan

from .build import graph_of

# A node as text, how many of its kind the row is of, its backend, and words of the reasons.
ROWS = {
    "the first that is asked": ("y = Softmax(x)", "Softmax", "onednn", ""),
    "the next one": ("y = Trilu(x)", "Trilu", "mx", "onednn: no rule for this operator"),
    "part of another": (
        "r = Conv(x, w) y = Relu(r)",
        "Relu",
        "onednn",
        "part of the kernel before",
    ),
    "in Python": ("y = Det(x)", "Det", "reference", "body: "),
    "alone in Python": ("s = NonZero(x) y = Cast<to=1>(s)", "NonZero", "alone", "elements decide"),
    "known beforehand": ("k = Neg(c) y = Add(x, k)", "Neg", "constant", ""),
}


@pytest.mark.parametrize(("text", "operator", "backend", "why"), ROWS.values(), ids=ROWS)
def test_a_row(text, operator, backend, why) -> None:
    graph = graph_of(
        "g (float[1,16,4,4] x, float[16,16,1,1] w) => (float[a,b,c,d] y) "
        f"<float c = {{2}}> {{ {text} }}"
    )
    plan = Plan(graph, optimize=False)
    plan(numpy.ones((1, 16, 4, 4), "float32"), numpy.ones((16, 16, 1, 1), "float32"))
    (row,) = [row for row in plan.explain() if row.operator == operator]
    assert row.where == backend and why in row.why and bool(row.why) == bool(why)


def test_the_table() -> None:
    graph = graph_of(
        "g (float[N] x) => (float[N] y) { [first] h = Abs(x) [second] y = Hardmax(h) }"
    )
    plan = Plan(graph)
    assert plan.explain() == () and plan.explain().summary == "cpu: "
    for count in (2, 3):
        plan(numpy.ones(count, "float32"))
    found = plan.explain()
    assert [row.name for row in found] == ["first", "second"]
    assert found.labels() == {row.name: row.where for row in found}
    lines = repr(found).splitlines()
    assert lines[0] == plan.summary() and lines[1].split()[:3] == ["node", "operator", "backend"]
    assert lines[3].startswith("second  Hardmax")
