"""The first and the second start of optimized models, in processes of their own.

`python -m benchmarks.compare.models.sol_starts [--model NAME] [--threads N] [--rounds N] [--tuning
N]` prints rows for each model: as a module of torch by `sol.optimize` and by torch.compile, in
turns, and as an ONNX file by `sol.optimize`. Seconds are those from the call of either to the first
answer, with empty caches and with what that start has kept, and those that importing mx.sol takes
before, with compiled Python files. `--tuning` has the first start measure backends for that many
seconds. A ratio is a time of `sol.optimize` divided by that of torch.compile.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.compare import environment

# What a process does; it prints seconds of the import of mx.sol and of the start.
PROGRAM = """
import json, sys
from time import perf_counter
how, name, path, threads, tuning = *sys.argv[1:4], *map(int, sys.argv[4:6])
import numpy
if not path:
    import torch
begin = perf_counter()
if how == "sol":
    import mx
    import mx.graph
    from mx import sol
    optimize = sol.optimize
    mx.set_num_threads(threads)
    if tuning:
        sol.config["autotune"], sol.config["tuning_seconds"] = True, tuning
else:
    optimize = lambda model, *example: torch.compile(model)
imported = perf_counter() - begin
if path:
    example = list(numpy.load(path + ".npz").values())
    begin = perf_counter()
    optimize(path, *example)(*example)
else:
    from benchmarks.models.modules import MODULES
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    make, inputs = MODULES[name]
    model, example = make().eval(), inputs(1)
    begin = perf_counter()
    with torch.no_grad():
        optimize(model, *example)(*example)
print(json.dumps([imported, perf_counter() - begin]))
"""
HEAD = (
    "| model | from | import of mx.sol, s | first, s | torch.compile, s | ratio | second, s | "
    "torch.compile, s | ratio |\n|---|---|---|---|---|---|---|---|---|"
)
# Of one of them: seconds of imports, of first starts, and of second ones.
Seconds = tuple[list[float], list[float], list[float]]


def start(how: str, name: str, path: str, options: Any, cache: Path, code: Path) -> list[float]:
    """What one process has printed; compiled Python files are kept in the folder `code`."""
    given = {
        "MXNET_CACHE": "1",
        "MXNET_CACHE_DIR": str(cache / "sol"),
        "TORCHINDUCTOR_CACHE_DIR": str(cache / "torch"),
        "PYTHONPYCACHEPREFIX": str(code),
    }
    kept = {key: one for key, one in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    arguments = (how, name, path, options.threads, options.tuning)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        env=kept | given,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds: list[float] = json.loads(done.stdout.splitlines()[-1])
    return seconds


def saved(name: str, folder: Path) -> str:
    """The model as an ONNX file, with an example beside it."""
    import numpy
    import torch

    import mx
    from benchmarks.models.modules import MODULES

    torch.manual_seed(0)
    make, inputs = MODULES[name]
    model, example = make().eval(), inputs(1)
    path = folder / f"{name}.onnx"
    mx.importers.torch.load(model, example).save(path)
    numpy.savez(f"{path}.npz", *(one.numpy() for one in example))
    return str(path)


def measured(name: str, path: str, options: Any, folder: Path) -> dict[str, Seconds]:
    """Several first starts and as many second ones, of each that can start the model."""
    contestants = ("sol",) if path else ("sol", "torch.compile")
    found: dict[str, Seconds] = {how: ([], [], []) for how in contestants}
    stem, code = f"{name}-{'file' if path else 'module'}", folder / "code"
    for how in contestants:  # compiles Python files
        start(how, name, path, options, folder / f"{stem}-{how}-before", code)
    for number in range(options.rounds):
        for how in contestants:
            imports, firsts, seconds = found[how]
            for starts in (firsts, seconds):
                given = (options, folder / f"{stem}-{how}-{number}", code)
                imported, answer = start(how, name, path, *given)
                imports.append(imported)
                starts.append(answer)
    return found


def row(name: str, origin: str, found: Mapping[str, Seconds]) -> str:
    """A row of the table: medians."""
    median = statistics.median
    imports, *ours = found["sol"]
    cells = [name, origin, f"{median(imports):.3f}"]
    for index, times in enumerate(ours):
        cells.append(f"{median(times):.3f}")
        peer = found["torch.compile"][1 + index] if "torch.compile" in found else None
        if peer is None:
            cells += ["", ""]
        else:
            cells += [f"{median(peer):.3f}", f"{median(times) / median(peer):.2f}"]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Reads the arguments and prints the rows."""
    from benchmarks.models.modules import MODULES

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", choices=list(MODULES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tuning", type=int, default=0, help="seconds of the first start")
    options = parser.parse_args()
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model or ["resnet50"]:
            for path in ("", saved(name, Path(folder))):
                found = measured(name, path, options, Path(folder))
                print(row(name, "ONNX file" if path else "torch", found), flush=True)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
