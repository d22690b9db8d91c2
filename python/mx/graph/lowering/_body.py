"""Operators that ONNX defines by nodes of other operators: those nodes, for one node."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx
import onnx_ir

from .._custom import find
from ._value import Declined, Value


def body_of(
    node: onnx.NodeProto,
    inputs: Sequence[Value | None],
    opset: Mapping[str, int],
    nested: bool = False,
) -> Any:
    """The onnx_ir.Function that a node is short for, without references to attributes.

    It is kept, so that equal nodes get the same. Declined where the operator has none, or unless
    `nested` one with subgraphs.
    """
    types = tuple(b"" if value is None else _type_of(value) for value in inputs)
    version = opset.get(node.domain, 1)
    return _body(node.SerializeToString(), types, version, opset.get("", version), nested)


def _type_of(value: Value) -> bytes:
    kind = onnx_ir.DataType.from_numpy(numpy.dtype(value.dtype))
    proto = onnx.helper.make_tensor_type_proto(int(kind), value.shape)
    return bytes(proto.SerializeToString())


@functools.lru_cache(maxsize=256)
def _body(data: bytes, types: tuple[bytes, ...], version: int, opset: int, nested: bool) -> Any:
    node = onnx.NodeProto.FromString(data)
    function = _function(node, types, version, opset)
    given = {attribute.name: attribute for attribute in node.attribute}
    for default in function.attribute_proto:
        given.setdefault(default.name, default)
    schema = onnx.defs.get_schema(node.op_type, version, node.domain)
    for name, described in schema.attributes.items():
        if described.default_value.name:
            given.setdefault(name, described.default_value)
    for inner in function.node:
        _resolve(inner, given, nested)
    made = {name for inner in function.node for name in inner.output}
    for name in set(function.output) - made:  # outputs that the node does not have
        nothing = onnx.numpy_helper.from_array(numpy.float32(0))
        function.node.append(onnx.helper.make_node("Constant", [], [name], value=nothing))
    return onnx_ir.serde.deserialize_function(function)


def _function(
    node: onnx.NodeProto, types: tuple[bytes, ...], version: int, opset: int
) -> onnx.FunctionProto:
    custom = find(node.domain, node.op_type)
    if custom is not None:
        if custom.body is None:
            raise Declined("no function body")
        copy = onnx.FunctionProto()
        copy.CopyFrom(custom.body)
        return copy
    try:
        schema: Any = onnx.defs.get_schema(node.op_type, version, node.domain)
    except onnx.defs.SchemaError as error:
        raise Declined(f"no operator of that name: {error}") from error
    plain = [one for one in schema.function_opset_versions if one <= opset]
    dependent = [one for one in schema.context_dependent_function_opset_versions if one <= opset]
    if plain:
        data = schema.get_function_with_opset_version(max(plain))
    elif dependent:
        data = schema.get_context_dependent_function_with_opset_version(
            max(dependent), node.SerializeToString(), list(types)
        )
    else:
        raise Declined("no function body")
    function: onnx.FunctionProto = onnx.FunctionProto.FromString(data)
    if not function.node:
        raise Declined("no function body for these types")
    return function


def _resolve(node: onnx.NodeProto, given: Mapping[str, onnx.AttributeProto], nested: bool) -> None:
    """Replaces references to attributes by these."""
    attributes = list(node.attribute)
    del node.attribute[:]
    for attribute in attributes:
        if attribute.HasField("g") or attribute.graphs:
            if not nested:
                raise Declined("a function body with subgraphs")
            for inner in attribute.g.node:
                _resolve(inner, given, nested)
        if not attribute.ref_attr_name:
            node.attribute.append(attribute)
        elif attribute.ref_attr_name in given:
            node.attribute.append(given[attribute.ref_attr_name])
            node.attribute[-1].name = attribute.name
