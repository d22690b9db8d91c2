"""What graphs for training can do without, before they are differentiated."""

from __future__ import annotations

import onnx_ir as ir

from ...graph import Graph
from ...graph._spec import dims_of
from ...graph.passes._pass import is_onnx, may_replace, replace


def simplify(graph: Graph) -> None:
    """Removes choices between two values that a constant has made, in place."""
    inside = graph.model.graph
    for node in list(inside):
        if not is_onnx(node, "Where") or node.inputs[0] is None:
            continue
        tensor = ir.convenience.get_const_tensor(node.inputs[0])
        if tensor is None or tensor.size == 0:
            continue
        elements = tensor.numpy()
        if elements.all() or not elements.any():
            chosen = node.inputs[1 if elements.all() else 2]
            output = node.outputs[0]
            dims = dims_of(output.shape)
            if chosen is None or dims is None or dims_of(chosen.shape) != dims:
                continue  # it is broadcast
            if may_replace(output, chosen, inside):
                replace(output, chosen)
                inside.remove(node, safe=True)
