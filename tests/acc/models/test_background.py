"""Models that are loaded in the background while the CPU executes the graph."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
import pytest

import mx
from mx._library import PATH as OPERATORS
from mx.graph import PartitionedPlan, Plan, explain
from mx.graph.partition import _background, _starts
from mx.graph.partition._compiled import Compiler
from tests.graph.build import graph_of

from .test_partitioned_plans import MIXED, same
from .test_updated_weights import ONE, STATIC, TWO, X, no_mixtures, origins, with_weights

# The device gives the negative of what it should, so that results tell who has computed them.
SIGN = "g (float[N,4] x) => (float[N,4] y) { y = Mul(x, a) }"
FIXED = SIGN.replace("N,4", "2,4")
LOADING = "; models are being loaded"


@pytest.fixture
def gate(monkeypatch) -> Iterator[threading.Event]:
    """What loads in the background wait for."""
    event, inner = threading.Event(), _background.Loading.compile

    def compile(self: _background.Loading) -> None:
        assert event.wait(60)
        inner(self)

    monkeypatch.setattr(_background.Loading, "compile", compile)
    yield event
    event.set()


def sign_of(plan: PartitionedPlan, x: numpy.ndarray = X) -> int:
    """1 where the CPU has executed it, and -1 for the device; other results fail."""
    outputs = plan(x)[0].as_in_ctx(mx.cpu()).asnumpy()
    sign = int(numpy.sign(outputs[0, 0]))
    assert numpy.array_equal(outputs, sign * 2 * x)
    return sign


def check_clean(ctx: mx.Context) -> None:
    gc.collect()
    mx.empty_cache(ctx)
    state = ctx.configure(check=1)
    assert (state["violations"], state["live"]) == ("0", "0"), state


WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "shapes that vary": (SIGN, {}),
    "known shapes": (FIXED, {}),
    "in a stream": (FIXED, {"STREAMS": "1"}),
    "one run at once": (FIXED, {"RUNS_AT_ONCE": "one"}),
    "outputs that it makes": (SIGN, {"SHAPES": "found"}),
}


@pytest.mark.parametrize(("text", "options"), WAYS.values(), ids=WAYS)
def test_first_the_cpu_and_then_the_device(load_refacc, gate, text, options) -> None:
    ctx = load_refacc("behind", WRONG="Mul", **options)
    plan = PartitionedPlan(with_weights(text, a=2), ctx, background=True, cache=False)
    for _ in range(3):
        assert sign_of(plan) == 1
    assert plan(X)[0].ctx == ctx
    assert plan.summary() == f"behind: 0 of 1 nodes; on cpu: Mul x1{LOADING}"
    (row,) = plan.explain()
    assert (row.where, row.why) == ("cpu", "its model is being loaded")
    assert plan.models() == [] and not plan.wait(0) and not plan.wait(0.01)
    gate.set()
    assert plan.wait() and plan.wait(0)
    for _ in range(3):
        assert sign_of(plan) == -1
    assert plan.summary() == "behind: 1 of 1 nodes" and origins(plan) == ["compiled"]
    if text == SIGN:  # other shapes have models of their own
        gate.clear()
        other = numpy.resize(X, (5, 4))
        assert sign_of(plan, other) == 1 and sign_of(plan) == -1
        gate.set()
        assert plan.wait() and sign_of(plan, other) == -1
    del plan
    check_clean(ctx)


def test_nodes_that_stay_on_the_cpu_are_told_later(load_refacc, gate) -> None:
    ctx = load_refacc("behind")
    graph = graph_of(MIXED)
    plan = PartitionedPlan(graph, ctx, background=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(plan(X), Plan(graph)(X))
    mx.acc_stats(reset=True)
    plan(X)
    reasons = {reason for row in mx.acc_stats(reset=True) for reason in row.reasons}
    assert reasons == {"its model is being loaded"}
    gate.set()
    plan.wait()
    with pytest.warns(mx.AccPlacementWarning, match="does not execute 1 of 7 nodes") as told:
        same(plan(X), Plan(graph)(X))
    assert told[0].filename == __file__
    assert plan.explain() == explain(graph, ctx, {"x": (2, 4)}, background=True)


def test_a_branch_is_executed_where_its_graph_is(load_refacc, gate) -> None:
    ctx = load_refacc("behind", WRONG="Neg")
    graph = graph_of(
        """g (float[2] x, bool c) => (float[2] y) {
        z = Exp(x)
        y = If(c) <then_branch = t () => (float[2] a) { a = Neg(z) },
                   else_branch = e () => (float[2] b) { b = Abs(z) }> }"""
    )
    given = (numpy.zeros(2, "float32"), numpy.array(True))
    plan = PartitionedPlan(graph, ctx, background=True)
    assert plan(*given)[0].tolist() == [-1, -1]
    gate.set()
    plan.wait()
    assert plan(*given)[0].tolist() == [1, 1]
    assert "in branches and loops 1 of" in plan.summary()


# Faults of the library, and what is said of them.
FAULTS = {
    "asking": ("supportedOps", "supportedOps failed"),
    "loading": ("loadModel", "loadModel failed"),
    "a library that cannot": ("loadModel=unsupported", "loadModel failed"),
}


@pytest.mark.parametrize(("faults", "message"), FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("text", [SIGN, FIXED])
def test_loads_that_fail(load_refacc, gate, text, faults, message) -> None:
    ctx = load_refacc("behind", WRONG="Mul")
    ctx.configure(faults=faults)
    plan = PartitionedPlan(with_weights(text, a=2), ctx, background=True)
    strict = PartitionedPlan(with_weights(text, a=2), ctx, background=True, fallback="error")
    assert sign_of(plan) == sign_of(strict) == 1
    gate.set()
    while plan._loading() or strict._loading():
        time.sleep(0.001)
    ctx.configure(faults="")
    with pytest.warns(mx.AccFallbackWarning, match=message) as told:
        assert sign_of(plan) == 1
    assert told[0].filename.endswith("test_background.py")
    with warnings.catch_warnings():
        warnings.simplefilter("error", mx.AccFallbackWarning)
        warnings.simplefilter("ignore", mx.AccPlacementWarning)
        assert plan.wait() and sign_of(plan) == 1
    assert plan.summary() == "behind: 0 of 1 nodes; on cpu: Mul x1"
    for use in (lambda: strict(X), strict.wait, lambda: strict(X), strict.wait):
        with pytest.raises(NotImplementedError, match=message):
            use()
    strict.update_weights(with_weights(text, a=2))
    sign_of(strict)
    assert strict.wait() and sign_of(strict) == -1


def test_an_error_that_is_none_of_the_library(load_refacc, monkeypatch) -> None:
    """Nothing is lost that a thread of its own could lose."""
    ctx = load_refacc("behind")

    def load(*_: Any) -> None:
        raise KeyError("of the test")

    monkeypatch.setattr(Compiler, "load", load)
    plan = PartitionedPlan(with_weights(FIXED, a=2), ctx, background=True)
    with pytest.raises(KeyError, match="of the test"):
        plan.wait()


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no bool": ({"background": 1}, TypeError, "background: expected a bool, got 1"),
    "verify": (
        {"background": True, "verify": True},
        ValueError,
        "background: cannot be given with verify",
    ),
    "a tolerance": (
        {"background": True, "verify": (0.1, 0.1)},
        ValueError,
        "background: cannot be given with verify",
    ),
}


@pytest.mark.parametrize(("options", "error", "message"), WRONG.values(), ids=WRONG)
def test_what_is_rejected(load_refacc, options, error, message) -> None:
    ctx = load_refacc("behind")
    graph = with_weights(FIXED, a=2)
    with pytest.raises(error, match=f"PartitionedPlan: {message}"):
        PartitionedPlan(graph, ctx, **options)
    with pytest.raises(error, match=f"Module: {message}"):
        mx.mod.Module(graph, context=ctx, **options)
    with pytest.raises(ValueError, match="Module: background: is for contexts of accelerators"):
        mx.mod.Module(graph, background=True)


TIMES = {
    "text": ("1", TypeError, "expected a number, got '1'"),
    "bool": (True, TypeError, "expected a number, got True"),
    "less than none": (-1, ValueError, "expected 0 to .* seconds, got -1"),
    "no number": (numpy.nan, ValueError, "expected 0 to .* seconds, got nan"),
    "too many": (numpy.inf, ValueError, "expected 0 to .* seconds, got inf"),
}


@pytest.mark.parametrize(("timeout", "error", "message"), TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("background", [False, True])
def test_times_that_are_rejected(load_refacc, background, timeout, error, message) -> None:
    plan = PartitionedPlan(with_weights(FIXED, a=2), load_refacc("behind"), background=background)
    with pytest.raises(error, match=f"PartitionedPlan.wait: timeout: {message}"):
        plan.wait(timeout)


def test_modules(load_refacc, gate) -> None:
    ctx = load_refacc("behind", WRONG="Mul")
    module = mx.mod.Module(with_weights(FIXED, a=2), context=ctx, background=True)
    module.bind(data_shapes=[("x", (2, 4))])
    module.forward(mx.io.DataBatch([mx.nd.array(X)]))
    assert numpy.array_equal(module.get_outputs()[0].asnumpy(), 2 * X)
    assert module.summary().endswith(LOADING)
    gate.set()
    while module.summary().endswith(LOADING):
        time.sleep(0.001)
    module.forward(mx.io.DataBatch([mx.nd.array(X)]))
    assert numpy.array_equal(module.get_outputs()[0].asnumpy(), -2 * X)


def test_what_needs_the_models_waits(load_refacc, gate, tmp_path) -> None:
    ctx = load_refacc("behind", WRONG="Mul")
    plan = PartitionedPlan(with_weights(SIGN, a=2), ctx, background=True, cache=False)
    plan.prepare({"x": (2, 4)})
    assert plan.summary().endswith(LOADING)
    threading.Timer(0.05, gate.set).start()
    mx.model.save_compiled(tmp_path / "file", plan)
    assert plan.summary() == "behind: 1 of 1 nodes"
    gate.clear()
    plan(numpy.resize(X, (3, 4)))
    threading.Timer(0.05, gate.set).start()
    profile = plan.profile({"x": numpy.resize(X, (3, 4))})
    assert profile.outputs[0].as_in_ctx(mx.cpu()).asnumpy()[0, 0] == -2 * X[0, 0]


def test_where_the_fallback_is_whole(load_refacc, gate) -> None:
    plan = PartitionedPlan(
        with_weights(FIXED, a=2), load_refacc("behind"), background=True, fallback="whole"
    )
    assert plan.wait(0) and sign_of(plan) == 1 and LOADING not in plan.summary()


def test_from_the_cache(load_refacc, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    ctx = load_refacc("behind", WRONG="Mul")
    with_weights(FIXED, a=2).save(tmp_path / "m.onnx")
    for origin in ("compiled", "cache", "cache"):
        plan = PartitionedPlan(mx.graph.load(tmp_path / "m.onnx"), ctx, background=True)
        if origin == "compiled":
            plan.wait()
        assert sign_of(plan) == -1  # what is kept is waited for
        assert plan._maker.is_read or origin == "cache"
        assert origins(plan) == [origin] and sign_of(plan) == -1
    ctx.configure(faults="infer")
    with pytest.warns(mx.AccFallbackWarning, match="infer failed"):
        assert sign_of(plan) == 1
    ctx.configure(faults="")
    # But not for ever.
    event, inner = threading.Event(), Compiler.load_kept

    def load_kept(self: Compiler, *arguments: Any) -> Any:
        assert event.wait(60)
        return inner(self, *arguments)

    monkeypatch.setattr(_background, "_PATIENCE", 0.01)
    monkeypatch.setattr(Compiler, "load_kept", load_kept)
    plan = PartitionedPlan(mx.graph.load(tmp_path / "m.onnx"), ctx, background=True)
    assert sign_of(plan) == sign_of(plan) == 1
    event.set()
    assert plan.wait() and sign_of(plan) == -1


# The part of the seconds of compiling that the CPU's answer may take, and whose is the first answer
# of a second start.
SOONER = {"the CPU": (1e9, 1), "the device": (0.0, -1)}


@pytest.mark.parametrize(("part", "sign"), SOONER.values(), ids=SOONER)
@pytest.mark.parametrize("first_waits", [False, True])
def test_who_is_sooner(load_refacc, tmp_path, monkeypatch, part, sign, first_waits) -> None:
    """The second time it is known, if the CPU has answered the first time."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_starts, "_FEW_SECONDS", 1e9)
    monkeypatch.setattr(_starts, "_SMALL_PART", part)
    monkeypatch.setattr(_background, "_PAUSE", 60)
    ctx = load_refacc("behind", WRONG="Mul")
    with_weights(FIXED, a=2).save(tmp_path / "m.onnx")
    plan = PartitionedPlan(mx.graph.load(tmp_path / "m.onnx"), ctx, background=True)
    assert first_waits or sign_of(plan) == 1
    assert plan.wait() and sign_of(plan) == -1
    plan = PartitionedPlan(mx.graph.load(tmp_path / "m.onnx"), ctx, background=True)
    assert sign_of(plan) == (-1 if first_waits else sign)
    assert plan.wait() and sign_of(plan) == -1 and origins(plan) == ["cache"]
    assert ctx.configure()["compiled"] == "1"


# -- what may happen meanwhile --


@pytest.mark.parametrize("text", [SIGN, FIXED])
def test_a_plan_that_is_dropped(load_refacc, text) -> None:
    """Its load is given up, and nothing of it stays."""
    ctx = load_refacc("behind", COMPILING="60000")
    plan = PartitionedPlan(with_weights(text, a=2), ctx, background=True, cache=False)
    plan(X)
    reference, (loader,) = weakref.ref(plan), _background._working
    del plan
    gc.collect()
    assert reference() is None
    loader.join()
    assert not _background._working and ctx.configure()["compiled"] == "0"
    del loader
    check_clean(ctx)


def test_more_shapes_than_are_kept(load_refacc, gate) -> None:
    """Loads of shapes that were not used for longest are given up."""
    ctx = load_refacc("behind", WRONG="Mul")
    plan = PartitionedPlan(with_weights(SIGN, a=2), ctx, background=True, cache=False)
    for rows in range(1, 40):
        assert sign_of(plan, numpy.resize(X, (rows, 4))) == 1
    gate.set()
    plan.wait()
    assert len(plan.placements()) == 32 and len(plan.models()) == 32
    assert int(ctx.configure()["compiled"]) in (32, 33)  # the first was under way
    assert sign_of(plan, numpy.resize(X, (39, 4))) == -1


def test_weights_that_change_while_models_are_compiled(load_refacc) -> None:
    ctx = load_refacc("behind", COMPILING="60000")
    plan = PartitionedPlan(with_weights(TWO, a=2, b=3), ctx, background=True, cache=False)
    for number in (4, 5):
        plan(X)
        if number == 5:
            ctx.configure(compiling=0)
        changed = with_weights(TWO, a=2, b=number)
        plan.update_weights(changed)  # gives up what is compiled
        same(plan(X), Plan(changed)(X))
    plan.wait()
    same(plan(X), Plan(changed)(X))
    # The load before the last may have been over before it could be given up.
    assert origins(plan)[0] == "compiled" and origins(plan)[1] in ("compiled", "updated")
    compiled = ctx.configure()["compiled"]
    for number in (6, 7, 8):
        changed = with_weights(TWO, a=2, b=number)
        plan.update_weights(changed)
        same(plan(X), Plan(changed)(X))
        if number > 6:
            plan.wait()
            same(plan(X), Plan(changed)(X))
    assert origins(plan) == ["compiled", "updated"] and ctx.configure()["compiled"] == compiled


@pytest.mark.parametrize(
    ("text", "options"),
    [(STATIC, {}), (TWO, {}), (TWO, {"STREAMS": "1", "SLOW": "100"}), (ONE, {"UPDATES": "0"})],
)
def test_no_run_mixes_weights(load_refacc, text, options) -> None:
    """While models are loaded for new weights again and again, and other threads run."""
    ctx = load_refacc("behind", COMPILING="2", **options)
    plan = PartitionedPlan(with_weights(text, a=1, b=1), ctx, background=True, cache=False)
    x = numpy.array([[1, 1, 1, 1], [0, 1, 1, 1]], "float32")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with no_mixtures(plan, x, 3):
            for number in range(2, 12):
                plan.update_weights(with_weights(text, a=number, b=number))
                if number % 3 == 0:
                    plan.wait()
                assert plan(x)[0].as_in_ctx(mx.cpu()).asnumpy()[0, 0] == number**2
    assert plan.wait() and plan.models()
    assert ctx.configure(check=1)["violations"] == "0"


def test_threads_that_run_while_it_is_loaded(load_refacc, gate) -> None:
    """Each of their runs is one of the two, and the device's come after the CPU's."""
    ctx = load_refacc("behind", WRONG="Mul")
    plan = PartitionedPlan(with_weights(SIGN, a=2), ctx, background=True, cache=False)
    begun = threading.Barrier(5)

    def work(_: int) -> list[int]:
        signs = [sign_of(plan)]
        begun.wait()
        while signs[-1] == 1:
            signs.append(sign_of(plan))
        return signs + [sign_of(plan) for _ in range(20)]

    with ThreadPoolExecutor(4) as threads:
        runs = threads.map(work, range(4))
        begun.wait()
        gate.set()
        for signs in runs:
            assert signs[0] == 1 and signs == sorted(signs, reverse=True)
    assert origins(plan) == ["compiled"] and ctx.configure()["compiled"] == "1"


def test_ctrl_c_while_it_waits(load_refacc, gate, interruptible) -> None:
    ctx = load_refacc("behind", WRONG="Mul")
    plan = PartitionedPlan(with_weights(FIXED, a=2), ctx, background=True, cache=False)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        plan.wait()
    assert sign_of(plan) == 1
    gate.set()
    assert plan.wait() and sign_of(plan) == -1


def test_where_no_thread_can_be_started(load_refacc, monkeypatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    ctx = load_refacc("behind", WRONG="Mul")
    plan = PartitionedPlan(with_weights(FIXED, a=2), ctx, background=True, cache=False)
    assert sign_of(plan) == -1 and not _background._working


def test_a_library_in_a_process_of_its_own(load_refacc, monkeypatch, gate) -> None:
    monkeypatch.setenv("REFACC_RUNTIME", OPERATORS)
    ctx = load_refacc("behind", isolate=True, WRONG="Mul")
    plan = PartitionedPlan(with_weights(FIXED, a=2), ctx, background=True, cache=False)
    assert sign_of(plan) == 1
    gate.set()
    assert plan.wait() and sign_of(plan) == -1
    ctx.configure(faults="loadModel=crash")
    plan = PartitionedPlan(with_weights(FIXED, a=2), ctx, background=True, cache=False)
    with pytest.warns(mx.AccFallbackWarning, match="its process was ended by signal 6"):
        plan.wait()
    load_refacc("behind", isolate=True, FAULTS="")


# Runs in a process of its own, which is to end at once and in peace.
SCRIPT = """
import os, sys, threading, warnings
import mx
from mx.graph import PartitionedPlan
from tests.graph.build import graph_of
ctx = mx.load_acc({library!r})
plans = [PartitionedPlan(graph_of(text), ctx, background=True, cache=False) for text in {texts}]
x = mx.np.ones((2, 4))
for plan in plans:
    assert plan(x)[0].tolist() == [[-1] * 4] * 2
{end}
"""
TEXTS = ["g (float[2,4] x) => (float[2,4] y) { y = Neg(x) }"] * 2
ENDS = {
    "by exit, others ending, too": (
        """import atexit
threading._register_atexit(lambda: print(plans[1](x)[0].tolist()[0][0]))
atexit.register(lambda: print(plan.wait(0), plan(x)[0].tolist()[0][0]))
plans.append(PartitionedPlan(graph_of({texts}[0]), ctx, background=True))
plans.append(PartitionedPlan(graph_of({texts}[0]), ctx, background=True))
plans.pop()
sys.exit(3)""",
        3,
        "-1.0\nFalse -1.0",
    ),
    "by an error": ("raise KeyError('done')", 1, ""),
    "a child": (
        """child = os.fork()
if child == 0:
    for use in (lambda: plan(x), plan.wait, lambda: plan(x)):
        try:
            use()
        except RuntimeError as error:
            assert "was loaded before this process was forked" in str(error)
    print("ended", flush=True)
    sys.exit(0)
print(os.waitpid(child, 0)[1], plan.wait(0), plan(x)[0].tolist()[0][0])""",
        0,
        "ended\n0 False -1.0",
    ),
}


def ended(library: Path, end: str, **settings: str) -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(
        library=str(library), texts=TEXTS, end=end.replace("{texts}", repr(TEXTS))
    )
    environment = {f"REFACC_{name}": value for name, value in settings.items()}
    return subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=50,
        env=os.environ | {"REFACC_WRONG": "Neg", **environment},
    )


@pytest.mark.parametrize(("end", "status", "output"), ENDS.values(), ids=ENDS)
def test_the_end_of_a_process(accelerators, end: str, status: int, output: str) -> None:
    done = ended(accelerators / "librefacc.so", end, COMPILING="60000")
    assert (done.returncode, done.stdout.strip()) == (status, output), done.stderr
    assert ("Traceback" in done.stderr) == (status == 1), done.stderr


def test_the_end_of_a_process_whose_library_does_not_stop(accelerators) -> None:
    """It is waited for."""
    end = "import mx.graph.partition._load as load; load.Load.give_up = lambda self: None"
    done = ended(accelerators / "librefacc.so", end, COMPILING="300")
    assert (done.returncode, done.stderr) == (0, "")
