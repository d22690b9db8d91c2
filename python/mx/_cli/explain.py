"""Shows where every node of a model runs, and why not elsewhere.

With --ctx on an accelerator or on the CPU; without it, by which backend of the CPU. Elements of
inputs that decide shapes are read from files or random numbers, as `run` has them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ._inputs import (
    add_context_arguments,
    add_input_arguments,
    context_of,
    inputs_of,
    plan_of,
    shapes_of,
)
from ._models import model_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_input_arguments(parser)
    add_context_arguments(parser)
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="draws the graph with where its nodes run"
    )


def run(options: argparse.Namespace) -> None:
    """Does it; raises GraphError, OSError and ValueError."""
    from .. import graph as graphs

    model, ctx = model_of(options), context_of(options)
    if ctx is None or ctx.device_type == "cpu":
        plan = plan_of(model, options)
        plan.run(inputs_of(model, options))
        found = plan.explain()
    else:
        wanted = {"fallback": options.fallback, "keep_nan": options.keep_nan}
        found = graphs.explain(model, ctx, shapes_of(model, options), **wanted)
    print(found)
    if options.svg is not None:
        options.svg.write_text(model.picture(found.labels()), encoding="utf-8")
