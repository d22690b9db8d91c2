"""Whole models from a file to the first answer, in fresh processes: peak memory and seconds.

`python -m benchmarks.compare.models.processes [--model NAME] [--batch N] [--rounds R]` saves each
model of benchmarks/models/modules.py as an ONNX file; a process of its own loads it with mx or with
ONNX Runtime, and executes it a few times. Printed are the medians over the rounds, in which the two
take turns: MiB of memory at most (VmHWM of Linux), how many of those NumPy and the imports had
taken before, seconds until the model could be executed and until the first answer was there; and
ratios, ours divided by ONNX Runtime's.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy

from benchmarks.compare import environment

PEER = "onnxruntime"
NAMES = ("lenet", "resnet50", "mobilenet_v2", "bert", "lstm", "unet")
RUNS = 3


@dataclass(frozen=True)
class Start:
    """What one process took: MiB and seconds."""

    peak: float
    imported: float
    ready: float
    first: float


def peak() -> float:
    """The most memory this process has had, in MiB."""
    told = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s*(\d+) kB", told)
    assert found is not None
    return int(found[1]) / 1024


def start(name: str, path: str, inputs: str, threads: int) -> Start:
    """Loads the model in this process and executes it."""
    with numpy.load(inputs) as stored:
        feeds = {key: stored[key] for key in stored}
    load = _plan(threads) if name == "plan" else _onnxruntime(threads)
    imported = peak()
    begin = perf_counter()
    run = load(path)
    ready = perf_counter() - begin
    run(feeds)
    first = perf_counter() - begin
    for _ in range(RUNS):
        run(feeds)
    return Start(peak(), imported, ready, first)


def _plan(threads: int) -> Callable[[str], Callable[[dict[str, Any]], Sequence[Any]]]:
    import mx
    import mx.graph

    mx.set_num_threads(threads)
    return lambda path: mx.graph.Plan(mx.graph.load(path)).run


def _onnxruntime(threads: int) -> Callable[[str], Callable[[dict[str, Any]], Sequence[Any]]]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3

    def load(path: str) -> Callable[[dict[str, Any]], Sequence[Any]]:
        session = onnxruntime.InferenceSession(path, options)
        return lambda feeds: session.run(None, feeds)

    return load


def save(name: str, batch: int, folder: Path) -> tuple[str, str]:
    """The file of a model and that of its inputs."""
    import torch

    import mx
    from benchmarks.compare.models.runtimes import saved
    from benchmarks.models.modules import MODULES

    torch.manual_seed(0)
    make, example = MODULES[name]
    args = example(batch)
    graph = mx.importers.torch.load(make().eval(), args)
    path = folder / f"{name}-{batch}.onnx"
    path.write_bytes(saved(graph))
    names = [spec.name for spec in graph.inputs]
    inputs = folder / f"{name}-{batch}.npz"
    numpy.savez(inputs, **{key: arg.numpy() for key, arg in zip(names, args, strict=True)})
    return str(path), str(inputs)


def measure(path: str, inputs: str, rounds: int, threads: int) -> dict[str, Start]:
    """The medians of processes in turns, by name."""
    starts: dict[str, list[Start]] = {"plan": [], PEER: []}
    for _ in range(rounds):
        for name, found in starts.items():
            child = [sys.executable, "-m", "benchmarks.compare.models.processes", "--start", name]
            child += ["--file", path, "--inputs", inputs, "--threads", str(threads)]
            done = subprocess.run(child, check=True, stdout=subprocess.PIPE, text=True)
            found.append(Start(**json.loads(done.stdout.splitlines()[-1])))
    return {
        name: Start(
            *(statistics.median(column) for column in zip(*map(_numbers, found), strict=True))
        )
        for name, found in starts.items()
    }


def _numbers(one: Start) -> tuple[float, ...]:
    return tuple(asdict(one).values())


HEADER = (
    "| model | batch | plan, MiB | of it imports | ONNX Runtime, MiB | of it imports | ratio | "
    "first answer, s | ONNX Runtime, s | ratio |\n|---|---|---|---|---|---|---|---|---|---|"
)


def text(name: str, batch: int, found: dict[str, Start]) -> str:
    """A row of the table."""
    ours, theirs = found["plan"], found[PEER]
    return (
        f"| {name} | {batch} | {ours.peak:.0f} | {ours.imported:.0f} | {theirs.peak:.0f} | "
        f"{theirs.imported:.0f} | {ours.peak / theirs.peak:.2f} | "
        f"{ours.ready:.2f} + {ours.first - ours.ready:.2f} | "
        f"{theirs.ready:.2f} + {theirs.first - theirs.ready:.2f} | "
        f"{ours.first / theirs.first:.2f} |"
    )


def main() -> None:
    """Prints the table; or, in a process that was started for it, what `start` gives."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", action="append", help="all by default")
    parser.add_argument("--batch", type=int, action="append", help="1 and 16 by default")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--start", choices=("plan", PEER), help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    parser.add_argument("--inputs", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.start:
        begun = start(options.start, options.file, options.inputs, options.threads)
        print(json.dumps(asdict(begun)))
        return
    print(HEADER)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model or NAMES:
            for batch in options.batch or (1, 16):
                path, inputs = save(name, batch, Path(folder))
                found = measure(path, inputs, options.rounds, options.threads)
                print(text(name, batch, found), flush=True)
    print(f"\n{environment.of_models(options.threads)}")


if __name__ == "__main__":
    main()
