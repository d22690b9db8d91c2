"""Compiled models that are kept: taken at the next start, under keys of all that they depend on."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import mx
from mx._cli import main
from mx.cache import CacheWarning
from mx.cache._use import Cache
from mx.graph import PartitionedPlan
from tests.acc.models.test_partitioned_plans import MIXED, X, same
from tests.graph.build import graph_of

ROOT = Path(__file__).resolve().parents[3]
SMALL = """g (float[2,4] x) => (float[2,3] y)
<float[4,3] w = {1,-2,3,4,5,6,7,-8,9,10,11,12}> { h = MatMul(x, w)  y = Relu(h) }"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    """The folder of the cache, which is switched on."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def warnings_are_told_again(monkeypatch) -> None:
    monkeypatch.setattr("mx.cache._use._told", set())


def origins(plan: PartitionedPlan) -> list[str]:
    return [model.origin for model in plan.models()]


def started(ctx: mx.Context, text: str = SMALL, **options: Any) -> list[str]:
    """Where the models of a new plan come from, which computes what the CPU does."""
    graph = graph_of(text)
    plan = PartitionedPlan(graph, ctx, **options)
    same(plan(X), mx.graph.Plan(graph)(X))
    return origins(plan)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.compiled"))


@pytest.mark.parametrize("settings", [{}, {"STREAMS": "1"}, {"THREADS": "one", "SHAPES": "found"}])
def test_is_taken_again(load_refacc, folder, settings) -> None:
    ctx = load_refacc("kept", **settings)
    assert started(ctx, MIXED) == ["compiled", "compiled"]
    assert started(ctx, MIXED) == ["cache", "cache"]
    assert len(files(folder)) == 2 and [*files(folder), folder / "secret"] == sorted(
        folder.iterdir()
    )
    assert started(ctx, MIXED, cache=False) == ["compiled", "compiled"]
    state = ctx.configure()
    assert (state["compiled"], state["imported"]) == ("4", "2")
    first = mx.cache.entries()[0]
    assert first.about["accelerator"] == "kept" and not first.problem
    assert "kept" in repr(mx.cache.entries()) and not mx.cache.check()


def test_modules_take_it(load_refacc) -> None:
    ctx = load_refacc("kept")
    for origin in ("compiled", "cache"):
        module = mx.mod.Module(graph_of(SMALL), context=ctx)
        module.bind([("x", (2, 4))])
        module.forward(mx.io.DataBatch([mx.np.array(X, ctx=ctx)]))
        assert origins(module._executors._plans[0]) == [origin]


def test_is_switched_off(load_refacc, folder, monkeypatch) -> None:
    ctx = load_refacc("kept")
    monkeypatch.setenv("MXNET_CACHE", "0")
    assert started(ctx) == started(ctx) == ["compiled"] and not folder.exists()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("/a/folder", "MXNET_CACHE: expected 0 or 1, got '/a/folder': MXNET_CACHE_DIR names the"),
        ("off", "MXNET_CACHE: expected 0 or 1, got 'off'"),
    ],
)
def test_is_off_where_the_variable_says_something_else(
    load_refacc, folder, monkeypatch, value, text
) -> None:
    ctx = load_refacc("kept")
    monkeypatch.setenv("MXNET_CACHE", value)
    with pytest.warns(CacheWarning, match=text) as told:
        assert started(ctx) == started(ctx) == ["compiled"] and not folder.exists()
    assert len(told) == 1


def test_a_library_that_exports_nothing(load_refacc, folder) -> None:
    ctx = load_refacc("kept", FAULTS="exportModel=unsupported")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        assert started(ctx) == started(ctx) == ["compiled"]
    assert files(folder) == []


# -- keys --

# What is changed, and whether the model of before is taken.
OTHERS: dict[str, tuple[Callable[[mx.Context], list[str]], str]] = {
    "nothing": (started, "cache"),
    "a weight": (lambda ctx: started(ctx, SMALL.replace("12}", "13}")), "compiled"),
    "a node": (lambda ctx: started(ctx, SMALL.replace("Relu", "Abs")), "compiled"),
    "a shape": (lambda ctx: started(ctx, SMALL.replace("[2,", "[N,")), "cache"),
    "an option": (lambda ctx: started(ctx, options={"effort": 2}), "compiled"),
    "what is configured": (lambda ctx: ctx.configure(poison=0) and started(ctx), "compiled"),
    "the key of the library": (lambda ctx: ctx.configure(wrong="Sin") and started(ctx), "compiled"),
    "the device": (lambda ctx: started(mx.Context(ctx.device_type, 1)), "compiled"),
    "the verdict": (lambda ctx: ctx.configure(verdict="no") and started(ctx), "compiled"),
}


@pytest.mark.parametrize("change", OTHERS)
def test_what_keys_depend_on(load_refacc, change) -> None:
    ctx = load_refacc("kept")
    assert started(ctx) == ["compiled"]
    then, origin = OTHERS[change]
    assert then(ctx) == [origin]


def test_another_library_file(load_refacc, accelerators, tmp_path) -> None:
    assert started(load_refacc("kept")) == ["compiled"]
    other = shutil.copy(accelerators / "librefacc.so", tmp_path / "librefacc.so")
    assert started(mx.load_acc(other, "copied")) == ["cache"]
    gc.collect()
    mx.unload_acc("copied")
    with open(other, "ab") as file:
        file.write(b"\0")
    assert started(mx.load_acc(other, "copied")) == ["compiled"]
    gc.collect()
    mx.unload_acc("copied")


@pytest.mark.parametrize("verdict", ["recompile", "no"])
def test_a_verdict_against_it(load_refacc, folder, verdict) -> None:
    ctx = load_refacc("kept", VERDICT=verdict)
    assert started(ctx) == started(ctx) == ["compiled"] and len(files(folder)) == 1


# -- damage --


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a bit": flip,
    "cut": lambda path: os.truncate(path, path.stat().st_size - 9),
    "cut to nothing": lambda path: os.truncate(path, 0),
    "another file": lambda path: path.write_bytes(b"\x7fELF" * 100),
    "another version": lambda path: path.write_bytes(
        path.read_bytes()[:8] + b"\xff" + path.read_bytes()[9:]
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_compiled_anew(load_refacc, folder, damage) -> None:
    ctx = load_refacc("kept")
    started(ctx)
    (path,) = files(folder)
    DAMAGE[damage](path)
    with pytest.warns(CacheWarning, match="It is removed, and the model is compiled anew"):
        assert started(ctx) == ["compiled"]
    assert started(ctx) == ["cache"]
    DAMAGE[damage](path)
    (found,) = mx.cache.check()
    assert found.problem and files(folder) == [] and mx.cache.check() == ()


FAULTS = ["importModel", "checkModel", "importModel=memory"]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_import_that_fails(load_refacc, fault) -> None:
    ctx = load_refacc("kept", FAULTS=fault.replace("Model", "Model@1"))
    assert started(ctx) == ["compiled"]
    with pytest.warns(CacheWarning, match=r"is compiled anew: kept\(0\): \w+Model failed"):
        assert started(ctx) == ["compiled"]
    assert started(ctx) == ["cache"]


@pytest.mark.parametrize("fault", ["exportModel", "exportPiece@2", "modelKey"])
def test_an_export_that_fails(load_refacc, folder, fault) -> None:
    ctx = load_refacc("kept", FAULTS=fault)
    with pytest.warns(CacheWarning, match=r"not kept: kept\(0\): \w+ failed"):
        assert started(ctx) == ["compiled"]
    assert list(folder.iterdir()) == [folder / "secret"]


# -- the folder --


@contextlib.contextmanager
def no_room() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk(load_refacc, folder) -> None:
    ctx = load_refacc("kept")
    with no_room(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert started(ctx) == started(ctx) == ["compiled"]
    (only,) = (each for each in told if each.category is CacheWarning)
    assert "are not kept in" in str(only.message) and "File too large" in str(only.message)
    assert list(folder.iterdir()) == [folder / "secret"]


@pytest.mark.parametrize("kind", ["a file", "written by all"])
def test_a_folder_that_cannot_be_used(load_refacc, folder, kind) -> None:
    if kind == "a file":
        folder.write_text("")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    ctx = load_refacc("kept")
    with pytest.warns(CacheWarning, match="are not kept in .*cache: "):
        assert started(ctx) == ["compiled"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)  # it was told
        assert started(ctx) == ["compiled"]


def test_the_longest_unused_goes(load_refacc, folder, monkeypatch) -> None:
    ctx = load_refacc("kept")
    texts = [SMALL.replace("12}", f"{number}}}") for number in range(3)]
    for text in texts[:2]:
        started(ctx, text)
    size = sum(path.stat().st_size for path in files(folder))
    for number, path in enumerate(files(folder)):
        os.utime(path, (number, number))
    assert started(ctx, texts[0]) == ["cache"]  # used now
    monkeypatch.setenv("MXNET_CACHE_LIMIT", str(size + 10))
    started(ctx, texts[2])
    assert len(files(folder)) == 2
    assert [started(ctx, text) for text in (texts[0], texts[2])] == [["cache"], ["cache"]]
    assert started(ctx, texts[1]) == ["compiled"]
    monkeypatch.setenv("MXNET_CACHE_LIMIT", "10")
    started(ctx)
    assert files(folder) == []
    monkeypatch.setenv("MXNET_CACHE_LIMIT", "much")
    with pytest.warns(CacheWarning, match="MXNET_CACHE_LIMIT: expected a size such as 500MB"):
        assert started(ctx) == ["compiled"]


# -- processes --

PROGRAM = f"""
import sys, mx
from tests.acc.models.test_partitioned_plans import X
from tests.graph.build import graph_of
plan = mx.graph.PartitionedPlan(graph_of({SMALL!r}), mx.load_acc(sys.argv[1], "kept"))
plan(X)
print(plan.models()[0].origin)
"""


def start(library: Path, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(library)],
        cwd=ROOT,
        env=os.environ | {f"REFACC_{key}": value for key, value in settings.items()},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_compile_once(accelerators) -> None:
    library = accelerators / "librefacc.so"
    both = [start(library, COMPILING="400") for _ in range(2)]
    said = sorted(process.communicate(timeout=60)[0].strip() for process in both)
    assert said == ["cache", "compiled"]


@pytest.mark.parametrize("when", ["compiling", "publishing"])
def test_a_process_that_is_killed(load_refacc, accelerators, folder, when) -> None:
    pieces = {"compiling": {"COMPILING": "60000"}, "publishing": {"FAULTS": "exportPiece@2=hang"}}
    process = start(accelerators / "librefacc.so", **pieces[when])
    suffix = ".lock" if when == "compiling" else ".part"
    until = time.monotonic() + 60
    while not list(folder.glob(f"*{suffix}")):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert files(folder) == [] and list(folder.iterdir())
    assert mx.cache.entries() == ()
    ctx = load_refacc("kept")
    assert started(ctx) == ["compiled"] and started(ctx) == ["cache"]
    assert sorted(folder.iterdir()) == [*files(folder), folder / "secret"]


# -- the command --


def test_the_command(load_refacc, folder, capsys) -> None:
    def said(*words: str, status: int = 0) -> str:
        assert main(["cache", *words]) == status
        return capsys.readouterr().out

    assert "has no compiled models" in said("list")
    assert said("clear").startswith("removed 0 ")
    ctx = load_refacc("kept")
    started(ctx, MIXED)
    listed = said("list").splitlines()
    assert listed[0].split()[:3] == ["key", "size", "used"] and "kept" in listed[1]
    assert listed[-1].startswith("2 compiled models, ") and str(folder) in listed[-1]
    assert said("check") == "2 compiled models are whole, 0 were damaged\n"
    flip(files(folder)[0])
    assert "1 compiled models are whole, 1 were damaged" in said("check", status=1)
    assert said("limit") == f"{folder} may have 4 GB\n"
    assert said("limit", "1KB") == f"{folder} may have 1 KB\n" == said("limit")
    assert files(folder) == [] and mx.cache.limit() == 1000
    said("limit", "2GB")
    started(ctx)
    for name in ("other.compiled", "other.lock", "other.part"):  # somebody else's
        (folder / name).write_text("")
    assert said("clear").startswith("removed 1 ")
    assert len(list(folder.glob("other.*"))) == 3 and files(folder) == [folder / "other.compiled"]
    with pytest.raises(SystemExit, match="1"):
        main(["cache", "limit", "much"])
    assert "expected a size such as 500MB or 2GB, got 'much'" in capsys.readouterr().err
    with pytest.raises(ValueError, match="limit: size: expected a number of bytes from 0 on"):
        mx.cache.limit(-1)


def test_strange_settings(folder, monkeypatch) -> None:
    folder.mkdir(mode=0o700)
    (folder / "limit").write_text("-5\n")
    assert mx.cache.limit() == 4 * 10**9
    (folder / "limit").unlink()
    (folder / "limit").mkdir()  # which no file replaces
    with pytest.raises(OSError):
        mx.cache.limit(5)
    assert [each.name for each in folder.iterdir()] == ["limit"]
    monkeypatch.delenv("MXNET_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as without HOME and a user
    with pytest.warns(CacheWarning, match="are not kept in ~.*: the home folder is not known"):
        assert Cache.find() is None


def test_bench_tells_where_models_came_from(load_refacc, capsys, tmp_path) -> None:
    load_refacc("kept")
    model = str(tmp_path / "model.onnx")
    graph_of(SMALL).save(model)
    for told in ("models: 1 compiled, in ", "models: 1 from the cache, in "):
        assert main(["bench", model, "--ctx", "kept", "--seconds", "0"]) == 0
        assert capsys.readouterr().out.splitlines()[-1].startswith(told)
