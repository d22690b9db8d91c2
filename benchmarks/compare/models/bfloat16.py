"""Models of torch optimized in bfloat16 against the same in float32, in turns, in one process.

`python -m benchmarks.compare.models.bfloat16 [--model NAME] [--batch N] [--seconds S] [--threads
N]` prints a row for each model and batch: milliseconds of a call in both precisions, the least
ones, their ratio, and the largest error as a part of the largest output.
"""

from __future__ import annotations

from time import perf_counter

from benchmarks.compare import environment
from benchmarks.compare.models.options import parser_of
from benchmarks.compare.models.runtimes import made

PRECISIONS = ("float32", "bf16")


def row(name: str, batch: int, seconds: float, threads: int) -> str:
    """A row of the table."""
    import torch

    from mx import sol

    module, args = made(name, batch, threads)
    with torch.inference_mode():
        expected = module(*args)
        models = {one: sol.optimize(module, *args, precision=one) for one in PRECISIONS}
        error = float((models["bf16"](*args) - expected).abs().max() / expected.abs().max())
        models["float32"](*args)
        least = dict.fromkeys(PRECISIONS, float("inf"))
        end = perf_counter() + seconds
        while perf_counter() < end:
            for one, model in models.items():
                begin = perf_counter()
                model(*args)
                least[one] = min(least[one], perf_counter() - begin)
    times = " | ".join(f"{1e3 * value:.2f}" for value in least.values())
    return f"| {name} | {batch} | {times} | {least['bf16'] / least['float32']:.2f} | {error:.1e} |"


def main() -> None:
    """Prints the table, and what it was measured on."""
    from benchmarks.models.modules import MODULES

    options = parser_of(__doc__, MODULES).parse_args()
    print("| model | batch | float32, ms | bf16, ms | ratio | error |\n|---|---|---|---|---|---|")
    for name in options.model or MODULES:
        for batch in options.batch or (1, 16):
            print(row(name, batch, options.seconds, options.threads), flush=True)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
