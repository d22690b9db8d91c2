"""Whole graphs on oneDNN: the same as the plan of the CPU gives, in fused groups."""

from __future__ import annotations

import gc
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mx
from benchmarks import models
from benchmarks.models._builder import Builder
from mx.graph import PartitionedPlan, Plan, explain
from tests.acc.conftest import need
from tests.graph.build import graph_of
from tests.graph.test_models import SMALL


@pytest.fixture(scope="module")
def device(accelerators):
    if not (accelerators / "libonednn.so").exists():
        need("onednn")
    ctx = mx.load_acc(accelerators / "libonednn.so", "fused")
    yield ctx
    gc.collect()
    mx.empty_cache(ctx)
    assert ctx.configure()["live"] == "0"
    mx.unload_acc("fused")


def check(graph, device, *inputs, tolerance=1e-5) -> PartitionedPlan:
    """Both plans give the same; returns that of the device."""
    plan = PartitionedPlan(graph, device, optimize=False)
    with np.errstate(all="ignore"):
        expected = Plan(graph)(*inputs)
        results = plan(*inputs)
    for result, other in zip(results, expected, strict=True):
        other = other.asnumpy()
        atol = tolerance * max(1, np.abs(other[np.isfinite(other)]).max(initial=0))
        np.testing.assert_allclose(result.asnumpy(), other, rtol=1e-4, atol=atol)
    return plan


def primitives(device) -> list[str]:
    """The names of what the last model runs: "convolution", "reorder", ..."""
    names = device.configure()["primitives"]
    return [name.split()[0].removeprefix("onednn.") for name in names.split(",")]


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


# How many nodes of each model are left to the CPU, and of which operators.
LEFT = {"bert": "Gather x2, Unsqueeze x1, Cast x1"}


@pytest.mark.parametrize("name", models.MODELS)
def test_the_same_as_the_cpu(device, name) -> None:
    graph = models.MODELS[name](width=0.1, **SMALL.get(name, {}))
    inputs = models.example(graph, batch=2).values()
    plan = PartitionedPlan(graph, device)
    for result, expected in zip(plan(*inputs), Plan(graph)(*inputs), strict=True):
        np.testing.assert_allclose(result.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-4)
    _, _, on_cpu = plan.summary().partition("; on cpu: ")
    assert on_cpu == LEFT.get(name, "")


@pytest.mark.parametrize("name", models.MODELS)
def test_other_weights(device, name) -> None:
    """Some, then all that are floats: packed again, or compiled again where they are no copies."""
    graph = models.MODELS[name](width=0.1, **SMALL.get(name, {}))
    inputs = list(models.example(graph, batch=2).values())
    plan = PartitionedPlan(graph, device, cache=False)
    plan(*inputs)
    weights = {key: graph.weights[key] for key in graph.weights}
    floating = [key for key, one in weights.items() if one.dtype == "float32" and one.size > 1]
    random = np.random.default_rng(1)
    for changed in (floating[::3], floating):
        for key in changed:
            weight = np.asarray(graph.weights[key])
            graph.weights[key] = (weight * random.uniform(0.8, 1.1, weight.shape)).astype("float32")
        plan.update_weights(graph)
        for result, expected in zip(plan(*inputs), Plan(graph)(*inputs), strict=True):
            np.testing.assert_allclose(result.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-4)
        if name not in COMPILED_AGAIN:
            assert {model.origin for model in plan.models()} == {"updated"}


# Models with weights whose gates are put in another order.
COMPILED_AGAIN = {"lstm"}

# A graph each, and what it becomes.
CONV = "float[8,4,3,3] w, float[8] b"
FUSED = {
    "activations": (
        f"g (float[1,4,9,9] x, {CONV}) => (float[1,8,9,9] y) {{"
        " a = Conv<pads=[1,1,1,1]>(x, w, b) c = Relu(a) d = Tanh(c) y = Sigmoid(d) }",
        ["convolution"],
    ),
    "a residual": (
        "g (float[1,8,9,9] x, float[8,8,3,3] w, float[8] b) => (float[1,8,9,9] y) {"
        " a = Conv<pads=[1,1,1,1]>(x, w, b) c = Relu(a)"
        " d = Conv<pads=[1,1,1,1]>(c, w, b) e = Add(c, d) y = Relu(e) }",
        ["convolution", "convolution"],
    ),
    "a bias of a product": (
        "g (float[2,3,4] x, float[4,5] w, float[5] b) => (float[2,3,5] y) {"
        " a = MatMul(x, w) c = Add(b, a) d = Gelu(c) y = Mul(d, d) }",
        ["matmul", "binary"],
    ),
    "not what is used twice": (
        "g (float[2,4] x, float[4,5] w) => (float[2,5] y, float[2,5] z) {"
        " a = MatMul(x, w) y = Tanh(a) z = Sigmoid(a) }",
        ["matmul", "eltwise", "eltwise"],
    ),
    "not what is an output": (
        "g (float[2,4] x, float[4,5] w) => (float[2,5] a, float[2,5] y) {"
        " a = MatMul(x, w) y = Tanh(a) }",
        ["matmul", "eltwise"],
    ),
    "no copies for other axes": (
        "g (float[2,3,4,5] x, float[2,4,3,5] w) => (float[2,4,3,3] y) {"
        " a = Transpose<perm=[0,2,1,3]>(x) b = Transpose<perm=[0,1,3,2]>(w) y = MatMul(a, b) }",
        ["matmul"],
    ),
}


def with_weights(text: str) -> tuple:
    """The graph with all inputs but the first as weights, and what the first is given."""
    graph = graph_of(text)
    first, *others = graph.model.graph.inputs
    b = Builder("weights", seed=1)
    for value in others:
        made = b.random(value.name, tuple(value.shape.numpy()), 0.3)
        value.const_value = made.const_value
        graph.model.graph.register_initializer(value)
    del graph.model.graph.inputs[1:]
    return graph, floats(*first.shape.numpy())


@pytest.mark.parametrize(("text", "expected"), FUSED.values(), ids=FUSED)
def test_what_becomes_one(device, text, expected) -> None:
    graph, x = with_weights(text)
    plan = check(graph, device, x)
    assert "on cpu" not in plan.summary()
    names = primitives(device)
    assert [name for name in names if name != "reorder"] == expected
    # Into the blocks of the first convolution, and out of those of the last.
    assert names.count("reorder") <= 2 * ("convolution" in names)
    rows = explain(graph, device, {"x": x.shape}, optimize=False)
    assert {row.where for row in rows} == {"fused 0"}


def test_bounds_and_activations_keep_nan(device) -> None:
    graph = graph_of("""g (float[2,8] x) => (float[2,8] a, float[2,8] b, float[2,8] c, float[2,8] d,
        float[2,8] e, float[2,8] f, float[2,3] h)
        <float zero = {0}, float six = {6}, float one = {1},
        float[8,3] w = {1,0,0, 0,1,0, 0,0,1, 0,0,0, 0,0,0, 0,0,0, 0,0,0, 0,0,0}> {
        a = Relu(x) b = Clip(x, zero, six) c = Clip(x, one) d = Clip(x, , six) e = Exp(x)
        f = HardSigmoid(x) g = MatMul(x, w) h = Relu(g) }""")
    infinity = np.inf
    row = [np.nan, -1, 0, 7, infinity, -infinity, 3e38, -1e-40]
    x = np.array([row, [1, 2, -3] * 2 + [8, -9]], "float32")
    plan = PartitionedPlan(graph, device)
    *results, last = (result.asnumpy() for result in plan(x))
    assert "on cpu" not in plan.summary()
    with np.errstate(all="ignore"):
        line = np.clip(x * np.float32(0.2) + np.float32(0.5), 0, 1)
        expected = [np.maximum(x, 0), np.clip(x, 0, 6), np.maximum(x, 1), np.minimum(x, 6)]
        for result, other in zip(results, [*expected, np.exp(x), line], strict=True):
            np.testing.assert_allclose(result, other, rtol=1e-6)
    # What is not NaN, too, is multiplied with 0, and an infinity is one; then it is a post-op.
    np.testing.assert_array_equal(last, [[np.nan] * 3, [1, 2, 0]])


def test_bounds_become_parts_where_nan_need_not_stay(device) -> None:
    text = "g (float[2,8] x, float[8,3] w) => (float[2,3] y) { a = MatMul(x, w) b = Relu(a)"
    text += " zero = Constant<value_float=0.0>() one = Constant<value_float=1.0>()"
    graph, x = with_weights(text + " y = Clip(b, zero, one) }")
    expected = np.clip(Plan(graph)(x)[0].asnumpy(), 0, 1)
    for keep, names in {True: ["matmul", "binary"], False: ["matmul"]}.items():
        plan = PartitionedPlan(graph, device, options={"keep_nan": keep})
        np.testing.assert_allclose(plan(x)[0].asnumpy(), expected, rtol=1e-5, atol=1e-6)
        assert primitives(device) == names
    for option in ({"keep_nan": 1.5}, {"fast": True}):
        with pytest.warns(mx.AccFallbackWarning, match=f"no option {next(iter(option))} of that"):
            PartitionedPlan(graph, device, options=option)(x)


def test_outputs_of_all_kinds(device) -> None:
    """Once more, an input, a weight, a view, one in blocks."""
    graph, x = with_weights(
        "g (float[1,16,6,6] x, float[16,16,3,3] w) => (float[1,16,6,6] a, float[1,16,6,6] b,"
        " float[16,16,3,3] c, float[16,36] d, float[1,6,6,16] e) {"
        " a = Conv<pads=[1,1,1,1]>(x, w) b = Identity(x) c = Identity(w)"
        " h = Relu(a) i = Flatten<axis=2>(h) d = Identity(i) e = Transpose<perm=[0,2,3,1]>(h) }"
    )
    assert "on cpu" not in check(graph, device, x).summary()


# Nodes of x (2, 4, 6, 6) with a weight w that are declined, and why.
DECLINED = {
    "LRN<size=2>(x)": "an even size",
    "Gemm<beta=0.5>(m, m, m)": "a beta other than 0 and 1",
    "ReduceMax(x)": "there is no rule for it",
    "Sum(l, l)": "a tensor of other elements than float32",
    "Softmax(s)": "a tensor of other elements than float32",
    'ConvTranspose<auto_pad="SAME_UPPER">(x, w)': "pads that follow from the shape",
    "MatMul(v, m)": "vectors",
    "Conv<kernel_shape=[2,2]>(x, w)": "a kernel_shape that is not the weight's",
    "Clip(m, n)": "its input 1 is no weight of one element",
    "ReduceSum(r)": "more than 8192 elements are reduced to one",
}


@pytest.mark.parametrize(("node", "why"), DECLINED.items(), ids=[str(i) for i in range(10)])
def test_what_is_declined(device, node, why) -> None:
    inputs = "float[2,4,6,6] x, float[4,4,3,3] w, float[3,3] m, double[3] l, float16[3,3] s"
    inputs += ", float[3] v, float n, float[9000] r"
    graph = graph_of(f"g ({inputs}) => (y) {{ y = {node} }}")
    (row,) = explain(graph, device, {}, optimize=False)
    assert (row.where, row.why) == ("cpu", why)


def test_a_batch_that_is_not_known_is_compiled_for_each(device) -> None:
    graph = models.MODELS["lenet"](width=0.2)
    plan = PartitionedPlan(graph, device)
    for batch in (1, 3, 1):
        inputs = models.example(graph, batch=batch).values()
        expected = Plan(graph)(*inputs)[0].asnumpy()
        np.testing.assert_allclose(plan(*inputs)[0].asnumpy(), expected, rtol=1e-4, atol=1e-5)


def test_threads(device) -> None:
    """Eight at once run one model, each with memory of its own."""
    graph = models.MODELS["unet"](width=0.1, **SMALL["unet"])
    plan, cpu = PartitionedPlan(graph, device), Plan(graph)
    inputs = [list(models.example(graph, batch=2).values())[0] * (n + 1) for n in range(8)]
    expected = [cpu(x)[0].asnumpy() for x in inputs]
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            for _ in range(10):
                result = plan(inputs[number])[0].asnumpy()
                np.testing.assert_allclose(result, expected[number], rtol=1e-4, atol=1e-4)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_library_is_gone_once_it_is_unloaded(accelerators, device, tmp_path) -> None:
    library = shutil.copy(accelerators / "libonednn.so", tmp_path)
    ctx = mx.load_acc(library, "gone")
    graph = models.MODELS["lenet"](width=0.2)
    plan = PartitionedPlan(graph, ctx)
    plan(*models.example(graph, batch=1).values())
    assert explain(graph_of("g (float[2] x) => (y) { y = Erf(x) }"), ctx, {})[0].why
    assert str(library) in Path("/proc/self/maps").read_text()
    del plan
    gc.collect()
    mx.unload_acc("gone")
    assert str(library) not in Path("/proc/self/maps").read_text()


def test_memory_is_used_again(device) -> None:
    """Of a chain of many results only two or three are there at a time."""
    lines = "".join(f" h{n + 1} = Softmax(h{n})" for n in range(30))
    graph = graph_of(f"g (float[64,256] h0) => (float[64,256] h30) {{{lines} }}")
    check(graph, device, floats(64, 256))
    assert primitives(device) == ["softmax"] * 30
    assert int(device.configure()["workspace"]) <= 3 * 64 * 256 * 4


# What gives an image of (1, 8, 5, 5), or takes two, of what came before.
STEPS = (
    "conv",
    "depthwise",
    "pool",
    "norm",
    "Relu",
    "Sigmoid",
    "Add",
    "Mul",
    "turn",
    "flat",
    "Concat",
)


def add_step(b: Builder, kind: str, one, other):
    if kind in ("conv", "depthwise"):
        groups = {"group": 8} if kind == "depthwise" else {}
        return b.conv(one, f"w{len(b.graph)}", (8, 8), 3, bias=True, pads=[1] * 4, **groups)
    if kind == "pool":
        pool = {"kernel_shape": [3, 3], "pads": [1] * 4, "count_include_pad": 1}
        return b.op("AveragePool", one, **pool)
    if kind == "norm":
        return b.batch_norm(one, f"n{len(b.graph)}", 8)
    if kind in ("Add", "Mul"):
        return b.op(kind, one, other)
    if kind == "turn":
        turned = b.op("Softmax", b.op("Transpose", one, perm=[0, 2, 3, 1]))
        return b.op("Transpose", turned, perm=[0, 3, 1, 2])
    if kind == "flat":
        flat = b.op("Reshape", one, b.ints(1, -1))
        return b.op("Reshape", b.op("Tanh", flat), b.ints(1, 8, 5, 5))
    if kind == "Concat":
        both = b.op("Concat", one, other, axis=1)
        return b.conv(both, f"w{len(b.graph)}", (16, 8), 1)
    return b.op(kind, one)


@given(
    st.lists(
        st.tuples(st.sampled_from(STEPS), st.integers(0, 20), st.integers(0, 20)), max_size=10
    ),
    st.integers(1, 3),
)
@settings(max_examples=30, deadline=None)
def test_random_graphs(device, drawn, count) -> None:
    b = Builder("random")
    values = [b.input("x", (1, 8, 5, 5))]
    for kind, one, other in [*drawn, ("Relu", 0, 0)]:
        values.append(add_step(b, kind, values[one % len(values)], values[other % len(values)]))
    outputs = {f"y{n}": value for n, value in enumerate(values[1:][-count:])}
    check(b.finish(**outputs), device, floats(1, 8, 5, 5), tolerance=1e-4)


def test_tells_costs(device) -> None:
    """Of 4 MiB at least what it takes to write them."""
    text = "g (float[N] x) => (float[N] y, float[N] z) { y = Neg(x) z = Relu(x) }"
    for rows, least in ((1, 0), (1 << 20, 10)):
        plan = PartitionedPlan(graph_of(text), device, optimize=False)
        plan.prepare({"x": (rows,)})
        plan(floats(rows))
        assert all(answer.cost > least for answer in plan.placement().answers)


def test_profiles_tell_of_each_primitive(device) -> None:
    """Those of several nodes are the first's."""
    graph = graph_of("g (float[2,4] x) => (float[2,4] y) { [first] a = Softmax(x) y = Neg(a) }")
    profile = PartitionedPlan(graph, device).profile({"x": floats(2, 4)})
    (group,) = [step for step in profile.steps if step.parts]
    assert group.parts[0].name == "first" and ": onednn.softmax" in group.parts[0].implementation
    assert sum(part.duration_ns for part in group.parts) <= group.duration_ns
