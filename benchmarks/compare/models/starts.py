"""The first and the second start of models through accelerators/openvino, beside OpenVINO's own.

`python -m benchmarks.compare.models.starts [--model NAME] [--rounds N]` prints a row for each model
of benchmarks/models: seconds from the ONNX file to the first answer, each time in a new process
that has loaded the library: with an empty cache, and with what that start has kept; how many times
as fast the second is; both where models are loaded in the background, so that the answer may be the
CPU's, and how many times as fast as the first start without that they are; the part of the first
two that it took to make the models of the device; and, in turns, the same of OpenVINO called
directly with its own cache. What a start has kept is on the disk before the next begins, so that
the system does not write it while the next reads. `one model` says whether the device executes all
of the graph, as only then nothing else is read.
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

import numpy

import mx
from benchmarks import models
from benchmarks.compare import environment
from benchmarks.compare.models.openvino import build

# What a process does; it prints the seconds, those of the models alone, and where they were from.
PROGRAM = """
import json, sys, time
import mx
from benchmarks import models
from mx.graph import PartitionedPlan, load
library, path, threads, batch, background = sys.argv[1:]
ctx = mx.load_acc(library)
ctx.configure(num_threads=int(threads))
inputs = models.example(load(path), int(batch))
begin = time.perf_counter()
plan = PartitionedPlan(load(path), ctx, background=background == "True")
for output in plan.run(inputs):
    output.asnumpy()
seconds = time.perf_counter() - begin
plan.wait()
print(json.dumps([
    seconds, sum(model.seconds for model in plan.models()),
    [model.origin for model in plan.models()], "cpu" not in plan.summary(),
]))
"""

# The same by OpenVINO itself, which has looked for its devices before as the library has.
PEER = """
import json, sys, time
import numpy
import openvino
path, inputs, threads, cache = sys.argv[1:]
core = openvino.Core()
core.available_devices
core.set_property({"CACHE_DIR": cache})
core.set_property(
    "CPU",
    {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": int(threads),
        "PERFORMANCE_HINT": "LATENCY",
    },
)
with numpy.load(inputs) as kept:
    arrays = dict(kept)
begin = time.perf_counter()
compiled = core.compile_model(path, "CPU")
for output in compiled.create_infer_request().infer(arrays).values():
    numpy.asarray(output)
print(json.dumps([time.perf_counter() - begin]))
"""


def start(program: str, *arguments: object, cache: Path) -> list[Any]:
    """What one process has printed."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=os.environ | {"MXNET_CACHE": "1", "MXNET_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    # What has been kept is on the disk before the next starts.
    os.sync()
    found: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(
    library: Path, name: str, options: argparse.Namespace, folder: Path
) -> tuple[str, list[float]]:
    """The row of a model, of medians, and how many times as fast as the first start the second one
    is, and those in the background."""
    path, inputs = folder / f"{name}.onnx", folder / f"{name}.npz"
    models.MODELS[name]().save(path)
    numpy.savez(inputs, allow_pickle=False, **models.example(mx.graph.load(path), options.batch))
    ours: tuple[list[Any], list[Any]] = ([], [])
    later: tuple[list[Any], list[Any]] = ([], [])  # in the background
    peers: tuple[list[Any], list[Any]] = ([], [])
    for number in range(options.rounds):
        cache, later_cache, peer_cache = (
            folder / f"{name}-{number}-{whose}" for whose in ("ours", "later", "openvino")
        )
        arguments = (library, path, options.threads, options.batch)
        for rows in ours:
            rows.append(start(PROGRAM, *arguments, False, cache=cache))
        for rows in later:
            rows.append(start(PROGRAM, *arguments, True, cache=later_cache))
        for rows in peers:
            rows.append(start(PEER, path, inputs, options.threads, peer_cache, cache=peer_cache))
    path.unlink()
    inputs.unlink()
    origins = {origin for row in ours[1] + later[1] for origin in row[2]}
    assert origins == {"cache"}, origins
    cells = [name, "yes" if ours[0][0][3] else "no"]
    first, *others = (statistics.median(row[0] for row in rows) for rows in (*ours, *later))
    times = [first / seconds for seconds in others]
    cells += [f"{first:.3f}"]
    for seconds, ratio in zip(others, times, strict=True):
        cells += [f"{seconds:.3f}", f"{ratio:.1f}"]
    # Of models alone, and of the peer.
    for starts, column in ((ours, 1), (peers, 0)):
        pair = [statistics.median(row[column] for row in rows) for rows in starts]
        cells += [f"{pair[0]:.3f}", f"{pair[1]:.3f}", f"{pair[0] / pair[1]:.1f}"]
    return f"| {' | '.join(cells)} |", times


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", choices=models.MODELS)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    library = build()
    columns = "first start, s | second, s | times | in the background: first, s | times"
    columns += " | second, s | times | models alone, s | again, s | times"
    print(f"| model | one model | {columns} | OpenVINO, s | again, s | times |")
    print(f"|{'---|' * 15}")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model or models.MODELS:
            line, ratio = measure(library, name, options, Path(folder))
            ratios.append(ratio)
            print(line, flush=True)
    means = [statistics.geometric_mean(each) for each in zip(*ratios, strict=True)]
    cells = " | | ".join(f"{mean:.1f}" for mean in means)
    print(f"| geometric mean | | | | {cells} |{' |' * 6}\n")
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
