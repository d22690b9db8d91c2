"""Checkpoints: a graph in `prefix-symbol.json`, its arrays in `prefix-0000.params`."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from . import numpy as mx_numpy
from . import symbol as mx_symbol
from .context import cpu
from .graph import Graph
from .graph import load as load_graph
from .importers.mxnet import exporting, params
from .symbol import Symbol

if TYPE_CHECKING:
    from .ndarray import ndarray

    Arrays = dict[str, ndarray]

__all__ = ["from_graph", "load_checkpoint", "load_onnx", "load_params", "save_checkpoint"]


def _checked_epoch(function: str, epoch: int) -> int:
    if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
        raise ValueError(f"{function}: epoch: expected a whole number from 0 on, got {epoch!r}")
    return epoch


def _as_arrays(arrays: Mapping[str, Any]) -> Arrays:
    return {name: mx_numpy.array(array, ctx=cpu()) for name, array in arrays.items()}


def load_params(prefix: str | PathLike[str], epoch: int) -> tuple[Arrays, Arrays]:
    """The arguments and the auxiliary states in `prefix-0000.params`, by name, on the CPU.

    Sparse arrays become dense. Raises OSError where the file cannot be read, GraphError where it is
    damaged.
    """
    number = _checked_epoch("load_params", epoch)
    arguments, auxiliary = params.load_params(f"{fspath(prefix)}-{number:04d}.params")
    return _as_arrays(arguments), _as_arrays(auxiliary)


def load_checkpoint(prefix: str | PathLike[str], epoch: int) -> tuple[Symbol, Arrays, Arrays]:
    """The symbol of a checkpoint, its arguments and its auxiliary states.

    Files of all generations of MXNet are read. Raises OSError where one of the two cannot be read,
    GraphError where one is damaged.
    """
    _checked_epoch("load_checkpoint", epoch)
    loaded = mx_symbol.load(f"{fspath(prefix)}-symbol.json")
    return loaded, *load_params(prefix, epoch)


def save_checkpoint(
    prefix: str | PathLike[str],
    epoch: int,
    symbol: Symbol | None,
    arg_params: Mapping[str, Any],
    aux_params: Mapping[str, Any],
) -> None:
    """Writes `prefix-symbol.json`, unless the symbol is None, and `prefix-0000.params`.

    The arrays are those of mx or NumPy, by name. The files are what MXNet from 1.0 on reads, where
    an array has no elements or no axes from 1.6 on.
    """
    number = _checked_epoch("save_checkpoint", epoch)
    if symbol is not None:
        if not isinstance(symbol, Symbol):
            raise TypeError(
                f"save_checkpoint: symbol: expected a Symbol or None, got {type(symbol).__name__}"
            )
        symbol.save(f"{fspath(prefix)}-symbol.json")
    path = f"{fspath(prefix)}-{number:04d}.params"
    params.save_params(path, _as_numpy(arg_params), _as_numpy(aux_params))


def _as_numpy(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: array.asnumpy() if hasattr(array, "asnumpy") else np.asarray(array)
        for name, array in arrays.items()
    }


def from_graph(graph: Graph) -> tuple[Symbol, Arrays, Arrays]:
    """The symbol that means what a graph does, the arguments and auxiliary states the graph has.

    With `save_checkpoint` they are files that MXNet reads. GraphError names the node whose operator
    has no form in MXNet.
    """
    heads, arguments, auxiliary = exporting.from_graph(graph)
    return Symbol(heads), _as_arrays(arguments), _as_arrays(auxiliary)


def load_onnx(path: str | PathLike[str]) -> tuple[Graph, Arrays, Arrays]:
    """The graph of an ONNX file, its weights, and those that are statistics of normalizations.

    The graph has its weights, too; who changes them gives them to it by name. Raises what
    `mx.graph.load` does.
    """
    graph = load_graph(path)
    model = graph.model.graph
    statistics = {
        value.name
        for node in model
        if node.op_type == "BatchNormalization" and node.domain == ""
        for value in node.inputs[3:5]
        if value is not None
    }
    statistics |= {
        name
        for name, value in model.initializers.items()
        if value.metadata_props.get("mx.role") == "auxiliary"
    }
    weights = _as_arrays(graph.weights)
    auxiliary = {name: array for name, array in weights.items() if name in statistics}
    return graph, {n: a for n, a in weights.items() if n not in statistics}, auxiliary
