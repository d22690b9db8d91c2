"""Recurrent layers in models: all steps of a sequence in one primitive."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest
from onnx import TensorProto, helper

import mx
from mx.graph import Graph, PartitionedPlan, Plan, explain
from tests.acc.conftest import need

SEQUENCE, BATCH, WIDTH, HIDDEN = 5, 2, 3, 4
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
X = np.random.default_rng(0).standard_normal((SEQUENCE, BATCH, WIDTH)).astype("float32")
# Positions of inputs, by the names of the cases.
B, LENGTHS, H, C, P = 3, 4, 5, 6, 7


@pytest.fixture(scope="module")
def device(accelerators):
    if not (accelerators / "libonednn.so").exists():
        need("onednn")
    ctx = mx.load_acc(accelerators / "libonednn.so", "recurrent")
    yield ctx
    gc.collect()
    mx.empty_cache(ctx)
    mx.unload_acc("recurrent")


def layer(operator: str, given: tuple[int, ...], attributes: dict[str, Any], outputs: str) -> Graph:
    """A graph of one layer with these optional inputs, of which the first state is no weight."""
    numbers = np.random.default_rng(1)
    gates, directions = GATES[operator], 2 if attributes.get("direction") == "bidirectional" else 1
    state = (directions, BATCH, HIDDEN)
    shapes: dict[int, tuple[int, ...]] = {
        1: (directions, gates * HIDDEN, WIDTH),
        2: (directions, gates * HIDDEN, HIDDEN),
        B: (directions, 2 * gates * HIDDEN),
        LENGTHS: (BATCH,),
        H: state,
        C: state,
        P: (directions, 3 * HIDDEN),
    }
    names = ["x"] + [""] * 7
    weights = []
    for position in (1, 2, *given):
        names[position] = f"i{position}"
        if position == H:
            continue
        array = numbers.standard_normal(shapes[position]).astype("float32")
        if position == LENGTHS:
            array = np.full(BATCH, SEQUENCE - 1, "int32")
        weights.append(onnx.numpy_helper.from_array(array, names[position]))
    while not names[-1]:
        names.pop()
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)]
    inputs += [helper.make_tensor_value_info("i5", TensorProto.FLOAT, state)] * (H in given)
    results = outputs.split(",")
    node = helper.make_node(operator, names, results, hidden_size=HIDDEN, **attributes)
    specs = [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) for r in results if r]
    graph = helper.make_graph([node], "g", inputs, specs, weights)
    opset = [helper.make_opsetid("", 22)]
    return Graph(onnx_ir.from_proto(helper.make_model(graph, opset_imports=opset)))


BOTH: dict[str, Any] = {"direction": "bidirectional"}
LAYERS: dict[str, tuple[str, tuple[int, ...], dict[str, Any], str]] = {
    "lstm": ("LSTM", (B,), {}, "y,h,c"),
    "its last states alone": ("LSTM", (B,), {}, ",h,c"),
    "no bias": ("LSTM", (), {}, "y"),
    "backwards": ("LSTM", (B,), {"direction": "reverse"}, "y,h"),
    "both ways, states and peepholes": ("LSTM", (B, H, C, P), BOTH, "y,h,c"),
    "gru": ("GRU", (B, H), {}, "y,h"),
    "gru both ways, linear before reset": ("GRU", (B,), {"linear_before_reset": 1, **BOTH}, "y,h"),
    "rnn": ("RNN", (B,), {}, "y,h"),
    "rnn of relu": ("RNN", (B, H), {"activations": ["Relu", "Relu"], **BOTH}, "y"),
}


@pytest.mark.parametrize("case", LAYERS)
def test_layers(device, case) -> None:
    operator, given, attributes, outputs = LAYERS[case]
    graph = layer(operator, given, attributes, outputs)
    inputs = [X]
    if H in given:
        directions = 2 if "direction" in attributes else 1
        inputs.append(np.linspace(-1, 1, directions * BATCH * HIDDEN, dtype="float32"))
        inputs[1] = inputs[1].reshape(directions, BATCH, HIDDEN)
    plan = PartitionedPlan(graph, device)
    assert plan(*inputs)[0].ctx == device and plan.summary() == "recurrent: 1 of 1 nodes"
    assert "onednn.recurrent" in device.configure()["primitives"]
    for result, expected in zip(plan(*inputs), Plan(graph)(*inputs), strict=True):
        np.testing.assert_allclose(result.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-5)


REJECTED: dict[str, tuple[str, tuple[int, ...], dict[str, Any], str]] = {
    "clip": ("LSTM", (B,), {"clip": 3.0}, "clipped cells"),
    "gates that are one": ("LSTM", (B,), {"input_forget": 1}, "gates that are one"),
    "activations": ("GRU", (B,), {"activations": ["Tanh", "Tanh"]}, "other activations"),
    "activations of rnn": ("RNN", (B,), {"activations": ["Elu"]}, "other activations"),
    "lengths": ("LSTM", (B, LENGTHS), {}, "sequences of different lengths"),
}


@pytest.mark.parametrize("case", REJECTED)
def test_what_is_rejected(device, case) -> None:
    operator, given, attributes, why = REJECTED[case]
    (row,) = explain(layer(operator, given, attributes, "y"), device)
    assert (row.where, row.why) == ("cpu", why)
