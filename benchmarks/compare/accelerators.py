"""Operators, copies and new arrays on the libraries of accelerators/, against those of the CPU.

refacc checks its memory at each run and each copy, as it does in tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.compare.model import OURS, Call, Calls, Effort, GroupResult
from benchmarks.compare.timing import LOOP, block_of, compare
from benchmarks.peers.common import require

ROOT = Path(__file__).resolve().parents[2]
TITLE = "On an accelerator, and on the CPU"
CPU = "CPU"
MEMCPY = "memcpy"
TEMPLATE = "myacc"
REFERENCE = "refacc"
ONEDNN = "onednn"
LIBRARIES = (TEMPLATE, REFERENCE, ONEDNN)
COPY_BYTES = 64 << 20
SMALL, LARGE = (2, 2), (1024, 1024)


def add(library: str) -> str:
    """Name of a row: an operator whose executor is cached."""
    return f"add of two 2x2 arrays, {library}"


def copy_to(library: str) -> str:
    """Name of a row."""
    return f"copy of {COPY_BYTES >> 20} MB to {library}"


def copy_from(library: str) -> str:
    """Name of a row."""
    return f"copy of {COPY_BYTES >> 20} MB from {library}"


def zeros(shape: tuple[int, ...]) -> str:
    """Name of a row, for the reference accelerator."""
    return f"zeros({shape}), {REFERENCE}"


def build() -> Path:
    """The folder of the libraries, those of them that can be built here."""
    folder = ROOT / "build" / "benchmarks" / "accelerators"
    command = ["make", "--silent", "-C", str(ROOT / "accelerators"), f"OUT={folder}"]
    subprocess.run([*command, f"PYTHON={sys.executable}"], check=True, stdout=subprocess.DEVNULL)
    return folder


def adds(mx: Any, context: Any) -> dict[str, Call]:
    """The operator in both places."""
    made = {OURS: mx.np.ones((2, 2), ctx=context), CPU: mx.np.ones((2, 2))}
    return {name: Call("add(x, x)", {"add": mx.np.add, "x": x}) for name, x in made.items()}


def copies(mx: Any, numpy: Any, context: Any) -> tuple[dict[str, Call], dict[str, Call]]:
    """To the accelerator, whose memory is kept from call to call, and to new memory of the host.

    The copies of the host's memory that they are compared with go to such memory, too.
    """
    host, other = (numpy.ones(COPY_BYTES, dtype="uint8") for _ in range(2))
    here = mx.np.array(host)
    there = here.as_in_ctx(context)
    statement = "source.as_in_ctx(context)"
    return (
        {
            OURS: Call(statement, {"source": here, "context": context}),
            MEMCPY: Call("copyto(a, b)", {"copyto": numpy.copyto, "a": host, "b": other}),
        },
        {
            OURS: Call(statement, {"source": there, "context": mx.cpu()}),
            MEMCPY: Call("source.copy()", {"source": host}),
        },
    )


def new_zeros(mx: Any, context: Any, shape: tuple[int, ...]) -> dict[str, Call]:
    """An array of zeros in both places."""
    names = {"zeros": mx.np.zeros, "shape": shape}
    places = {OURS: context, CPU: mx.cpu()}
    return {
        name: Call("zeros(shape, ctx=context)", {**names, "context": place})
        for name, place in places.items()
    }


def accelerators(effort: Effort) -> GroupResult:
    """Times in nanoseconds; ratios are the accelerator's divided by the CPU's."""
    result = GroupResult(TITLE, "ns")
    mx, numpy = require("mx"), require("numpy")
    folder = build()
    small: Calls = {}
    large: Calls = {}
    for library in LIBRARIES:
        path = folder / f"lib{library}.so"
        if not path.exists():
            result.notes.append(f"{library}: left out, it cannot be built here")
            continue
        context = mx.load_acc(str(path))
        if library != ONEDNN:
            small[add(library)] = adds(mx, context)
        if library == REFERENCE:
            small[zeros(SMALL)] = new_zeros(mx, context, SMALL)
            large[zeros(LARGE)] = new_zeros(mx, context, LARGE)
        if library != TEMPLATE:
            large[copy_to(library)], large[copy_from(library)] = copies(mx, numpy, context)
    # Apart, as the large rows leave nothing of the small ones in the caches.
    for calls in (small, large):
        table = {
            case: {column: block_of(call) for column, call in row.items()}
            for case, row in calls.items()
        }
        result.cases |= compare(table, effort, block_of(LOOP), OURS)
    return result
