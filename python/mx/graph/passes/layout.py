"""Has convolutions and pools choose where the channels of what they give lie in memory."""

from __future__ import annotations

import onnx_ir

from .._layout import KEY, OF_KERNEL, is_of_graph
from ._pass import Pass, is_onnx

_OPERATORS = ("AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool")


def _run(model: onnx_ir.Model) -> list[str]:
    """Marks nodes, which stay what they are: graphs say nothing of memory."""
    for node in onnx_ir.traversal.RecursiveGraphIterator(model.graph):
        if is_onnx(node, *_OPERATORS, *(f"Global{name}" for name in _OPERATORS)):
            node.metadata_props[KEY] = OF_KERNEL
        elif is_of_graph(node):  # in a file that was saved without this pass
            del node.metadata_props[KEY]
    return []


LAYOUT = Pass(
    "layout", "has convolutions and pools hand images on as their kernels write them", _run
)
