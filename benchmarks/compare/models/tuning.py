"""What tuning does for models of `mx.sol`: times, starts, and which backend is best for what.

`python -m benchmarks.compare.models.tuning [--model NAME] [--batch N] [--seconds S]` prints, for
each model of benchmarks/models, milliseconds of a call without and with tuning, which is measured
anew; then for each operator how often each backend was the best one for a layer that begins with
it, and by how much, as a geometric mean, it was faster than what the layer has untuned. Last are
seconds from the file of a model to its first answer in new processes: untuned, tuned with an empty
cache, and tuned with what that start has kept.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks import models
from benchmarks.compare import environment

# What a process does; it prints the seconds to import, and from there to the first answer.
PROGRAM = """
import json, sys, time
begin = time.perf_counter()
from benchmarks import models
import mx
from mx import sol
path, tuned, seconds = sys.argv[1:]
sol.config["autotune"], sol.config["tuning_seconds"] = tuned == "1", int(seconds)
inputs = models.example(mx.graph.load(path))
imported = time.perf_counter()
sol.optimize(path, *inputs.values())(*inputs.values())
print(json.dumps([imported - begin, time.perf_counter() - imported]))
"""


def tuned(name: str, batch: int, seconds: float) -> Any:
    """What tuning has found out about a model."""
    from mx import sol

    graph = models.MODELS[name]()
    fast = sol.optimize(graph, *models.example(graph, batch).values())
    return sol.tune(fast, seconds, progress=False, again=True)


def by_operator(tunings: list[Any]) -> dict[str, dict[str, list[float]]]:
    """For each operator that layers begin with, for each backend that is the best one for some of
    them: how many times as fast as what they have untuned."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for tuning in tunings:
        for layer in tuning.layers:
            times = {
                one.backend: one.microseconds + one.around
                for one in layer.candidates
                if one.microseconds is not None
            }
            best = min(times, key=times.__getitem__)
            ratio = times[layer.untuned] / max(times[best], 1e-3)
            found[layer.operators[0]][best].append(ratio)
    return found


def start(path: Path, is_tuned: bool, cache: str, seconds: int) -> tuple[float, float]:
    """Seconds of a new process: to import, and from there to the first answer."""
    variables = {**os.environ, "MXNET_CACHE": "1", "MXNET_CACHE_DIR": cache}
    command = [sys.executable, "-c", PROGRAM, str(path), str(int(is_tuned)), str(seconds)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    imported, first = json.loads(done.stdout)
    return imported, first


def main() -> None:
    """Prints all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", action="append", choices=models.MODELS)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=20, help="for the tuning of each model")
    options = parser.parse_args()
    names = options.model or list(models.MODELS)
    print(f"{'model':<14}{'untuned ms':>12}{'tuned ms':>10}{'layers':>8}{'changed':>9}")
    tunings = []
    for name in names:
        tuning = tuned(name, options.batch, options.seconds)
        tunings.append(tuning)
        times = [f"{time / 1e3:.3f}" if time else "-" for time in (tuning.untuned, tuning.tuned)]
        changed = len(tuning.chosen)
        print(f"{name:<14}{times[0]:>12}{times[1]:>10}{len(tuning.layers):>8}{changed:>9}")
    print(f"\n{'operator':<24}{'best':<10}{'layers':>8}{'times as fast':>16}")
    for operator, backends in sorted(by_operator(tunings).items()):
        for backend, ratios in sorted(backends.items()):
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{operator:<24}{backend:<10}{len(ratios):>8}{mean:>16.2f}")
    print(f"\n{'start of':<14}{'import s':>10}{'untuned s':>11}{'tuned s':>9}{'second s':>10}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.onnx"
            models.MODELS[name]().save(str(path))
            cache = os.path.join(folder, "cache")
            rows = [start(path, on, cache, options.seconds) for on in (False, True, True)]
            imported = min(row[0] for row in rows)
            untuned, cold, kept = (row[1] for row in rows)
            print(f"{name:<14}{imported:>10.2f}{untuned:>11.2f}{cold:>9.2f}{kept:>10.2f}")
    print(environment.of_models())


if __name__ == "__main__":
    main()
