"""Single nodes that were wrong in C, or rejected, for elements and shapes that are rare."""

from __future__ import annotations

from typing import Any

import numpy
import onnx_ir
import pytest

from mx.graph import Graph, GraphError
from mx.sol.backends.gen import Target
from mx.sol.deployments._lower import lower
from mx.sol.deployments._program import Program
from mx.sol.passes import PASSES, run
from tests.fuzz.nodes.draw import Case
from tests.fuzz.nodes.model import model_of

from .merged import Merged

C = Target.named("c")
HALVES = onnx_ir.DataType.BFLOAT16.numpy()
INF, NAN = numpy.inf, numpy.nan
IMAGE = numpy.array([[[[INF, 1, 9], [3, 7, 2]]]], "float32")
OUTSIDE = numpy.array([[[[0, 0], [9, 9], [1, 1]]]], "float32")
ONE = numpy.ones((1, 1, 1), "float32")
NOTHING = numpy.zeros((0, 3), "float32")
NONE = numpy.zeros(0, "float32")
# The node, and what it gives; inputs but the first are constants.
CASES: dict[str, tuple[Case, Any]] = {
    "a sum of many": (
        Case("CumSum", 14, [numpy.ones(1024).astype(HALVES), numpy.array(0)], {}),
        numpy.arange(1, 1025).astype(HALVES),
    ),
    "no elements": (Case("Min", 13, [NOTHING, NOTHING], {}), NOTHING),
    "no rows": (Case("MatMul", 13, [NOTHING, numpy.ones((3, 2), "float32")], {}), NOTHING[:, :2]),
    "batch norm of no elements": (
        Case("BatchNormalization", 7, [NOTHING, *[numpy.ones(3, "float32")] * 4], {}),
        NOTHING,
    ),
    "sizes of 32 bits": (
        Case("CenterCropPad", 18, [IMAGE, numpy.array([1], "int32")], {"axes": [-1]}),
        IMAGE[..., 1:2],
    ),
    "an infinite element, and positions outside": (
        Case("GridSample", 20, [IMAGE, OUTSIDE], {}),
        numpy.array([[[[4, 0, 0.5]]]], "float32"),
    ),
    "an infinite element, and positions moved inside": (
        Case("GridSample", 20, [IMAGE, OUTSIDE], {"padding_mode": "border"}),
        numpy.array([[[[4, 2, 2]]]], "float32"),
    ),
    "positions that are NaN": (
        Case("GridSample", 20, [IMAGE, OUTSIDE * NAN], {"mode": "nearest"}),
        numpy.zeros((1, 1, 1, 3), "float32"),
    ),
    "positions between elements of float16": (
        Case("GridSample", 20, [
            (numpy.arange(1001) % 2).astype("float16").reshape(1, 1, 1, 1001),
            numpy.array([[[[0.4005, 0]]]], "float32")], {"align_corners": 1}),
        numpy.array([[[[0.25]]]], "float16"),
    ),
    "sequences of different lengths, and a gate that is clipped": (
        Case("RNN", 22, [
            numpy.array([[[1], [1]], [[2], [2]], [[4], [4]]], "float32"), ONE, ONE,
            numpy.zeros((1, 2), "float32"), numpy.array([1, 3], "int32")],
            {"hidden_size": 1, "activations": ["Affine"], "clip": 6.0}),
        numpy.array([[[[1], [1]]], [[[0], [3]]], [[[0], [6]]]], "float32"),
    ),
    "bytes between bytes": (
        Case("Resize", 19, [numpy.array([0, 8], "uint8"), NONE, numpy.array([2], "float32")],
             {"mode": "linear"}),
        numpy.array([0, 2, 6, 8], "uint8"),
    ),
    "long integers between": (
        Case("Resize", 19, [2**40 + numpy.array([0, 8]), NONE, numpy.array([2], "float32")],
             {"mode": "linear"}),
        2**40 + numpy.array([0, 2, 6, 8]),
    ),
    "the largest of halves": (
        Case("GlobalMaxPool", 22, [IMAGE[..., 1:].astype("float16")], {}),
        numpy.array([[[[9]]]], "float16"),
    ),
    "scales of filters that are known": (
        Case("QLinearConv", 10, [numpy.zeros((1, 1, 3), "uint8") + numpy.uint8(4)] + [
            numpy.float32(1), numpy.uint8(2), numpy.array([[[3]], [[5]]], "int8"),
            numpy.array([1, 0.5], "float32"), numpy.array([1, 1], "int8"), numpy.float32(2),
            numpy.uint8(1)], {}),
        numpy.array([[[3] * 3, [3] * 3]], "uint8"),
    ),
}  # fmt: skip


def lowered(case: Case) -> tuple[Program, list[Any]]:
    """The program, and its inputs."""
    arrays = [numpy.asarray(one) for one in case.inputs]
    known = frozenset(range(1, len(arrays)))
    model, feeds = model_of(Case(case.operator, case.version, arrays, case.attributes, known=known))
    graph = Graph(onnx_ir.from_proto(model))
    graph.infer()
    run(PASSES.enabled, graph)
    graph.infer()
    return lower(graph, C), list(feeds.values())


def test_edges() -> None:
    programs, inputs = [], []
    for case, _ in CASES.values():
        program, given = lowered(case)
        programs.append(program)
        inputs += given
    outputs = Merged(programs, C).call(inputs)
    for (name, (_, expected)), output in zip(CASES.items(), outputs, strict=True):
        assert (output.dtype, output.shape) == (expected.dtype, expected.shape), name
        numpy.testing.assert_allclose(output, expected, rtol=1e-3, err_msg=name)


def test_inputs_that_are_not_given() -> None:
    """An operator that is short for nodes of others may lack some."""
    case = Case("ReduceLogSum", 18, [numpy.array([1, 2, 17], "uint32")], {"keepdims": 0})
    with pytest.raises(GraphError, match="cannot be deployed: .*its body: Log: no log of uint32"):
        lowered(case)
