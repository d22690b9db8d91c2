"""Deployed libraries against optimized models and ONNX Runtime: time of a call, and size.

`python -m benchmarks.compare.models.deployed [--model NAME] [--batch N] [--seconds S] [--threads
N]` prints a row for each model: milliseconds of a call of the library with as many threads as the
others have, ratios, its time divided by theirs, of medians, and the bytes of its code and weights;
below, what ONNX Runtime and libtorch take on disk. The models are those of
benchmarks/models/modules.py; `sol` is what `sol.optimize` returns, called with arrays of NumPy.
"""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy

from benchmarks.compare import environment
from benchmarks.compare.models.options import parser_of
from benchmarks.compare.models.runtimes import (
    PEERS,
    Contestant,
    Row,
    made,
    measure_all,
    saved,
    text,
    timed,
)

OURS = "deployed"
POOL = Path(__file__).parents[3] / "examples/deployed"
# What other ways to run a model without Python need, relative to the package.
RUNTIMES = {"onnxruntime": "capi/*.so*", "torch": "lib/libtorch_cpu.so"}


class Pool(ctypes.Structure):
    """What a header calls predict_pool."""

    _fields_ = [
        ("threads", ctypes.c_int),
        ("run", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    ]


def pool_of(threads: int, folder: Path) -> tuple[Pool, Any]:
    """The threads of the example, and the library that has them."""
    library = folder / "libpool.so"
    flags = ["-O2", "-shared", "-fPIC", "-pthread"]
    subprocess.run(["gcc", *flags, POOL / "pool.c", "-o", library], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.pool_start.restype = ctypes.c_void_p
    run = ctypes.cast(loaded.pool_run, ctypes.c_void_p)
    return Pool(threads, run, loaded.pool_start(threads)), loaded


def library_of(
    fast: Any, arrays: Sequence[Any], outputs: Sequence[Any], threads: int, folder: Path
) -> tuple[Callable[[], Sequence[Any]], Any]:
    """A function that calls the deployed model, and what was written."""
    from mx import sol

    deployed = sol.deploy(fast, "shared", path=folder, lib_name="model")
    library = ctypes.CDLL(str(deployed.files[0]))
    library.predict_arena_bytes.restype = ctypes.c_size_t
    arena = numpy.empty(library.predict_arena_bytes(threads), "uint8")
    results = [numpy.empty(tuple(one.shape), str(one.dtype)) for one in outputs]
    pool, threads_of = pool_of(threads, folder)
    kept = (arena, threads_of)  # as long as the function is
    given = [ctypes.c_void_p(one.ctypes.data) for one in (*arrays, *results, arena)]
    size, passed = ctypes.c_size_t(arena.nbytes), ctypes.byref(pool)

    def run() -> Sequence[Any]:
        status = library.predict(*given, size, passed)
        assert status == 0 and kept, status
        return results

    return run, deployed


def measure(
    name: str, batch: int, seconds: float, threads: int, folder: Path
) -> tuple[Row, int, int]:
    """The times, the bytes of code, and those of weights."""
    import torch

    import mx
    from mx import sol

    module, args = made(name, batch, threads)
    fast = sol.optimize(module, *args, framework="numpy")
    arrays = [argument.numpy() for argument in args]
    outputs = fast(*arrays)
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    found: dict[str, Any] = {}

    def deployed() -> Callable[[], Sequence[Any]]:
        run, found["deployed"] = library_of(fast, arrays, outputs, threads, folder)
        return run

    def eager() -> Callable[[], Sequence[Any]]:
        def run() -> Sequence[Any]:
            with torch.inference_mode():
                return [module(*args)]

        return run

    def optimized() -> Callable[[], Sequence[Any]]:
        def run() -> Sequence[Any]:
            results = fast(*arrays)
            return results if isinstance(results, (list, tuple)) else [results]

        return run

    runners: list[Contestant] = [timed(eager, "torch eager"), timed(deployed, OURS)]
    runners.append(timed(optimized, "sol"))
    graph = mx.importers.torch.load(module, args)
    feeds = dict(zip([spec.name for spec in graph.inputs], arrays, strict=True))
    peer, prepare = PEERS[0]
    if importlib.util.find_spec(peer) is not None:
        runners.append(timed(lambda: prepare(saved(graph), feeds, threads), peer))
    made_files = found["deployed"]
    row = measure_all(name, batch, runners, OURS, seconds)
    weights = made_files.weights_bytes
    return row, made_files.files[0].stat().st_size - weights, weights


def sizes() -> list[str]:
    """The bytes of what other runtimes need on disk."""
    lines = []
    for name, pattern in RUNTIMES.items():
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            lines.append(f"{name} is not installed")
            continue
        files = list(Path(spec.origin).parent.glob(pattern))
        total = sum(path.stat().st_size for path in files if not path.is_symlink())
        lines.append(f"{name}: {total / 1e6:.1f} MB")
    return lines


def main() -> None:
    """Prints the table, the sizes, and what it was measured on."""
    from benchmarks.models.modules import MODULES

    options = parser_of(__doc__, MODULES).parse_args()
    rows, bytes_of = [], []
    for name in options.model or MODULES:
        for batch in options.batch or (1,):
            with tempfile.TemporaryDirectory() as folder:
                row, code, weights = measure(
                    name, batch, options.seconds, options.threads, Path(folder)
                )
            rows.append(row)
            bytes_of.append(f"| {name} | {batch} | {code / 1e3:.0f} | {weights / 1e6:.1f} |")
            said = ", ".join(f"{key} {1e3 * value:.3f} ms" for key, value in row.seconds.items())
            print(f"{name}, batch {batch}: {said}; code {code / 1e3:.0f} KB", flush=True)
    print(f"\n{text(rows, OURS)}\n")
    print("\n".join(["| model | batch | code, KB | weights, MB |", "|---|---|---|---|", *bytes_of]))
    print("\nWhat others need beside the weights:", *sizes(), sep="\n")
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
