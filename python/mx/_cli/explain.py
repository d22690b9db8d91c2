"""Shows where every node of a model runs on an accelerator, and why not elsewhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from ._inputs import add_context_argument, add_input_arguments, context_of, shapes_of
from ._models import model_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    add_input_arguments(parser)
    add_context_argument(parser, required=True)
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="draws the graph with where its nodes run"
    )


def run(options: argparse.Namespace) -> None:
    """Does it; raises GraphError, OSError and ValueError."""
    from .. import graph as graphs

    model = model_of(options)
    found = graphs.explain(model, context_of(options), shapes_of(model, options))
    print(found)
    if options.svg is not None:
        options.svg.write_text(model.picture(found.labels()), encoding="utf-8")
