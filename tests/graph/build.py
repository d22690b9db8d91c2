"""Graphs from a few lines of ONNX's text, for tests."""

from __future__ import annotations

import onnx
import onnx_ir
from onnx import parser

from mx.graph import OPSET, Graph


def model_of(text: str, opset: int = OPSET, imports: str = "") -> onnx.ModelProto:
    """A model from the text of its graph; `imports` has more operator sets."""
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}{imports}]>\n{text}')


def graph_of(text: str, opset: int = OPSET, imports: str = "") -> Graph:
    """The same as a Graph that nothing has looked at."""
    return Graph(onnx_ir.from_proto(model_of(text, opset, imports)))
