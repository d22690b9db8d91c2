"""Lists of arrays, which loops read and write: an array with an axis more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import onnx_ir as ir

from ..._builder import Size, dtype_of, shape_of
from .._call import Builder, Call, Unsupported, rule

_INT64 = ir.DataType.INT64


@dataclass(frozen=True)
class Reserved:
    """A list without elements, of which the number, or the shape of one, is not known before the
    model runs: the loop that writes it first makes it an array."""

    count: Size
    shape: Sequence[int] | None
    dtype: ir.DataType


@rule("TensorListReserve")
def reserve(b: Builder, call: Call) -> ir.Value | Reserved:
    given = call.known(1)
    count = b.cast(call[1], _INT64) if given is None else int(given)
    found = call.known(0)
    shape = None if found is None or found.ndim == 0 else [int(one) for one in found]
    if shape is None or min(shape, default=0) < 0:
        tensor = written(call.op.outputs[0])
        is_known = tensor is not None and tensor.shape.is_fully_defined()
        shape = [int(one) for one in tensor.shape.as_list()] if is_known else None
    if shape is None or not isinstance(count, int):
        return Reserved(count, shape, call.dtype("element_dtype"))
    return _empty(b, count, shape, call.dtype("element_dtype"))


def _empty(b: Builder, count: Size, shape: Sequence[Size], dtype: ir.DataType) -> ir.Value:
    sizes = [count, *shape]
    result = b.full(sizes, 0, dtype)
    result.shape = ir.Shape([one if isinstance(one, int) else None for one in sizes])
    return result


def written(tensor: Any) -> Any:
    """What is written into a list: in a loop, mostly. None where that cannot be told."""
    for op in tensor.consumers():
        found = None
        index = next(n for n, one in enumerate(op.inputs) if one is tensor)
        if op.type == "TensorListSetItem":
            found = op.inputs[2]
        elif op.type in ("While", "StatelessWhile"):
            body = op.graph._get_function(op.get_attr("body").name)
            found = written(body.graph.inputs[index])
        elif op.type == "Identity":
            found = written(op.outputs[0])
        if found is not None:
            return found
    return None


def made(b: Builder, body: Any, inputs: Sequence[Any]) -> list[Any]:
    """What a loop begins with: lists that are reserved are arrays, as long as their elements are in
    the first turn."""
    found = list(inputs)
    for n, one in enumerate(inputs):
        if not isinstance(one, Reserved):
            continue
        shape: Sequence[Size] | None = one.shape
        if shape is None:
            tensor = written(body.graph.inputs[n])
            if tensor is None or tensor.graph is not body.graph or tensor.shape.rank is None:
                raise Unsupported("a list of arrays whose shape is not known")
            assert b.inline is not None
            (element,) = b.inline(body, inputs, b, [tensor])
            if element is None:
                continue  # what cannot be imported has been noted
            shape = b.sizes(element)
        found[n] = _empty(b, one.count, shape, one.dtype)
    return found


def _array(call: Call) -> ir.Value:
    """The list as an array."""
    if isinstance(call.inputs[0], Reserved):
        raise Unsupported("a list of which the length or the shape of elements is not known")
    return call[0]


@rule("TensorListFromTensor")
def from_array(b: Builder, call: Call) -> ir.Value:
    return call[0]


@rule("TensorListStack")
def stack(b: Builder, call: Call) -> ir.Value:
    return _array(call)


@rule("TensorListGetItem")
def get(b: Builder, call: Call) -> ir.Value:
    return b.Gather(_array(call), b.cast(call[1], _INT64), axis=0)


@rule("TensorListSetItem")
def set_(b: Builder, call: Call) -> ir.Value:
    array = _array(call)
    position = b.Reshape(b.cast(call[1], _INT64), [1, 1])
    result = b.ScatterND(array, position, b.Unsqueeze(b.cast(call[2], dtype_of(array)), [0]))
    result.shape = array.shape
    return result


@rule("TensorListLength")
def length(b: Builder, call: Call) -> ir.Value:
    array = call.inputs[0]
    if isinstance(array, Reserved):
        return b.cast(array.count, call.out())
    return b.cast(b.size(array, 0), call.out()) if shape_of(array) else array
