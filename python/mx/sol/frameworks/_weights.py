"""Which of the tensors that a graph has are the weights of its model."""

from __future__ import annotations

import onnx_ir

from ...graph import Graph

# Inputs of operators that the graph of a gradient, or that of training, depends on: which item of a
# sequence is read, how long parts are, how much surrounds a tensor, how many elements are dropped.
_DECIDING = {
    ("Pad", 1), ("Pad", 3), ("Dropout", 1),
    ("SequenceAt", 1), ("SequenceErase", 1), ("SequenceInsert", 2), ("SplitToSequence", 1),
}  # fmt: skip


def weights_of(graph: Graph) -> dict[str, onnx_ir.Value]:
    """The weights by name, without constants that were part of a model's code and numbers that
    graphs depend on, as positions in sequences."""
    return {
        name: value
        for name, value in graph.model.graph.initializers.items()
        if value.metadata_props.get("mx.role") != "constant" and not _decides_graph(value)
    }


def _decides_graph(weight: onnx_ir.Value) -> bool:
    """Whether another content of a weight makes another graph."""
    return any((use.node.op_type, use.idx) in _DECIDING for use in weight.uses())
