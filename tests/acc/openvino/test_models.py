"""Models by OpenVINO against the plan of the CPU."""

from __future__ import annotations

import os
import re
import threading

import numpy as np
import pytest

import ffi
import mx
from benchmarks.models import MODELS, example
from mx.graph import PartitionedPlan, Plan, explain
from mx.graph.partition._device import Device
from mx.graph.partition._wiring import Wiring
from tests.graph.build import graph_of
from tests.graph.test_models import SMALL

key_of = ffi.get_global_func("mx.acc.models.key")
check = ffi.get_global_func("mx.acc.models.check")


def same(outputs: list, expected: list) -> None:
    for output, other in zip(outputs, expected, strict=True):
        there, here = output.asnumpy(), other.asnumpy()
        assert there.dtype == here.dtype
        largest = np.abs(here.astype("float64")).max(initial=0)
        np.testing.assert_allclose(there, here, 1e-4, 1e-5 * largest)


@pytest.mark.parametrize("name", MODELS)
def test_models(ctx, name) -> None:
    """For one batch and then another, all of it there."""
    graph = MODELS[name](width=0.1, **SMALL.get(name, {}))
    plan, expected = PartitionedPlan(graph, ctx, fallback="error"), Plan(graph)
    for batch in (1, 3):
        inputs = example(graph, batch)
        same(plan.run(inputs), expected.run(inputs))


# Outputs that are inputs, or another output, after what changes nothing.
SHARED = {
    "an input": "float[2,3] z { z = Identity(x) }",
    "an input times 1": "float[2,3] z { one = Constant<value = float {1}>() z = Mul(x, one) }",
    "an input of another shape": "float[6] z { s = Constant<value = int64[1] {6}>() "
    "z = Reshape(x, s) }",
    "an output twice": "float[2,3] y, float[2,3] z { y = Exp(x) z = Identity(y) }",
    "an output of another shape": "float[2,3] y, float[3,2] z { y = Exp(x) "
    "s = Constant<value = int64[2] {3, 2}>() z = Reshape(y, s) }",
    "an output that is used": "float[2,3] y, float[2,3] z { y = Exp(x) z = Sigmoid(y) }",
    "a sum": "float[2,3] y, float[2,3] z { y = Exp(x) z = Add(x, y) }",
}
X = np.linspace(-1, 1, 6, dtype="float32").reshape(2, 3)


@pytest.mark.parametrize("text", SHARED.values(), ids=SHARED)
def test_outputs_that_are_the_same(ctx, text) -> None:
    outputs, _, body = text.partition("{")
    graph = graph_of(f"g (float[2,3] x) => ({outputs}) {{{body}")
    plan, expected = PartitionedPlan(graph, ctx, optimize=False, fallback="error"), Plan(graph)
    for factor in (1, 2):
        same(plan(X * factor), expected(X * factor))


def test_extents_that_a_run_tells(ctx) -> None:
    graph = graph_of("g (float[2,3] x) => (int64[2,N] y) { r = Relu(x) y = NonZero(r) }")
    plan, expected = PartitionedPlan(graph, ctx, fallback="error"), Plan(graph)
    for x in (X, X + 2, -np.abs(X)):
        same(plan(x), expected(x))


# Nodes that stay on the CPU, and why.
REJECTED = {
    "a type": (
        "g (double[2] x) => (double[2] y) { y = Exp(x) }",
        "'x' is of a type that OpenVINO does not compute in",
    ),
    "no elements": ("g (float[0] x) => (float[0] y) { y = Exp(x) }", "'x' has no elements"),
    "int64": (
        "g (int64[2] x) => (int64[2] y) { y = Add(x, x) }",
        "OpenVINO computes Add of these integers in another type",
    ),
    "bytes": ("g (int8[2] x) => (int8[2] y) { y = Add(x, x) }", "of these integers"),
    "order": (
        "g (float[4] x) => (float[2] y, int64[2] i) "
        "{ k = Constant<value = int64[1] {2}>() y, i = TopK(x, k) }",
        "equal elements are in another order",
    ),
    "an attribute": (
        "g (float[1,1,4,4] x) => (float[1,1,2,2] y) "
        "{ y = MaxPool<kernel_shape = [2, 2], strides = [2, 2], ceil_mode = 1>(x) }",
        "ceil_mode gives other extents",
    ),
    "infinities": (
        "g (float[4] x) => (float[1] y) { y = ReduceMax(x) }",
        "gives that for infinities and NaN",
    ),
    "an input": (
        "g (float[1,1,1] x, float[1,4,1] w, float[1,4,1] r, float[1,3] p) => (float[1,1,1,1] y) "
        "{ y = LSTM<hidden_size = 1>(x, w, r, , , , , p) }",
        "it leaves peepholes out",
    ),
    "unknown to OpenVINO": (
        "g (float[4] x) => (float[4] y) { y = Mod<fmod = 0>(x, x) }",
        "ov_core_read_model: .*fmod",
    ),
}


@pytest.mark.parametrize(("text", "reason"), REJECTED.values(), ids=REJECTED)
def test_rejections(ctx, text, reason) -> None:
    row = explain(graph_of(text), ctx)[-1]
    assert row.where == "cpu"
    assert re.search(reason, row.why)


def test_the_node_that_does_not_compile(ctx) -> None:
    """OpenVINO reads it, and says only when compiling that it cannot."""
    graph = graph_of("""g (float[2,3] x, int64[1] axes) => (float[2,3] y, float[1,2,3] z) {
        y = Relu(x)
        z = Unsqueeze(x, axes)
    }""")
    plan = PartitionedPlan(graph, ctx)
    assert plan.summary() == "openvino: 1 of 2 nodes; on cpu: Unsqueeze x1"
    assert "dynamic rank" in plan.placement().answers[1].reason
    same(plan(X, np.array([0])), Plan(graph)(X, np.array([0])))


def test_threads(ctx) -> None:
    graph = MODELS["lenet"](width=0.5)
    plan, expected = PartitionedPlan(graph, ctx, fallback="error"), Plan(graph)
    batches = [example(graph, 2, seed) for seed in range(8)]
    plan.run(batches[0])
    wrong: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(20):
                same(plan.run(batches[number]), answers[number])
        except BaseException as error:
            wrong.append(error)

    answers = [expected.run(batch) for batch in batches]
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_second_start(ctx, tmp_path, monkeypatch) -> None:
    """Of a file whose model is kept: its nodes are not read."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    graph = MODELS["lenet"](width=0.5)
    graph.save(tmp_path / "lenet.onnx")
    for batch in (1, 3):
        inputs = example(graph, batch)
        for origin in ("compiled", "cache"):
            plan = PartitionedPlan(mx.graph.load(tmp_path / "lenet.onnx"), ctx)
            same(plan.run(inputs), Plan(graph).run(inputs))
            assert (not plan._maker.is_read) == (origin == "cache")
    assert [model.origin for model in plan.models()] == ["cache"]


def test_export_and_import(ctx, tmp_path) -> None:
    graph = graph_of("g (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Exp(x) z = Neg(y) }")
    graph.infer()
    wiring = Wiring(graph.model.graph)
    ids = {node: number for number, node in enumerate(wiring.nodes, 1)}
    options = {"precision": "float32", "streams": 1}
    part = wiring.part([0, 1])
    described = Device(ctx, options).source(wiring, part, ids, graph.model.opset_imports).graph
    model = described.load(ctx, list(options), list(options.values()))
    key = key_of(ctx)
    assert check(ctx, key) == "fits" and check(ctx, key + "!") == "does not fit"
    file = os.open(tmp_path / "pieces", os.O_RDWR | os.O_CREAT)
    try:
        rows = model.export(file, 0)
        with mx.cpu():
            x = mx.np.array(X)
        again = described.import_model(ctx, key, file, rows)
        same(again.infer([x]), model.infer([x]))
        with pytest.raises(ValueError, match="importModel failed: .*compiled for 'another'"):
            described.import_model(ctx, "another", file, rows)
        offset = rows[-2][1] + rows[-2][2] // 2
        os.pwrite(file, b"damage", offset)
        with pytest.raises(ValueError, match="importModel failed: .*is damaged"):
            described.import_model(ctx, key, file, rows)
    finally:
        os.close(file)
    del model, again
