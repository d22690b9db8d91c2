"""A model as a graph of ONNX's operators."""

from __future__ import annotations

import onnx_ir


class Graph:
    """A model: the nodes between its inputs and its outputs, with its weights.

    It stands for the `onnx_ir.Model` that is its attribute `model`.
    """

    def __init__(self, model: onnx_ir.Model) -> None:
        self.model = model
