"""Compiling and loading a small function from Python: cold, with nothing kept, and warm."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.compare.imports import ENVIRONMENT
from benchmarks.compare.model import OURS, Effort, GroupResult
from benchmarks.compare.timing import summarize
from benchmarks.peers import binding_peers
from benchmarks.peers.build import MissingPeer
from benchmarks.peers.common import require

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("inline_program.py")
TVM = "tvm-ffi"
NANOBIND = "nanobind"
NANOBIND_FIRST = "nanobind, its library too"
COLD_WALL = "cold: wall time"
COLD_PROCESSOR = "cold: processor time"
WARM_WALL = "warm: wall time"

NOTES = (
    "Each figure is of a fresh interpreter that has imported `ffi` or `tvm_ffi`, and lasts until "
    "the first call has returned; the import of `ffi.cpp` or `tvm_ffi.cpp` is in it. Warm means "
    "that an earlier process has compiled the function.",
    "nanobind has no load_inline: its figure is the time of the compiler for a module of that one "
    "function, with the flags that ours has, and of its import. `its library too` compiles beside "
    "it what all its modules share, as is needed once for each set of flags.",
    "No compiler cache takes part.",
)

Arguments = Callable[[], list[str]]


def nanobind_steps(library_before: bool) -> Arguments:
    """The compiler's commands for inline_program.py."""

    def arguments() -> list[str]:
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        flags = [*binding_peers.nanobind_flags(), "-std=c++17", "-O2", "-fPIC"]
        compiling = [*compiler, *flags, "-fvisibility=hidden", "-c"]
        module = [*compiling, "demo.cpp", "-o", "demo.o"]
        library = [*compiling, str(binding_peers.nanobind_source()), "-o", "library.o"]
        link = [*compiler, "-shared", "demo.o", "library.o", "-o", "demo.so"]
        before, at_once = ([library], [module]) if library_before else ([], [library, module])
        return ["nanobind", json.dumps([before, at_once, link])]

    return arguments


def tvm_arguments() -> list[str]:
    """tvm-ffi, which calls ninja."""
    require("tvm_ffi")
    return ["tvm_ffi"]


CONTESTANTS: dict[str, Arguments] = {
    OURS: lambda: ["ours"],
    TVM: tvm_arguments,
    NANOBIND: nanobind_steps(library_before=True),
    NANOBIND_FIRST: nanobind_steps(library_before=False),
}


def run(arguments: list[str], folder: str) -> tuple[float, float]:
    """Milliseconds of wall time and of processor time of one load."""
    name, *steps = arguments
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        [sys.executable, str(PROGRAM), name, folder, *steps],
        cwd=ROOT,
        env={
            **ENVIRONMENT,
            "PATH": path,
            "CCACHE_DISABLE": "1",
            "MXFFI_CACHE_DIR": folder,
            "TVM_FFI_CACHE_DIR": folder,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise MissingPeer((done.stderr or done.stdout).strip()[-400:])
    wall, processor = map(float, done.stdout.split()[-2:])
    return wall * 1e3, processor * 1e3


def inline(effort: Effort) -> GroupResult:
    """Each contestant in turn, in a folder of its own: cold, then warm where it keeps something."""
    result = GroupResult("load_inline of a small function", "ms", notes=list(NOTES))
    rounds: dict[str, dict[str, list[float]]] = {}
    present = dict(CONTESTANTS)
    for number in range(effort.compile_rounds):
        names = list(present)
        start = number % len(names) if names else 0
        for name in names[start:] + names[:start]:
            try:
                found = once(present[name]())
            except MissingPeer as error:
                del present[name]
                result.notes.append(f"{name} is left out: {error}")
                if name == OURS:
                    result.failures.append(result.notes[-1])
                continue
            for case, value in found.items():
                rounds.setdefault(case, {}).setdefault(name, []).append(value)
    for case in (COLD_WALL, COLD_PROCESSOR, WARM_WALL):
        kept = {name: v for name, v in rounds.get(case, {}).items() if name in present}
        if kept:
            result.cases[case] = summarize(kept, {})
    return result


def once(arguments: list[str]) -> dict[str, float]:
    """The figures of one round of a contestant, by case."""
    with tempfile.TemporaryDirectory() as folder:
        wall, processor = run(arguments, folder)
        found = {COLD_WALL: wall, COLD_PROCESSOR: processor}
        if len(arguments) == 1:
            found[WARM_WALL] = run(arguments, folder)[0]
    return found
