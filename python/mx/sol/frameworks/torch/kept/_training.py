"""Graphs of modules in training in files of the cache."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .....cache._file import PieceFile, PieceWriter
from .....graph import Graph
from .._held import Constants
from .._outputs import OutputTree
from .._training_graph import TrainingGraph
from ._graphs import (
    REST,
    NotKeptError,
    attributes_of,
    content_of,
    model_of,
    put_back,
    taken_out,
    text_of_outputs,
)

# What of a TrainingGraph is written as it is.
_PLAIN = ("arguments", "state", "has_seed", "writes", "stores", "counters")


def writer_of_training(
    made: TrainingGraph, module: Any, seconds: float
) -> Callable[[PieceWriter], dict[str, Any]]:
    """What writes a graph for training. NotKeptError where that cannot be kept."""
    constants = made.constants.named
    model = made.graph.model.clone()
    held = taken_out(model, constants, module)
    attributes = attributes_of(module)
    watched = [name for name, one in constants.items() if attributes.get(name) is one]
    # The others are made while forward runs, and stay as they are.
    if any(one.requires_grad for name, one in constants.items() if name not in watched):
        raise NotKeptError("a tensor that is no attribute of a module needs a gradient")
    rest = {
        "outputs": text_of_outputs(made.tree),
        "held": held,
        "watched": watched,
        "file": made.graph.file,
        **{name: getattr(made, name) for name in _PLAIN},
    }
    content = content_of(model)
    about = {"accelerator": "torch", "graph": made.graph.name, "seconds": seconds}
    nodes = len(made.graph.nodes)

    def write(writer: PieceWriter) -> dict[str, Any]:
        writer.add(*content)
        writer.add(REST, json.dumps(rest).encode())
        return {**about, "nodes": nodes}

    return write


def read_training(file: PieceFile, module: Any) -> TrainingGraph:
    """The graph of a file for a module. Raises as `read` does."""
    rest = json.loads(file.data(REST))
    model = model_of(file)
    put_back(file, model, rest["held"], module)
    attributes = attributes_of(module)
    constants = Constants(module, {name: attributes[name] for name in rest["watched"]})
    return TrainingGraph(
        Graph(model, str(rest["file"])),
        OutputTree.from_text(rest["outputs"]),
        constants=constants,
        **{name: rest[name] for name in _PLAIN},
    )
