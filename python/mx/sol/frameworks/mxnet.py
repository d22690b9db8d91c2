"""MXNet's symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ...symbol import Symbol
from ._framework import Framework, Source
from ._graph_source import GraphSource

if TYPE_CHECKING:
    from .._compiled import Compiled


class MXNet(Framework):
    """Symbols with their parameters. Optimized they are functions of NumPy's arrays."""

    name = "mxnet"
    models = "an mx.sym.Symbol with its parameters, (symbol, arg_params, aux_params)"
    target = "numpy"

    def reads(self, model: object) -> bool:
        """Whether it is a symbol, or a tuple that begins with one."""
        first = model[0] if isinstance(model, tuple) and model else model
        return isinstance(first, Symbol)

    def parse(self, model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Source:
        """The graph of a symbol, for the shapes of the example."""
        symbol, *params = model if isinstance(model, tuple) else (model,)
        known: dict[str, Any] = {}
        for arrays in params:
            known |= arrays
        inputs = [name for name in symbol.list_arguments() if name not in known]
        given = dict(zip(inputs, args, strict=False)) | dict(kwargs)
        arrays = {name: numpy.asarray(array) for name, array in given.items()}
        graph = symbol.to_graph(
            shapes={name: array.shape for name, array in arrays.items()},
            types={name: array.dtype for name, array in arrays.items()},
            params=known,
        )
        return GraphSource(graph, args, kwargs)

    def wrap(self, compiled: Compiled, model: Any) -> Any:
        """ValueError: symbols have no nodes for what passes make."""
        raise ValueError(
            "sol.optimize: framework='mxnet': no optimized model is a symbol: use"
            " framework='numpy', a function of arrays, or 'onnx', a graph that can be saved"
        )

    def missing(self) -> str:
        """Nothing: it is part of this package."""
        return ""


FRAMEWORK = MXNet()
