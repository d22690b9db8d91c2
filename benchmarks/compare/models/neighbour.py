"""Whole models while another process computes, too: by how much each contestant gets slower.

`python -m benchmarks.compare.models.neighbour [--model NAME] [--batch N] [--seconds S]` runs those
of benchmarks/compare/models/runtimes.py in turns, alone and beside a process that never waits, and
prints the ratio of medians: what one loses. The neighbour is stopped while others are measured
alone.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Sequence
from time import perf_counter

from benchmarks.compare import environment
from benchmarks.compare.models.runtimes import Contestant, contestants
from benchmarks.models import MODELS

LEFT_OUT = "torch eager"


def losses(runners: Sequence[Contestant], seconds: float) -> dict[str, tuple[float, float]]:
    """Median seconds of a run alone and beside the neighbour, by contestant."""
    times: dict[tuple[str, bool], list[float]] = {}
    neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        end = perf_counter() + seconds
        while perf_counter() < end:
            for is_busy in (False, True):
                os.kill(neighbour.pid, signal.SIGCONT if is_busy else signal.SIGSTOP)
                for one in runners:
                    found = times.setdefault((one.name, is_busy), [])
                    one.run()
                    block = perf_counter() + 0.2
                    while perf_counter() < block:
                        begin = perf_counter()
                        one.run()
                        found.append(perf_counter() - begin)
    finally:
        neighbour.kill()
        neighbour.wait()
    medians = {key: statistics.median(found) for key, found in times.items()}
    return {one.name: (medians[one.name, False], medians[one.name, True]) for one in runners}


def main() -> None:
    """Prints a line for each model and batch."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--model", action="append", choices=MODELS, help="all by default")
    parser.add_argument("--batch", type=int, action="append", help="1 by default")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    for name in options.model or MODELS:
        for batch in options.batch or (1,):
            runners = contestants(name, batch, options.threads, set())
            found = losses([one for one in runners if one.name != LEFT_OUT], options.seconds)
            said = ", ".join(
                f"{key} {1e3 * alone:.3f} -> {1e3 * busy:.3f} ms, x{busy / alone:.2f}"
                for key, (alone, busy) in found.items()
            )
            print(f"{name}, batch {batch}: {said}", flush=True)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
