"""From outputs of a graph back to what their gradients are asked for, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx_ir as ir

from ...graph import GraphError
from ...graph._spec import dims_of
from ...graph.lowering._node import describe, used_by
from ._rules import (
    DETACHED,
    GRAPH_RULES,
    RULES,
    WITHOUT,
    Call,
    Declined,
    Gradient,
    name_of,
)
from ._writer import Writer, is_float


def graphs_in(node: ir.Node) -> list[ir.Graph]:
    """The branches or the body of a node."""
    return [
        attribute.as_graph()
        for attribute in node.attributes.values()
        if attribute.type == ir.AttributeType.GRAPH
    ]


def depending(nodes: Iterable[ir.Node], sources: Iterable[ir.Value]) -> set[ir.Value]:
    """The values with derivatives by one of the sources; these are among them."""
    found = set(sources)
    for node in nodes:
        name = name_of(node)
        if name not in WITHOUT and not found.isdisjoint(used_by(node)):
            outputs = node.outputs[: DETACHED.get(name)]
            found.update(value for value in outputs if is_float(value) or not value.type)
    return found


def leading(nodes: Sequence[ir.Node], outputs: Iterable[ir.Value]) -> set[ir.Value]:
    """The values that outputs are computed from; these are among them."""
    found = set(outputs)
    for node in reversed(nodes):
        if not found.isdisjoint(node.outputs):
            found.update(used_by(node))
    return found


def differentiate(
    to: Writer,
    nodes: Sequence[ir.Node],
    grads: Mapping[ir.Value, ir.Value],
    wrt: Sequence[ir.Value],
) -> dict[ir.Value, ir.Value]:
    """Writes the nodes that compute gradients; gives those of `wrt` that are not zero.

    `grads` has the gradients of what the nodes give. GraphError for a node without a rule.
    """
    active = depending(nodes, wrt)
    parts: dict[ir.Value, list[ir.Value]] = {value: [grad] for value, grad in grads.items()}
    prefix, metadata = to.prefix, to.metadata
    for node in reversed(nodes):
        found = tuple(_total(to, parts, value) for value in node.outputs)
        if all(grad is None for grad in found):
            continue
        read = used_by(node)
        if active.isdisjoint(node.outputs) or active.isdisjoint(read):
            continue
        to.prefix = f"{node.name}.grad" if node.name else "grad"
        to.metadata = {
            key: text for key, text in node.metadata_props.items() if key.startswith("mx.")
        }
        for value, grad in _by_rule(to, node, found, active):
            if value in active and is_float(value):
                parts.setdefault(value, []).append(grad)
    to.prefix, to.metadata = prefix, metadata
    totals = {value: _total(to, parts, value) for value in wrt}
    return {value: grad for value, grad in totals.items() if grad is not None}


def _total(to: Writer, parts: dict[ir.Value, list[ir.Value]], value: ir.Value) -> Gradient:
    """The sum of what the uses of a value have contributed."""
    given = parts.get(value)
    if not given:
        return None
    joined = to.joined(given) if len(given) > 1 else None
    if joined is not None:
        given[:] = [joined]
    while len(given) > 1:
        first, second = given[:2]
        total: ir.Value = to.Add(first, second)
        total.shape = value.shape
        given[:2] = [total]
    return given[0]


def _by_rule(
    to: Writer, node: ir.Node, grads: tuple[Gradient, ...], active: set[ir.Value]
) -> list[tuple[ir.Value, ir.Value]]:
    """The gradients of what a node reads."""
    name = name_of(node)
    wanted = tuple(value in active and is_float(value) for value in node.inputs)
    if name in GRAPH_RULES:
        try:
            return GRAPH_RULES[name](to, Call(node, grads, wanted), active)
        except Declined as error:
            raise no_gradient(node, str(error)) from None
    if is_empty(node):
        pairs = zip(node.inputs, wanted, strict=True)
        return [(value, to.zeros_like(value)) for value, is_wanted in pairs if value and is_wanted]
    rule = RULES.get(name)
    if rule is None:
        raise no_gradient(node, "there is no rule for it")
    try:
        made = rule(to, Call(node, grads, wanted))
    except Declined as error:
        raise no_gradient(node, str(error)) from None
    listed = [made] if isinstance(made, ir.Value) or made is None else list(made)
    return [
        (value, grad)
        for value, grad, is_wanted in zip(node.inputs, listed, wanted, strict=False)
        if value is not None and grad is not None and is_wanted
    ]


def is_empty(node: ir.Node) -> bool:
    """Whether no output has an element, so that nothing depends on what the node reads."""
    shapes = [dims_of(value.shape) for value in node.outputs if value.name]
    return all(shape is not None and 0 in shape for shape in shapes)


def no_gradient(node: ir.Node, reason: str) -> GraphError:
    """What is raised for a node that has no gradient."""
    module = node.metadata_props.get("mx.module")
    inside = f" in module {module!r}" if module else ""
    return GraphError(f"sol.gradient: {describe(node)}{inside} has no gradient: {reason}")
