"""How long the first and the second start of optimized models take, in processes of their own.

`python -m benchmarks.compare.models.sol_starts [--model NAME] [--threads N] [--rounds N] [--tuning
N]` prints a row for each model as a module of torch, and for the same model as an ONNX file: from
`sol.optimize` to the first answer, with an empty cache and with what that start has kept, in
seconds of time and of processors; and what importing torch, or NumPy, and mx.sol takes before.
`--tuning` has the first start measure backends for that many seconds. Last is where the graph was
from.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.compare import environment

# What a process does; it prints times of imports and of the start, and where the graph was from.
PROGRAM = """
import json, sys, time
name, path, threads, tuning = *sys.argv[1:3], *map(int, sys.argv[3:5])
now = lambda: (time.perf_counter(), time.process_time())
begin = now()
import numpy
if not path:
    import torch
first = now()
import mx
import mx.graph
from mx import sol
sol.optimize
second = now()
mx.set_num_threads(threads)
if tuning:
    sol.config["autotune"], sol.config["tuning_seconds"] = True, tuning
if path:
    example = list(numpy.load(path + ".npz").values())
    third = now()
    fast = sol.optimize(path, *example)
    fast(*example)
else:
    from benchmarks.models.modules import MODULES
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    make, inputs = MODULES[name]
    model, example = make().eval(), inputs(1)
    third = now()
    with torch.no_grad():
        fast = sol.optimize(model, *example)
        fast(*example)
end = now()
pairs = ((begin, first), (first, second), (third, end))
times = [[after - before for before, after in zip(*pair)] for pair in pairs]
print(json.dumps([times, "" if path else fast._sol.source.origin]))
"""


def start(name: str, path: str, threads: int, tuning: int, cache: Path) -> Any:
    """What one process has printed."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, path, str(threads), str(tuning)],
        env=os.environ | {"MXNET_CACHE": "1", "MXNET_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


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


def row(name: str, path: str, threads: int, tuning: int, rounds: int, folder: Path) -> str:
    """Medians of several first starts and of as many second ones."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for number in range(rounds):
        cache = folder / f"{name}-{bool(path)}-{number}"
        for starts in found:
            starts.append(start(name, path, threads, tuning, cache))

    def text(starts: list[Any], part: int) -> str:
        wall, processor = (
            statistics.median(one[0][part][kind] for one in starts) for kind in (0, 1)
        )
        return f"{wall:.3f} s ({processor:.3f} of processors)"

    first, second = found
    return (
        f"{name}, {'ONNX file' if path else 'torch'}: first {text(first, 2)}, second"
        f" {text(second, 2)}; imports before: {'NumPy' if path else 'torch'} {text(second, 0)},"
        f" mx.sol {text(second, 1)}" + (f"; {second[0][1]}" if second[0][1] else "")
    )


def main() -> None:
    """Reads the arguments and prints the rows."""
    from benchmarks.models.modules import MODULES

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", choices=list(MODULES))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tuning", type=int, default=0, help="seconds of the first start")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model or ["resnet50"]:
            for path in ("", saved(name, Path(folder))):
                rest = options.threads, options.tuning, options.rounds, Path(folder)
                print(row(name, path, *rest), flush=True)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
