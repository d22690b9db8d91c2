"""Operators that choose by where an element is: triangles, diagonals, one of many."""

from __future__ import annotations

from typing import Any

import onnx_ir

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._meaning import integer_of_float
from .._table import Known, emits
from .._target import Target
from .._types import type_of
from ._copy import item_type
from ._each import around, each
from ._movement import Inputs, first, ints


@emits("Trilu")
def _trilu(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x, kind = first(inputs), item_type(first(inputs).dtype)
    if len(x.shape) < 2:
        raise Declined(f"a tensor of {len(x.shape)} axes")
    rows, columns = (max(extent, 1) for extent in x.shape[-2:])
    given = len(inputs) > 1 and inputs[1] is not None
    sign = ">=" if attributes.get("upper", 1) else "<="
    lines = [
        f"const int64_t off = i % {columns} - i / {columns} % {rows};",
        f"(({kind} *)out[0])[i] = off {sign} k ? ((const {kind} *)in[0])[i] : 0;",
    ]
    head = [f"const int64_t k = {'*(const int64_t *)in[1]' if given else '0'};"]
    return each("trilu", [x], x.size, lines, head=head)


@emits("EyeLike")
def _eye(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    x = first(inputs)
    dtype = x.dtype
    if "dtype" in attributes:
        dtype = str(onnx_ir.DataType(attributes["dtype"]).numpy())
    if len(x.shape) != 2:
        raise Declined(f"a tensor of {len(x.shape)} axes")
    kind, columns = type_of(dtype), max(x.shape[1], 1)
    one = f"i % {columns} - i / {columns} == {attributes.get('k', 0)}"
    lines = [f"(({kind.memory} *)out[0])[i] = {kind.store(f'({kind.value})({one})')};"]
    return each("eye", [Spec(x.shape, dtype)], x.size, lines, head=["(void)in;"])


@emits("OneHot")
def _one_hot(target: Target, inputs: Inputs, attributes: dict[str, Any], known: Known) -> GenKernel:
    indices, depths, values = first(inputs), ints({}, known, "depth", 1), inputs[2]
    if not depths:
        raise Declined("a depth that depends on the model's inputs")
    if values is None or values.shape != (2,):
        raise Declined("two values that are missing")
    rank, depth = len(indices.shape) + 1, depths[0]
    axis = attributes.get("axis", -1)
    if not -rank <= axis < rank:
        raise Declined(f"axis {axis} of {rank}")
    shape = list(indices.shape)
    shape.insert(axis % rank, depth)
    _, _, behind = around(shape, axis % rank)
    kind, index = item_type(values.dtype), type_of(indices.dtype)
    number = index.load(f"((const {index.memory} *)in[0])[i / {max(depth * behind, 1)} * {behind}"
                        f" + i % {max(behind, 1)}]")  # fmt: skip
    if index.is_float:  # what is no whole number is no position
        number = integer_of_float(type_of("int64"), index, number)
    lines = [
        f"int64_t at = (int64_t){number};",
        f"if (at < 0) at += {depth};",
        f"const int is_on = at == i / {max(behind, 1)} % {max(depth, 1)};",
        f"(({kind} *)out[0])[i] = ((const {kind} *)in[2])[is_on];",
    ]
    out = Spec(tuple(shape), values.dtype)
    return each("one_hot", [out], out.size, lines)
