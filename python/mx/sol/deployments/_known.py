"""What nodes give without a kernel: known elements, and the memory of an input."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx
import onnx_ir
from onnx_ir.serde import serialize_attribute

from ... import numpy as np
from ...graph import Graph, Plan
from ...graph.lowering._host import HostNode
from ._aliases import UNKNOWN, alias_shape
from ._program import Value, constant_of

# What gives other elements each time.
_VARIES = frozenset(
    "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Bernoulli Multinomial".split()
)
# Constants that follow from others are computed beforehand up to this size, or up to twice theirs.
_MOST_BYTES = 1 << 20


def computed(
    node: onnx_ir.Node, inputs: Sequence[Value | None], host: HostNode
) -> list[Value] | None:
    """What a node gives that depends on no input of the model; None where that is large."""
    if node.op_type in ("Shape", "Size") and inputs[0] is not None:
        shape = numpy.array(inputs[0].shape, "int64")
        if node.op_type == "Size":
            return [constant_of(numpy.array(math.prod(inputs[0].shape), "int64"))]
        begin: int = node.attributes.get_int("start", 0)
        return [constant_of(shape[begin : node.attributes.get_int("end", None)])]
    given = [value for value in inputs if value is not None]
    if node.op_type == "CastLike" and given[0].constant is not None:
        return [constant_of(given[0].constant.astype(numpy.dtype(given[1].dtype)))]
    if node.op_type in _VARIES or any(value.known is None and value.size for value in given):
        return None
    if not given and node.op_type != "Constant":
        return None
    results = _run(host, [None if value is None else _elements_of(value) for value in inputs])
    if not all(isinstance(result, numpy.ndarray | numpy.generic) for result in results):
        return None
    arrays = [numpy.asarray(result) for result in results]
    most = max(_MOST_BYTES, 2 * sum(value.nbytes for value in given))
    return list(map(constant_of, arrays)) if sum(one.nbytes for one in arrays) <= most else None


def _run(host: HostNode, arrays: Sequence[Any]) -> Sequence[Any]:
    """What a node gives of arrays, as plans compute it, which have more than the reference."""
    host.check(arrays)
    found = host.by_numpy(arrays)
    if found is not None:
        return found
    graph = onnx.GraphProto(name=host.node.name or host.node.op_type)
    feeds: dict[str, Any] = {}
    for name, array in zip(host.proto.input, arrays, strict=True):
        if name:
            kind = int(onnx_ir.DataType.from_numpy(array.dtype))
            graph.input.append(onnx.helper.make_tensor_value_info(name, kind, array.shape))
            feeds[name] = array
    node = onnx.NodeProto(op_type=host.node.op_type, name=host.node.name or "")
    node.input.extend(host.proto.input)
    node.output.extend(host.proto.output)
    node.attribute.extend(map(serialize_attribute, host.node.attributes.values()))
    graph.node.append(node)
    for name in host.proto.output:
        if name:
            graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    imports = [onnx.helper.make_opsetid(*one) for one in host.opset.items()]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=onnx.IR_VERSION)
    plan = Plan(Graph(onnx_ir.from_proto(model)), optimize=False, keep_nan=True)
    results = iter(plan.run(feeds))
    return [_on_host(next(results)) if name else None for name in host.proto.output]


def _on_host(result: Any) -> Any:
    return result.asnumpy() if isinstance(result, np.ndarray) else result


def _elements_of(value: Value) -> Any:
    """Known elements, or none where there are none."""
    return numpy.empty(value.shape, value.dtype) if value.constant is None else value.constant


def alias(
    node: onnx_ir.Node, inputs: Sequence[Value | None], attributes: Mapping[str, object]
) -> Value | None:
    first = inputs[0] if inputs else None
    if first is None or len(node.outputs) != 1:
        return None
    if node.op_type in ("Cast", "CastLike"):
        return first if _type_of_cast(node, inputs) == first.dtype else None
    others = [None if value is None else _elements(value) for value in inputs[1:]]
    shape = alias_shape(node.op_type, first.shape, others, dict(attributes))
    return None if shape is None else first.reshaped(shape)


def _elements(value: Value) -> Any:
    return UNKNOWN if value.constant is None else value.constant


def _type_of_cast(node: onnx_ir.Node, inputs: Sequence[Value | None]) -> str:
    if node.op_type == "Cast":
        return str(onnx_ir.DataType(node.attributes.get_int("to")).numpy())
    return "" if inputs[1] is None else inputs[1].dtype
