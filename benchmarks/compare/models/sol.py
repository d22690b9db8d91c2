"""Models of torch optimized by `mx.sol`, against torch, ONNX Runtime and OpenVINO, in turns.

`python -m benchmarks.compare.models.sol [--model NAME] [--batch N] [--seconds S] [--threads N]
[--tune S]` prints a row for each model and batch: milliseconds of a call of the optimized module
with a tensor of torch, and ratios, its time divided by the peer's, of medians; the time until the
first answer beside them, and root mean square errors against float64 of ours and of torch. torch is
measured as it is and with torch.compile. With --tune the module has been tuned, for so many seconds
at most, which are part of the time until its first answer. Last is what a call of a tiny module
costs beside its plan. A peer that is not installed is left out with a note.
"""

from __future__ import annotations

import copy
import statistics
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

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

OURS, TORCH = "sol", "torch eager"


def contestants(
    name: str, batch: int, threads: int, tuning: float, notes: set[str]
) -> list[Contestant]:
    """Torch first, then the optimized module, then the peers that are there."""
    import torch

    import mx
    from mx import sol

    module, args = made(name, batch, threads)

    def called(model: Any) -> Callable[[], Sequence[Any]]:
        def run() -> Sequence[Any]:
            with torch.inference_mode():
                return [model(*args)]

        return run

    def optimized() -> Any:
        fast = sol.optimize(module, *args)
        if tuning:
            sol.tune(fast, tuning, progress=False)
        return fast

    def compiled() -> Any:
        torch.compiler.reset()  # it stops compiling after eight models of one process otherwise
        return torch.compile(module)

    makers: dict[str, Callable[[], Callable[[], Sequence[Any]]]] = {
        TORCH: lambda: called(module),
        OURS: lambda: called(optimized()),
        "torch.compile": lambda: called(compiled()),
    }
    graph = mx.importers.torch.load(module, args)
    feeds = {spec.name: array.numpy() for spec, array in zip(graph.inputs, args, strict=True)}
    for peer, prepare in PEERS:
        makers[peer] = lambda prepare=prepare: prepare(saved(graph), feeds, threads)
    found = []
    for peer, maker in makers.items():
        try:
            found.append(timed(maker, peer))
        except ImportError:
            notes.add(f"{peer} is not installed")
        except Exception as error:
            notes.add(f"{peer} fails on {name}: {str(error).splitlines()[0]}")
    return found


def errors(name: str, batch: int, threads: int, runners: Sequence[Contestant]) -> tuple[float, ...]:
    """Root mean square errors against float64 of the first output: ours, and torch's own."""
    import torch

    module, args = made(name, batch, threads)
    wide = [one.double() if one.is_floating_point() else one for one in args]
    with torch.inference_mode():
        exact = copy.deepcopy(module).double()(*wide)
    given = {one.name: one.run()[0].double() for one in runners if one.name in (OURS, TORCH)}
    return tuple(float((given[key] - exact).square().mean().sqrt()) for key in (OURS, TORCH))


def overhead(seconds: float) -> tuple[float, float]:
    """Microseconds of a call of a linear layer of 4 by 4, and of its plan alone."""
    import torch

    from mx import sol

    module, x = torch.nn.Linear(4, 4).eval(), torch.randn(2, 4)
    with torch.inference_mode():
        fast = sol.optimize(module, x)
        fast(x)
        compiled = fast._sol.compiled.compiled_plan([x])
        blocks: dict[str, list[float]] = {"call": [], "plan": []}
        end = perf_counter() + seconds
        while perf_counter() < end:
            for key, run in (("call", lambda: fast(x)), ("plan", lambda: compiled.run([x]))):
                begin = perf_counter()
                for _ in range(500):
                    run()
                blocks[key].append((perf_counter() - begin) / 500)
    return 1e6 * statistics.median(blocks["call"]), 1e6 * statistics.median(blocks["plan"])


def main() -> None:
    """Prints the table, and what it was measured on."""
    from benchmarks.models.modules import MODULES

    parser = parser_of(__doc__, MODULES)
    parser.add_argument("--tune", type=float, default=0.0, help="seconds to tune for, at most")
    options = parser.parse_args()
    # Before the peers, which leave much in the caches and in memory.
    call, plan = overhead(options.seconds)
    notes: set[str] = set()
    rows: list[Row] = []
    for name in options.model or MODULES:
        for batch in options.batch or (1, 16):
            runners = contestants(name, batch, options.threads, options.tune, notes)
            rows.append(measure_all(name, batch, runners, OURS, options.seconds))
            first = ", ".join(f"{key} {value:.2f} s" for key, value in rows[-1].prepare.items())
            ours, theirs = errors(name, batch, options.threads, runners)
            print(
                f"{name}, batch {batch}: first answer: {first}; error {ours:.1e}, torch's "
                f"{theirs:.1e}, {ours / theirs:.2f} times",
                flush=True,
            )
    print(f"\n{text(rows, OURS)}\n")
    print(f"a call of a tiny module: {call:.1f} us, of which its plan {plan:.1f} us")
    for note in sorted(notes):
        print(note)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
