"""Shows the nodes of a model with their shapes and parameters, and draws it."""

from __future__ import annotations

import argparse
from pathlib import Path

from ._models import add_model_arguments, model_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_model_arguments(parser)
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draws the graph into this file")
    parser.add_argument(
        "--passes", action="store_true", help="runs the passes that make it smaller before"
    )


def run(options: argparse.Namespace) -> None:
    """Does it; raises GraphError, OSError and ValueError."""
    from .. import graph as graphs

    graph = model_of(options)
    found = graph.infer()
    if options.passes:
        print(f"{graphs.passes.run(graph)}\n")
        found = graph.infer()
    print(graph.summary())
    if not found:
        print(found)
    if options.svg is not None:
        options.svg.write_text(graph.picture(), encoding="utf-8")
