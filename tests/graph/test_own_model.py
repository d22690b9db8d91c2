"""The weights of a graph go with it, if nobody else has its model."""

from __future__ import annotations

import copy
import gc
import weakref

import numpy
import onnx
import pytest
from onnx import helper

import mx.graph

EXTENT = 256  # so large that the weight is read from the file when it is needed


def load(tmp_path) -> mx.graph.Graph:
    value = helper.make_tensor_value_info
    ends = [value(name, onnx.TensorProto.FLOAT, ["N", EXTENT]) for name in "xy"]
    weight = onnx.numpy_helper.from_array(numpy.ones((EXTENT, EXTENT), "f"), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(helper.make_graph([node], "g", ends[:1], ends[1:], [weight])), path)
    return mx.graph.load(path)


class Holder:
    """A graph, and a weak reference to what has its weight, without anybody being given it."""

    def __init__(self, graph) -> None:
        self.graph = graph
        self.tensor = weakref.ref(graph._read().graph.initializers["w"].const_value)


# What is kept of a graph that goes, and whether that keeps its weight.
KEPT = {
    "nothing": (lambda graph: None, False),
    "what is told of it": (lambda graph: (graph.inputs, graph.opset, repr(graph)), False),
    "a shallow copy": (copy.copy, True),
    "a copy": (lambda graph: graph.copy(), True),
    "its weights": (lambda graph: graph.weights, True),
    "its model": (lambda graph: graph.model, True),
    "its nodes": (lambda graph: graph.nodes, True),
}


@pytest.mark.parametrize(("keep", "expected"), KEPT.values(), ids=KEPT)
def test_who_keeps_a_weight(tmp_path, keep, expected) -> None:
    holder = Holder(load(tmp_path))
    gc.collect()
    gc.disable()  # which would find what refers to one another
    try:
        kept = keep(holder.graph)
        del holder.graph
        assert (holder.tensor() is not None) is expected
    finally:
        gc.enable()
    if isinstance(kept, mx.graph.Graph):
        kept = kept.weights
    if isinstance(kept, mx.graph.Weights):
        assert kept["w"].sum() == EXTENT * EXTENT


def test_a_plan_has_them(tmp_path) -> None:
    plan = mx.graph.Plan(load(tmp_path))
    x = numpy.ones((2, EXTENT), "f")
    assert plan(x)[0].asnumpy().tolist() == [[EXTENT] * EXTENT] * 2
    assert plan(x[:1])[0].asnumpy().tolist() == [[EXTENT] * EXTENT]


def test_a_graph_that_was_never_made_goes() -> None:
    with pytest.raises(TypeError, match="onnx_ir.Model"):
        mx.graph.Graph(3)
    gc.collect()
