"""MXNet's nodes as nodes of onnx-ir, in a domain of their own.

A variable is a value without a producer, and its attributes are the value's metadata. A node's
parameters are its attributes, all of them text as in MXNet's files; what else a user or MXNet said
of it, as `__lr_mult__`, is its metadata.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx_ir as ir

from mx.graph import GraphError

from . import rules as _rules  # noqa: F401
from .table import TABLE, Names, Operator, Parameters

DOMAIN = "mxnet"
# Metadata of a node whose operator has graphs of its own: these as JSON.
SUBGRAPHS = "subgraphs"


def is_of_mxnet(node: ir.Node) -> bool:
    return node.domain == DOMAIN


def operator_of(node: ir.Node) -> Operator | None:
    """The entry of the table; None where the operator has none."""
    return TABLE.get(node.op_type) if is_of_mxnet(node) else None


def parameters_of(node: ir.Node) -> dict[str, str]:
    """The parameters of a node as text."""
    return {name: str(attribute.value) for name, attribute in node.attributes.items()}


def parse(node: ir.Node, operator: Operator) -> Parameters:
    """The parameters of a node as values; GraphError where one is missing or wrong."""
    try:
        return operator.parse(parameters_of(node))
    except ValueError as error:
        raise GraphError(f"node {node.name!r} ({node.op_type}): {error}") from None


def named_inputs(
    node: ir.Node, operator: Operator, parameters: Parameters, inputs: Sequence[ir.Value]
) -> dict[str, ir.Value]:
    """The inputs of a node by its arguments; GraphError where there are not as many."""
    names = operator.inputs(parameters)
    if len(names) != len(inputs):
        raise GraphError(
            f"node {node.name!r} ({node.op_type}): expected inputs {', '.join(names)}, but "
            f"{len(inputs)} came"
        )
    return dict(zip(names, inputs, strict=True))


def make_variable(name: str, attributes: Mapping[str, str] | None = None) -> ir.Value:
    """An argument or an auxiliary state."""
    return ir.Value(name=name, metadata_props=dict(attributes or {}))


def note_initializers(node: ir.Node) -> None:
    """Says of a node's variables how they begin, where the operator does and they do not."""
    operator = operator_of(node)
    if operator is not None and operator.initial:
        names = operator.inputs(parse(node, operator))
        for name, value in zip(names, node.inputs, strict=False):
            if name in operator.initial and value is not None and value.producer() is None:
                value.metadata_props.setdefault("__init__", operator.initial[name])


def output_names(node: str, names: Names) -> list[str]:
    """How MXNet calls the outputs of a node."""
    return [f"{node}_{name}" for name in names]


def make_node(
    op_type: str,
    name: str,
    parameters: Mapping[str, str],
    inputs: Sequence[ir.Value],
    attributes: Mapping[str, str] | None = None,
    outputs: int = 1,
) -> ir.Node:
    """A node; `outputs` is the least number of its outputs, for operators that are not known."""
    node = ir.Node(
        DOMAIN,
        op_type,
        inputs,
        [ir.AttrString(key, value) for key, value in parameters.items()],
        num_outputs=0,
        name=name,
        metadata_props=dict(attributes or {}),
    )
    operator = TABLE.get(op_type)
    names: Names = tuple(f"output{i}" for i in range(outputs)) if outputs > 1 else ("output",)
    if operator is not None:
        try:
            names = operator.outputs(parse(node, operator))
        except ValueError as error:
            if isinstance(error, GraphError):
                raise
            raise GraphError(f"node {name!r} ({op_type}): {error}") from None
        if len(names) < outputs:
            raise GraphError(
                f"node {name!r} ({op_type}): expected {len(names)} outputs, but output "
                f"{outputs - 1} is used"
            )
    node.resize_outputs(len(names))
    for value, text in zip(node.outputs, output_names(name, names), strict=True):
        value.name = text
    return node


def visible_outputs(node: ir.Node) -> Sequence[ir.Value]:
    """The outputs that a symbol of the node has."""
    operator = operator_of(node)
    if operator is None:
        return node.outputs
    return node.outputs[: operator.visible_outputs(parse(node, operator))]


def in_order(heads: Iterable[ir.Value]) -> list[ir.Node | ir.Value]:
    """The variables and nodes that heads need, each after what it needs: a walk in depth."""
    order: list[ir.Node | ir.Value] = []
    seen: set[int] = set()
    for head in heads:
        stack: list[tuple[ir.Node | ir.Value, bool]] = [(head.producer() or head, False)]
        while stack:
            item, is_done = stack.pop()
            if is_done:
                order.append(item)
                continue
            if id(item) in seen:
                continue
            seen.add(id(item))
            stack.append((item, True))
            if isinstance(item, ir.Node):
                inputs = [value for value in reversed(item.inputs) if value is not None]
                stack += [(value.producer() or value, False) for value in inputs]
    return order


def auxiliary_of(order: Iterable[ir.Node | ir.Value]) -> set[int]:
    """The ids of the variables that are auxiliary states of some node."""
    found = set()
    for node in order:
        operator = operator_of(node) if isinstance(node, ir.Node) else None
        if operator is not None and operator.auxiliary and isinstance(node, ir.Node):
            for value in node.inputs[-len(operator.auxiliary) :]:
                if value is not None and value.producer() is None:
                    found.add(id(value))
    return found
