"""Operators that are short for nodes of others: by ONNX's definition, or as we say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy
import onnx_ir

from ...graph import OPSET, GraphError
from ...graph.lowering._body import body_of
from ...graph.lowering._host import HostNode
from ...graph.lowering._node import has_subgraphs, since_version
from ...graph.lowering._value import REJECTIONS, Declined
from ...graph.lowering._value import Value as Tensor
from ...importers._builder import Names
from ..gradient._rules import Call
from ..gradient._rules import Declined as NotExpanded
from ..gradient._writer import Writer
from ._expansions import expansion_of
from ._program import Value, constant_of

if TYPE_CHECKING:
    from ._lower import Lowering


def by_body(to: Lowering, host: HostNode, inputs: Sequence[Value | None]) -> list[Value]:
    """What the nodes give that the operator is short for. Declined where one has no kernel."""
    if host.node.op_type == "CenterCropPad":
        inputs = [inputs[0], _wide(inputs[1])]  # of which onnx's nodes take 64 bits alone
    tensors = [None if one is None else Tensor(one.shape, one.dtype) for one in inputs]
    function = body_of(host.proto, tensors, host.opset, nested=True)
    # Inputs that are not given are none, however many the node has.
    values: dict[onnx_ir.Value, Any] = dict.fromkeys(function.inputs)
    values.update(zip(function.inputs, inputs, strict=False))
    opset = {**host.opset, **function.opset_imports}
    _lower_all(to, function, values, opset, "its body")
    found = [values.get(value) for value in function.outputs[: len(host.node.outputs)]]
    return [value for value in found if value is not None]


def _wide(value: Value | None) -> Value | None:
    known = None if value is None else value.constant
    return value if known is None else constant_of(known.astype("int64"))


def by_expansion(to: Lowering, host: HostNode, inputs: Sequence[Value | None]) -> list[Value]:
    """What the nodes give that we write for one of its operator. Declined without any."""
    node = host.node
    rule = expansion_of(node.op_type, since_version(node, host.opset[""]))
    if rule is None or node.domain:
        raise Declined("no nodes of others for it")
    given = [None if one is None else _described(one, n) for n, one in enumerate(inputs)]
    copy = onnx_ir.Node(
        "", node.op_type, given, node.attributes.values(), num_outputs=len(node.outputs)
    )
    graph = onnx_ir.Graph([], [], nodes=[])
    try:
        made = rule(Writer(graph, Names()), Call(copy, (None,) * len(node.outputs), ()))
    except (NotExpanded, *REJECTIONS) as error:
        raise Declined(f"as nodes of others: {error}") from None
    outputs = [made] if isinstance(made, onnx_ir.Value) else list(made)
    values = {
        value: one for value, one in zip(given, inputs, strict=True) if value and one is not None
    }
    _lower_all(to, list(graph), values, {"": OPSET}, "as nodes of others")
    found = [values.get(value) for value in outputs[: len(node.outputs)]]
    return [value for value in found if value is not None]


def _described(value: Value, number: int) -> onnx_ir.Value:
    """A value of a graph that has the shape, the type and the elements of another."""
    dtype = onnx_ir.DataType.from_numpy(numpy.dtype(value.dtype))
    made = onnx_ir.Value(
        name=f"x{number}", shape=onnx_ir.Shape(value.shape), type=onnx_ir.TensorType(dtype)
    )
    if value.constant is not None:
        made.const_value = onnx_ir.Tensor(value.constant, dtype=dtype, name=made.name)
    return made


def _lower_all(
    to: Lowering,
    nodes: Sequence[onnx_ir.Node],
    values: dict[onnx_ir.Value, Value],
    opset: Mapping[str, int],
    where: str,
) -> None:
    before, may_be_last = len(to.steps), to.may_be_last
    to.may_be_last = may_be_last and not any(map(has_subgraphs, nodes))
    try:
        for node in nodes:
            made, _ = to.outputs(node, values, opset)
            values.update(zip(node.outputs, made, strict=False))
    except (Declined, GraphError) as error:
        del to.steps[before:]  # nothing is left of what is lowered in part
        raise Declined(f"{where}: {node.op_type}: {error}") from None
    finally:
        to.may_be_last = may_be_last
