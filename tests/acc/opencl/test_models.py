"""Models: whole graphs on the device, whose intermediate results never leave it."""

import gc
import threading
import warnings

import numpy
import pytest

import mx
from benchmarks.models import convolutional
from mx.graph import PartitionedPlan, Plan, explain
from tests.graph.build import graph_of

from ..conftest import open_usable


@pytest.fixture(scope="module")
def device(library):
    open_usable(library).close()
    ctx = mx.load_acc(library, "oclmodels")
    yield ctx
    gc.collect()
    mx.unload_acc("oclmodels")


def images(batch: int, channels: int, size: int) -> numpy.ndarray:
    shape = (batch, channels, size, size)
    return numpy.random.default_rng(batch).normal(size=shape).astype("float32")


MODELS = {
    "LeNet": (lambda: convolutional.lenet(0.5), images(2, 1, 28)),
    "ResNet-50": (lambda: convolutional.resnet50(0.0625, 32), images(2, 3, 32)),
    "MobileNetV2": (lambda: convolutional.mobilenet_v2(0.125, 32), images(1, 3, 32)),
}


@pytest.mark.parametrize("name", MODELS)
def test_whole_models(device, name) -> None:
    make, x = MODELS[name]
    graph = make()
    assert {row.where for row in explain(graph, device, {"data": x.shape})} == {"oclmodels 0"}
    plan = PartitionedPlan(graph, device)
    (expected,) = Plan(graph)(x)
    for _ in range(2):
        (output,) = plan(x)
        assert output.ctx == device
        got, wanted = output.asnumpy(), expected.asnumpy()
        numpy.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-5 * abs(wanted).max())


def copies_of(ctx: mx.Context) -> int:
    return int(ctx.configure()["copies"])


def test_only_inputs_and_outputs_are_copied(device) -> None:
    graph = convolutional.lenet(0.5)
    x = images(1, 1, 28)
    plan = PartitionedPlan(graph, device)
    plan(x)[0].asnumpy()
    before = copies_of(device)
    (output,) = plan(x)
    output.asnumpy()
    assert copies_of(device) - before == 2
    on_device = mx.np.array(x, ctx=device)
    before = copies_of(device)
    plan(on_device)
    assert copies_of(device) == before


def test_profiles_tell_of_each_node(device) -> None:
    graph = convolutional.lenet(0.5)
    profile = PartitionedPlan(graph, device).profile({"data": images(1, 1, 28)})
    (group,) = [step for step in profile.steps if step.implementation == "oclmodels 0"]
    named = {node.name or node.op_type for node in graph.model.graph}
    assert len(group.parts) > 4 and {part.name for part in group.parts} <= named
    assert sum(part.duration_ns for part in group.parts) <= group.duration_ns
    assert all(part.duration_ns > 0 for part in group.parts)


def test_costs(device) -> None:
    """What is small stays on the CPU between nodes of the CPU; whole models do not."""
    graph = graph_of(
        "g (float[4,4] x) => (float[4,4] y) { a = Trilu(x) b = Exp(a) y = Hardmax(b) }"
    )
    for costs, expected in ((True, "cpu"), (False, "oclmodels 0")):
        assert explain(graph, device, costs=costs)[1].where == expected
    placement = PartitionedPlan(convolutional.lenet(0.5), device, costs=True)
    placement(images(1, 1, 28))
    assert "cpu" not in placement.summary()
    assert all(answer.cost > 0 for answer in placement.placement().answers)


# Views; outputs that are inputs, weights or one another; and what is not done here.
GRAPHS = {
    "views": (
        "g (float[3,4] x) => (float[4,3] y, float[2,2] z)"
        " <int64[2] a = {0, 3}, int64[2] b = {2, -5},"
        " int64[2] c = {0, 1}, int64[2] d = {1, -2}>"
        " { y = Transpose(x) z = Slice(x, a, b, c, d) }",
        [(3, 4)],
    ),
    "outputs twice": (
        "g (float[3] x) => (float[3] x, float[3] w, float[3] y, float[1,3] z)"
        " <float[3] w = {1, 2, 3}, int64[2] s = {1, 3}> { y = Add(x, w) z = Reshape(y, s) }",
        [(3,)],
    ),
    "a group beside the CPU": (
        "g (float[2,3] x) => (float[2,3] y) { a = Exp(x) b = Hardmax(a) y = Add(a, b) }",
        [(2, 3)],
    ),
    "no elements": (
        "g (float[N,3] x) => (float[N,3] y, float[3] s) <int64[1] a = {0}>"
        " { y = Relu(x) s = ReduceSum<keepdims = 0>(y, a) }",
        [(0, 3)],
    ),
    "in place, then used again": (
        "g (float[64] x) => (float[64] y) { a = Exp(x) b = Neg(a) c = Abs(b) d = Add(b, c)"
        " e = Mul(a, d) f = Sub(e, c) y = Tanh(f) }",
        [(64,)],
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(device, name) -> None:
    text, shapes = GRAPHS[name]
    given = [numpy.linspace(-1, 1, int(numpy.prod(s)), dtype="float32").reshape(s) for s in shapes]
    graph = graph_of(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mx.AccFallbackWarning)
        outputs = PartitionedPlan(graph, device)(*given)
    for output, expected in zip(outputs, Plan(graph)(*given), strict=True):
        got = mx.np.asarray(output).asnumpy()
        numpy.testing.assert_allclose(got, expected.asnumpy(), rtol=1e-5, atol=1e-6)


def test_threads(device) -> None:
    plan = PartitionedPlan(convolutional.lenet(0.5), device)
    given = [images(1, 1, 28) + number for number in range(4)]
    expected = [plan(x)[0].asnumpy() for x in given]
    wrong = []

    def run(number: int) -> None:
        for _ in range(10):
            if not numpy.array_equal(plan(given[number])[0].asnumpy(), expected[number]):
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(given))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_reasons(device) -> None:
    graph = graph_of(
        "g (float[2,4] x, int64[3] i, int64[3] j) => (float[2,3] y, int64[3] k, float[2,4] h)"
        " { y = Gather<axis = 1>(x, i) k = Div(i, j) h = Hardmax(x) }"
    )
    assert [row.why for row in explain(graph, device)] == [
        "there is no kernel for take",
        "Div of signed integers, which rounds towards 0",
        "there is no rule for Hardmax",
    ]
