"""The CPU's first answers of second starts, by plans that are kept: no node of the file is read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import mx
from mx.cache import CacheWarning
from mx.cache._file import PieceFile, write_whole
from mx.graph import PartitionedPlan, Plan
from mx.graph.partition import _background, _kept, _starts
from tests.acc.models.test_compiled_cache import files, flip, origins
from tests.acc.models.test_partitioned_plans import same
from tests.graph.build import model_of

# The device gives other signs in the last node, so that results tell who has computed them.
TEXT = """g (float[{batch},3,12,10] x) => (float[{batch},4,10,8] y)
{{ c = Conv (x, w, b)  r = Relu (c)  y = Mul (r, s) }}"""
WEIGHTS = {
    "w": np.linspace(-1, 1, 108, dtype="float32").reshape(4, 3, 3, 3),
    "b": np.linspace(-1, 1, 4, dtype="float32"),
    "s": np.full((1, 4, 10, 8), 2, "float32"),
}
X = np.linspace(-2, 2, 720, dtype="float32").reshape(2, 3, 12, 10)
PLAN = "plan of the CPU"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """The folder of the cache; the CPU is taken to be sooner than the library."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("mx.cache._use._told", set())
    monkeypatch.setattr(_starts, "_FEW_SECONDS", 1e9)
    monkeypatch.setattr(_starts, "_SMALL_PART", 1e9)
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def gate(monkeypatch) -> Iterator[threading.Event]:
    """What loads in the background wait for, once it is cleared."""
    event, inner = threading.Event(), _background.Loading.compile
    event.set()

    def compile(self: _background.Loading) -> None:
        assert event.wait(60)
        inner(self)

    monkeypatch.setattr(_background.Loading, "compile", compile)
    yield event
    event.set()


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "m.onnx"


def write(path: Path, batch: str = "2", text: str = TEXT, **weights: Any) -> Plan:
    """Writes a model; a plan of it that nothing else knows of."""
    model = model_of(text.format(batch=batch))
    for name, array in (WEIGHTS | weights).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    path.write_bytes(model.SerializeToString())
    return Plan(mx.graph.load(path))


def start(ctx: mx.Context, path: Path, **options: Any) -> PartitionedPlan:
    return PartitionedPlan(mx.graph.load(path), ctx, background=True, **options)


def first(ctx: mx.Context, path: Path, x: np.ndarray = X, **options: Any) -> None:
    """A start of which everything is kept."""
    plan = start(ctx, path, **options)
    plan(x)
    assert plan.wait()


def plans_of(cache: Path) -> list[Path]:
    """The files that have plans of the CPU."""
    found = []
    for file in files(cache):
        with PieceFile(file) as opened:
            if str(opened.about.get("graph", "")).endswith(PLAN):
                found.append(file)
    return found


def answer(plan: PartitionedPlan, x: np.ndarray = X) -> tuple[bool, Any]:
    """Whether the CPU has answered without the graph, and the outputs."""
    outputs = plan(x)
    loading = next(reversed(plan._placements.values()))
    is_kept = isinstance(loading, _background.Loading) and loading._kept is not None
    return is_kept and not plan._maker.is_read, outputs


BATCHES = {"a known shape": "2", "a shape that varies": "N"}


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
def test_reads_no_nodes(load_refacc, cache, path, gate, batch) -> None:
    ctx = load_refacc("keeps", WRONG="Mul")
    expected = write(path, batch)
    first(ctx, path)
    assert len(plans_of(cache)) == 1
    kept = files(cache)
    mx.acc_stats(reset=True)
    gate.clear()
    plan = start(ctx, path)
    for _ in range(2):
        is_kept, outputs = answer(plan)
        assert is_kept and outputs[0].ctx == ctx
        same(outputs, expected(X))
    rows = {(row.operator, reason): count for row in mx.acc_stats(reset=True)
            for reason, count in row.reasons.items()}  # fmt: skip
    names = ("Conv", "Relu", "Mul")
    assert rows == {(name, "its model is being loaded"): 2 for name in names}
    gate.set()
    assert plan.wait()
    np.testing.assert_allclose(plan(X)[0].asnumpy(), -expected(X)[0].asnumpy(), rtol=1e-5)
    assert not plan._maker.is_read and files(cache) == kept
    assert plan.summary() == "keeps: 3 of 3 nodes" and origins(plan) == ["cache"]
    with pytest.raises(ValueError, match="x"):
        plan(X[:, :, :5])


def test_what_is_not_on_the_device(load_refacc, path, gate) -> None:
    """Inputs may be anywhere, and what is asked meanwhile is answered."""
    ctx = load_refacc("keeps", WRONG="Mul")
    expected = write(path)
    first(ctx, path)
    gate.clear()
    for x in (mx.np.array(X), mx.np.array(X, ctx=ctx), X):
        plan = start(ctx, path)
        is_kept, outputs = answer(plan, x)
        assert is_kept
        same(outputs, expected(X))
        assert "models are being loaded" in plan.summary() and len(plan.explain()) == 3
        same(plan(x), expected(X))


# What a second start has otherwise: whether it has the plan.
OTHERS: dict[str, tuple[bool, dict[str, Any], dict[str, Any]]] = {
    "nothing": (True, {}, {}),
    "a weight": (False, {"w": WEIGHTS["w"] * 2}, {}),
    "a small weight": (False, {"b": WEIGHTS["b"] * 2}, {}),
    "a node": (False, {"text": TEXT.replace("Relu", "Abs")}, {}),
    "NaN": (False, {}, {"keep_nan": True}),
    "no passes": (False, {}, {"optimize": False}),
    "no cache": (False, {}, {"cache": False}),
    "an option": (False, {}, {"options": {"effort": 2}}),
}


@pytest.mark.parametrize(("has_it", "changes", "options"), OTHERS.values(), ids=OTHERS)
def test_what_a_plan_depends_on(load_refacc, path, gate, has_it, changes, options) -> None:
    ctx = load_refacc("keeps")
    write(path)
    first(ctx, path)
    gate.clear()
    expected = write(path, **changes)
    is_kept, outputs = answer(start(ctx, path, **options))
    assert is_kept == has_it
    same(outputs, expected(X))


def test_another_library_of_kernels(load_refacc, path, gate, monkeypatch) -> None:
    ctx = load_refacc("keeps")
    expected = write(path)
    first(ctx, path)
    gate.clear()
    monkeypatch.setattr(_kept, "stamp", lambda: [1, 2])
    is_kept, outputs = answer(start(ctx, path))
    assert not is_kept
    same(outputs, expected(X))


# Why no plan is kept.
NONE: dict[str, tuple[str, Any]] = {
    "the device is sooner": ("mx.graph.partition._starts._SMALL_PART", 0.0),
    "weights are large": ("mx.graph.partition._kept._MOST_BYTES", 100),
    "libraries are faster": ("mx.graph.lowering._quick._MOST_WEIGHTS", 100),
}


@pytest.mark.parametrize(("name", "content"), NONE.values(), ids=NONE)
def test_what_is_not_kept(load_refacc, cache, path, gate, monkeypatch, name, content) -> None:
    ctx = load_refacc("keeps")
    expected = write(path)
    monkeypatch.setattr(name, content)
    first(ctx, path)
    assert not plans_of(cache) and len(files(cache)) >= 3
    gate.clear()
    is_kept, outputs = answer(start(ctx, path))
    assert not is_kept
    same(outputs, expected(X))


def rewritten(change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> Any:
    """Writes a file anew, with checksums that are right."""

    def rewrite(path: Path) -> None:
        with PieceFile(path) as file:
            about, pieces = file.about, {name: file.data(name) for name in file.rows}
        change(about, pieces)

        def write(writer: Any) -> dict[str, Any]:
            for name, data in pieces.items():
                writer.add(name, data)
            return about

        write_whole(str(path), f"{path}.part", write)

    return rewrite


def with_calls(change: Callable[[list[Any]], Any]) -> Any:
    def changed(_: dict[str, Any], pieces: dict[str, bytes]) -> None:
        calls, parts = json.loads(pieces["recipe"])
        pieces["recipe"] = json.dumps([change(calls) or calls, parts]).encode()

    return rewritten(changed)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


# What may be there instead of a plan.
DAMAGES: dict[str, Callable[[Path], None]] = {
    "another byte": flip,
    "no bytes": emptied,
    "no file": lambda path: os.unlink(path),
    "half of it": lambda path: os.truncate(path, path.stat().st_size // 2),
    "no pieces": rewritten(lambda about, pieces: pieces.clear()),
    "no weights": rewritten(lambda about, pieces: [pieces.pop(k) for k in [*pieces][1:]] and None),
    "short weights": rewritten(lambda about, pieces: pieces.update(arrays=pieces["arrays"][:4])),
    "no plan": rewritten(lambda about, pieces: about.pop("plan") and None),
    "another plan": rewritten(lambda about, pieces: about.update(plan=[1])),
    "another type": rewritten(lambda about, pieces: about["plan"]["arrays"][0].__setitem__(0, "q")),
    "no calls": with_calls(lambda calls: calls.clear()),
    "a list": rewritten(lambda about, pieces: pieces.update(recipe=b"[1, [2], {}]")),
    "a text": rewritten(lambda about, pieces: pieces.update(recipe=b"}")),
    "deep lists": rewritten(lambda about, pieces: pieces.update(recipe=b"[" * 99999)),
    "no outputs": with_calls(lambda calls: calls.pop() and None),
    "another maker": with_calls(lambda calls: calls[1].__setitem__(1, "ffi.get_global_func")),
    "more of a call": with_calls(lambda calls: calls[1].append(1)),
    "another input": with_calls(lambda calls: calls[0].__setitem__(1, [1, 2])),
    "a call that is none": with_calls(lambda calls: calls.insert(1, ["exec", "1"])),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damage(load_refacc, cache, path, damage) -> None:
    ctx = load_refacc("keeps")
    expected = write(path)
    first(ctx, path)
    (kept,) = plans_of(cache)
    damage(kept)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            plan = start(ctx, path)
            same(plan(X), expected(X))
            assert plan.wait()
            same(plan(X), expected(X))
    assert not mx.cache.check()


def test_a_run_that_fails(load_refacc, path, monkeypatch) -> None:
    """The graph is read then, and what executes it says what is wrong, if something is."""
    ctx = load_refacc("keeps")
    expected = write(path)
    first(ctx, path)

    def fail(*_: Any) -> None:
        raise MemoryError("none left")

    monkeypatch.setattr(_kept.KeptPlan, "run", fail)
    plan = start(ctx, path)
    is_kept, outputs = answer(plan)
    assert not is_kept
    same(outputs, expected(X))


def test_a_plan_that_cannot_be_kept(load_refacc, cache, path, monkeypatch) -> None:
    """The device answers all the same, and the next run warns."""
    ctx = load_refacc("keeps")
    expected = write(path)

    def fail(*_: Any) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(_kept, "write", fail)
    plan = start(ctx, path)
    plan(X)
    with pytest.warns(CacheWarning, match="a plan of the CPU is not kept: no such thing"):
        assert plan.wait()
    assert plan.summary() == "keeps: 3 of 3 nodes"
    same(plan(X), expected(X))
    assert not plans_of(cache) and not mx.cache.check()


def test_weights_that_change(load_refacc, path, gate) -> None:
    ctx = load_refacc("keeps")
    write(path)
    first(ctx, path)
    gate.clear()
    plan = start(ctx, path)
    assert answer(plan)[0]
    expected = write(path, w=WEIGHTS["w"] * 3)
    gate.set()
    plan.update_weights(mx.graph.load(path))
    for _ in range(2):
        same(plan(X), expected(X))
        assert plan.wait()


def test_threads(load_refacc, path, gate) -> None:
    ctx = load_refacc("keeps")
    expected = write(path)
    first(ctx, path)
    gate.clear()
    plan = start(ctx, path)
    wanted, found = expected(X)[0].asnumpy(), []

    def run() -> None:
        found.append(np.array_equal(plan(X)[0].asnumpy(), wanted))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4


PROCESS = """
import sys
import numpy as np
import mx
from mx.graph import PartitionedPlan
from mx.graph.partition import _background, _starts
_starts._FEW_SECONDS = _starts._SMALL_PART = 1e9
_background._PAUSE = 60
ctx = mx.load_acc(sys.argv[1], acc_name="keeps")
plan = PartitionedPlan(mx.graph.load(sys.argv[2]), ctx, background=True)
y = plan(np.linspace(-2, 2, 720, dtype="float32").reshape(2, 3, 12, 10))[0].asnumpy()
is_read = plan._maker.is_read
print(float(y.sum()), is_read, plan.wait())
"""


def test_processes(accelerators, cache, path) -> None:
    """Two at once, and then two more."""
    expected = float(write(path)(X)[0].asnumpy().sum())
    library = str(accelerators / "librefacc.so")
    for is_read in (True, False):
        command = [sys.executable, "-c", PROCESS, library, str(path)]
        started = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
            for _ in range(2)
        ]
        for process in started:
            text, *flags = process.communicate(timeout=60)[0].split()
            assert process.returncode == 0 and float(text) == pytest.approx(expected, rel=1e-5)
            assert flags == [str(is_read), "True"] or (is_read and flags[1] == "True")
    assert len(plans_of(cache)) == 1 and not mx.cache.check()
