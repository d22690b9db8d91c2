"""Functions of JAX as graphs, by way of jaxprs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mx.graph import Graph

from ._call import Unsupported, rule

__all__ = ["Unsupported", "load", "rule"]


def load(function: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Graph:
    """Makes a graph of a function of JAX's arrays.

    It is traced with the example `args` and `kwargs`, of which shapes and data types matter, and
    the graph is for those shapes. What `functools.partial` or `jax.tree_util.Partial` has bound of
    a function is the graph's weights, as in `load(partial(apply, params), (x,))`: each named by the
    parameter and the keys that lead to it, joined by dots, and in the memory of the array.

    Inputs have the names of parameters. Outputs are flat, named `output`, `output_0` or by the keys
    of what the function returns. Nodes note their named scope and source line as `"mx.module"` and
    `"mx.source"`.

    GraphError for primitives without a rule, all of them named with scope and line; ImportError
    where JAX is missing; what JAX raises for a function that it cannot trace.
    """
    try:
        import jax  # noqa: F401
    except ModuleNotFoundError as error:
        raise ImportError(
            "mx.importers.jax.load needs the package jax: pip install jax", name="jax"
        ) from error
    from ._trace import Traced

    traced = Traced(function, args, kwargs or {})
    return traced.graph_of(traced.shapes())
