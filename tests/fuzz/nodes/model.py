"""A case as a model of one node."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import onnx_ir

from .draw import Array, Case

TensorProto = onnx.TensorProto


def tensor_of(array: Array, name: str) -> onnx.TensorProto:
    """A tensor of any type."""
    if array.dtype.kind in "OSU":
        flat = [str(one).encode() for one in array.reshape(-1)]
        return onnx.helper.make_tensor(name, TensorProto.STRING, array.shape, flat)
    return onnx_ir.to_proto(onnx_ir.tensor(array, name=name))


def type_of(array: Array) -> int:
    """ONNX's number of the type of elements."""
    if array.dtype.kind in "OSU":
        return int(TensorProto.STRING)
    return int(onnx_ir.DataType.from_numpy(array.dtype))


def info_of(name: str, content: Any, named: bool = False) -> onnx.ValueInfoProto:
    """What a graph says of an input; with `named` extents have names, and no numbers."""
    if isinstance(content, list):
        inner = onnx.helper.make_tensor_type_proto(type_of(content[0]), None)
        return onnx.helper.make_value_info(name, onnx.helper.make_sequence_type_proto(inner))
    shape = [f"{name}_{axis}" if named else extent for axis, extent in enumerate(content.shape)]
    return onnx.helper.make_tensor_value_info(name, type_of(content), shape)


def model_of(case: Case, named: bool = False) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """The model, and its inputs by name."""
    names = ["" if one is None else f"i{index}" for index, one in enumerate(case.inputs)]
    while names and not names[-1]:
        names.pop()
    feeds, infos, weights = {}, [], []
    for index, name in enumerate(names):
        if not name:
            continue
        if index in case.known and isinstance(case.inputs[index], numpy.ndarray):
            weights.append(tensor_of(case.inputs[index], name))
        else:
            feeds[name] = case.inputs[index]
            infos.append(info_of(name, case.inputs[index], named))
    if case.model is not None:
        return case.model, feeds
    outputs = [f"o{index}" for index in range(case.outputs)]
    node = onnx.helper.make_node(case.operator, names, outputs, name="node", **case.attributes)
    made = [onnx.helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = onnx.helper.make_graph([node], "random", infos, made, weights)
    imports = [onnx.helper.make_opsetid("", case.version)]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=10), feeds
