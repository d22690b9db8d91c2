"""`mx.model.save_compiled` and `load_compiled`: a model and what was compiled of it, in a file."""

from __future__ import annotations

import gc
import os
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import mx
from mx.cache import CacheWarning, FileError
from mx.graph import PartitionedPlan, Plan
from mx.model import load_compiled, save_compiled
from tests.acc.models.test_partitioned_plans import MIXED, X, same
from tests.graph.build import graph_of

WEIGHT = numpy.arange(256, dtype="float32").reshape(64, 4)


def large() -> Any:
    """A graph with a weight that is too large to be in the ONNX part of the file."""
    symbol = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=64, no_bias=True, name="fc")
    return symbol.to_graph(shapes={"x": ("N", 4)}, params={"fc_weight": WEIGHT})


def origins(plan: PartitionedPlan) -> list[str]:
    return [model.origin for model in plan.models()]


@pytest.mark.parametrize("make", [lambda: graph_of(MIXED), large], ids=["mixed", "large"])
def test_comes_back(load_refacc, tmp_path, make) -> None:
    path, graph = tmp_path / "model.mx", make()
    ctx = load_refacc("saved")
    plan = PartitionedPlan(graph, ctx, options={"effort": 2})
    shapes = [numpy.resize(X, (rows, 4)) for rows in (2, 5)]
    for x in shapes:
        plan(x)
    save_compiled(path, plan)
    assert os.listdir(tmp_path) == ["model.mx"]
    before = ctx.configure()["compiled"]
    ctx.configure(faults="supportedOps")  # what it says is in the file
    again = load_compiled(path)
    for x in shapes:
        same(again(x), Plan(graph)(x))
    assert set(origins(again)) == {"file"} and again.summary() == plan.summary()
    assert ctx.configure(faults="")["compiled"] == before
    # Shapes that it has not are compiled as ever; with a note, as they might have been there.
    with pytest.warns(CacheWarning, match="the file has no such model"):
        same(again(X[:1]), Plan(graph)(X[:1]))
    assert origins(again)[-1] == "compiled"


def test_graphs_and_symbols(load_refacc, tmp_path) -> None:
    path, ctx = tmp_path / "model.mx", load_refacc("saved")
    symbol = mx.sym.Activation(mx.sym.var("x") * 2, act_type="relu")
    save_compiled(path, symbol, ctx, shapes={"x": (2, 4)})
    loaded = load_compiled(path)
    same(loaded(X), [mx.np.maximum(mx.np.array(X) * 2, 0)])
    assert origins(loaded) == ["file"]
    save_compiled(path, graph_of(MIXED), ctx, shapes={"x": (2, 4)}, costs=False)
    loaded = load_compiled(path, mx.saved(1), verify=True)
    same(loaded(X), Plan(graph_of(MIXED))(X))
    assert origins(loaded) == ["file", "file"]


def test_what_does_not_fit_is_compiled(load_refacc, tmp_path) -> None:
    path, ctx = tmp_path / "model.mx", load_refacc("saved")
    save_compiled(path, graph_of(MIXED), ctx, shapes={"x": (2, 4)})
    for verdict, said in (("no", "does not fit"), ("recompile", "recompile")):
        ctx.configure(verdict=verdict)
        with pytest.warns(CacheWarning, match=f"is compiled anew: the library says .*: {said}"):
            plan = load_compiled(path)
            same(plan(X), Plan(graph_of(MIXED))(X))
        assert origins(plan) == ["compiled", "compiled"]
    ctx.configure(verdict="right", faults="importModel@1")
    with pytest.warns(CacheWarning, match="is compiled anew: saved.*: importModel failed"):
        plan = load_compiled(path)
        same(plan(X), Plan(graph_of(MIXED))(X))
    assert sorted(origins(plan)) == ["compiled", "file"]


def test_the_accelerator_is_missing(load_refacc, accelerators, tmp_path) -> None:
    path = tmp_path / "model.mx"
    library = shutil.copy(accelerators / "librefacc.so", tmp_path / "librefacc.so")
    save_compiled(path, graph_of(MIXED), mx.load_acc(library, "gone"), shapes={"x": (2, 4)})
    gc.collect()
    mx.unload_acc("gone")
    ctx = load_refacc("saved")
    with pytest.raises(RuntimeError, match="model.mx is for the accelerator 'gone', which is not"):
        load_compiled(path)
    # That of the same kind serves, under whatever name.
    plan = load_compiled(path, ctx)
    same(plan(X), Plan(graph_of(MIXED))(X))
    assert origins(plan) == ["file", "file"]


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    path.write_bytes(content)


FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (cut, "model.mx was cut, or is damaged"),
    "a bit": (flip, "model.mx is damaged: the piece"),
    "another file": (lambda path: path.write_bytes(bytes(1000)), "is no file of compiled models"),
    "an empty file": (lambda path: path.write_bytes(b""), "is no file of compiled models"),
    "another version": (
        lambda path: path.write_bytes(path.read_bytes().replace(b"mxpieces\2", b"mxpieces\x09")),
        "model.mx is of version 9, expected 2",
    ),
}


@pytest.mark.parametrize("damage", FILES)
def test_files_that_are_none(load_refacc, tmp_path, damage) -> None:
    path, ctx = tmp_path / "model.mx", load_refacc("saved")
    save_compiled(path, graph_of(MIXED), ctx, shapes={"x": (2, 4)})
    change, said = FILES[damage]
    change(path)
    with pytest.raises(FileError, match=said):
        load_compiled(path, ctx)


def test_an_entry_of_the_cache_is_none(load_refacc, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path))
    ctx = load_refacc("saved")
    PartitionedPlan(graph_of(MIXED), ctx)(X)
    with pytest.raises(FileError, match="is no file of save_compiled"):
        load_compiled(next(tmp_path.glob("*.compiled")), ctx)
    with pytest.raises(FileNotFoundError):
        load_compiled(tmp_path / "none", ctx)


# What is wrong with arguments, and what is said.
WRONG: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "no model": (lambda ctx: save_compiled("m", "x.onnx"), TypeError, "model: expected a Partit"),
    "no device": (lambda ctx: save_compiled("m", graph_of(MIXED)), TypeError, "ctx: expected"),
    "no shapes": (lambda ctx: save_compiled("m", graph_of(MIXED), ctx), ValueError, "nothing yet"),
    "other shapes": (
        lambda ctx: save_compiled("m", graph_of(MIXED), ctx, shapes={"z": (2, 4)}),
        ValueError,
        "the input 'x' has no shape",
    ),
    "parameters of a graph": (
        lambda ctx: save_compiled("m", graph_of(MIXED), ctx, arg_params={"w": WEIGHT}),
        TypeError,
        "a Graph has its own",
    ),
    "a device of a plan": (
        lambda ctx: save_compiled("m", PartitionedPlan(graph_of(MIXED), ctx), ctx),
        TypeError,
        "a plan has its device",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(load_refacc, tmp_path, monkeypatch, case) -> None:
    monkeypatch.chdir(tmp_path)
    call, kind, said = WRONG[case]
    with pytest.raises(kind, match=said):
        call(load_refacc("saved"))
    assert os.listdir(tmp_path) == []


def test_an_export_that_fails(load_refacc, tmp_path) -> None:
    ctx = load_refacc("saved", FAULTS="exportPiece@2")
    with pytest.raises(RuntimeError, match="exportModel failed"):
        save_compiled(tmp_path / "m", graph_of(MIXED), ctx, shapes={"x": (2, 4)})
    assert os.listdir(tmp_path) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        save_compiled(tmp_path / "m", graph_of(MIXED), ctx, shapes={"x": (2, 4)})
