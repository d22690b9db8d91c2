"""ONNX: files, their bytes, and graphs of mx."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...graph import Graph, load
from ._framework import Framework, Source
from ._graph_source import GraphSource

if TYPE_CHECKING:
    from .._compiled import Compiled


class Onnx(Framework):
    """Models in ONNX's format. Optimized they are functions of NumPy's arrays; models of others
    become their graph, which `save` writes as a file."""

    name = "onnx"
    models = "the path or the bytes of an ONNX file, an onnx.ModelProto, or an mx.graph.Graph"
    target = "numpy"

    def reads(self, model: object) -> bool:
        """Whether it is a path, bytes, a model of the package onnx, or a graph."""
        return isinstance(model, (str, bytes, os.PathLike, Graph)) or _is_proto(model)

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """The graph of the file."""
        if isinstance(model, Graph):
            return GraphSource(model, args, kwargs)
        if _is_proto(model):
            model = model.SerializeToString()
        return GraphSource(load(model), args, kwargs, is_inferred=True)

    def wrap(self, compiled: Compiled, model: Any) -> Graph:
        """The graph behind the passes, with the weights as they are now."""
        return compiled.graph()

    def missing(self) -> str:
        """Nothing: it comes with what graphs need."""
        return ""


def _is_proto(model: object) -> bool:
    """Whether it is what `onnx.load` gives."""
    kind = getattr(sys.modules.get("onnx"), "ModelProto", None)
    return kind is not None and isinstance(model, kind)


FRAMEWORK = Onnx()
