"""Checkpoints: a graph in `prefix-symbol.json`, its arrays in `prefix-0000.params`."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from . import numpy as mx_numpy
from . import symbol as mx_symbol
from ._acc.table import acc, accelerators
from .context import Context, cpu
from .graph import Graph, PartitionedPlan, partition
from .graph import load as load_graph
from .importers.mxnet import exporting, params
from .symbol import Symbol

if TYPE_CHECKING:
    from .ndarray import ndarray

    Arrays = dict[str, ndarray]

__all__ = [
    "from_graph",
    "load_checkpoint",
    "load_compiled",
    "load_onnx",
    "load_params",
    "save_checkpoint",
    "save_compiled",
]


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
    for parameter, arrays in (("arg_params", arg_params), ("aux_params", aux_params)):
        if not isinstance(arrays, Mapping) or not all(isinstance(name, str) for name in arrays):
            raise TypeError(
                f"save_checkpoint: {parameter}: expected arrays by name, got {arrays!r}"
            )
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
    if not isinstance(graph, Graph):
        raise TypeError(f"from_graph: graph: expected a Graph, got {type(graph).__name__}")
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


def save_compiled(
    path: str | PathLike[str],
    model: PartitionedPlan | Graph | Symbol,
    ctx: Context | None = None,
    *,
    arg_params: Mapping[str, Any] | None = None,
    aux_params: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Any] | None = None,
    **options: Any,
) -> None:
    """Writes one file with a model, its weights, and what an accelerator's library compiled of it.

    `model` is a plan with what it has compiled so far, or a graph or symbol that is compiled for
    the device `ctx`: a symbol with its parameters, and all that have inputs of varying shapes for
    `shapes` by name. `options` are those of PartitionedPlan. The file is whole or not there.

    Raises OSError, ValueError where nothing was compiled, and NotImplementedError where the library
    does not export what it compiles.
    """
    if isinstance(model, Symbol):
        params = {**(arg_params or {}), **(aux_params or {})}
        model = model.to_graph(shapes=shapes, params=_as_numpy(params))
    elif arg_params or aux_params:
        raise TypeError(
            f"save_compiled: arg_params: only a Symbol takes parameters, a {type(model).__name__} "
            "has its own"
        )
    if isinstance(model, Graph):
        if ctx is None:
            raise TypeError("save_compiled: ctx: expected the device to compile for, got None")
        model = PartitionedPlan(model, ctx, **options)
    elif not isinstance(model, PartitionedPlan):
        raise TypeError(
            "save_compiled: model: expected a PartitionedPlan, a Graph or a Symbol, got "
            f"{type(model).__name__}"
        )
    elif ctx is not None or options:
        raise TypeError("save_compiled: ctx: a plan has its device and options already")
    if shapes is not None:
        model.prepare(shapes)
    partition.save(path, model)


def load_compiled(
    path: str | PathLike[str],
    ctx: Context | None = None,
    *,
    fallback: str | None = None,
    verify: bool | tuple[float, float] = False,
    keep_nan: bool = False,
    cache: bool = True,
) -> PartitionedPlan:
    """The plan of a file that `save_compiled` has written.

    `ctx` is a device of the accelerator, by default the first of the one that the file names. What
    does not fit its library, driver or device is compiled again, which a `mx.cache.CacheWarning`
    tells. `fallback`, `verify`, `keep_nan` and `cache` are those of PartitionedPlan. The file holds
    code of the device: load only those that you trust. The plan may read it as long as it lives:
    replace it by a rename, as `save_compiled` does, and do not write into it.

    Raises OSError where the file cannot be read, `mx.cache.FileError`, a ValueError, where it is
    another file, of another version or damaged, and RuntimeError where the accelerator is not
    loaded.
    """
    if ctx is None:
        name = partition.accelerator_of(path)
        if name not in {each.name for each in accelerators()}:
            raise RuntimeError(
                f"load_compiled: {fspath(path)} is for the accelerator {name!r}, which is not "
                "loaded: mx.load_acc(LIBRARY) loads it; ctx names another device"
            )
        ctx = acc(name)
    return partition.load(path, ctx, fallback, verify, keep_nan, cache)
