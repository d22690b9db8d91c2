"""Shows the nodes of a model with their shapes and parameters, and draws it."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument("model", type=Path, help="an ONNX file")
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1,3,224,224",
        help="the shape of an input; extents may be names; once for each input",
    )
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draws the graph into this file")
    parser.add_argument(
        "--passes", action="store_true", help="runs the passes that make it smaller before"
    )


def run(options: argparse.Namespace) -> None:
    """Does it; raises GraphError, OSError and ValueError."""
    from .. import graph as graphs

    graph = graphs.load(options.model)
    shapes = dict(_shape_of(text) for text in options.shape)
    found = graph.infer(shapes)
    if options.passes:
        print(f"{graphs.passes.run(graph)}\n")
        found = graph.infer()
    print(graph.summary())
    if not found:
        print(found)
    if options.svg is not None:
        options.svg.write_text(graph.picture(), encoding="utf-8")


def _shape_of(text: str) -> tuple[str, tuple[int | str, ...]]:
    """The name and the shape of an input."""
    name, equals, shape = text.rpartition("=")
    if not equals or not name:
        raise ValueError(f"--shape: expected NAME=1,3,224,224, got {text!r}")
    words = [word.strip() for word in shape.split(",")] if shape else []
    return name, tuple(int(word) if word.lstrip("-").isdigit() else word for word in words)
