"""Weights as inputs, for those that are trained."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ...graph import Graph


def as_inputs(graph: Graph, names: Sequence[str]) -> Graph:
    """A copy of a graph in which these weights are inputs, behind the others, in this order.

    Their elements are not in it any more. Raises ValueError for a name that no weight has.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"as_inputs: graph: expected a Graph, got {type(graph).__name__}")
    made = graph.copy()
    inside = made.model.graph
    for name in dict.fromkeys(names):
        value = inside.initializers.get(name)
        if value is None:
            there = ", ".join(inside.initializers) or "none"
            raise ValueError(f"as_inputs: names: {name!r} is no weight of {graph.file}: {there}")
        tensor = value.const_value
        del inside.initializers[name]
        value.const_value = None
        if tensor is not None:
            value.type = ir.TensorType(tensor.dtype)
            value.shape = ir.Shape(tensor.shape.numpy())
        if value in inside.inputs:  # of a model that lists its weights as inputs
            inside.inputs.remove(value)
        inside.inputs.append(value)
    return made
