"""The functions of a model, written out where they are called."""

from __future__ import annotations

from collections.abc import Iterable

import onnx
import onnx.inliner

from ...graph._errors import GraphError
from ._walk import graphs_in, node_text

# Calls within calls can ask for any number of nodes.
_MOST_NODES = 1_000_000


def write_out(proto: onnx.ModelProto, file: str) -> None:
    """Replaces calls of the model's functions by their nodes; raises GraphError for a bomb."""
    if not proto.functions:
        return
    functions = {key_of(f.domain, f.name, f.overload): f for f in proto.functions}
    if len(functions) < len(proto.functions):
        raise GraphError(f"{file}: it has two functions of one name")
    count = _count(proto.graph.node, functions, {}, [], file)
    if count > _MOST_NODES:
        raise GraphError(
            f"{file}: with its functions written out it has {count:,} nodes, and {_MOST_NODES:,} "
            "are the most"
        )
    try:
        inlined = onnx.inliner.inline_local_functions(proto, convert_version=True)
    except Exception as error:  # its errors have no class of their own
        raise GraphError(f"{file}: its functions cannot be written out: {error}") from None
    proto.CopyFrom(inlined)
    del proto.functions[:]


def key_of(domain: str, name: str, overload: str) -> tuple[str, str, str]:
    return ("" if domain == "ai.onnx" else domain, name, overload)


def _count(
    nodes: Iterable[onnx.NodeProto],
    functions: dict[tuple[str, str, str], onnx.FunctionProto],
    counts: dict[tuple[str, str, str], int],
    way: list[tuple[str, str, str]],
    file: str,
) -> int:
    """The number of nodes once all calls in them are written out."""
    total = 0
    for node in nodes:
        key = key_of(node.domain, node.op_type, node.overload)
        if key in functions:
            if key in way:
                raise GraphError(f"{file}: {node_text(node)}: the function calls itself")
            if len(way) > 100:
                raise GraphError(f"{file}: {node_text(node)}: functions call functions 100 deep")
            if key not in counts:
                inside = functions[key].node
                counts[key] = _count(inside, functions, counts, [*way, key], file)
            total += counts[key]
        else:
            total += 1
        for graph in graphs_in(node):
            total += _count(graph.node, functions, counts, way, file)
    return total
