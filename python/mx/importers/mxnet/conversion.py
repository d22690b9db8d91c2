"""From MXNet's nodes to a graph, and from that to one of ONNX's operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import onnx_ir as ir

from mx.graph import OPSET, Graph, GraphError

from .expansion import expand, set_shape, shape_of
from .inference import Inference
from .nodes import (
    DOMAIN,
    auxiliary_of,
    in_order,
    is_of_mxnet,
    make_node,
    named_inputs,
    operator_of,
    parameters_of,
    parse,
)

IR_VERSION = 13


class _Names:
    """Gives each value a name of its own."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def of(self, wanted: str) -> str:
        name, n = wanted, 1
        while name in self.used:
            name, n = f"{wanted}_{n}", n + 1
        self.used.add(name)
        return name


def _tensor(name: str, array: Any) -> ir.Tensor[Any]:
    plain = array.asnumpy() if hasattr(array, "asnumpy") else np.asarray(array)
    if plain.dtype.kind in "OSU":
        raise GraphError(f"parameter {name!r}: expected an array of numbers, got {plain.dtype}")
    try:
        return ir.Tensor(plain, name=name)
    except TypeError as error:
        raise GraphError(f"parameter {name!r}: {error}") from None


def _model(
    inputs: Iterable[ir.Value],
    outputs: Sequence[ir.Value],
    nodes: Iterable[ir.Node],
    initializers: Sequence[ir.Value],
    name: str,
) -> ir.Model:
    graph = ir.Graph(
        list(inputs),
        outputs,
        nodes=list(nodes),
        initializers=initializers,
        opset_imports={"": OPSET, DOMAIN: 1},
        name=name,
    )
    return ir.Model(graph, ir_version=IR_VERSION, producer_name="mxffi")


def make_graph(
    heads: Sequence[ir.Value],
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
    dtypes: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    name: str = "symbol",
) -> Graph:
    """A graph of MXNet's nodes: copies of those that heads need.

    Variables are its inputs, those in `params` its weights. `shapes` and `dtypes` are those of
    variables by name; what follows from them, and from the weights, is written down.
    """
    for parameter, mapping in (("shapes", shapes), ("dtypes", dtypes), ("params", params)):
        if mapping is not None and not isinstance(mapping, Mapping):
            kind = type(mapping).__name__
            raise TypeError(f"to_graph: {parameter}: expected a mapping of names, got {kind}")
    params = params or {}
    order = in_order(heads)
    is_auxiliary = auxiliary_of(order)
    shapes, dtypes = dict(shapes or {}), dict(dtypes or {})
    used = {item.name for item in order if isinstance(item, ir.Value)}
    tensors = {key: _tensor(key, array) for key, array in params.items() if key in used}
    for key, tensor in tensors.items():
        shapes[key], dtypes[key] = tuple(tensor.numpy().shape), str(tensor.numpy().dtype)
    known = Inference(heads, shapes, dtypes)
    known.run(is_partial=True)
    names, made = _Names(), dict[int, ir.Value]()
    variables: dict[str, ir.Value] = {}
    nodes = []
    for item in order:
        if isinstance(item, ir.Value):
            variable = variables.get(str(item.name))
            if variable is None:
                metadata = dict(item.metadata_props)
                if id(item) in is_auxiliary:
                    metadata["mx.role"] = "auxiliary"
                variable = ir.Value(name=names.of(str(item.name)), metadata_props=metadata)
                variables[str(item.name)] = variable
            _write_type(variable, known.of(item))
            made[id(item)] = variable
        else:
            node = make_node(
                item.op_type,
                str(item.name),
                parameters_of(item),
                [made[id(value)] for value in item.inputs if value is not None],
                item.metadata_props,
                len(item.outputs),
            )
            for old, new in zip(item.outputs, node.outputs, strict=True):
                new.name = names.of(str(new.name))
                _write_type(new, known.of(old))
                made[id(old)] = new
            nodes.append(node)
    outputs = _as_outputs([made[id(head)] for head in heads], nodes, names)
    for key, tensor in tensors.items():
        variables[key].const_value = tensor
    weights = [value for key, value in variables.items() if key in tensors]
    inputs = [value for key, value in variables.items() if key not in tensors]
    return Graph(_model(inputs, outputs, nodes, weights, name), name)


def _write_type(value: ir.Value, known: ir.Value) -> None:
    set_shape(value, shape_of(known))
    if known.dtype is not None:
        value.dtype = known.dtype


def _as_outputs(values: Sequence[ir.Value], nodes: list[ir.Node], names: _Names) -> list[ir.Value]:
    """Outputs are values of nodes, each once: others go through Identity."""
    outputs: list[ir.Value] = []
    seen: set[int] = set()
    for value in values:
        if value.producer() is None or id(value) in seen:
            node = ir.node("Identity", [value])
            (copy,) = node.outputs
            copy.name = names.of(f"{value.name}_copy")
            _write_type(copy, value)
            nodes.append(node)
            value = copy
        seen.add(id(value))
        outputs.append(value)
    return outputs


def to_onnx(graph: Graph, stops: bool = False) -> Graph:
    """A graph of ONNX's operators out of one of MXNet's nodes; other nodes stay as they are.

    With `stops` what ends gradients is a node of the domain mxffi.sol, and dropout one of ONNX.

    GraphError names the node where an operator has no rule, where its rule has to know more of the
    shapes, or where something contradicts it.
    """
    source = graph.model.graph
    names, nodes_of = _Names(), _Names()
    made: dict[int, ir.Value] = {}
    inputs = [_copied(value, made, names) for value in source.inputs]
    weights = [_copied(value, made, names) for value in source.initializers.values()]
    nodes: list[ir.Node] = []
    for node in source:
        given = [None if value is None else _made(made, value) for value in node.inputs]
        if is_of_mxnet(node):
            new_nodes, found = _expanded(node, [v for v in given if v is not None], stops)
        else:
            new_nodes, found = _kept(node, given)
        # What an output is called is known before what the values between are.
        own = {id(value) for one in new_nodes for value in one.outputs}
        for old, value in zip(node.outputs, found, strict=False):
            is_new = id(value) in own
            if not is_new or value.name is not None:
                identity = ir.node("Identity", [value])
                new_nodes.append(identity)
                (copy,) = identity.outputs
                _write_type(copy, value)
                value = copy
            value.name = names.of(str(old.name))
            made[id(old)] = value
        for one in new_nodes:
            _describe(one, node, names)
        if found and (last := made[id(node.outputs[0])].producer()) is not None:
            last.name = nodes_of.of(str(node.name))
        nodes += new_nodes
    outputs = [_made(made, value) for value in source.outputs]
    needed = _needed(outputs, nodes)
    used = {id(value) for node in needed for value in node.inputs}
    kept_inputs = [value for value in inputs if id(value) in used]
    kept_weights = [value for value in weights if id(value) in used]
    is_needed = {id(node) for node in needed}
    for node in nodes:
        if id(node) not in is_needed:
            node.resize_inputs(0)
    return Graph(_model(kept_inputs, outputs, needed, kept_weights, graph.name), graph.file)


def _made(made: Mapping[int, ir.Value], value: ir.Value) -> ir.Value:
    """What a value became; GraphError for outputs of training alone, as the mask of Dropout."""
    found = made.get(id(value))
    node = value.producer()
    if found is None and node is not None:
        raise GraphError(
            f"node {node.name!r} ({node.op_type}): expected only outputs to be used that inference "
            f"has, but {value.name!r} is"
        )
    assert found is not None
    return found


def _copied(value: ir.Value, made: dict[int, ir.Value], names: _Names) -> ir.Value:
    copy = ir.Value(
        name=names.of(str(value.name)),
        shape=value.shape,
        type=value.type,
        const_value=value.const_value,
        metadata_props=dict(value.metadata_props),
    )
    if copy.dtype is None:
        copy.dtype = ir.DataType.FLOAT
    made[id(value)] = copy
    return copy


def _expanded(
    node: ir.Node, inputs: Sequence[ir.Value], stops: bool
) -> tuple[list[ir.Node], list[ir.Value]]:
    operator = operator_of(node)
    if operator is None:
        raise GraphError(
            f"node {node.name!r}: expected an operator with a rule for ONNX, but {node.op_type} "
            "came"
        )
    parameters = parse(node, operator)
    named_inputs(node, operator, parameters, inputs)
    return expand(operator, str(node.name), parameters, inputs, stops)


def _kept(node: ir.Node, inputs: Sequence[ir.Value | None]) -> tuple[list[ir.Node], list[ir.Value]]:
    copy = ir.Node(
        node.domain,
        node.op_type,
        inputs,
        node.attributes.values(),
        num_outputs=len(node.outputs),
        name=node.name,
        metadata_props=dict(node.metadata_props),
    )
    for old, new in zip(node.outputs, copy.outputs, strict=True):
        _write_type(new, old)
    return [copy], list(copy.outputs)


def _describe(made: ir.Node, source: ir.Node, names: _Names) -> None:
    """Says of a new node and of its values what they were made of."""
    made.metadata_props.setdefault("mx.module", str(source.name))
    for value in made.outputs:
        if value.name is None:
            value.name = names.of(f"{source.name}/{made.op_type.lower()}")
    if made.name is None:
        made.name = made.outputs[0].name


def _needed(outputs: Iterable[ir.Value], nodes: Sequence[ir.Node]) -> list[ir.Node]:
    """The nodes that outputs need, in their order."""
    wanted = {id(value) for value in outputs}
    kept = []
    for node in reversed(nodes):
        if any(id(value) in wanted for value in node.outputs):
            wanted |= {id(value) for value in node.inputs if value is not None}
            kept.append(node)
    return kept[::-1]


def convert(
    heads: Sequence[ir.Value],
    shapes: Mapping[str, Sequence[int | str | None]] | None = None,
    dtypes: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    name: str = "symbol",
    stops: bool = False,
) -> Graph:
    """The graph of ONNX's operators of heads; the arguments are those of `make_graph` and of
    `to_onnx`."""
    return to_onnx(make_graph(heads, shapes, dtypes, params, name), stops)


def only_in_training(heads: Sequence[ir.Value]) -> set[str]:
    """The names of variables of which inference needs nothing, as labels."""
    read, unread = set[str](), set[str]()
    for node in in_order(heads):
        if not isinstance(node, ir.Node):
            continue
        operator = operator_of(node)
        names = () if operator is None else operator.inputs(parse(node, operator))
        ignored = () if operator is None else operator.only_training
        for name, value in zip_longest(names, node.inputs):
            if value is not None and value.producer() is None:
                (unread if name in ignored else read).add(str(value.name))
    return unread - read - {str(head.name) for head in heads}


def draws_in_training(heads: Sequence[ir.Value]) -> bool:
    """Whether training drops elements, which inference does not."""
    for node in in_order(heads):
        operator = operator_of(node) if isinstance(node, ir.Node) else None
        if (
            isinstance(node, ir.Node)
            and operator is not None
            and operator.name in ("Dropout", "RNN")
        ):
            parameters = parse(node, operator)
            if parameters.p > 0 and getattr(parameters, "mode", "") != "always":
                return True
    return False


__all__ = ["convert", "draws_in_training", "make_graph", "only_in_training", "to_onnx"]
