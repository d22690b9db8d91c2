"""What a pass is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import onnx_ir

from .._summary import label_of


@dataclass(frozen=True)
class Pass:
    """A step over a model, which it changes; returns the names of nodes that are gone.

    TypeError for a name or a description that is no text, and where `run` cannot be called.
    """

    name: str
    description: str
    run: Callable[[onnx_ir.Model], Sequence[str]]

    def __post_init__(self) -> None:
        texts = {"name": self.name, "description": self.description}
        for argument, given in texts.items():
            if not isinstance(given, str):
                kind = type(given).__name__
                raise TypeError(f"Pass: {argument}: expected a str, got {kind}")
        if not callable(self.run):
            kind = type(self.run).__name__
            raise TypeError(f"Pass: run: expected a function of a model, got {kind}")


def library_pass(*passes: onnx_ir.passes.InPlacePass) -> Callable[[onnx_ir.Model], list[str]]:
    """A step made of passes of onnx-ir."""

    def run(model: onnx_ir.Model) -> list[str]:
        before = dict.fromkeys(model.graph)
        for one in passes:
            one(model)
        left = set(model.graph)
        return [label_of(node) for node in before if node not in left]

    return run


def is_onnx(node: onnx_ir.Node, *operators: str) -> bool:
    """Whether a node is one of these operators of ONNX."""
    return node.op_type in operators and node.domain in ("", "ai.onnx")


def may_replace(old: onnx_ir.Value, new: onnx_ir.Value, graph: onnx_ir.Graph) -> bool:
    """Whether all uses of a value can be uses of another one, and outputs keep their names."""
    if not old.is_graph_output():
        return True
    # The other one takes the name of the output, so it has to be a node's, here, and no output.
    giver = new.producer()
    return giver is not None and giver.graph is graph and not new.is_graph_output()


def replace(old: onnx_ir.Value, new: onnx_ir.Value) -> None:
    """Has all that used a value use another one; see may_replace."""
    is_output = old.is_graph_output()
    onnx_ir.convenience.replace_all_uses_with(old, new, replace_graph_outputs=True)
    if is_output:
        name, old.name = old.name, f"{old.name}_replaced"
        new.name = name
