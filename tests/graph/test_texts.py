"""Texts among the constants of a graph are what those among its inputs are, whoever reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

from mx.graph import Graph, GraphError, Plan, load

from .build import graph_of

B = '<string[2] w = {"a", "b"}>'
# Nodes, of an input x of two texts, and what they give of "b" and "a"; c is a constant.
CASES: dict[str, tuple[str, list[Any]]] = {
    "weight": (f"{B} {{ y = Equal(x, w) }}", [False, False]),
    "weight that is an output": (f"{B} {{ y = Identity(w) }}", ["a", "b"]),
    "attribute": ('{ c = Constant<value = string[2] {"b", "c"}>() y = Equal(x, c) }',
                  [True, False]),
    "list": ('{ c = Constant<value_strings = ["b", "c"]>() y = Equal(x, c) }', [True, False]),
    "one": ('{ c = Constant<value_string = "é">() y = StringConcat(x, c) }', ["bé", "aé"]),
    "joined": (f"{B} {{ c = Concat<axis = 0>(w, w) y = Concat<axis = 0>(x, c) }}",
               ["b", "a", "a", "b", "a", "b"]),
    "taken": (f"{B} {{ i = Constant<value_ints = [1, 0]>() c = Gather(w, i) y = Equal(x, c) }}",
              [True, True]),
    "of a shape": ('<string[1] w = {"é"}> { s = Shape(x) c = Expand(w, s) y = StringConcat(x, c) }',
                   ["bé", "aé"]),
    "known to inference": ('<string[1, 2] w = {"a", "b"}> { c = Unique(w) s = Shape(c) '
                           "y = Expand(x, s) }", ["b", "a"]),
    "in a branch": (f"{B} {{ t = Constant<value = bool {{1}}>() y = If(t) <then_branch = t () => "
                    '(string[2] u) { k = Constant<value_strings = ["q", "r"]>() '
                    "u = StringConcat(k, w) }, else_branch = e () => (string[2] v) "
                    "{ v = Identity(x) }> }", ["qa", "rb"]),
}  # fmt: skip
X = numpy.array(["b", "a"], object)


def made(nodes: str) -> Graph:
    kind = "bool" if "Equal" in nodes else "string"
    return graph_of(f"g (string[2] x) => ({kind}[] y) {nodes}")


def result(plan: Plan) -> list[Any]:
    found: list[Any] = numpy.asarray(plan.run({"x": X})[0]).tolist()
    return found


@pytest.mark.parametrize(("nodes", "expected"), CASES.values(), ids=CASES)
def test_texts(nodes: str, expected: list[Any], tmp_path: Path) -> None:
    graph = made(nodes)
    graph.infer()
    assert result(Plan(graph)) == expected
    assert result(Plan(made(nodes), optimize=False)) == expected
    graph.save(tmp_path / "texts.onnx")
    assert result(Plan(load(tmp_path / "texts.onnx"))) == expected


def test_weights() -> None:
    """Texts can be looked up and given; zeros at their ends, and what is no UTF-8, stay."""
    graph = made(f"{B} {{ y = Concat<axis = 0>(w, x) }}")
    assert graph.weights["w"].tolist() == ["a", "b"]
    given = numpy.array(["é\0", b"\xff".decode(errors="surrogateescape")], object)
    graph.weights["w"] = given
    graph.infer()
    assert graph.weights["w"].tolist() == given.tolist()
    assert result(Plan(graph)) == [*given, "b", "a"]
    graph.weights["w"] = numpy.array(["x", "yz"])
    assert result(Plan(graph)) == ["x", "yz", "b", "a"]
    for wrong in (numpy.array([1, 2], object), numpy.array([1, 2]), numpy.array("x")):
        with pytest.raises(GraphError, match="the weight 'w' is string"):
            graph.weights["w"] = wrong
