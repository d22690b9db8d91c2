"""Operators, copies and new arrays on the libraries of accelerators/, against those of the CPU.

refacc checks its memory at each run and each copy, as it does in tests.
"""

from __future__ import annotations

import _ctypes
import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.compare.model import OURS, Call, Calls, CaseResult, Column, Effort, GroupResult
from benchmarks.compare.timing import LOOP, block_of, compare
from benchmarks.compare.worker import growth
from benchmarks.peers import onnxruntime_peer
from benchmarks.peers.build import MissingPeer
from benchmarks.peers.common import require

ROOT = Path(__file__).resolve().parents[2]
TITLE = "On an accelerator, and on the CPU"
CPU = "CPU"
MEMCPY = "memcpy"
DLOPEN = "dlopen"
TEMPLATE = "myacc"
REFERENCE = "refacc"
ONEDNN = "onednn"
CUDA = "cuda"
# Those that need nothing to be built.
OWN = (TEMPLATE, REFERENCE)
LIBRARIES = (*OWN, ONEDNN, CUDA)
FILES = {CUDA: "libcudaacc.so"}
COPY_BYTES = 64 << 20
# Of so many that what a run of the peer takes once does not count.
CHAIN = 64
# Of the calls over which memory is looked at.
CALLS_PER_LOAD = 1000
SMALL, LARGE = (2, 2), (1024, 1024)


def add(library: str) -> str:
    """Name of a row: an operator whose executor is cached."""
    return f"add of two 2x2 arrays, {library}"


def chain(library: str) -> str:
    """Name of a row."""
    return f"{CHAIN} adds of 2x2 arrays, each to the sum before it, {library}"


def subgraph(library: str) -> str:
    """Name of a row: a graph of one operator."""
    return f"run of a graph, an add of 2x2 arrays, {library}"


def loading(library: str) -> str:
    """Name of a row."""
    return f"load and unload, {library}"


def copy_to(library: str) -> str:
    """Name of a row."""
    return f"copy of {COPY_BYTES >> 20} MB to {library}"


def copy_from(library: str) -> str:
    """Name of a row."""
    return f"copy of {COPY_BYTES >> 20} MB from {library}"


def on_large(operator: str, library: str) -> str:
    """Name of a row."""
    return f"{operator} of {LARGE[0]}x{LARGE[1]} float32, {library}"


def zeros(shape: tuple[int, ...]) -> str:
    """Name of a row, for the reference accelerator."""
    return f"zeros({shape}), {REFERENCE}"


def build() -> Path:
    """The folder of the libraries, those of them that can be built and used here."""
    folder = ROOT / "build" / "benchmarks" / "accelerators"
    command = ["make", "--silent", "-C", str(ROOT / "accelerators"), f"OUT={folder}"]
    command += [f"PYTHON={sys.executable}", "template", REFERENCE, f"try-{ONEDNN}"]
    command += [f"try-{CUDA}"] if has_gpu() else []
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


def has_gpu() -> bool:
    """Whether NVIDIA's driver is here, with a GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return bool(driver.cuInit(0) == 0)


def on_large_arrays(mx: Any, context: Any, library: str) -> Calls:
    """Operators of which an accelerator with its own processor may be worth its while."""
    contexts = {OURS: context, CPU: mx.cpu()}
    made = {name: mx.np.ones(LARGE, ctx=where) for name, where in contexts.items()}
    statements = {"add": "add(x, x)", "sum": "sum(x)", "matmul": "matmul(x, x)"}
    return {
        on_large(operator, library): {
            name: Call(
                f"{statement}\nwait()",
                {operator: getattr(mx.np, operator), "x": x, "wait": mx.waitall},
            )
            for name, x in made.items()
        }
        for operator, statement in statements.items()
    }


def adds(mx: Any, context: Any) -> dict[str, Call]:
    """The operator in both contexts."""
    made = {OURS: mx.np.ones((2, 2), ctx=context), CPU: mx.np.ones((2, 2))}
    return {name: Call("add(x, x)", {"add": mx.np.add, "x": x}) for name, x in made.items()}


def chains(mx: Any, context: Any) -> dict[str, Call]:
    """Many operators in both contexts."""
    statement = "\n".join(["y = add(x, x)", *["y = add(y, x)"] * (CHAIN - 1)])
    return {name: Call(statement, call.names) for name, call in adds(mx, context).items()}


def graphs(mx: Any, context: Any) -> dict[str, Call]:
    """A plan whose only group is on the accelerator, and one of the CPU."""
    graph = mx.graph.load(onnxruntime_peer.chain_of_adds(1))
    plans = {OURS: mx.graph.PartitionedPlan(graph, context), CPU: mx.graph.Plan(graph)}
    contexts = {OURS: context, CPU: mx.cpu()}
    calls = {}
    for name, plan in plans.items():
        x = mx.np.ones((2, 2), ctx=contexts[name])
        calls[name] = Call("run(inputs)", {"run": plan.run, "inputs": {"a": x, "b": x}})
    return calls


def loads(mx: Any, path: Path) -> dict[str, Call]:
    """A library that is not loaded, nor anything on it; beside it what the system takes."""
    opens = {"dlopen": _ctypes.dlopen, "dlclose": _ctypes.dlclose}
    return {
        OURS: Call(
            "load(path)\nunload(name)",
            {
                "load": mx.load_acc,
                "unload": mx.unload_acc,
                "path": str(path),
                "name": path.stem[3:],
            },
        ),
        DLOPEN: Call("dlclose(dlopen(path, 2))", {**opens, "path": str(path)}),
    }


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
    """An array of zeros in both contexts."""
    names = {"zeros": mx.np.zeros, "shape": shape}
    contexts = {OURS: context, CPU: mx.cpu()}
    return {
        name: Call("zeros(shape, ctx=context)", {**names, "context": where})
        for name, where in contexts.items()
    }


def add_peer(rows: Calls, notes: list[str]) -> None:
    """ONNX Runtime's columns of the rows that it can do; a note where it is not here."""
    try:
        rows_of = {add(TEMPLATE): 1, chain(TEMPLATE): CHAIN, subgraph(REFERENCE): 1}
        for case, count in rows_of.items():
            if case in rows:
                rows[case] |= onnxruntime_peer.calls(count)
    except Exception as error:
        kind = "" if isinstance(error, MissingPeer) else f"{type(error).__name__}: "
        notes.append(f"ONNX Runtime is left out: {kind}{error}")


def times_of(calls: Calls, effort: Effort) -> dict[str, CaseResult]:
    """The rows of a table."""
    table = {
        case: {column: block_of(call) for column, call in row.items()}
        for case, row in calls.items()
    }
    # What a first call loads or plans is no part of how long a block is.
    for blocks in table.values():
        for block in blocks.values():
            block(1)
    return compare(table, effort, block_of(LOOP), OURS)


def accelerators(effort: Effort) -> GroupResult:
    """Times in nanoseconds; ratios are the accelerator's divided by the CPU's."""
    result = GroupResult(TITLE, "ns")
    mx, numpy = require("mx"), require("numpy")
    folder = build()
    small: Calls = {}
    large: Calls = {}
    # Before any of them is loaded to stay.
    unloaded = {loading(name): loads(mx, folder / f"lib{name}.so") for name in OWN}
    result.cases |= times_of(unloaded, effort)
    for library in LIBRARIES:
        path = folder / FILES.get(library, f"lib{library}.so")
        if not path.exists():
            result.notes.append(f"{library}: left out, it cannot be built or used here")
            continue
        context = mx.load_acc(str(path))
        if library in OWN:
            small[add(library)] = adds(mx, context)
        if library == TEMPLATE:
            small[chain(library)] = chains(mx, context)
        if library == REFERENCE:
            small[subgraph(library)] = graphs(mx, context)
            small[zeros(SMALL)] = new_zeros(mx, context, SMALL)
            large[zeros(LARGE)] = new_zeros(mx, context, LARGE)
        if library != TEMPLATE:
            large[copy_to(library)], large[copy_from(library)] = copies(mx, numpy, context)
        if library == CUDA:
            large |= on_large_arrays(mx, context, library)
    add_peer(small, result.notes)
    # Apart, as the large rows leave nothing of the small ones in the caches.
    for calls in (small, large):
        result.cases |= times_of(calls, effort)
    return result


def memory(effort: Effort) -> GroupResult:
    """Growth of resident memory over many loads of libraries, each unloaded again."""
    times = max(1, effort.memory_calls // CALLS_PER_LOAD)
    result = GroupResult(f"Resident memory after {times:,} loads and unloads of a library", "KiB")
    mx = require("mx")
    folder = build()
    for name in OWN:
        call = loads(mx, folder / f"lib{name}.so")[OURS]
        grown = growth(block_of(call), times) / 1024
        result.cases[loading(name)] = CaseResult({OURS: Column(grown, grown, grown, times)})
    return result
