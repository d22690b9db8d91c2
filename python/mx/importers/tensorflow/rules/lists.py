"""Lists of arrays, which loops read and write: an array with an axis more."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from ..._builder import dtype_of, shape_of
from .._call import Builder, Call, Unsupported, rule

_INT64 = ir.DataType.INT64


@rule("TensorListReserve")
def reserve(b: Builder, call: Call) -> ir.Value:
    (count,) = call.ints(1, "the number of a list's elements")
    found = call.known(0)
    shape = None if found is None or found.ndim == 0 else [int(one) for one in found]
    if shape is None or min(shape, default=0) < 0:
        shape = _written(call.op.outputs[0])
    if shape is None:
        raise Unsupported("a list of arrays whose shape is not known")
    result = b.full([count, *shape], 0, call.dtype("element_dtype"))
    result.shape = ir.Shape([count, *shape])
    return result


def _written(tensor: Any) -> list[int] | None:
    """The shape of what is written into a list, where TensorFlow knows it: in a loop, mostly."""
    for op in tensor.consumers():
        found = None
        index = next(n for n, one in enumerate(op.inputs) if one is tensor)
        if op.type == "TensorListSetItem" and op.inputs[2].shape.is_fully_defined():
            found = op.inputs[2].shape.as_list()
        elif op.type in ("While", "StatelessWhile"):
            body = op.graph._get_function(op.get_attr("body").name)
            found = _written(body.graph.inputs[index])
        elif op.type == "Identity":
            found = _written(op.outputs[0])
        if found is not None:
            return [int(one) for one in found]
    return None


@rule("TensorListFromTensor")
def from_array(b: Builder, call: Call) -> ir.Value:
    return call[0]


@rule("TensorListStack")
def stack(b: Builder, call: Call) -> ir.Value:
    return call[0]


@rule("TensorListGetItem")
def get(b: Builder, call: Call) -> ir.Value:
    return b.Gather(call[0], b.cast(call[1], _INT64), axis=0)


@rule("TensorListSetItem")
def set_(b: Builder, call: Call) -> ir.Value:
    position = b.Reshape(b.cast(call[1], _INT64), [1, 1])
    result = b.ScatterND(call[0], position, b.Unsqueeze(b.cast(call[2], dtype_of(call[0])), [0]))
    result.shape = call[0].shape
    return result


@rule("TensorListLength")
def length(b: Builder, call: Call) -> ir.Value:
    return b.cast(b.size(call[0], 0), call.out()) if shape_of(call[0]) else call[0]
