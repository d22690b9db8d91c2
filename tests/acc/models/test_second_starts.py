"""Plans of files whose model of a device is kept: nothing else of the file is read."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir
import pytest

import mx
from mx.cache import CacheWarning
from mx.graph import PartitionedPlan, Plan
from mx.importers.onnx import _reading
from tests.acc.models.test_compiled_cache import files, flip, origins
from tests.acc.models.test_partitioned_plans import same
from tests.graph.build import model_of

# w is large enough to stay out of the file's structure, b is part of that.
WEIGHTS = {
    "w": np.linspace(-1, 1, 128 * 160, dtype="float32").reshape(128, 160),
    "b": np.linspace(-1, 1, 160, dtype="float32"),
}
X = np.linspace(-2, 2, 256, dtype="float32").reshape(2, 128)
TEXT = """g (float[{batch},128] x) => (float[{batch},160] y, float[{batch},160] z)
{{ h = MatMul(x, w)  y = Add(h, b)  z = {last}(y) }}"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """The folder of the cache, which is switched on."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("mx.cache._use._told", set())
    return tmp_path / "cache"


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The files whose nodes are read, as they are."""
    found: list[str] = []
    inner = _reading._model_of

    def counted(*args: Any) -> Any:
        found.append(args[2])
        return inner(*args)

    monkeypatch.setattr(_reading, "_model_of", counted)
    return found


def write(path: Path, last: str = "Relu", batch: str = "2", **weights: Any) -> mx.graph.Graph:
    """Writes a model; a graph of it that nothing else knows of."""
    model = model_of(TEXT.format(last=last, batch=batch))
    for name, array in (WEIGHTS | weights).items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    path.write_bytes(model.SerializeToString())
    return mx.graph.Graph(onnx_ir.from_proto(model))


def started(ctx: mx.Context, path: Path, x: np.ndarray = X, **options: Any) -> PartitionedPlan:
    """A plan of the file that has run once."""
    plan = PartitionedPlan(mx.graph.load(path), ctx, **options)
    plan(x)
    return plan


def test_reads_no_nodes(load_refacc, cache, reads, tmp_path) -> None:
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    expected = Plan(write(path))
    assert origins(started(ctx, path)) == ["compiled"] and len(reads) == 1
    kept = files(cache)
    assert len(kept) == 3  # the model, the start, and the file's inputs and outputs
    plan = started(ctx, path)
    for _ in range(2):
        same(plan(X), expected(X))
        same(plan.run({"x": mx.np.array(X, ctx=ctx)}), expected(X))
    assert plan.input_names == ["x"] and len(reads) == 1 and files(cache) == kept
    with pytest.raises(ValueError, match="x"):
        plan(X[:, :3])
    # Who asks for more has it read then, and the model is not loaded again.
    assert origins(plan) == ["cache"] and len(reads) == 2
    assert plan.summary() == "starts: 3 of 3 nodes" and len(plan.placement().nodes) == 3
    same(plan.profile({"x": X}).outputs, expected(X))
    assert int(ctx.configure()["imported"]) == 1


def open_files() -> list[str]:
    """What the descriptors of this process are of."""
    return [os.readlink(link) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]


def test_elements_stay_in_the_file(load_refacc, tmp_path) -> None:
    """Of which nobody keeps more than a descriptor, and that no longer than it may be needed."""
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    expected = Plan(write(path))
    started(ctx, path)
    assert str(path) not in open_files()
    plan = started(ctx, path)
    assert plan._maker.source is not None and plan._maker.source.elements._arrays is None
    assert open_files().count(str(path)) == 1
    os.replace(path, tmp_path / "other.onnx")
    write(path, w=WEIGHTS["w"] * 2)  # another file of the name
    assert plan.summary() == "starts: 3 of 3 nodes"
    assert np.array_equal(plan.graph.weights["w"], WEIGHTS["w"])
    assert str(tmp_path / "other.onnx") not in open_files()
    same(plan(X), expected(X))
    del plan
    again = started(ctx, tmp_path / "other.onnx")
    assert str(tmp_path / "other.onnx") in open_files()
    del again
    gc.collect()
    assert str(tmp_path / "other.onnx") not in open_files()


# Ways to change a file that is in use.
CHANGES: dict[str, Callable[[Path], None]] = {
    "cut": lambda path: os.truncate(path, path.stat().st_size - 1000),
    "longer": lambda path: os.truncate(path, path.stat().st_size + 1000),
    "other elements": lambda path: flip_in_file(path),
}


def flip_in_file(path: Path) -> None:
    begin = path.stat().st_mtime_ns
    while path.stat().st_mtime_ns == begin:  # the clock of files may be slow
        flip(path)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_changes_before_it_is_read(load_refacc, tmp_path, change) -> None:
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    write(path)
    started(ctx, path)
    graph, plan = mx.graph.load(path), started(ctx, path)
    change(path)
    for use in (lambda: PartitionedPlan(graph, ctx), lambda: graph.nodes, plan.explain):
        with pytest.raises(mx.graph.GraphError, match="m.onnx: the file was changed since"):
            use()
    assert len(plan(X)) == 2  # of which nothing has to be read


def test_a_graph_that_is_only_looked_at(load_refacc, cache, reads, tmp_path) -> None:
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    write(path)
    started(ctx, path)
    graph = mx.graph.load(path)
    assert len(reads) == 1
    assert [spec.name for spec in graph.inputs] == ["x"] and len(graph.copy().nodes) == 3
    assert len(reads) == 2
    plan = PartitionedPlan(graph, ctx)
    plan(X)
    assert len(reads) == 2
    # It may have been changed by whoever has the model.
    graph.model.graph.node(2).op_type = "Neg"
    same(PartitionedPlan(graph, ctx)(X), Plan(graph)(X))


def test_varying_shapes(load_refacc, reads, tmp_path) -> None:
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    expected = Plan(write(path, batch="N"))
    batches = [X, np.concatenate([X, -X])]
    for _ in range(2):
        plan = PartitionedPlan(mx.graph.load(path), ctx)
        for batch in batches:
            same(plan(batch), expected(batch))
    assert len(reads) == 1
    assert origins(plan) == ["cache", "cache"]


# What a second start has otherwise, and how many files' nodes are read then.
OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a large weight": ({"w": WEIGHTS["w"] * 2}, {}),
    "a small weight": ({"b": WEIGHTS["b"] * 2}, {}),
    "a node": ({"last": "Abs"}, {}),
    "an option": ({}, {"options": {"effort": 2}}),
    "costs": ({}, {"costs": True}),
    "no passes": ({}, {"optimize": False}),
    "no cache": ({}, {"cache": False}),
    "verify": ({}, {"verify": True}),
    "all on the CPU": ({}, {"fallback": "whole"}),
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_a_start_depends_on(load_refacc, reads, tmp_path, other) -> None:
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    changes, options = OTHERS[other]
    write(path)
    started(ctx, path)
    del reads[:]
    expected = Plan(write(path, **changes))
    plan = PartitionedPlan(mx.graph.load(path), ctx, **options)
    same(plan(X), expected(X))
    assert len(reads) == 1


def test_weights_that_a_library_does_not_export(load_refacc, cache, reads, tmp_path) -> None:
    ctx, path = load_refacc("starts", FAULTS="exportWeights=unsupported"), tmp_path / "m.onnx"
    expected = Plan(write(path))
    for origin in ("compiled", "cache"):
        plan = started(ctx, path)
        same(plan(X), expected(X))
        assert origins(plan) == [origin] and len(files(cache)) == 1
    assert len(reads) == 2


def test_nodes_that_stay_on_the_cpu(load_refacc, reads, tmp_path) -> None:
    ctx, path = load_refacc("starts", NODES="MatMul,Add"), tmp_path / "m.onnx"
    expected = Plan(write(path))
    for _ in range(2):
        same(started(ctx, path)(X), expected(X))
    assert len(reads) == 2


def test_a_run_that_fails(load_refacc, reads, tmp_path) -> None:
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    expected = Plan(write(path))
    started(ctx, path)
    plan = PartitionedPlan(mx.graph.load(path), ctx)
    ctx.configure(faults="infer")
    with pytest.warns(mx.AccFallbackWarning, match="infer failed"):
        same(plan(X), expected(X))
    ctx.configure(faults="")
    assert "3 of them since their model failed" in plan.summary()
    same(plan(X), expected(X))
    strict = PartitionedPlan(mx.graph.load(path), ctx, fallback="error")
    ctx.configure(faults="infer")
    with pytest.raises(RuntimeError, match="infer failed"):
        strict(X)
    ctx.configure(faults="")


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [flip, emptied, os.unlink])
@pytest.mark.parametrize("number", range(3))
def test_damage(load_refacc, cache, tmp_path, damage: Callable[[Path], None], number) -> None:
    """Whichever of the three files it is in."""
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    expected = Plan(write(path))
    started(ctx, path)
    damage(files(cache)[number])
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            same(started(ctx, path)(X), expected(X))
    assert len(files(cache)) == 3 and not mx.cache.check()


def test_a_file_that_is_no_model_any_more(load_refacc, tmp_path) -> None:
    ctx, path = load_refacc("starts"), tmp_path / "m.onnx"
    write(path)
    started(ctx, path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(mx.graph.GraphError, match="m.onnx"):
        mx.graph.load(path)
