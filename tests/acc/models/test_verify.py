"""Verify mode: what an accelerator computes, compared with the CPU node by node."""

from __future__ import annotations

import subprocess

import numpy
import pytest

import mx
from mx.graph import MismatchError, PartitionedPlan, Plan
from tests.graph.build import graph_of

from ..conftest import ROOT
from .test_partitioned_plans import MIXED, X, same


@pytest.mark.parametrize("verify", [True, (1e-3, 1e-3)])
def test_verify_says_nothing_where_all_agree(load_refacc, verify) -> None:
    plan = PartitionedPlan(graph_of(MIXED), load_refacc("plans"), verify=verify)
    for rows in (2, 3):
        x = numpy.resize(X, (rows, 4))
        same(plan(x), Plan(graph_of(MIXED))(x))


@pytest.mark.parametrize(
    ("operator", "node", "output"),
    [("Gemm", "first", "h"), ("Relu", "second", "r"), ("Softmax", "fourth", "s"), ("Abs", "", "z")],
)
def test_verify_names_the_first_node_that_differs(load_refacc, operator, node, output) -> None:
    plan = PartitionedPlan(graph_of(MIXED), load_refacc("plans", WRONG=operator), verify=True)
    with pytest.raises(MismatchError) as raised:
        plan(X)
    text = str(raised.value)
    assert f"node {node!r}" in text or not node
    assert f"({operator})" in text and f"output {output!r} differs in" in text
    assert "there," in text and "on the CPU (tolerance: relative 0.001" in text


def test_without_verify_nobody_notices(load_refacc) -> None:
    plan = PartitionedPlan(graph_of(MIXED), load_refacc("plans", WRONG="Abs"))
    assert (plan(X)[1].asnumpy() <= 0).all()


# Graphs in which NaN meets operators whose fastest kernels on the CPU make a number of it.
NANS = {
    "Relu": "y = Relu(x)",
    "Clip": "y = Clip(x, low, high)",
    "MaxPool": "y = MaxPool<kernel_shape = [2, 2]>(x)",
    "Softmax": "y = Softmax(x)",
    "Exp": "y = Exp(x)",
    "Sigmoid": "y = Sigmoid(x)",
    "a comparison behind it": "r = Relu(x) y = Equal(r, r)",
    "behind a product": "c = Conv(x, w) y = Relu(c)",
}


@pytest.mark.parametrize("keep_nan", [False, True])
@pytest.mark.parametrize("text", NANS.values(), ids=NANS)
def test_a_device_that_keeps_nan_is_right(load_refacc, text, keep_nan) -> None:
    output = "bool[a,b,c,d]" if "Equal" in text else "float[a,b,c,d]"
    graph = graph_of(
        f"g (float[1,2,4,4] x) => ({output} y) <float[2,2,1,1] w = {{1,2,3,4}},"
        f" float low = {{-1}}, float high = {{1}}> {{ {text} }}"
    )
    x = numpy.linspace(-2, 2, 32, dtype="float32").reshape(1, 2, 4, 4)
    x[0, 0, 1, 2] = numpy.nan
    plan = PartitionedPlan(graph, load_refacc("plans"), verify=True, keep_nan=keep_nan)
    (y,) = plan(x)
    assert "on cpu" not in plan.summary()
    (expected,) = Plan(graph, keep_nan=True)(x)
    numpy.testing.assert_allclose(y.asnumpy(), expected.asnumpy(), rtol=1e-5)


@pytest.fixture(scope="module")
def loses_nan(tmp_path_factory):
    """The template, whose Relu makes 0 of NaN here."""
    folder = tmp_path_factory.mktemp("nan")
    source = (ROOT / "accelerators" / "template" / "mymodel.c").read_text()
    assert source.count("x[i] < 0 ? 0 : x[i]") == 1
    (folder / "model.c").write_text(source.replace("x[i] < 0 ? 0 : x[i]", "x[i] > 0 ? x[i] : 0"))
    command = ["cc", "-w", "-shared", "-fPIC", f"-I{ROOT / 'include'}", folder / "model.c"]
    subprocess.run([*command, "-o", folder / "libmodel.so"], check=True)
    yield mx.load_acc(folder / "libmodel.so", "losesnan")
    mx.unload_acc("losesnan")


def test_a_device_may_lose_nan_where_kernels_of_the_cpu_do(loses_nan) -> None:
    graph = graph_of("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    x = numpy.array([1, numpy.nan, -1], "float32")
    (y,) = PartitionedPlan(graph, loses_nan, verify=True)(x)
    assert y.tolist() == [1, 0, 0]
    with pytest.raises(MismatchError, match=r"first at \(1,\): 0.0 there, nan on the CPU"):
        PartitionedPlan(graph, loses_nan, verify=True, keep_nan=True)(x)


def test_what_the_cpu_executes_keeps_nan(load_refacc) -> None:
    graph = graph_of(
        """g (float[1,16,6,6] x, float[16,16,1,1] w) => (float[1,16,6,6] y)
        { c = Conv(x, w) y = Relu(c) }"""
    )
    w = numpy.ones((16, 16, 1, 1), "float32")
    x = numpy.ones((1, 16, 6, 6), "float32")
    x[0, 3, 2, 4] = numpy.nan
    device = load_refacc("plans")
    for keep_nan in (False, True):
        plan = PartitionedPlan(graph, device, fallback="whole", keep_nan=keep_nan)
        (y,), (expected,) = plan(x, w), Plan(graph, keep_nan=keep_nan)(x, w)
        assert numpy.isnan(expected.asnumpy()[0, 3, 2, 4]) == keep_nan
        numpy.testing.assert_array_equal(y.asnumpy(), expected.asnumpy())
