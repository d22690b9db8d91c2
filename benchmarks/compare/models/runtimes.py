"""Whole models against ONNX Runtime, OpenVINO and torch, in one process and in turns.

`python -m benchmarks.compare.models.runtimes [--model NAME] [--batch N] [--seconds S] [--threads
N]` prints a row for each model and batch: milliseconds of the plan, and ratios, ours divided by the
peer's in the same round, of which there are medians. The models are those of
benchmarks/models/modules.py with random weights, imported from torch by `mx.importers.torch`; the
peers get the ONNX file that the graph is saved as. OpenVINO computes in float32, as the others do.
A peer that is not installed is left out with a note.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy

from benchmarks.compare import environment
from benchmarks.compare.models.options import parser_of
from benchmarks.compare.models.turns import Turns, in_turns
from benchmarks.models import MODELS

# What the peers know of ONNX's operators; the models need nothing newer.
PEER_OPSET = 24


@dataclass(frozen=True)
class Contestant:
    """Something that executes a model."""

    name: str
    prepare_seconds: float
    run: Callable[[], Sequence[Any]]


@dataclass(frozen=True)
class Row:
    """Seconds of one run of each, by name; what the plan takes divided by what each takes; and what
    the plan gave less what torch gave."""

    model: str
    batch: int
    seconds: dict[str, float]
    ratios: dict[str, float]
    prepare: dict[str, float]
    error: float


def timed(make: Callable[[], Callable[[], Sequence[Any]]], name: str) -> Contestant:
    """A contestant, with the time until it has given its first answer."""
    begin = perf_counter()
    run = make()
    run()
    return Contestant(name, perf_counter() - begin, run)


def made(name: str, batch: int, threads: int) -> tuple[Any, Any]:
    """A module of torch with the same weights each time, and its arguments; sets the threads."""
    import torch

    import mx
    from benchmarks.models.modules import MODULES

    torch.manual_seed(0)
    torch.set_num_threads(threads)
    mx.set_num_threads(threads)
    make, example = MODULES[name]
    return make().eval(), example(batch)


def contestants(name: str, batch: int, threads: int, notes: set[str]) -> list[Contestant]:
    """Torch first, then the plan, then the peers that are there."""
    import torch

    import mx

    module, args = made(name, batch, threads)
    graph = mx.importers.torch.load(module, args)
    arrays = [argument.numpy() for argument in args]

    def torch_eager() -> Callable[[], Sequence[Any]]:
        def run() -> Sequence[Any]:
            with torch.inference_mode():
                return [module(*args).numpy()]

        return run

    def ours() -> Callable[[], Sequence[Any]]:
        plan = mx.graph.Plan(graph)
        inputs = [mx.np.array(array) for array in arrays]
        return lambda: plan(*inputs)

    found = [timed(torch_eager, "torch eager"), timed(ours, "plan")]
    file = saved(graph)
    feeds = dict(zip([spec.name for spec in graph.inputs], arrays, strict=True))
    for peer, prepare in PEERS:
        try:
            found.append(timed(lambda prepare=prepare: prepare(file, feeds, threads), peer))
        except ImportError:
            notes.add(f"{peer} is not installed")
    return found


def saved(graph: Any) -> bytes:
    """The graph as a file that the peers take."""
    import onnx_ir

    proto = onnx_ir.to_proto(graph.model)
    for one in proto.opset_import:
        one.version = min(one.version, PEER_OPSET)
    proto.ir_version = min(proto.ir_version, 10)
    return proto.SerializeToString()


def onnxruntime_of(file: bytes, feeds: dict[str, Any], threads: int) -> Callable[[], Sequence[Any]]:
    """ONNX Runtime with a model and its inputs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(file, options)
    return lambda: session.run(None, feeds)


def openvino_of(file: bytes, feeds: dict[str, Any], threads: int) -> Callable[[], Sequence[Any]]:
    """OpenVINO in float32 with a model and its inputs."""
    import openvino

    core = openvino.Core()
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = core.compile_model(core.read_model(file), "CPU", settings)
    request = compiled.create_infer_request()
    return lambda: list(request.infer(list(feeds.values())).values())


PEERS = (("onnxruntime", onnxruntime_of), ("openvino", openvino_of))


def measure(name: str, batch: int, seconds: float, threads: int, notes: set[str]) -> Row:
    """Blocks of all contestants in turns, and the median of each; compares what they give."""
    return measure_all(name, batch, contestants(name, batch, threads, notes), "plan", seconds)


def measure_all(
    name: str, batch: int, runners: Sequence[Contestant], ours: str, seconds: float
) -> Row:
    """As measure, of contestants of which the first is torch, and another one ours."""
    error = error_of(runners, ours)
    turns = in_turns({one.name: one.run for one in runners}, seconds)
    prepare = {one.name: one.prepare_seconds for one in runners}
    return row_of(name, batch, turns, prepare, ours, error)


def error_of(runners: Sequence[Contestant], ours: str) -> float:
    """How far ours is from the first, by the largest element of that."""
    expected = numpy.asarray(runners[0].run()[0])
    (got,) = (numpy.asarray(one.run()[0]) for one in runners if one.name == ours)
    return float(abs(got - expected).max() / abs(expected).max())


def row_of(
    name: str, batch: int, turns: Turns, prepare: dict[str, float], ours: str, error: float
) -> Row:
    """The row of what was measured in turns."""
    ratios = {contestant: turns.ratio(ours, contestant) for contestant in turns.blocks}
    return Row(name, batch, turns.seconds(), ratios, prepare, error)


def text(rows: Sequence[Row], ours: str = "plan") -> str:
    """The rows as a table in Markdown, with geometric means of the ratios."""
    peers = [name for name in rows[0].seconds if name != ours]
    lines = [
        f"| model | batch | {ours}, ms | "
        + " | ".join(f"/ {peer}" for peer in peers)
        + " | error |",
        "|---|---|---|" + "---|" * (len(peers) + 1),
    ]
    ratios: dict[str, list[float]] = {peer: [] for peer in peers}
    for row in rows:
        cells = []
        for peer in peers:
            if peer not in row.seconds:
                cells.append("")
                continue
            ratios[peer].append(row.ratios[peer])
            cells.append(f"{ratios[peer][-1]:.2f}")
        lines.append(
            f"| {row.model} | {row.batch} | {1e3 * row.seconds[ours]:.3f} | {' | '.join(cells)} | "
            f"{row.error:.0e} |"
        )
    means = [f"{statistics.geometric_mean(ratios[peer]):.2f}" for peer in peers]
    lines.append(f"| geometric mean | | | {' | '.join(means)} | |")
    return "\n".join(lines)


def main() -> None:
    """Prints the table, and what it was measured on."""
    from benchmarks.models.modules import MODULES

    options = parser_of(__doc__, MODULES).parse_args()
    notes: set[str] = set()
    rows = []
    for name in options.model or MODELS:
        for batch in options.batch or (1, 16):
            row = measure(name, batch, options.seconds, options.threads, notes)
            rows.append(row)
            said = ", ".join(f"{key} {1e3 * value:.3f} ms" for key, value in row.seconds.items())
            first = ", ".join(f"{key} {value:.2f} s" for key, value in row.prepare.items())
            print(f"{name}, batch {batch}: {said}; first answer: {first}", flush=True)
    print(f"\n{text(rows)}\n")
    for note in sorted(notes):
        print(note)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
