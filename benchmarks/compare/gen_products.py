"""Generated products and convolutions against oneDNN's, ONNX Runtime and torch, in turns.

`python -m benchmarks.compare.gen_products [--set NAME] [--batch N] [--seconds S] [--threads N]`
prints a row for each layer: microseconds of a plan with generated code, and ratios of medians, ours
divided by the peer's. `onednn` is a plan of oneDNN's kernels, which brings images into blocks and
back; `kernels` compares the steps alone that compute convolutions and products. The layers are
those of ResNet-50, MobileNetV2 and BERT, each once; `lenet` is the whole model.
"""

from __future__ import annotations

import argparse
import functools
import gc
import math
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy

from benchmarks.compare import environment
from benchmarks.compare.models.runtimes import onnxruntime_of, saved

Run = Callable[[], Any]

# Channels, height and width, results, window, stride, groups.
RESNET = [
    (3, 224, 64, 7, 2, 1), (64, 56, 64, 1, 1, 1), (64, 56, 64, 3, 1, 1), (64, 56, 256, 1, 1, 1),
    (256, 56, 128, 1, 1, 1), (128, 56, 128, 3, 2, 1), (128, 28, 512, 1, 1, 1),
    (512, 28, 128, 1, 1, 1), (128, 28, 128, 3, 1, 1), (256, 28, 256, 3, 2, 1),
    (256, 14, 256, 3, 1, 1), (256, 14, 1024, 1, 1, 1), (1024, 14, 256, 1, 1, 1),
    (512, 14, 512, 3, 2, 1), (512, 7, 512, 3, 1, 1), (512, 7, 2048, 1, 1, 1),
]  # fmt: skip
MOBILENET = [
    (3, 224, 32, 3, 2, 1), (32, 112, 32, 3, 1, 32), (32, 112, 16, 1, 1, 1), (96, 112, 96, 3, 2, 96),
    (24, 56, 144, 1, 1, 1), (144, 56, 144, 3, 1, 144), (144, 56, 24, 1, 1, 1),
    (192, 28, 192, 3, 1, 192), (192, 28, 32, 1, 1, 1), (64, 14, 384, 1, 1, 1),
    (576, 14, 576, 3, 2, 576), (160, 7, 960, 1, 1, 1), (960, 7, 960, 3, 1, 960),
    (320, 7, 1280, 1, 1, 1),
]  # fmt: skip
# Features and results of layers on 128 tokens.
BERT = [(768, 768), (768, 3072), (3072, 768)]
# Rows, features and results.
SMALL = [(1, 400, 120), (1, 120, 84), (8, 16, 8), (32, 64, 64), (1, 2048, 1000)]

_OUR_KERNELS, _ITS_KERNELS = "our kernels", "its kernels"
_PRODUCTS = ("onednn.convolution", "onednn.matmul", "gen:conv", "gen:gemm", "gen:matmul")
SETS = ("lenet", "small", "mobilenet", "resnet", "bert")


@dataclass(frozen=True)
class Layer:
    """A module of torch with what it is given."""

    name: str
    module: Any
    example: Any


def layers(name: str, batch: int) -> Iterator[Layer]:
    """The layers of a set."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    if name == "lenet":
        parts = [nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5)]
        parts += [nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU()]
        parts += [nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)]
        yield Layer("LeNet", nn.Sequential(*parts), torch.rand(batch, 1, 28, 28))
    for inside, size, results, window, stride, groups in {
        "resnet": RESNET,
        "mobilenet": MOBILENET,
    }.get(name, ()):
        conv = nn.Conv2d(inside, results, window, stride, window // 2, groups=groups)
        what = f"{window}x{window}/{stride}, {inside} to {results}, {size}x{size}"
        yield Layer(what, nn.Sequential(conv, nn.ReLU()), torch.rand(batch, inside, size, size))
    tokens = [(128 * batch, *sizes) for sizes in BERT] if name == "bert" else []
    for rows, inside, results in [*tokens, *(SMALL if name == "small" else ())]:
        linear = nn.Linear(inside, results)
        yield Layer(f"{rows}x{inside} by {inside}x{results}", linear, torch.rand(rows, inside))


def contestants(layer: Layer, threads: int, notes: set[str]) -> dict[str, Callable[[int], float]]:
    """By name, what runs so often and gives the seconds of one run; ours first."""
    import torch

    import mx
    from mx.graph import Plan
    from mx.graph.lowering import BACKENDS, Chooser
    from mx.sol.backends.gen import GEN

    graph = mx.importers.torch.load(layer.module.eval(), (layer.example,))
    array = layer.example.numpy()
    (spec,) = graph.inputs
    plans = {
        "ours": Plan(graph, chooser=Chooser((GEN, *BACKENDS))),
        "onednn": Plan(graph),
    }
    given = mx.np.array(array)
    results = {name: numpy.asarray(plan(given)[0]) for name, plan in plans.items()}
    error = abs(results["ours"] - results["onednn"]).max() / abs(results["onednn"]).max()
    if error > 1e-4:
        raise RuntimeError(f"{layer.name}: kernels differ by {error:.0e}")

    def torch_run() -> Any:
        with torch.inference_mode():
            return layer.module(layer.example)

    def kernels(plan: Any, count: int) -> float:
        found = []
        for _ in range(count):
            steps = plan.profile({spec.name: given}).steps
            found.append(sum(s.duration_ns for s in steps if _is_product(s.implementation)))
        return statistics.median(found) * 1e-9

    runs: dict[str, Run] = {name: lambda plan=plan: plan(given) for name, plan in plans.items()}
    runs["torch"] = torch_run
    try:
        runs["onnxruntime"] = onnxruntime_of(saved(graph), {spec.name: array}, threads)
    except ImportError:
        notes.add("onnxruntime is not installed")
    found = {name: _timed(run) for name, run in runs.items()}
    alone = {name: functools.partial(kernels, plan) for name, plan in plans.items()}
    return {**found, _OUR_KERNELS: alone["ours"], _ITS_KERNELS: alone["onednn"]}


def _is_product(implementation: str) -> bool:
    return implementation.startswith(_PRODUCTS)


def _timed(run: Run) -> Callable[[int], float]:
    def block(count: int) -> float:
        begin = perf_counter()
        for _ in range(count):
            run()
        return (perf_counter() - begin) / count

    return block


def measure(blocks: dict[str, Callable[[int], float]], seconds: float) -> dict[str, float]:
    """Medians of blocks in turns."""
    counts = {name: max(1, math.ceil(0.02 / block(3))) for name, block in blocks.items()}
    for name in (_OUR_KERNELS, _ITS_KERNELS):
        counts[name] = min(20, counts[name])
    rounds: dict[str, list[float]] = {name: [] for name in blocks}
    names = list(blocks)
    gc.disable()
    end = perf_counter() + seconds
    while perf_counter() < end or len(rounds[names[0]]) < 5:
        start = len(rounds[names[0]]) % len(names)
        for name in names[start:] + names[:start]:
            rounds[name].append(blocks[name](counts[name]))
    gc.enable()
    return {name: statistics.median(values) for name, values in rounds.items()}


def main() -> None:
    """Prints a table for each set, and what it was measured on."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--set", action="append", choices=SETS)
    parser.add_argument("--batch", type=int, action="append")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each layer")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    import torch

    import mx

    torch.set_num_threads(options.threads)
    mx.set_num_threads(options.threads)
    notes: set[str] = set()
    for name in options.set or SETS:
        for batch in options.batch or (1, 16):
            if name == "small" and batch != 1:
                continue
            table(name, batch, options.seconds, options.threads, notes)
    for note in sorted(notes):
        print(note)
    print(environment.of_models(options.threads))


def table(name: str, batch: int, seconds: float, threads: int, notes: set[str]) -> None:
    """Prints the rows of a set, and geometric means."""
    ratios: dict[str, list[float]] = {}
    for layer in layers(name, batch):
        medians = measure(contestants(layer, threads, notes), seconds)
        ours = medians.pop("ours")
        alone, its = medians.pop(_OUR_KERNELS), medians.pop(_ITS_KERNELS)
        if its:
            medians["onednn, kernels"] = its * ours / alone
        if not ratios:
            ratios = {peer: [] for peer in medians}
            print(f"\n| {name}, batch {batch} | us | / {' | / '.join(medians)} |")
            print("|---|---|" + "---|" * len(medians))
        cells = []
        for peer, value in medians.items():
            ratios.setdefault(peer, []).append(ours / value)
            cells.append(f"{ours / value:.2f}")
        print(f"| {layer.name} | {1e6 * ours:.1f} | {' | '.join(cells)} |", flush=True)
    means = [f"{statistics.geometric_mean(v):.2f}" if v else "" for v in ratios.values()]
    print(f"| geometric mean | | {' | '.join(means)} |")


if __name__ == "__main__":
    main()
