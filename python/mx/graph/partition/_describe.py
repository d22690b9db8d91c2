"""Parts of graphs as accelerators' libraries get them: mxnet_acc_graph.schema.json, and ONNX."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import onnx
import onnx_ir
from onnx_ir import serde

from ..lowering._lowering import ARRAY_DTYPES
from ..lowering._node import has_subgraphs, since_version
from ._wiring import Part

VERSION = 1
# Attributes that are tensors are lists of numbers to libraries, up to that size.
_MOST_ELEMENTS = 1024


class NotOffered(Exception):
    """A node that libraries are not asked about; the text says why."""


def check_offered(node: onnx_ir.Node, opset: Mapping[str, int]) -> None:
    """Raises NotOffered for a node that the description of graphs has no form for."""
    if has_subgraphs(node):
        raise NotOffered("it has subgraphs")
    if not since_version(node, opset.get(node.domain, 1)):
        raise NotOffered("onnx does not know its operator")
    for value in (*node.inputs, *_outputs_of(node)):
        if value is not None:
            _dtype_of(value)
            _extents_of(value)
    _attributes(node, opset)


def describe(
    part: Part, ids: Mapping[onnx_ir.Node, int], opset: Mapping[str, int], name: str
) -> str:
    """The JSON of a part. `ids` has the numbers of the nodes in the whole graph, from 1 on."""
    entries: dict[onnx_ir.Value, int] = {}
    rows: list[dict[str, Any]] = []
    symbols: dict[str, dict[str, int]] = {}

    def entry(value: onnx_ir.Value, role: str) -> int:
        if value not in entries:
            entries[value] = len(rows)
            extents = _extents_of(value)
            symbols.update({extent: {} for extent in extents if isinstance(extent, str)})
            row = {"name": value.name, "dtype": _dtype_of(value), "shape": extents, "role": role}
            rows.append(row)
        return entries[value]

    inputs = [entry(value, "input") for value in part.inputs]
    weights = [entry(value, "weight") for value in part.weights]
    outputs = [entry(value, "output") for value in part.outputs]
    nodes = [
        {
            "id": ids[node],
            "name": node.name or "",
            "operator": f"{node.domain}.{node.op_type}" if node.domain else node.op_type,
            "version": since_version(node, opset.get(node.domain, 1)),
            "attributes": _attributes(node, opset),
            "inputs": [None if value is None else entry(value, "inner") for value in node.inputs],
            "input_names": _input_names(node, opset),
            "outputs": [
                None if value is None else entry(value, "inner") for value in _outputs_of(node)
            ],
        }
        for node in part.nodes
    ]
    document = {
        "version": VERSION,
        "operator_set": opset.get("", 1),
        "name": name,
        "symbols": symbols,
        "entries": rows,
        "inputs": inputs,
        "weights": weights,
        "outputs": outputs,
        "nodes": nodes,
    }
    return json.dumps(document, separators=(",", ":"))


def onnx_of(part: Part, opset: Mapping[str, int], name: str) -> bytes:
    """The same as an ONNX model, whose initializers have types and shapes and no data."""
    model = onnx.ModelProto(ir_version=10)
    model.opset_import.extend(onnx.helper.make_opsetid(*item) for item in opset.items())
    graph = model.graph
    graph.name = name or "graph"
    graph.input.extend(serde.serialize_value(value) for value in part.inputs)
    graph.output.extend(serde.serialize_value(value) for value in part.outputs)
    for value in part.weights:
        assert value.dtype is not None
        tensor = graph.initializer.add(name=value.name or "", data_type=int(value.dtype))
        tensor.dims.extend(extent for extent in _extents_of(value) if isinstance(extent, int))
    graph.node.extend(serde.serialize_node(node) for node in part.nodes)
    return bytes(model.SerializeToString())


def _outputs_of(node: onnx_ir.Node) -> list[onnx_ir.Value | None]:
    """The outputs up to the last that the node gives; None for one before it that it does not."""
    outputs = [value if value.name else None for value in node.outputs]
    while outputs and outputs[-1] is None:
        outputs.pop()
    return outputs


def extents_of(value: onnx_ir.Value) -> tuple[list[int], list[str]]:
    """Extents of a value, -1 where one is not known, and the names of those."""
    extents = _extents_of(value)
    shape = [extent if isinstance(extent, int) else -1 for extent in extents]
    return shape, ["" if isinstance(extent, int) else extent for extent in extents]


def _dtype_of(value: onnx_ir.Value) -> str:
    if value.dtype is None or not isinstance(value.type, onnx_ir.TensorType):
        raise NotOffered(f"{value.name!r} is no tensor, or of a type that is not known")
    if value.dtype == onnx_ir.DataType.STRING:
        raise NotOffered(f"{value.name!r} is of texts")
    name = str(value.dtype.numpy())
    if name not in ARRAY_DTYPES:
        raise NotOffered(f"{value.name!r} is of {name}, which arrays do not have")
    return name


def dtype_of(value: onnx_ir.Value) -> str:
    """The name of a value's type of elements. Raises NotOffered where it is no tensor."""
    return _dtype_of(value)


def _extents_of(value: onnx_ir.Value) -> list[int | str]:
    if value.shape is None:
        raise NotOffered(f"the number of axes of {value.name!r} is not known")
    return [
        extent if isinstance(extent, int) else extent.value or f"{value.name}[{axis}]"
        for axis, extent in enumerate(value.shape)
    ]


@lru_cache(maxsize=4096)
def _schema(operator: str, version: int, domain: str) -> Any:
    return onnx.defs.get_schema(operator, version, domain)


def _schema_of(node: onnx_ir.Node, opset: Mapping[str, int]) -> Any:
    return _schema(node.op_type, opset.get(node.domain, 1), node.domain)


def _attributes(node: onnx_ir.Node, opset: Mapping[str, int]) -> dict[str, Any]:
    """The attributes of a node, with the defaults of those that it does not have."""
    found: dict[str, Any] = {}
    for name, declared in _schema_of(node, opset).attributes.items():
        if declared.default_value.name:
            found[name] = _plain(onnx.helper.get_attribute_value(declared.default_value))
    for name, attribute in node.attributes.items():
        value = attribute.value
        if attribute.type == onnx_ir.AttributeType.TENSOR:
            if value.size > _MOST_ELEMENTS or value.dtype == onnx_ir.DataType.STRING:
                raise NotOffered(f"its attribute {name} is a large tensor, or of texts")
            value = value.numpy().tolist()
        elif attribute.type not in _PLAIN:
            raise NotOffered(f"its attribute {name} is no number, text or list")
        found[name] = _plain(value)
    return found


_PLAIN = frozenset(
    getattr(onnx_ir.AttributeType, name)
    for name in ("INT", "INTS", "FLOAT", "FLOATS", "STRING", "STRINGS")
)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (str, bool, int, float)):
        return value
    return [_plain(item) for item in value]


def _input_names(node: onnx_ir.Node, opset: Mapping[str, int]) -> list[str]:
    """The names of the operator's inputs; "seq[0]" where one takes several."""
    declared: Sequence[Any] = _schema_of(node, opset).inputs
    names = []
    for number in range(len(node.inputs)):
        last = min(number, len(declared) - 1)
        several = declared[last].option == onnx.defs.OpSchema.FormalParameterOption.Variadic
        names.append(declared[last].name + (f"[{number - last}]" if several else ""))
    return names
