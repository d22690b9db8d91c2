"""The first and the second start of models through accelerators/openvino, which keeps models.

`python -m benchmarks.compare.models.starts [--model NAME] [--rounds N]` prints a row for each model
of benchmarks/models: seconds from the ONNX file to the first answer, each time in a new process
that has loaded the library: with an empty cache, and with what that start has kept; how many times
as fast the second is; and the same of the part of them that it took to make the models of the
device. What a start has kept is on the disk before the next begins, so that the system does not
write it while the next reads. `one model` says whether the device executes all of the graph, as
only then nothing else is read.
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
from benchmarks.compare.models.openvino import build

# What a process does; it prints the seconds, those of the models alone, and where they were from.
PROGRAM = """
import json, sys, time
import mx
from benchmarks import models
library, path, threads, batch = sys.argv[1:]
ctx = mx.load_acc(library)
ctx.configure(num_threads=int(threads))
inputs = models.example(mx.graph.load(path), int(batch))
begin = time.perf_counter()
plan = mx.graph.PartitionedPlan(mx.graph.load(path), ctx)
for output in plan.run(inputs):
    output.asnumpy()
seconds = time.perf_counter() - begin
print(json.dumps([
    seconds, sum(model.seconds for model in plan.models()),
    [model.origin for model in plan.models()], "cpu" not in plan.summary(),
]))
"""


def start(library: Path, model: Path, cache: Path, threads: int, batch: int) -> list[Any]:
    """What one process has printed."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(library), str(model), str(threads), str(batch)],
        env=os.environ | {"MXNET_CACHE": "1", "MXNET_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(
    library: Path, name: str, options: argparse.Namespace, folder: Path
) -> tuple[str, float]:
    """The row of a model, of medians, and how many times as fast the second start is."""
    path = folder / f"{name}.onnx"
    models.MODELS[name]().save(path)
    first: list[Any] = []
    second: list[Any] = []
    for number in range(options.rounds):
        cache = folder / f"{name}-{number}"
        for rows in (first, second):
            rows.append(start(library, path, cache, options.threads, options.batch))
            os.sync()
    path.unlink()
    origins = {origin for row in second for origin in row[2]}
    assert origins == {"cache"}, origins
    (whole, alone), (again, again_alone) = (
        [statistics.median(row[column] for row in rows) for column in (0, 1)]
        for rows in (first, second)
    )
    cells = [
        name,
        "yes" if first[0][3] else "no",
        f"{whole:.3f}",
        f"{again:.3f}",
        f"{whole / again:.1f}",
        f"{alone:.3f}",
        f"{again_alone:.3f}",
        f"{alone / again_alone:.1f}",
    ]
    return f"| {' | '.join(cells)} |", whole / again


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", choices=models.MODELS)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    library = build()
    columns = "first start, s | second, s | times | models alone, s | again, s | times"
    print(f"| model | one model | {columns} |")
    print("|---|---|---|---|---|---|---|---|")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model or models.MODELS:
            line, ratio = measure(library, name, options, Path(folder))
            ratios.append(ratio)
            print(line, flush=True)
    print(f"| geometric mean | | | | {statistics.geometric_mean(ratios):.1f} | | | |\n")
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
