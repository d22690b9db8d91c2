"""Replaces nodes, before a graph is differentiated, by nodes that have rules."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ...graph import Graph, GraphError
from ...graph._inference import infer
from ...graph._spec import dims_of, dtype_of
from ...graph.lowering._body import body_of
from ...graph.lowering._host import HostNode
from ...graph.lowering._value import Declined as NoBody
from ...graph.lowering._value import Value
from ...importers._builder import Names
from ._copies import Copy, let_go
from ._differentiate import depending, graphs_in, is_empty, leading, no_gradient
from ._masked_rows import unmask
from ._rules import EXPANSIONS, GRAPH_RULES, RULES, WITHOUT, Call, Declined, LeftToBody, name_of
from ._writer import Writer, is_float

# How often what a node is short for is looked at again.
_MOST = 6


def expand(graph: Graph, names: Names, wrt: Sequence[ir.Value]) -> None:
    """Replaces nodes that gradients go through and that have no rule, in place."""
    done: set[ir.Node] = set()
    if any(graphs_in(node) for node in graph.model.graph):
        infer(graph.model, graph.file, inside=True)
    for _ in range(_MOST):
        if not _expand_in(graph.model.graph, graph, names, set(wrt), done):
            return
        infer(graph.model, graph.file, inside=True)


def _expand_in(
    inside: ir.Graph, graph: Graph, names: Names, sources: set[ir.Value], done: set[ir.Node]
) -> bool:
    """Replaces nodes of the graph, or of one inside of it; returns whether there were any."""
    nodes = list(inside)
    active = depending(nodes, sources)
    path = active & leading(nodes, inside.outputs)
    is_changed = False
    for node in nodes:
        if path.isdisjoint(node.outputs):
            continue
        for inner in graphs_in(node):
            given = active | {value for value in inner.inputs if is_float(value)}
            is_changed |= _expand_in(inner, graph, names, given, done)
        if node in done:
            continue
        done.add(node)
        try:
            is_changed |= _replace(graph, names, node, active)
        except GraphError:
            # Whether gradients go through it is known better when the inside is differentiated.
            if inside is graph.model.graph:
                raise
    return is_changed


def _replace(graph: Graph, names: Names, node: ir.Node, active: set[ir.Value]) -> bool:
    """Replaces one node if it has to be; returns whether it was.

    `active` has the values with derivatives by what gradients are asked for.
    """
    name = name_of(node)
    written = ir.Graph([], [], nodes=[])
    to = Writer(written, names, prefix=node.name or "")
    to.metadata = dict(node.metadata_props)
    if name in EXPANSIONS:
        try:
            wanted = tuple(value in active for value in node.inputs)
            made = EXPANSIONS[name](to, Call(node, (None,) * len(node.outputs), wanted))
        except LeftToBody as error:
            outputs = _by_body(graph, to, node, str(error))
        except Declined as error:
            if name in RULES or name in GRAPH_RULES:
                return False
            raise no_gradient(node, str(error)) from None
        else:
            outputs = [made] if isinstance(made, ir.Value) else list(made)
    elif name in RULES or name in GRAPH_RULES or name in WITHOUT or is_empty(node):
        return False
    else:
        outputs = _by_body(graph, to, node, "there is no rule for it")
    inside = node.graph
    assert isinstance(inside, ir.Graph)
    for one in list(written):
        written.remove(one)
        inside.insert_before(node, one)
    take_over(inside, node, outputs)
    return True


def take_over(graph: ir.Graph, node: ir.Node, outputs: Sequence[ir.Value]) -> None:
    """Has all that used a node's outputs use others, which get their names, and removes it."""
    for old, new in zip(node.outputs, outputs, strict=False):
        name = old.name or new.name  # one without a name is there for a gradient alone
        new.shape, new.type = old.shape or new.shape, old.type or new.type
        ir.convenience.replace_all_uses_with(old, new, replace_graph_outputs=True)
        old.name = None
        new.name = name
    let_go(node)
    graph.remove(node, safe=True)


def _by_body(graph: Graph, to: Writer, node: ir.Node, reason: str) -> list[ir.Value]:
    """Writes the nodes that a node is short for, which is left to these for a reason."""
    opset = dict(graph.model.opset_imports)
    host = HostNode(node, opset)
    inputs = [None if value is None else _described(value) for value in node.inputs]
    try:
        function = body_of(host.proto, inputs, host.opset, nested=True)
        values = {
            parameter: node.inputs[position] if position < len(node.inputs) else None
            for position, parameter in enumerate(function.inputs)
        }
        copy = Copy(to, function, values)
    except (NoBody, Declined) as error:
        raise no_gradient(node, f"{reason}, and {error}") from None
    query = node.inputs[0]
    if name_of(node) == "Attention" and query is not None and query.dtype is not None:
        unmask(to, copy.nodes, query.dtype)
    found = [copy.of(value) for value in function.outputs[: len(node.outputs)]]
    # An output that is an input would take that one's name.
    return [to.Identity(one) if one in node.inputs else one for one in found]


def _described(value: ir.Value) -> Value:
    """A value as those who look for bodies take it; extents that vary have names there."""
    dims = dims_of(value.shape)
    dtype = dtype_of(value)
    if dims is None or dtype is None:
        raise no_gradient_of(value)
    return Value(dims, dtype)  # type: ignore[arg-type]


def no_gradient_of(value: ir.Value) -> Exception:
    """What is raised where too little is known of a value."""
    producer = value.producer()
    reason = f"shape or data type of {value.name!r} is not known"
    return ValueError(reason) if producer is None else no_gradient(producer, reason)
