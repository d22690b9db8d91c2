"""Whole models through accelerators/openvino against OpenVINO called directly, in turns.

`python -m benchmarks.compare.models.openvino [--model NAME] [--batch N] [--seconds S] [--threads
N]` prints a row for each model and batch: milliseconds of a run through the accelerator, and its
ratio to OpenVINO's own, of medians, with the same settings. The models are those of
benchmarks/models; benchmarks.compare.models.starts measures how long they take to start.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy

import mx
from benchmarks.compare import environment
from benchmarks.compare.models.options import parser_of
from benchmarks.compare.models.runtimes import openvino_of, saved
from benchmarks.compare.models.turns import in_turns
from benchmarks.models import MODELS, example

ROOT = Path(__file__).resolve().parents[3]
BUILT = ROOT / "build/benchmarks/accelerators"


def build() -> Path:
    """The accelerator's library, compiled where it has changed."""
    command = [
        "make",
        "-s",
        "-C",
        str(ROOT / "accelerators"),
        f"OUT={BUILT}",
        f"PYTHON={sys.executable}",
    ]
    subprocess.run([*command, "openvino"], check=True)
    return BUILT / "libopenvinoacc.so"


def row(name: str, batch: int, ctx: Any, seconds: float, threads: int) -> tuple[str, float]:
    """A row of the table, and the ratio in it."""
    graph = MODELS[name]()
    inputs = example(graph, batch)
    arrays = {key: mx.np.array(array, ctx=mx.cpu()) for key, array in inputs.items()}
    plan = mx.graph.PartitionedPlan(graph, ctx, cache=False)
    graph.infer({key: array.shape for key, array in inputs.items()})
    direct = openvino_of(saved(graph), inputs, threads)
    for ours, theirs in zip(plan.run(arrays), direct(), strict=True):
        numpy.testing.assert_allclose(ours.asnumpy(), theirs, 1e-3, 1e-4)
    turns = in_turns({"plan": lambda: plan.run(arrays), "direct": direct}, seconds)
    ratio = turns.ratio("plan", "direct")
    cells = f"{1e3 * turns.seconds()['plan']:.3f} | {ratio:.3f}"
    return f"| {name} | {batch} | {plan.summary()} | {cells} |", ratio


def main() -> None:
    """Prints the table, and what it was measured on."""
    options = parser_of(__doc__, MODELS).parse_args()
    ctx = mx.load_acc(build())
    ctx.configure(num_threads=options.threads)
    print("| model | batch | where | run, ms | / OpenVINO |")
    print("|---|---|---|---|---|")
    ratios = []
    for name in options.model or MODELS:
        for batch in options.batch or (1, 16):
            line, ratio = row(name, batch, ctx, options.seconds, options.threads)
            ratios.append(ratio)
            print(line, flush=True)
    print(f"| geometric mean | | | | {statistics.geometric_mean(ratios):.3f} |\n")
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
