"""Measures how long a model takes: planning, and runs of a few seconds."""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter

from ._inputs import (
    add_context_arguments,
    add_input_arguments,
    add_threads_argument,
    inputs_of,
    plan_of,
)
from ._models import model_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_input_arguments(parser)
    add_context_arguments(parser)
    add_threads_argument(parser)
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="how long runs are repeated (default: 3)"
    )


def run(options: argparse.Namespace) -> None:
    """Does it; raises GraphError, OSError and ValueError."""
    from .. import get_num_threads
    from .. import numpy as np
    from ..graph import PartitionedPlan

    begin = time.perf_counter()
    model = model_of(options)
    loaded = time.perf_counter()
    plan = plan_of(model, options)
    inputs = {name: np.asarray(array) for name, array in inputs_of(model, options).items()}
    plan.run(inputs)
    planned = time.perf_counter()
    times: list[float] = []
    while not times or time.perf_counter() - planned < options.seconds:
        start = time.perf_counter()
        plan.run(inputs)
        times.append(time.perf_counter() - start)
    print(f"load {1e3 * (loaded - begin):.1f} ms, plan and first run {planned - loaded:.3f} s")
    print(
        f"median {1e3 * statistics.median(times):.3f} ms, least {1e3 * min(times):.3f} ms of "
        f"{len(times)} runs with {get_num_threads()} threads"
    )
    print(plan.summary())
    if isinstance(plan, PartitionedPlan):
        made = plan.models()
        origins = Counter(model.origin for model in made).items()
        named = {"compiled": "compiled", "cache": "from the cache", "file": "from the file"}
        told = ", ".join(f"{count} {named[origin]}" for origin, count in origins)
        print(f"models: {told or 'none'}, in {sum(model.seconds for model in made):.3f} s")
