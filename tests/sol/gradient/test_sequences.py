"""Gradients through sequences and optionals against torch, and of equal elements of Unique."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import onnx.parser
import pytest

from mx.graph import GraphError, load
from mx.sol.gradient import training

from .test_rules import gradients

torch = pytest.importorskip("torch")

_HEAD = '<ir_version: 10, opset_import: ["" : 28]>'
A = numpy.random.default_rng(1).standard_normal((2, 3))
B = numpy.random.default_rng(2).standard_normal((2, 3))

# The nodes that give y of a and b, and the same by torch.
CASES: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "constructed": (
        """
        s = SequenceConstruct (a, b, a)
        i = Constant <value_int = -2> ()
        j = Constant <value_int = 0> ()
        p = SequenceAt (s, i)
        q = SequenceAt (s, j)
        y = Mul (p, q)
        """,
        lambda a, b: a * b,
    ),
    "inserted and erased": (
        """
        e = SequenceEmpty <dtype = 11> ()
        i = Constant <value_int = 0> ()
        s = SequenceInsert (e, a)
        t = SequenceInsert (s, b, i)
        c = Exp (a)
        u = SequenceInsert (t, c)
        v = SequenceErase (u, i)
        y = ConcatFromSequence <axis = 1> (v)
        """,
        lambda a, b: torch.cat((a, a.exp()), 1),
    ),
    "stacked": (
        """
        c = Sin (b)
        s = SequenceConstruct (a, c)
        y = ConcatFromSequence <axis = -1, new_axis = 1> (s)
        """,
        lambda a, b: torch.stack((a, b.sin()), -1),
    ),
    "split into items": (
        """
        c = Mul (a, b)
        s = SplitToSequence <axis = 1, keepdims = 0> (c)
        i = Constant <value_int = 2> ()
        j = Constant <value_int = 0> ()
        p = SequenceAt (s, i)
        q = SequenceAt (s, j)
        y = Mul (p, q)
        """,
        lambda a, b: (a * b)[:, 2] * (a * b)[:, 0],
    ),
    "split into chunks": (
        """
        n = Constant <value_int = 2> ()
        s = SplitToSequence <axis = 1> (a, n)
        i = Constant <value_int = 1> ()
        p = SequenceAt (s, i)
        y = Mul (p, b)
        """,
        lambda a, b: a[:, 2:] * b,
    ),
    "split as told, of one part": (
        """
        n = Constant <value_ints = [3]> ()
        s = SplitToSequence <axis = 1> (a, n)
        i = Constant <value_int = 0> ()
        p = SequenceAt (s, i)
        y = Mul (p, b)
        """,
        lambda a, b: a * b,
    ),
    "mapped": (
        """
        s = SequenceConstruct (a, b)
        t = SequenceMap (s, b) <
          body = f (double[2, 3] m, double[2, 3] n) => (double[2, 3] o) {
            o = Mul (m, n)
          }
        >
        y = ConcatFromSequence <axis = 0> (t)
        """,
        lambda a, b: torch.cat((a * b, b * b)),
    ),
    "optionals": (
        """
        s = SequenceConstruct (a, b)
        o = Optional (s)
        t = OptionalGetElement (o)
        i = Constant <value_int = 0> ()
        p = SequenceAt (t, i)
        q = Optional (p)
        c = OptionalGetElement (q)
        d = OptionalGetElement (b)
        y = Mul (c, d)
        """,
        lambda a, b: a * b,
    ),
}


def graph_of(nodes: str) -> Any:
    text = f"g (double[2, 3] a, double[2, 3] b) => (double[p, q] y) {{ {nodes} }}"
    if "new_axis" in nodes:
        text = text.replace("[p, q]", "[p, q, r]")
    if "keepdims = 0" in nodes:
        text = text.replace("[p, q]", "[p]")
    return load(onnx.parser.parse_model(_HEAD + text).SerializeToString())


@pytest.mark.parametrize("name", CASES)
def test_sequences(name: str) -> None:
    nodes, by_torch = CASES[name]
    a, b = (torch.tensor(array, requires_grad=True) for array in (A, B))
    wanted = by_torch(a, b)
    dy = numpy.random.default_rng(3).standard_normal(wanted.shape)
    wanted.backward(torch.tensor(dy))
    (y,), grads = gradients(graph_of(nodes), {"a": A, "b": B}, ["a", "b"], {"y": dy})
    numpy.testing.assert_allclose(y, wanted.detach(), rtol=1e-12)
    for key, tensor in (("a", a), ("b", b)):
        expected = torch.zeros(2, 3) if tensor.grad is None else tensor.grad
        numpy.testing.assert_allclose(grads[key], expected, rtol=1e-12, atol=1e-15)


ERRORS = {
    "a position that is computed": (
        "s = SequenceConstruct (a, b)  h = Cast <to = 7> (a)  i = ReduceMax <keepdims = 0> (h)"
        "  y = SequenceAt (s, i)",
        "SequenceAt.* has no gradient: a position in a sequence is computed",
    ),
    "a position that is not there": (
        "s = SequenceConstruct (a, b)  i = Constant <value_int = 2> ()  y = SequenceAt (s, i)",
        "the position 2 in a sequence of 2",
    ),
    "a position to insert at that is not there": (
        "s = SequenceConstruct (a, b)  i = Constant <value_int = 3> ()"
        "  t = SequenceInsert (s, a, i)  y = ConcatFromSequence <axis = 0> (t)",
        r"node '.*' \(SequenceInsert\): the position 3 in a sequence of 2",
    ),
    "a position to erase that is not there": (
        "s = SequenceConstruct (a, b)  i = Constant <value_int = -3> ()"
        "  t = SequenceErase (s, i)  y = ConcatFromSequence <axis = 0> (t)",
        r"node '.*' \(SequenceErase\): the position -3 in a sequence of 2",
    ),
    "nothing to erase": (
        "e = SequenceEmpty <dtype = 11> ()  s = SequenceErase (e)  t = SequenceInsert (s, a)"
        "  y = ConcatFromSequence <axis = 0> (t)",
        r"node '.*' \(SequenceErase\) erases an item of an empty sequence",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_has_no_gradient(name: str) -> None:
    nodes, text = ERRORS[name]
    with pytest.raises(GraphError, match=text):
        training(graph_of(nodes), ["a"])


def test_the_first_of_equal_elements_gets_the_gradient() -> None:
    text = "g (double[6] a) => (double[n] y) { y = Unique (a) }"
    graph = load(onnx.parser.parse_model(_HEAD + text).SerializeToString())
    feeds = {"a": numpy.array([3.0, 1.0, 3.0, 2.0, 1.0, 1.0])}
    (y,), grads = gradients(graph, feeds, ["a"], {"y": numpy.array([10.0, 20.0, 30.0])})
    assert y.tolist() == [1, 2, 3]
    assert grads["a"].tolist() == [30, 10, 0, 20, 0, 0]
