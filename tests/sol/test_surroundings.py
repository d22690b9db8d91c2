"""Models are right, and nothing broken is left, whatever happens around the compiler: each case is
a process of its own, killed, short of space or of compilers."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Optimizes a model that generated code suits best; prints who compiled it, and what was told.
PROGRAM = """
import resource, signal, sys, os, warnings
import numpy
os.environ["MXNET_SOL_JIT"] = ""
case = sys.argv[1]
if case == "no compiler at all":
    sys.modules["ziglang"] = None
from mx.graph import Plan
from mx.graph.lowering import BACKENDS, Chooser
from mx.sol import jits
from mx.sol.backends.gen import GEN
from tests.graph.build import graph_of
if case == "killed while it keeps a library":
    from mx.cache import _file
    _file.PieceWriter.finish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if case == "files of a few bytes":
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
nodes = "a = Mul(x, x) b = Tanh(a) c = Softmax(b) y = Add(c, x)"
text = f"g (float[9,65] x) => (float[9,65] y) {{ {nodes} }}"
x = numpy.random.default_rng(0).standard_normal((9, 65)).astype("float32")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    plan = Plan(graph_of(text), chooser=Chooser((GEN, *BACKENDS)))
    (y,) = plan(x)
powers = numpy.exp(numpy.tanh(x * x))
numpy.testing.assert_allclose(y, powers / powers.sum(-1, keepdims=True) + x, rtol=1e-5)
print("by", *(one.jit for one in jits.loaded()))
print("told", *(type(one.message).__name__ for one in told))
"""
# Stands for the compiler: says that it was called, waits, and calls it if there is one to call.
COMPILER = """#!/bin/sh
echo $$ >> {calls}
while [ ! -e {go} ]; do {sleep} 0.05; done
# Without this folder: what is called gcc may look for the real one in PATH, as ccache does.
PATH=${{PATH#*:}} exec {compiler} "$@"
"""


@dataclass
class World:
    """A folder with a cache, temporary files, and the programs that PATH has."""

    folder: Path
    more: dict[str, str] = field(default_factory=dict)  # of the environment
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, case: str = "") -> subprocess.Popen[str]:
        """Begins the program, as the leader of a group."""
        for name in ("cache", "temporary", "bin"):
            (self.folder / name).mkdir(exist_ok=True)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(ROOT)]),
            "MXNET_CACHE": "1",
            "MXNET_CACHE_DIR": str(self.folder / "cache"),
            "TMPDIR": str(self.folder / "temporary"),
            **self.more,
        }
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, case],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def stop(self) -> None:
        """Ends what a test that has failed has left, compilers, too."""
        for process in self.started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with process:
                pass

    def run(self, case: str = "") -> list[str]:
        """What the program prints, at its end."""
        return self.end(self.start(case))

    @staticmethod
    def end(process: subprocess.Popen[str]) -> list[str]:
        """Waits for the end of a program; what it printed."""
        printed, _ = process.communicate(timeout=120)
        assert process.returncode == 0, printed
        return printed.strip().splitlines()[-2:]

    def check_cache(self, entries: int) -> None:
        """That as many entries are there, none of them damaged, and nothing else."""
        from mx.cache._store import Store

        found = Store(str(self.folder / "cache")).entries()
        assert [one.problem for one in found] == [""] * entries
        names = sorted(path.suffix for path in (self.folder / "cache").iterdir())
        assert names == [".compiled"] * entries, names

    def with_slow_compiler(self) -> tuple[Path, Path]:
        """Has gcc wait for a file; that file, and the one which has a line for each call."""
        (self.folder / "bin").mkdir(exist_ok=True)
        calls, go = self.folder / "calls", self.folder / "go"
        program = self.folder / "bin" / "gcc"
        program.write_text(
            COMPILER.format(
                calls=calls, go=go, sleep=shutil.which("sleep"), compiler=shutil.which("gcc")
            )
        )
        program.chmod(0o755)
        self.more["PATH"] = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        return go, calls


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    found = World(tmp_path)
    yield found
    found.stop()


def wait_for(path: Path) -> None:
    """Until a file is there."""
    begin = time.monotonic()
    while not path.exists():
        assert time.monotonic() - begin < 120, f"{path} does not come"
        time.sleep(0.02)


needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@needs_gcc
def test_killed_while_the_compiler_runs(world: World) -> None:
    go, calls = world.with_slow_compiler()
    process = world.start()
    wait_for(calls)
    process.kill()
    assert process.wait(120) == -signal.SIGKILL
    world.stop()  # the compiler that it had started
    go.touch()
    assert world.run() == ["by gcc", "told"]
    world.check_cache(1)


def test_killed_while_a_library_is_kept(world: World) -> None:
    assert world.start("killed while it keeps a library").wait(120) == -signal.SIGKILL
    assert not list((world.folder / "cache").glob("*.compiled"))
    by, told = world.run()
    assert by != "by" and told == "told"
    world.check_cache(1)


@needs_gcc
def test_two_at_once(world: World) -> None:
    """One compiles; the other one waits for it."""
    go, calls = world.with_slow_compiler()
    both = [world.start() for _ in range(2)]
    wait_for(calls)
    time.sleep(1)
    go.touch()
    assert [world.end(one) for one in both] == [["by gcc", "told"]] * 2
    assert len(calls.read_text().splitlines()) == 2  # for an object file, and for the library of it
    world.check_cache(1)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Has a folder have room for some files of a page; whether that can be done here."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=8k", "tmpfs", str(folder)]
    mount = shutil.which("mount")
    is_mounted = (
        mount is not None and not subprocess.run([mount, *options], capture_output=True).returncode
    )
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_cache_on_a_full_disk(world: World) -> None:
    """A library is not kept, and used; the next process, which has room, finds nothing broken."""
    with small_disk(world.folder / "cache") as is_mounted:
        by, told = world.run("" if is_mounted else "files of a few bytes")
        assert told == ("told CacheWarning" if is_mounted else "told SolWarning")
        assert (by != "by") == is_mounted
        world.check_cache(0)
    by, told = world.run()
    assert by != "by" and told == "told"
    world.check_cache(1)


def test_temporary_files_on_a_full_disk(world: World) -> None:
    """Nothing can be compiled, and nothing is kept."""
    with small_disk(world.folder / "temporary") as is_mounted:
        assert world.run("" if is_mounted else "files of a few bytes") == ["by", "told SolWarning"]
    world.check_cache(0)


@pytest.mark.parametrize(
    ("case", "by", "told"),
    [
        ("no gcc and no clang", "by zig", "told"),
        ("no compiler at all", "by", "told SolWarning"),
    ],
)
def test_compilers_that_are_missing(world: World, case: str, by: str, told: str) -> None:
    """zig takes over; without it the model is executed uncompiled, with a note."""
    world.more["PATH"] = str(world.folder / "bin")
    assert world.run(case) == [by, told]
    world.check_cache(int(by != "by"))
