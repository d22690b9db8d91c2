"""How long the first and the second start of a model take on an accelerator that keeps models.

`python -m benchmarks.compare.starts LIBRARY [--model NAME] [--rounds N]` prints a row for each
model of benchmarks/models: seconds from the ONNX file to the first answer, each time in a new
process, with an empty cache and with what that start has kept; then the part of them that it took
to make the models of the device. After each pair is the first divided by the second.
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

from benchmarks import models
from benchmarks.compare import environment

# What a process does; it prints the seconds, those of the models alone, and where they were from.
PROGRAM = """
import json, sys, time
import mx
from benchmarks import models
library, path = sys.argv[1:]
ctx = mx.load_acc(library)
inputs = models.example(mx.graph.load(path))
begin = time.perf_counter()
plan = mx.graph.PartitionedPlan(mx.graph.load(path), ctx)
for output in plan.run(inputs):
    output.asnumpy()
seconds = time.perf_counter() - begin
print(json.dumps([
    seconds, sum(model.seconds for model in plan.models()),
    sorted({model.origin for model in plan.models()}), plan.summary(),
]))
"""


def start(library: Path, model: Path, cache: Path) -> list[Any]:
    """What one process has printed."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(library), str(model)],
        env=os.environ | {"MXNET_CACHE": "1", "MXNET_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(library: Path, name: str, rounds: int, folder: Path) -> str:
    """The row of a model: medians of several first starts and of as many second ones."""
    path = folder / f"{name}.onnx"
    models.MODELS[name]().save(path)
    first, second = [], []
    for number in range(rounds):
        cache = folder / f"{name}-{number}"
        first.append(start(library, path, cache))
        second.append(start(library, path, cache))
    if {origin for row in second for origin in row[2]} != {"cache"}:
        return f"{name}: not all of it is kept: {first[0][3]}"
    whole = [statistics.median(row[0] for row in rows) for rows in (first, second)]
    alone = [statistics.median(row[1] for row in rows) for rows in (first, second)]
    return (
        f"{name}: start {whole[0]:.3f} and {whole[1]:.3f} s, {whole[0] / whole[1]:.1f} times; "
        f"models {alone[0]:.3f} and {alone[1]:.3f} s, {alone[0] / alone[1]:.1f} times; "
        f"{first[0][3]}"
    )


def main() -> None:
    """Reads the arguments and prints the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("library", type=Path, help="of an accelerator")
    parser.add_argument("--model", action="append", choices=models.MODELS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model or models.MODELS:
            print(measure(options.library, name, options.rounds, Path(folder)), flush=True)
    print(environment.of_models())


if __name__ == "__main__":
    main()
