"""Each value has one name and comes from one node, and no node waits for itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import onnx

from ...graph._errors import GraphError
from ._walk import graphs_in, graphs_of, node_text


def check(proto: onnx.ModelProto, file: str) -> None:
    """Raises GraphError for names that are there twice or not at all."""
    for graph in graphs_of(proto.graph, file):
        _check_text(graph, file)
    _check_graph(proto.graph, set(), file)


def _check_text(graph: onnx.GraphProto, file: str) -> None:
    """Raises GraphError where a name is no text: protobuf gives its bytes then."""
    names = [graph.name]
    for node in graph.node:
        names += [node.name, node.op_type, node.domain, node.overload, *node.input, *node.output]
        for attribute in node.attribute:
            names += [attribute.name, attribute.ref_attr_name]
    for value in (*graph.input, *graph.output, *graph.value_info):
        names.append(value.name)
        names += [dim.dim_param for dim in value.type.tensor_type.shape.dim]
    names += [tensor.name for tensor in graph.initializer]
    for name in names:
        if not isinstance(name, str):
            raise GraphError(f"{file}: the name {name!r} is no text")


def _check_graph(graph: onnx.GraphProto, outside: set[str], file: str) -> None:
    """The same for a graph within one whose values have these names."""
    own = _given_names(graph, file)
    for node in graph.node:
        if not node.op_type:
            raise GraphError(f"{file}: {node_text(node)}: it has no operator")
        for name in node.output:
            if name and name in own:
                raise GraphError(f"{file}: {node_text(node)}: it gives {name!r}, which is there")
            own.add(name)
    shadowed = own & outside - {""}
    if shadowed:
        raise GraphError(
            f"{file}: graph {graph.name!r} gives {min(shadowed)!r}, which is there outside of it"
        )
    known = own | outside | {""}
    for node in graph.node:
        for name in node.input:
            if name not in known:
                raise GraphError(
                    f"{file}: {node_text(node)}: it uses {name!r}, which nothing gives"
                )
        for inside in graphs_in(node):
            _check_graph(inside, known, file)
    for value in graph.output:
        if not value.name or value.name not in known:
            raise GraphError(f"{file}: nothing gives the output {value.name!r}")


def _given_names(graph: onnx.GraphProto, file: str) -> set[str]:
    """The names of inputs and weights."""
    names: set[str] = set()
    inputs = [value.name for value in graph.input]
    weights = [tensor.name for tensor in graph.initializer]
    weights += [sparse.values.name for sparse in graph.sparse_initializer]
    for what, of_it in (("input", inputs), ("weight", weights)):
        seen: set[str] = set()
        for name in of_it:
            if not name:
                raise GraphError(f"{file}: graph {graph.name!r} has an {what} without a name")
            if name in seen:
                raise GraphError(f"{file}: graph {graph.name!r} has two {what}s {name!r}")
            seen.add(name)
        # Once all weights were inputs, too.
        names |= seen
    return names


def sort(graph: onnx.GraphProto, file: str) -> None:
    """Brings nodes into an order in which each is after those that it uses; see check."""
    for node in graph.node:
        for inside in graphs_in(node):
            sort(inside, file)
    nodes = list(graph.node)
    givers = {name: i for i, node in enumerate(nodes) for name in node.output if name}
    needs = [{givers[name] for name in _used_names(node) if name in givers} for node in nodes]
    if all(max(before, default=-1) < index for index, before in enumerate(needs)):
        return
    users: dict[int, list[int]] = defaultdict(list)
    for index, before in enumerate(needs):
        for giver in before:
            users[giver].append(index)
    waiting = [len(before) for before in needs]
    order = [index for index, count in enumerate(waiting) if not count]
    for index in order:
        for user in users[index]:
            waiting[user] -= 1
            if not waiting[user]:
                order.append(user)
    if len(order) < len(nodes):
        stuck = next(index for index, count in enumerate(waiting) if count)
        circle = _circle(stuck, needs, waiting)
        raise GraphError(
            f"{file}: {node_text(nodes[circle[0]])}: it waits for itself: "
            + ", ".join(node_text(nodes[index]) for index in circle[:8])
        )
    copies = [onnx.NodeProto.FromString(nodes[index].SerializeToString()) for index in order]
    del graph.node[:]
    graph.node.extend(copies)


def _used_names(node: onnx.NodeProto) -> Iterable[str]:
    """What a node uses, and the graphs in it."""
    yield from node.input
    for inside in graphs_in(node):
        for one in inside.node:
            yield from _used_names(one)
        yield from (value.name for value in inside.output)


def _circle(start: int, needs: list[set[int]], waiting: list[int]) -> list[int]:
    """Nodes of which each waits for the next, and the last for the first."""
    way, seen = [start], {start: 0}
    while True:
        following = min(index for index in needs[way[-1]] if waiting[index])
        if following in seen:
            return way[seen[following] :]
        seen[following] = len(way)
        way.append(following)
