"""Weights of a compiled model that change: the model takes those that did, or is loaded again, and
no run sees old ones beside new ones."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy
import pytest

import mx
from mx._library import PATH as OPERATORS
from mx.graph import Graph, PartitionedPlan, Plan
from tests.graph.build import graph_of

from .test_partitioned_plans import same

# One model, and two with a node of the CPU between them: the outputs are x times a times b.
ONE = "g (float[N,4] x) => (float[N,4] y) { h = Mul(x, a) y = Mul(h, b) }"
TWO = "g (float[N,4] x) => (float[N,4] y) { h = Mul(x, a) t = Trilu(h) y = Mul(t, b) }"
STATIC = ONE.replace("N,4", "2,4")
# What the elements of a weight are decides what is compiled.
SUMS = """g (float[4,4] x) => (float[4] y) <int64[1] axes = {0}> {
 h = Mul(x, a)
 y = ReduceSum<keepdims = 0>(h, axes)
}"""
X = numpy.arange(1, 9, dtype="float32").reshape(2, 4)


def with_weights(text: str, **weights: float) -> Graph:
    """A graph whose weights have one number each."""
    heads = ", ".join(f"float[1,4] {name} = {{0, 0, 0, 0}}" for name in weights)
    head, brace, body = text.partition("{") if "<" not in text else text.partition("> {")
    if brace == "{":
        graph = graph_of(f"{head}<{heads}> {{{body}")
    else:
        graph = graph_of(f"{head}, {heads}{brace}{body}")
    for name, number in weights.items():
        graph.weights[name] = numpy.full((1, 4), number, "float32")
    return graph


def origins(plan: PartitionedPlan) -> list[str]:
    return [model.origin for model in plan.models()]


# The graph, what refacc is told, and where the models are from after b has changed.
CASES = {
    "one model": (ONE, {}, ["updated"]),
    "one model of known shapes": (STATIC, {}, ["updated"]),
    "only the model that has the weight": (TWO, {}, ["compiled", "updated"]),
    "in a stream": (TWO, {"STREAMS": "1"}, ["compiled", "updated"]),
    "slow work in a stream": (ONE, {"STREAMS": "1", "SLOW": "2000"}, ["updated"]),
    "one thread": (ONE, {"THREADS": "one"}, ["updated"]),
    "one run": (ONE, {"RUNS_AT_ONCE": "one"}, ["updated"]),
    "outputs that it makes": (ONE, {"SHAPES": "found"}, ["updated"]),
    "a library that updates none": (TWO, {"UPDATES": "0"}, ["compiled", "compiled"]),
    "one that fails": (TWO, {"FAULTS": "updateWeights"}, ["compiled", "compiled"]),
    "one that cannot": (TWO, {"FAULTS": "updateWeights=unsupported"}, ["compiled", "compiled"]),
}


def check_case(load_refacc, text: str, options: dict[str, str], expected: list[str]) -> None:
    ctx = load_refacc("updates", **options)
    plan = PartitionedPlan(with_weights(text, a=2, b=3), ctx, cache=False)
    same(plan(X), Plan(with_weights(text, a=2, b=3))(X))
    changed = with_weights(text, a=2, b=5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plan.update_weights(changed)
        for _ in range(3):
            same(plan(X), Plan(changed)(X))
    told = [str(one.message) for one in caught if "updateWeights" in str(one.message)]
    assert len(told) == (options.get("FAULTS") == "updateWeights"), told
    assert origins(plan) == expected
    plan.update_weights(changed)  # in which nothing is new
    same(plan(X), Plan(changed)(X))
    assert origins(plan) == expected
    if "compiled" not in expected:
        assert ctx.configure()["updated"] == "1"
    del plan
    gc.collect()
    mx.empty_cache(ctx)
    state = ctx.configure(check=1)
    assert (state["violations"], state["live"]) == ("0", "0"), state


@pytest.mark.parametrize(("text", "options", "expected"), CASES.values(), ids=CASES)
def test_weights_that_change(load_refacc, text, options, expected) -> None:
    check_case(load_refacc, text, options, expected)


@pytest.fixture
def lone(load_refacc, monkeypatch) -> Callable[..., mx.Context]:
    monkeypatch.setenv("REFACC_RUNTIME", OPERATORS)
    return partial(load_refacc, isolate=True)


@pytest.mark.parametrize("case", [case for case in CASES if "stream" not in case])
def test_in_a_process_of_its_own(lone, case) -> None:
    check_case(lone, *CASES[case])


def test_a_process_that_ends_in_an_update(lone) -> None:
    ctx = lone("updates", FAULTS="updateWeights=crash")
    plan = PartitionedPlan(with_weights(ONE, a=2, b=3), ctx, cache=False)
    plan(X)
    with pytest.warns(mx.AccFallbackWarning, match="its process was ended by signal 6"):
        plan.update_weights(with_weights(ONE, a=7, b=3))
        with pytest.raises(RuntimeError, match="its process was ended by signal 6"):
            plan(X)
    lone("updates", FAULTS="")
    changed = with_weights(ONE, a=8, b=3)
    plan.update_weights(changed)
    same(plan(X), Plan(changed)(X))
    assert origins(plan) == ["compiled"]


def test_ctrl_c_while_a_run_of_another_thread_goes_on(lone, interruptible) -> None:
    """The update waits for that run, of which no end is in sight."""
    ctx = lone("updates")
    plan = PartitionedPlan(with_weights(TWO, a=2, b=3), ctx, cache=False)
    plan(X)
    ctx.configure(faults="infer=hang")
    with ThreadPoolExecutor(1) as runs:
        run = runs.submit(plan, X)
        interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        interrupt.start()
        changed = with_weights(TWO, a=2, b=4)
        with pytest.raises(KeyboardInterrupt):
            while not run.done():
                plan.update_weights(changed)
                plan(X)
        interrupt.join()
        assert not run.done()
        os.kill(mx.accelerators()[-1].process, signal.SIGKILL)
        with pytest.raises(RuntimeError, match="ended by signal 9"):
            run.result()
    lone("updates", FAULTS="")
    plan.update_weights(changed)
    same(plan(X), Plan(changed)(X))


def test_elements_that_decide_what_is_compiled(load_refacc) -> None:
    ctx = load_refacc("updates")
    x = numpy.arange(16, dtype="float32").reshape(4, 4)
    plan = PartitionedPlan(with_weights(SUMS, a=2), ctx, cache=False, optimize=False)
    for axis, number, origin in ((1, 2, "compiled"), (1, 3, "updated"), (0, 3, "compiled")):
        changed = with_weights(SUMS, a=number)
        changed.weights["axes"] = numpy.array([axis])
        plan.update_weights(changed)
        same(plan(x), Plan(changed)(x))
        assert origins(plan) == [origin]


def test_varying_shapes_take_them_when_they_come(load_refacc) -> None:
    ctx = load_refacc("updates")
    plan = PartitionedPlan(with_weights(ONE, a=2, b=3), ctx, cache=False)
    inputs = [numpy.resize(X, (rows, 4)) for rows in (1, 2, 3)]
    for x in inputs:
        plan(x)
    for number in (5, 6):
        changed = with_weights(ONE, a=number, b=3)
        plan.update_weights(changed)
        same(plan(inputs[1]), Plan(changed)(inputs[1]))
    assert ctx.configure()["updated"] == "2"
    for x in inputs:
        same(plan(x), Plan(changed)(x))
    state = ctx.configure()
    assert (state["updated"], state["compiled"]) == ("4", "3")


@pytest.mark.parametrize("fault", ["", "updateWeight@2", "updateWeight=unsupported"])
@pytest.mark.parametrize("text", [ONE, STATIC, TWO])
@pytest.mark.parametrize(
    "options", [{}, {"STREAMS": "1", "SLOW": "100"}, {"UPDATES": "0"}, {"RUNS_AT_ONCE": "one"}]
)
def test_no_run_mixes_weights(load_refacc, text, fault, options) -> None:
    check_threads(load_refacc, text, fault, options)


@pytest.mark.parametrize("fault", ["", "updateWeight@2"])
@pytest.mark.parametrize("text", [STATIC, TWO])
def test_no_run_mixes_weights_of_another_process(lone, text, fault) -> None:
    check_threads(lone, text, fault, {})


def test_no_run_of_many_threads_mixes_weights(load_refacc) -> None:
    check_threads(load_refacc, STATIC, "", {}, threads=8)


@contextlib.contextmanager
def no_mixtures(plan: PartitionedPlan, x: Any, threads: int) -> Iterator[None]:
    """Has threads run a plan, and sees that each row is the square of one number, which none of
    them sees fall."""
    problems: list[str] = []
    is_over = threading.Event()

    def work() -> None:
        last = 1.0
        try:
            while not is_over.is_set():
                row = plan(x)[0].as_in_ctx(mx.cpu()).asnumpy()[0]
                number = float(numpy.sqrt(row[0]))
                if number != int(number) or set(row) != {row[0]} or number < last:
                    problems.append(f"{row} after {last}")
                last = number
        except Exception as error:
            problems.append(repr(error))

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        is_over.set()
        for worker in workers:
            worker.join()
    assert not problems, problems[:3]


def check_threads(
    load_refacc, text: str, fault: str, options: dict[str, str], threads: int = 3
) -> None:
    """Both weights are one number at any time, so that outputs are inputs times its square, which
    no thread sees fall."""
    ctx = load_refacc("updates", **options)
    # By a thread that is gone when the others come.
    with ThreadPoolExecutor(1) as maker:
        plan = maker.submit(
            PartitionedPlan, with_weights(text, a=1, b=1), ctx, cache=False
        ).result()
    x = mx.np.array([[1, 1, 1, 1], [0, 1, 1, 1]], dtype="float32", ctx=ctx)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan(x)
        with no_mixtures(plan, x, threads):
            for number in range(2, 20):
                if fault:
                    ctx.configure(faults=fault)
                plan.update_weights(with_weights(text, a=number, b=number))
                assert plan(x)[0].as_in_ctx(mx.cpu()).asnumpy()[0, 0] == number**2
    assert ctx.configure(check=1)["violations"] == "0"


def test_what_is_no_graph_of_the_plan(load_refacc) -> None:
    ctx = load_refacc("updates")
    plan = PartitionedPlan(with_weights(ONE, a=2, b=3), ctx)
    with pytest.raises(TypeError, match="update_weights: graph: expected a Graph, got int"):
        plan.update_weights(3)
    with pytest.raises(ValueError, match="update_weights: graph: expected the inputs .*float32"):
        plan.update_weights(graph_of("g (float[2,3] x) => (float[2,3] y) { y = Abs(x) }"))
    # What differs otherwise is compiled anew.
    other = with_weights(ONE.replace("Mul(h", "Add(h"), a=2, b=3)
    plan.update_weights(other)
    same(plan(X), Plan(other)(X))


def test_plans_with_a_check(load_refacc) -> None:
    ctx = load_refacc("updates")
    plan = PartitionedPlan(with_weights(TWO, a=2, b=3), ctx, verify=True, cache=False)
    plan(X)
    changed = with_weights(TWO, a=2, b=4)
    plan.update_weights(changed)
    same(plan(X), Plan(changed)(X))
    assert origins(plan) == ["compiled", "updated"]


def test_saved_with_the_new_weights(load_refacc, tmp_path) -> None:
    ctx = load_refacc("updates")
    plan = PartitionedPlan(with_weights(STATIC, a=2, b=3), ctx, cache=False)
    changed = with_weights(STATIC, a=2, b=4)
    plan.update_weights(changed)
    mx.model.save_compiled(tmp_path / "file", plan)
    again = mx.model.load_compiled(tmp_path / "file", ctx)
    assert origins(again) == ["file"]
    same(again(X), Plan(changed)(X))


def test_a_second_start(load_refacc, tmp_path, monkeypatch) -> None:
    """A plan of which nothing but its model in the cache is known yet."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    ctx = load_refacc("updates")
    with_weights(STATIC, a=2, b=3).save(tmp_path / "model.onnx")
    for _ in range(2):
        plan = PartitionedPlan(mx.graph.load(tmp_path / "model.onnx"), ctx)
        plan(X)
    changed = with_weights(STATIC, a=2, b=4)
    plan.update_weights(changed)
    same(plan(X), Plan(changed)(X))
    # The model of the start is gone, and the two weights of the other are there.
    gc.collect()
    mx.empty_cache(ctx)
    assert ctx.configure()["live"] == "2"


def test_nothing_of_the_weights_before_is_kept(load_refacc) -> None:
    ctx = load_refacc("updates")
    graph = with_weights(STATIC, a=2, b=3)
    before = weakref.ref(graph.model.graph.initializers["b"].const_value)
    plan = PartitionedPlan(graph, ctx, cache=False)
    plan(X)
    del graph
    plan.update_weights(with_weights(STATIC, a=2, b=4))
    plan(X)
    gc.collect()
    assert before() is None


def test_an_array_that_is_written_after_an_update_that_failed(load_refacc) -> None:
    ctx = load_refacc("updates")
    graph, array = with_weights(STATIC, a=2, b=3), numpy.full((1, 4), 5, "float32")
    plan = PartitionedPlan(graph, ctx, cache=False, fallback="error")
    graph.weights["b"] = array
    ctx.configure(faults="updateWeights,loadModel@1")
    with pytest.raises(NotImplementedError, match="loadModel failed"):
        plan.update_weights(graph)
    ctx.configure(faults="")
    array[:] = 7
    plan.update_weights(graph)
    same(plan(X), Plan(graph)(X))


@pytest.mark.parametrize("faults", ["", "updateWeights"])
def test_an_array_that_did_not_change_is_written_after_an_update(load_refacc, faults) -> None:
    ctx = load_refacc("updates")
    kept = numpy.full((1, 4), 2, "float32")
    plan_graph, changed = (with_weights(STATIC, a=2, b=number) for number in (3, 5))
    plan_graph.weights["a"] = changed.weights["a"] = kept
    plan = PartitionedPlan(plan_graph, ctx, cache=False)
    ctx.configure(faults=faults)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan.update_weights(changed)
    ctx.configure(faults="")
    assert origins(plan) == ["compiled" if faults else "updated"]
    expected = Plan(changed)(X)
    kept[:] = 7
    same(plan(X), expected)
    plan.update_weights(changed)
    same(plan(X), Plan(changed)(X))


def test_an_array_that_is_written_after_a_model_was_loaded_again(lone) -> None:
    ctx = lone("updates")
    graph, array = with_weights(ONE, a=2, b=3), numpy.full((1, 4), 5, "float32")
    graph.weights["b"] = array
    plan = PartitionedPlan(graph, ctx, cache=False)
    plan(X)
    ctx.configure(faults="infer=crash")
    with pytest.raises(RuntimeError, match="ended by signal 6"):
        plan(X)
    lone("updates")
    while "since their model failed" in plan.summary():
        plan(X)
    array[:] = 7
    plan.update_weights(graph)
    same(plan(X), Plan(graph)(X))
