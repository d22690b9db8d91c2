"""What is raised for models that are wrong, and how their parts are named there."""

from __future__ import annotations

import onnx_ir


class GraphError(ValueError):
    """A model cannot be used: the message names the file, the node, what was expected and came."""


class MismatchError(ValueError):
    """An accelerator's result is not that of the CPU: the message names the node and both."""


class GraphWarning(UserWarning):
    """A model can be used, but is not all that graphs are: the message says what it is instead."""


def node_text(node: onnx_ir.Node) -> str:
    """A node by name and operator, or by what it gives where it has no name."""
    domain = f"{node.domain}::" if node.domain else ""
    outputs = next((value.name for value in node.outputs if value.name), "?")
    name = f"{node.name!r}" if node.name else f"that gives {outputs!r}"
    return f"node {name} ({domain}{node.op_type})"
