"""Branches and loops: the host decides, and the device executes what it can of their bodies."""

from __future__ import annotations

import gc
import warnings
import weakref

import numpy
import pytest

import mx
from mx.graph import PartitionedPlan, Plan
from mx.model import load_compiled, save_compiled
from tests.acc.models.test_partitioned_plans import same
from tests.graph.build import graph_of

X = numpy.array([1, -2], "float32")
BRANCHES = """g (bool c, float[2] x) => (float[2] y) <float[2] k = {5, 6}> {
 n = Neg(x)
 y = If(c) <then_branch = t () => (float[2] a) { p = Mul(n, k) a = Add(p, x) },
            else_branch = e () => (float[2] b) { q = Abs(x) b = Hardmax(q) }>
}"""
NESTED = """g (bool c, float[2] x) => (float[2] y) {
 y = If(c) <then_branch = t () => (float[2] a) {
              m = Neg(x)
              a = If(c) <then_branch = i () => (float[2] u) { u = Add(m, x) },
                         else_branch = j () => (float[2] v) { v = Identity(m) }> },
            else_branch = e () => (float[2] b) { b = Identity(x) }>
}"""
LOOP = """g (int64 n, float[2] x) => (float[2] y, float[M,2] z)
<bool true = {1}, float[2] k = {1, 2}> {
 y, z = Loop(n, true, x) <body = b (int64 i, bool go, float[2] s)
                           => (bool on, float[2] t, float[2] r)
   { on = Identity(go) r = Mul(s, k) t = Add(r, x) }>
}"""
SCAN = """g (float[2] s, float[3,2] x) => (float[2] y, float[3,2] z) {
 y, z = Scan<num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] u, float[2] v)
   { u = Add(a, e) v = Exp(u) }>(s, x)
}"""
FALSE, TRUE = numpy.array(False), numpy.array(True)
ROWS = numpy.arange(6, dtype="float32").reshape(3, 2)

# The inputs, and what is said of bodies.
CASES = {
    "a branch": (BRANCHES, [TRUE, X], "in branches and loops 2 of 2 nodes"),
    "the other": (BRANCHES, [FALSE, X], "in branches and loops 1 of 2 nodes"),
    "a branch of a branch": (NESTED, [TRUE, X], "in branches and loops 2 of 3 nodes"),
    "a loop": (LOOP, [numpy.array(3), X], "in branches and loops 3 of 3 nodes"),
    "a loop of no turns": (LOOP, [numpy.array(0), X], ""),
    "a scan": (SCAN, [X, ROWS], "in branches and loops 2 of 2 nodes"),
}


@pytest.mark.parametrize("settings", [{}, {"STREAMS": "1"}])
@pytest.mark.parametrize("case", CASES)
def test_bodies(load_refacc, case, settings) -> None:
    text, inputs, said = CASES[case]
    ctx = load_refacc("bodies", **settings)
    graph = graph_of(text)
    plan = PartitionedPlan(graph, ctx, optimize=False, verify=True)
    for _ in range(2):
        same(plan(*inputs), Plan(graph)(*inputs))
    assert said in plan.summary() and ("branches" in plan.summary()) is bool(said)
    placement = weakref.ref(plan.placement())
    gc.collect()
    gc.disable()
    del plan
    is_gone = placement() is None
    gc.enable()
    assert is_gone  # and with it the models, without the garbage collector
    mx.empty_cache(ctx)
    assert ctx.configure()["live"] == "0"
    assert ctx.configure(check=1)["violations"] == "0"


def test_copies_of_small_bodies(load_refacc) -> None:
    """Inputs and outputs of bodies are on the host: they are copied each time."""
    ctx = load_refacc("bodies", SLOW="2000")
    for text, inputs, _ in CASES.values():
        plan = PartitionedPlan(graph_of(text), ctx, optimize=False, costs=True)
        same(plan(*inputs), Plan(graph_of(text))(*inputs))
        assert "branches" not in plan.summary()


def test_shapes_that_vary(load_refacc) -> None:
    """A body is compiled for some, and then it is left to the CPU for others."""
    ctx = load_refacc("bodies")
    text = """g (int64 n, float[A] x) => (float[B] y) <bool true = {1}> {
     y = Loop(n, true, x) <body = b (int64 i, bool go, float[C] s) => (bool on, float[D] t)
       { on = Identity(go) d = Neg(s) t = Concat<axis = 0>(s, d) }> }"""
    plan = PartitionedPlan(graph_of(text), ctx, optimize=False)
    for turns in (3, 12):
        same(plan(numpy.array(turns), X), Plan(graph_of(text))(numpy.array(turns), X))
    (first, *others) = plan.placement().nested()
    assert len(others) == 7 and {len(each.models()) for each in others} == {1}


@pytest.mark.parametrize("faults", ["loadModel", "infer", "supportedOps"])
def test_a_body_that_fails(load_refacc, faults) -> None:
    """The CPU executes it, and a warning says why."""
    ctx = load_refacc("bodies")
    ctx.configure(faults=faults)
    graph = graph_of(LOOP)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plan = PartitionedPlan(graph, ctx, optimize=False)
        same(plan(numpy.array(3), X), Plan(graph)(numpy.array(3), X))
    assert any("the fault that was asked for" in str(each.message) for each in told)
    ctx.configure(faults="")


def test_are_saved(load_refacc, tmp_path) -> None:
    """The bodies that were executed are in a file of save_compiled, too."""
    ctx = load_refacc("bodies")
    plan = PartitionedPlan(graph_of(BRANCHES), ctx)
    plan(TRUE, X)
    save_compiled(tmp_path / "m.mx", plan)
    loaded = load_compiled(tmp_path / "m.mx")
    same(loaded(TRUE, X), Plan(graph_of(BRANCHES))(TRUE, X))
    assert {model.origin for model in loaded.models()} == {"file"} and len(loaded.models()) == 2


def test_speech(load_refacc) -> None:
    """silero-vad: a branch for each rate of sound, with all of the model in it."""
    from tests.graph.test_trained_models import files_of, windows

    graph = mx.graph.load(files_of("silero_vad") / "data" / "silero_vad.onnx")
    plan, cpu = PartitionedPlan(graph, load_refacc("bodies")), Plan(graph)
    for rate in (16000, 8000):
        inputs = {"input": next(iter(windows(rate))), "sr": numpy.array(rate)}
        inputs["state"] = numpy.zeros((2, 1, 128), "float32")
        for found, expected in zip(plan.run(inputs), cpu.run(inputs), strict=True):
            numpy.testing.assert_allclose(found.asnumpy(), expected.asnumpy(), rtol=1e-3, atol=1e-5)
    here, all_ = (sum(column) for column in zip(*plan.placement().counts(), strict=True))
    assert here > all_ / 2
