"""What a child of fork makes of accelerators that its parent has loaded. It never hangs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

# Runs in a process of its own; CASE is run in the child, and what it gives or raises is printed.
SCRIPT = """
import mx, multiprocessing, os, sys, threading
refacc, myacc = {libraries}
ctx = mx.load_acc(refacc)
array = mx.np.ones(5, ctx=ctx)
end = threading.Event()
def work():
    while not end.is_set():
        mx.np.ones(100, ctx=ctx).sum()
        mx.memory_info(ctx)
threads = [threading.Thread(target=work) for _ in range({threads})]
for thread in threads:
    thread.start()
for _ in range({forks}):
    child = os.fork()
    if child == 0:
        try:
            print({case})
        except Exception as error:
            print(type(error).__name__, error)
        del array
        sys.stdout.flush()
        {exit}
    assert os.waitpid(child, 0)[1] == 0
end.set()
for thread in threads:
    thread.join()
assert array.sum() == 5
"""

FORKED = (
    "RuntimeError (.*: )?the accelerator refacc was loaded before this process was forked.*spawn"
)
CASES: dict[str, tuple[str, str]] = {
    "elements": ("array.asnumpy()", FORKED),
    "text": ("repr(array)", FORKED),
    "operator": ("array + array", FORKED),
    "new array": ("mx.np.ones(3, ctx='refacc(0)')", FORKED),
    "options": ("ctx.configure()", FORKED),
    "memory": ("mx.memory_info(ctx)", FORKED),
    "loading it again": ("mx.load_acc(refacc)", FORKED),
    "unloading": ("mx.unload_acc('refacc')", FORKED),
    "shape": ("array[1:].shape, mx.refacc(0)", r"\(4,\) refacc\(0\)"),
    "list": ("mx.accelerators()", "no accelerator is loaded"),
    "another library": ("mx.np.ones(3, ctx=mx.load_acc(myacc)).sum()", "3"),
    "another library under its name": (
        "mx.load_acc(myacc, 'refacc')",
        "ValueError the name refacc is taken by an accelerator that was loaded before .* forked",
    ),
}


def run(accelerators: Path, case: str, forks: int = 1, threads: int = 0, exit: str = "") -> str:
    libraries = [str(accelerators / f"lib{name}.so") for name in ("refacc", "myacc")]
    script = SCRIPT.format(
        libraries=libraries, case=case, forks=forks, threads=threads, exit=exit or "os._exit(0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("case, expected", CASES.values(), ids=CASES)
def test_in_a_child(accelerators: Path, case: str, expected: str) -> None:
    assert re.match(expected, run(accelerators, case))


def test_ends_like_any_process(accelerators: Path) -> None:
    """With all destructors, and what is left to free."""
    assert run(accelerators, "mx.accelerators()", exit="sys.exit(0)").count("no accelerator") == 1


@pytest.mark.parametrize("case", ["array.asnumpy()", "mx.load_acc(refacc)", "mx.load_acc(myacc)"])
def test_while_other_threads_use_it(accelerators: Path, case: str) -> None:
    """Whatever they have locked."""
    lines = run(accelerators, case, forks=30, threads=3).splitlines()
    assert len(lines) == 30
    assert len(set(lines)) == 1
