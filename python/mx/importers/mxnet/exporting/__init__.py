"""From graphs of ONNX's operators, or of MXNet's nodes, to what MXNet's files have."""

from __future__ import annotations

import onnx_ir as ir

from mx.graph import Graph, GraphError

from ..nodes import is_of_mxnet, make_node, parameters_of
from . import _elementwise as _elementwise
from . import _layers as _layers
from . import _shapes as _shapes
from ._inverse import INVERSES, Array, Constants, Inverse, own_metadata, variable_of

__all__ = ["INVERSES", "from_graph"]


def from_graph(graph: Graph) -> tuple[list[ir.Value], dict[str, Array], dict[str, Array]]:
    """The heads of a graph as MXNet's nodes, with the arguments and auxiliary states it has.

    What `to_onnx` made comes back with the same names. GraphError names the node whose operator
    has no form in MXNet.
    """
    source = graph.model.graph
    constants = Constants()
    for value in source.initializers.values():
        constants.add(value, graph.weights[str(value.name)])
    made: dict[int, ir.Value] = {}
    for value in source.inputs:
        if not value.is_initializer():
            made[id(value)] = variable_of(value)
    for node in source:
        if node.op_type == "Constant" and node.domain == "":
            _add_constant(node, constants)
        elif is_of_mxnet(node):
            _copy(node, made, constants)
        else:
            _invert(node, made, constants)
    heads = []
    for value in source.outputs:
        is_constant = id(value) in constants.arrays
        heads.append(constants.variable(value) if is_constant else made[id(value)])
    return heads, constants.arguments, constants.auxiliary


def _add_constant(node: ir.Node, constants: Constants) -> None:
    tensor = node.outputs[0].const_value
    if tensor is None:
        attribute = node.attributes.get("value")
        tensor = None if attribute is None else attribute.value
    if tensor is None:
        raise GraphError(f"node {node.name!r} (Constant): expected a tensor as its value")
    constants.add(node.outputs[0], tensor.numpy())


def _copy(node: ir.Node, made: dict[int, ir.Value], constants: Constants) -> None:
    values = [value for value in node.inputs if value is not None]
    inputs = [
        constants.variable(value, value.metadata_props.get("mx.role") == "auxiliary")
        if id(value) in constants.arrays
        else made[id(value)]
        for value in values
    ]
    texts = parameters_of(node)
    count = len(node.outputs)
    copy = make_node(node.op_type, str(node.name), texts, inputs, own_metadata(node), count)
    for old, new in zip(node.outputs, copy.outputs, strict=True):
        made[id(old)] = new


def _invert(node: ir.Node, made: dict[int, ir.Value], constants: Constants) -> None:
    rule = INVERSES.get(node.op_type) if node.domain == "" else None
    if rule is None:
        raise GraphError(
            f"node {node.name!r}: expected an operator that MXNet has a form of, but "
            f"{node.domain or 'ONNX'}'s {node.op_type} came"
        )
    output = str(node.outputs[0].name)
    name = output.removesuffix("_output") if output.endswith("_output") else node.name or output
    found = rule(Inverse(node, name, made, constants))
    values = [found] if isinstance(found, ir.Value) else list(found)
    for old, new in zip(node.outputs, values, strict=False):
        made[id(old)] = new
