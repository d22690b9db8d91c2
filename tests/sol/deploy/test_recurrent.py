"""Recurrent layers that several threads compute, deployed, against plans."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import pytest
from onnx import helper, numpy_helper

from mx.graph import Graph, load
from mx.graph.plan import Plan
from mx.sol.backends.gen import Target
from mx.sol.deployments._lower import lower

from .merged import Merged
from .test_libraries import pool_of

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
random = numpy.random.default_rng(4)


def _of(*shape: int) -> Any:
    return (random.standard_normal(shape) / 8).astype("float32")


def case(
    operator: str,
    steps: int,
    batch: int,
    hidden: int,
    states: bool = False,
    bias: bool = True,
    last: bool = False,
    **attributes: Any,
) -> tuple[Graph, list[Any]]:
    """A layer with its inputs; `last` is whether only the last states are outputs."""
    count = 2 if attributes.get("direction") == "bidirectional" else 1
    gates, names = GATES[operator] * hidden, ["x", "w", "r"]
    weights = {"w": _of(count, gates, 5), "r": _of(count, gates, hidden)}
    if bias:
        weights["b"] = _of(count, 2 * gates)
    feeds = {"x": _of(steps, batch, 5)}
    names += ["b" if bias else ""]
    if states:
        names += ["", "h"]
        feeds["h"] = _of(count, batch, hidden)
        if operator == "LSTM":
            names.append("c")
            feeds["c"] = _of(count, batch, hidden)
    outputs = ["y", "last", "cell"][: 3 if operator == "LSTM" else 2]
    node = helper.make_node(operator, names, outputs, hidden_size=hidden, **attributes)
    float32 = onnx.TensorProto.FLOAT
    given = [helper.make_tensor_value_info(n, float32, one.shape) for n, one in feeds.items()]
    told = [helper.make_tensor_value_info(n, float32, None) for n in outputs[last:]]
    kept = [numpy_helper.from_array(one, name) for name, one in weights.items()]
    graph = helper.make_graph([node], operator, given, told, kept)
    opsets = [helper.make_opsetid("", 22)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return load(model.SerializeToString()), list(feeds.values())


CASES = {
    "LSTM": case("LSTM", 5, 1, 128),
    "LSTM backwards": case("LSTM", 3, 2, 128, direction="reverse", bias=False, last=True),
    "LSTM both ways": case("LSTM", 4, 3, 96, direction="bidirectional", states=True),
    "LSTM of one step": case("LSTM", 1, 1, 160, states=True),
    "GRU": case("GRU", 4, 2, 128, linear_before_reset=1),
    "GRU both ways": case(
        "GRU", 3, 3, 96, direction="bidirectional", linear_before_reset=1, states=True
    ),
    "GRU that resets before": case("GRU", 3, 2, 128),
    "RNN": case("RNN", 4, 7, 128, last=True),
    "RNN with relu": case(
        "RNN", 4, 5, 128, direction="reverse", states=True, activations=["Relu"]
    ),
}  # fmt: skip
IN_ONE = {"GRU that resets before", "LSTM of one step"}


@pytest.fixture(scope="module", params=["c", "host"])
def library(request) -> Merged:
    """All cases, for any processor and for this one."""
    target = Target.named("c") if request.param == "c" else Target.host()
    programs = [lower(graph, target) for graph, _ in CASES.values()]
    for name, program in zip(CASES, programs, strict=True):
        turns = [call.kernel.turns for call in program.calls]
        assert (max(turns) > 1) == (name not in IN_ONE), name
    return Merged(programs, target, "-O1")


@pytest.mark.parametrize("threads", [None, 1, 2, 3, 20])
def test_as_the_plan(library: Merged, threads: int | None) -> None:
    pool = None if threads is None else pool_of(threads)
    outputs = library.call([one for _, inputs in CASES.values() for one in inputs], pool)
    for name, (graph, inputs) in CASES.items():
        for wanted in Plan(graph)(*inputs):
            numpy.testing.assert_allclose(
                outputs.pop(0), wanted, rtol=2e-5, atol=2e-6, err_msg=name
            )
