"""Graphs of which an accelerator executes what it can, and the CPU the others."""

from __future__ import annotations

import gc
import itertools
import re
import threading
import warnings
import weakref

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mx
from mx.graph import PartitionedPlan, Plan, explain
from tests.graph.build import graph_of

MIXED = """g (float[N,4] x) => (float[N,3] y, float[N,4] z)
<float[4,3] w = {1,-2,3,4,5,6,7,-8,9,10,11,12}, float[3] b = {1,2,3}> {
 [first] h = Gemm(x, w, b)
 [second] r = Relu(h)
 [third] e = Trilu(r)
 [fourth] s = Softmax(e)
 [fifth] t = Add(s, r)
 y = Mul(t, t)
 z = Abs(x)
}"""
X = numpy.linspace(-1, 1, 8, dtype="float32").reshape(2, 4)


def same(outputs: list, expected: list) -> None:
    for output, other in zip(outputs, expected, strict=True):
        numpy.testing.assert_allclose(
            numpy.asarray(mx.np.asarray(output).asnumpy()), other.asnumpy(), rtol=1e-5
        )


@pytest.mark.parametrize("options", [{}, {"STREAMS": "1"}, {"THREADS": "one"}, {"SHAPES": "found"}])
def test_the_same_as_the_cpu(load_refacc, options) -> None:
    ctx = load_refacc("plans", **options)
    graph = graph_of(MIXED)
    plan, cpu = PartitionedPlan(graph, ctx), Plan(graph)
    for rows in (2, 5, 2):
        x = numpy.resize(X, (rows, 4))
        outputs = plan(x)
        assert all(output.ctx == ctx for output in outputs)
        same(outputs, cpu(x))
        same(plan(x=mx.np.array(x, ctx=ctx)), cpu(x))
    assert plan.summary() == "plans: 6 of 7 nodes; on cpu: Trilu x1"
    del outputs, plan
    gc.collect()
    mx.empty_cache(ctx)
    state = ctx.configure(check=1)
    assert (state["violations"], state["live"]) == ("0", "0"), state


def test_inputs_on_another_device(load_refacc) -> None:
    ctx = load_refacc("plans")
    graph = graph_of(MIXED)
    plan = PartitionedPlan(graph, ctx)
    for context in (mx.acc("plans", 1), mx.cpu()):
        outputs = plan(mx.np.array(X, ctx=context))
        assert all(output.ctx == ctx for output in outputs)
        same(outputs, Plan(graph)(X))


def test_explain(load_refacc) -> None:
    ctx = load_refacc("plans")
    found = explain(graph_of(MIXED), ctx, {"x": (2, 4)})
    assert [row.where for row in found] == [
        *("plans 0", "plans 0", "cpu", "plans 1", "plans 1", "plans 1", "plans 0")
    ]
    assert [row.name for row in found][:3] == ["first", "second", "third"]
    assert found[2].why == "there is no rule for Trilu"
    text = repr(found)
    assert text.splitlines()[0] == "plans: 6 of 7 nodes; on cpu: Trilu x1"
    assert "third   Trilu     cpu      there is no rule for Trilu" in text
    # Where extents vary, of which this library knows nothing.
    assert explain(graph_of(MIXED), ctx)[0].why == "an extent is not known"


# Faults, the nodes that are left there, and the warning, or None.
FAULTS = {
    "asking": ("supportedOps", 0, "supportedOps failed"),
    "loading the first": ("loadModel@1", 3, "loadModel failed"),
    "loading any": ("loadModel", 0, "loadModel failed"),
    "running the first": ("infer@1", 3, "infer failed.*The 3 nodes of this group"),
    "running any": ("infer", 0, "infer failed"),
    "memory": ("mx_alloc@1+=memory", 0, "unable to allocate"),
    "copies": ("copyToAcc@1", 3, "copyToAcc failed"),
}


@pytest.mark.parametrize(("faults", "left", "message"), FAULTS.values(), ids=FAULTS)
def test_fallback(load_refacc, faults, left, message) -> None:
    """The result is that of the CPU, and a warning says why."""
    ctx = load_refacc("plans")
    graph = graph_of(MIXED)
    expected = Plan(graph)(X)
    ctx.configure(faults=faults)
    plan = PartitionedPlan(graph, ctx)
    with pytest.warns(mx.AccFallbackWarning, match=message):
        try:
            outputs = plan(X)
        except MemoryError:
            # The outputs are to be on the device, which has no memory at all.
            outputs = None
            assert "mx_alloc" in faults
    ctx.configure(faults="")
    if outputs is not None:
        same(outputs, expected)
    same(plan(X), expected)
    assert plan.summary().startswith(f"plans: {left} of 7 nodes")


@pytest.mark.parametrize("asarray", [numpy.asarray, mx.np.asarray])
def test_a_model_that_failed_is_tried_again(load_refacc, asarray) -> None:
    """After some runs on the CPU; each failure is told, and so is who executes what meanwhile."""
    ctx = load_refacc("plans")
    graph = graph_of("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    x = asarray(numpy.array([-1, 1], "float32"))
    plan = PartitionedPlan(graph, ctx)
    same(plan(x), Plan(graph)(x))
    ctx.configure(faults="infer")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(30):
            same(plan(x), Plan(graph)(x))
    texts = [str(each.message) for each in told]
    assert ["tried again in 8 runs" in texts[0], "tried again in 16 runs" in texts[1]] == [True] * 2
    assert len(texts) == 3
    assert plan.summary().endswith("on cpu: Relu x1; 1 of them since their model failed")
    assert plan.placement().where(0) == "cpu" and "infer failed" in plan.placement().why(0)
    ctx.configure(faults="")
    for _ in range(40):
        same(plan(x), Plan(graph)(x))
    assert plan.summary() == "plans: 1 of 1 nodes"


@pytest.mark.parametrize("how", ["run", "profile"])
@pytest.mark.parametrize("fallback", ["auto", "whole"])
def test_outputs_are_no_arrays_of_the_caller(load_refacc, fallback, how) -> None:
    ctx = load_refacc("plans")
    graph = graph_of("g (float[2] x) => (float[2] x, float[2] y) { y = Neg(x) }")
    plan = PartitionedPlan(graph, ctx, optimize=False, fallback=fallback)
    for content in (numpy.ones(2, "float32"), mx.np.ones(2), mx.np.ones(2, ctx=ctx)):
        y, _ = plan.run({"x": content}) if how == "run" else plan.profile({"x": content}).outputs
        y[0] = 7
        assert float(content[0]) == 1


def test_the_latest_shapes_are_kept(load_refacc) -> None:
    """And no more, as their models take memory of the device."""
    ctx = load_refacc("plans")
    plan = PartitionedPlan(graph_of(MIXED), ctx)

    def placed(rows: int) -> object:
        plan(numpy.ones((rows, 4), "float32"))
        return plan.placement()

    def live() -> int:
        gc.collect()
        mx.empty_cache(ctx)
        return int(ctx.configure()["live"])

    first, second = placed(1), weakref.ref(placed(2))
    for rows in range(3, 33):
        placed(rows)
    full = live()
    assert placed(1) is first
    placed(33)
    assert placed(1) is first and second() is None
    for rows in range(34, 40):
        placed(rows)
    assert live() == full
    del first


@pytest.mark.parametrize("streams", ["0", "1"])
def test_profile(load_refacc, streams) -> None:
    """Groups, copies and what the CPU executes are steps, one after another; the nodes of a group
    are its parts."""
    ctx = load_refacc("plans", STREAMS=streams, SLOW="2000")
    plan = PartitionedPlan(graph_of(MIXED), ctx)
    profile = plan.profile({"x": X})
    same(list(profile.outputs), Plan(graph_of(MIXED))(X))
    assert [(step.name, step.implementation.split(":")[0]) for step in profile.steps] == [
        ("x", "copy to plans"),
        ("first, second, Abs", "plans 0"),
        ("r", "copy to cpu"),
        ("third", "_npi.triu"),
        ("e", "copy to plans"),
        ("fourth, fifth, Mul", "plans 1"),
    ]
    group = profile.steps[1]
    assert group.shapes == ((2, 3), (2, 4)) and group.duration_ns > 2_000_000
    ends = [(step.begin_ns, step.begin_ns + step.duration_ns) for step in profile.steps]
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(ends))
    assert [(part.name, part.implementation, part.shapes) for part in group.parts] == [
        ("first", "plans 0: matmul, add", ((2, 3),)),
        ("second", "plans 0: relu", ((2, 3),)),
        ("Abs", "plans 0: absolute", ((2, 4),)),
    ]
    inside = [(part.begin_ns, part.begin_ns + part.duration_ns) for part in group.parts]
    assert ends[1][0] <= inside[0][0] and inside[-1][1] <= ends[1][1]
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(inside))
    lines = profile.table().splitlines()
    assert "  first " in lines[3] and lines[2].split()[2] == "first,"
    assert {line.split()[2] for line in profile.table(100).splitlines()[1:-1]} >= {"first", "Abs"}
    assert ctx.configure()["violations"] == "0"


def test_profile_of_a_library_that_fails_to(load_refacc) -> None:
    """It is told, and the group is one step."""
    ctx = load_refacc("plans")
    for faults, told in (("profile@1", True), ("profile@2", True), ("profile=unsupported", False)):
        ctx.configure(faults=faults)
        plan = PartitionedPlan(graph_of(MIXED), ctx)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            groups = [step for step in plan.profile({"x": X}).steps if step.parts == ()]
        texts = [str(each.message) for each in warned if each.category is RuntimeWarning]
        assert ["plans(0): profile failed" in text for text in texts] == [True] * told, texts
        assert any(step.implementation == "plans 0" for step in groups) is (faults != "profile@2")


def test_the_node_that_cannot_be_loaded_is_left_out(load_refacc) -> None:
    """supportedOps said yes, and loadModel says which node it is that it cannot."""
    ctx = load_refacc("plans")
    graph = graph_of(MIXED)
    plan = PartitionedPlan(graph, ctx)
    answers = type(plan._device).answers

    def then_without_relu(*args):
        found = answers(*args)
        ctx.configure(nodes="!Relu")
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(plan._device), "answers", then_without_relu)
        with pytest.warns(mx.AccFallbackWarning, match="loadModel failed at node 'second'"):
            same(plan(X), Plan(graph)(X))
    assert plan.summary() == "plans: 5 of 7 nodes; on cpu: Relu x1, Trilu x1"


def test_the_modes(load_refacc) -> None:
    ctx = load_refacc("plans")
    graph = graph_of(MIXED)
    with pytest.raises(
        NotImplementedError, match=r"1 of 7 nodes: node 'third' \(Trilu\): there is no rule"
    ):
        PartitionedPlan(graph, ctx, fallback="error")(X)
    whole = PartitionedPlan(graph, ctx, fallback="whole")
    same(whole(X), Plan(graph)(X))
    assert whole.summary().startswith("plans: 0 of 7 nodes")
    with mx.acc_fallback("error"), pytest.raises(NotImplementedError, match="'third'"):
        PartitionedPlan(graph, ctx)(X)
    with pytest.raises(ValueError, match="fallback: expected one of"):
        PartitionedPlan(graph, ctx, fallback="never")
    only = graph_of("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    plan = PartitionedPlan(only, ctx, fallback="error")
    ctx.configure(faults="infer")
    with pytest.raises(RuntimeError, match="infer failed"):
        plan(numpy.ones(2, "float32"))


def test_costs(load_refacc) -> None:
    """A group that is slower there stays on the CPU, if the library says what it costs."""
    ctx = load_refacc("plans", COSTS="0.001,0.001,0.00001")
    graph = graph_of(MIXED)
    assert explain(graph, ctx, {"x": (2, 4)}, costs=True).summary.startswith("plans: 6 of 7")
    ctx.configure(costs="1,1000,1")
    found = explain(graph, ctx, {"x": (2, 4)}, costs=True)
    assert found.summary.startswith("plans: 0 of 7")
    assert "its group would take" in found[0].why and found[0].why.endswith("here")
    assert explain(graph, ctx, {"x": (2, 4)}, costs=False).summary.startswith("plans: 6 of 7")


# Trilu and Hardmax are on the CPU.
BETWEEN = """g (float[N,N] x) => (float[N,N] y)
{ [before] a = Trilu(x)  [between] b = MatMul(a, a)  [after] y = Hardmax(b) }"""


def test_copies_are_measured(load_refacc, monkeypatch) -> None:
    """Where the library tells no costs: a group between nodes of the CPU stays there if its copies
    take longer than it does; what needs no other copies than its outputs is on the device."""
    ctx = load_refacc("plans", SLOW="4000")
    graph = graph_of(BETWEEN)

    def where(rows: int, **options: bool) -> list[str]:
        found = explain(graph, ctx, {"x": (rows, rows)}, **options)
        return [row.name for row in found if row.where != "cpu"]

    assert where(4, costs=True) == []
    why = explain(graph, ctx, {"x": (4, 4)}, costs=True)[1].why
    assert re.fullmatch(
        r"its group would take (\S+) us there, \1 of them copies, and \S+ here", why
    )
    assert where(4, costs=False) == ["between"] == where(4)
    monkeypatch.setenv("MXNET_ACC_COSTS", "1")
    assert where(4) == []
    assert explain(graph_of(MIXED), ctx, {"x": (2, 4)}).summary.startswith("plans: 6 of 7")
    # What takes longer than copies do, which are measured anew after configure.
    ctx.configure(slow="0")
    assert where(1024) == ["between"]


def test_copies_are_measured_once(load_refacc) -> None:
    ctx = load_refacc("plans", SLOW="1000")
    graph = graph_of(BETWEEN)
    explain(graph, ctx, {"x": (4, 4)}, costs=True)
    before = int(ctx.configure()["copies"])
    assert "copies" in explain(graph, ctx, {"x": (8, 8)}, costs=True)[1].why
    assert int(ctx.configure()["copies"]) - before == 0


@pytest.mark.parametrize("faults", ["copyToAcc", "copyFromAcc", "mx_alloc=memory"])
def test_copies_that_cannot_be_measured(load_refacc, faults) -> None:
    """Then nobody can say that a group is not worth them."""
    ctx = load_refacc("plans")
    ctx.configure(faults=faults)
    found = explain(graph_of(BETWEEN), ctx, {"x": (4, 4)}, costs=True)
    assert [row.name for row in found if row.where != "cpu"] == ["between"]
    ctx.configure(faults="")


def test_control_flow_and_what_is_no_tensor(load_refacc) -> None:
    ctx = load_refacc("plans")
    graph = graph_of(
        """g (bool c, float[2] x, int64 i) => (float[2] y, float[2] k)
        <float[2] k = {5, 6}> {
         n = Neg(x)
         p = Mul(n, k)
         q = If(c) <then_branch = t () => (float[2] a) { a = Add(n, p) },
                    else_branch = e () => (float[2] b) { b = Abs(x) }>
         s = SequenceConstruct(q, n)
         m = SequenceAt(s, i)
         y = Add(q, m)
        }"""
    )
    plan = PartitionedPlan(graph, ctx)
    for condition in (True, False):
        inputs = (numpy.array(condition), numpy.array([1, -2], "float32"), numpy.array(1))
        same(plan(*inputs), Plan(graph)(*inputs))
    assert plan.summary().startswith("plans: 3 of 6 nodes; on cpu: If x1")


def test_texts_of_a_graph_are_texts(load_refacc) -> None:
    graph = graph_of(
        """g (float[2] x, string[2] s) => (float[2] y, bool[2] a, bool[2] b, string[2] w)
        <string[2] w = {"a", "é"}> {
         c = Constant<value = string[2] {"c", "é"}>()
         a = Equal(s, w)
         b = Equal(s, c)
         d = Cast<to = 1>(a)
         y = Mul(x, d)
        }"""
    )
    plan = PartitionedPlan(graph, load_refacc("plans"))
    inputs = (numpy.array([1, 2], "float32"), numpy.array(["a", "é"], object))
    found = [numpy.asarray(one).tolist() for one in plan(*inputs)]
    assert found == [[1, 2], [True, True], [False, True], ["a", "é"]]


def test_elements_that_decide_a_shape(load_refacc) -> None:
    """What follows has extents that nobody knows before: it is on the CPU with this library."""
    ctx = load_refacc("plans")
    graph = graph_of(
        """g (float[4] x) => (float[1, M] y) {
         r = Relu(x)
         z = NonZero(r)
         f = Cast<to = 1>(z)
         y = Neg(f)
        }"""
    )
    x = numpy.array([0, 1, -1, 2], "float32")
    plan = PartitionedPlan(graph, ctx)
    same(plan(x), Plan(graph)(x))
    assert plan.summary().startswith("plans: 1 of 4 nodes")


def test_values_stay_on_the_device_between_groups(load_refacc) -> None:
    ctx = load_refacc("plans")
    graph = graph_of("g (float[9] x) => (float[9] y) { a = Relu(x) b = Exp(a) y = Neg(b) }")
    ctx.configure(claims="1=1,2=2,3=3")
    plan = PartitionedPlan(graph, ctx)
    x = mx.np.ones(9, ctx=ctx)
    before = int(ctx.configure()["copies"])
    plan(x)
    assert int(ctx.configure()["copies"]) == before
    assert [row.where for row in explain(graph, ctx)] == ["plans 0", "plans 1", "plans 2"]


def test_threads(load_refacc) -> None:
    ctx = load_refacc("plans", STREAMS="1")
    graph = graph_of(MIXED)
    plan, cpu = PartitionedPlan(graph, ctx), Plan(graph)
    wrong: list[object] = []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                x = numpy.resize(X, (number % 3 + 1, 4)) + turn
                same(plan(x), cpu(x))
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and ctx.configure(check=1)["violations"] == "0"


UNARY = ["Relu", "Neg", "Abs", "Tanh", "Sigmoid", "Erf", "Identity", "Softmax", "Elu"]
BINARY = ["Add", "Sub", "Mul", "Max", "MatMul"]


@st.composite
def graphs(draw) -> tuple[str, dict[int, int]]:
    """The text of a graph of square matrices, and what the library claims of its nodes."""
    values, lines = ["x", "k"], []
    for number in range(draw(st.integers(1, 12))):
        operator = draw(st.sampled_from(UNARY + BINARY))
        count = 1 if operator in UNARY else 2
        used = [draw(st.sampled_from(values)) for _ in range(count)]
        lines.append(f"v{number} = {operator}({', '.join(used)})")
        values.append(f"v{number}")
    outputs = draw(st.sets(st.sampled_from(values[2:]), min_size=1, max_size=3))
    declared = ", ".join(f"float[3,3] {name}" for name in sorted(outputs))
    body = "\n".join(lines)
    text = (
        f"g (float[3,3] x) => ({declared}) <float[3,3] k = {{1,0,2,-1,0.5,0,3,-2,1}}> {{ {body} }}"
    )
    claims = draw(st.dictionaries(st.integers(1, len(lines)), st.integers(-1, 3)))
    return text, claims


@pytest.fixture(scope="module")
def device(accelerators):
    ctx = mx.load_acc(accelerators / "librefacc.so", "randomly")
    yield ctx
    gc.collect()
    assert ctx.configure(check=1)["violations"] == "0"
    mx.unload_acc("randomly")


@given(graphs(), st.sampled_from(["", "loadModel@2", "infer@1", "supportedOps", "infer@2+"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_graphs_randomly_partitioned(device, drawn, faults) -> None:
    text, claims = drawn
    graph = graph_of(text)
    x = numpy.linspace(-2, 1, 9, dtype="float32").reshape(3, 3)
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = Plan(graph)(x)
        device.configure(claims=",".join(f"{node}={group}" for node, group in claims.items()))
        device.configure(faults=faults)
        plan = PartitionedPlan(graph, device)
        for _ in range(2):
            same(plan(x), expected)
        device.configure(faults="", claims="")


def test_the_template(accelerators) -> None:
    """A library with models and without memory of its own."""
    ctx = mx.load_acc(accelerators / "libmymodel.so")
    graph = graph_of(
        "g (float[N] x) => (float[N] y) { a = Neg(x) b = Relu(a) c = Relu(b) y = Neg(c) }"
    )
    x = numpy.array([1, -2, 3, numpy.nan], "float32")
    plan = PartitionedPlan(graph, ctx, optimize=False)
    same(plan(x), Plan(graph)(x))
    assert plan.summary() == "mymodel: 2 of 4 nodes; on cpu: Neg x2"
    assert explain(graph, ctx, {"x": (4,)})[0].why == "only Relu is done here"
    del plan
    gc.collect()
    mx.unload_acc("mymodel")
