"""What a capture of a module by torch.export gives."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir

from ....graph import Graph
from ._outputs import OutputTree

# What helps where a model changes its argument.
HOW_TO = ": change a copy, or use fallback=True, which has torch execute the model"


@dataclass(frozen=True)
class Captured:
    """The graph of a module for one example."""

    graph: Graph
    outputs: OutputTree
    changes: tuple[str, ...]  # buffers that a call writes
    watched: tuple[str, ...]  # weights of the graph that the module has
    constants: Mapping[str, Any]  # tensors that are no parameters and no buffers, by their names


def capture(module: Any, args: Any, kwargs: Any, name: str) -> Captured:
    """Exports a module with the shapes of an example. GraphError where that cannot be done."""
    from ._exporting import export

    return imported(*export(module, args, kwargs, None), module, name)


def imported(program: Any, dimensions: Any, module: Any, name: str) -> Captured:
    """The graph of a program of torch. GraphError and NotImplementedError, which say where."""
    from ....importers.torch._export import decomposed
    from ....importers.torch._import import import_program

    graph = import_program(decomposed(program), dimensions, name)
    made = graph.model.graph.outputs
    changed = [value for value in made if "mx.mutation" in value.metadata_props]
    for value in changed:
        made.remove(value)
    changes = tuple(value.metadata_props["mx.mutation"] for value in changed)
    check_changes(name, changed, dict(module.named_buffers()))
    # What a call changes is read at each call, and no reason to look at the weights again.
    watched = tuple(weight for weight in graph.weights if weight not in changes)
    return Captured(graph, OutputTree.of(program), changes, watched, program.constants)


def check_changes(name: str, changed: Sequence[onnx_ir.Value], own: Container[str]) -> None:
    """NotImplementedError where a module writes to what is none of its own buffers: to arguments.

    `changed` has the outputs of its graph that are new elements of something.
    """
    for value in changed:
        target = value.metadata_props["mx.mutation"]
        if target in own:
            continue
        made = value.producer()
        if made is not None and "mx.source" not in made.metadata_props and made.inputs[0]:
            made = made.inputs[0].producer() or made
        noted = {} if made is None else made.metadata_props
        path, line = noted.get("mx.module"), noted.get("mx.source")
        where = ", ".join(part for part in (f"module {path!r}" if path else "", line) if part)
        raise NotImplementedError(
            f"sol.optimize: {name} changes its argument {target} in a call"
            + (f" ({where})" if where else "")
            + HOW_TO
        )
