"""What is known of small tensors that tell shapes, when some extents in them only have names.

An extent that nobody knows is None. Such a tensor has one axis, or none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import onnx_ir

from .. import numpy as np
from .. import op
from ._constants import Array
from ._proto import SMALL
from ._spec import Dim, dims_of

# Names that onnx gives to extents of which it knows nothing.
_GENERATED = re.compile(r"unk__\d+")


class Numbers(NamedTuple):
    """The elements of a tensor of one axis, or of none."""

    items: tuple[Dim, ...]
    is_scalar: bool = False


Read: TypeAlias = Callable[[onnx_ir.Value | None], Numbers | None]


def numbers_of(array: Array) -> Numbers | None:
    """The elements of an array of whole numbers."""
    if array.dtype.kind not in "iub" or array.ndim > 1 or array.size > SMALL:
        return None
    return Numbers(tuple(int(item) for item in array.reshape(-1)), array.ndim == 0)


def follow(node: onnx_ir.Node, read: Read) -> Numbers | None:
    """What is known of the elements that a node gives; None for nothing."""
    rule = _RULES.get(node.op_type)
    if rule is None or node.domain not in ("", "ai.onnx") or len(node.outputs) != 1:
        return None
    try:
        told = rule(node, read)
    except ValueError:  # a name that our operators cannot compute with, as "a.b"
        return None
    if told is None or len(told.items) > SMALL:
        return None
    return Numbers(tuple(map(named, told.items)), told.is_scalar)


def is_generated(dim: Dim) -> bool:
    """Whether onnx has named an extent."""
    return isinstance(dim, str) and _GENERATED.fullmatch(dim) is not None


def named(dim: Dim) -> Dim:
    """An extent; None for one that is computed from what onnx has named."""
    if isinstance(dim, str) and _GENERATED.search(dim) and not is_generated(dim):
        return None
    return dim


def product(dims: tuple[Dim, ...]) -> Dim:
    """The product of extents."""
    if None in dims:
        return None
    count, names = 1, []
    for dim in dims:
        if isinstance(dim, int):
            count *= dim
        else:
            names.append(dim)
    if not names or not count:
        return count
    if count < 0 or count >= 1 << 62:
        return None
    (spec,) = op.infer(np.reshape, op.TensorSpec((*names, count), "float32"), (-1,))
    told: Dim = spec.shape[0]
    return told


def _sum(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if 0 in (a, b):
        return b if a == 0 else a
    if a is None or b is None or (isinstance(a, int) and a < 0) or (isinstance(b, int) and b < 0):
        return None
    specs = [op.TensorSpec((dim,), "float32") for dim in (a, b)]
    told: Dim = op.infer(np.concatenate, specs)[0].shape[0]
    return told


def _difference(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if b == 0:
        return a
    return 0 if a == b and a is not None else None


def _multiply(a: Dim, b: Dim) -> Dim:
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return product((a, b))


def _quotient(a: Dim, b: Dim) -> Dim:
    if isinstance(a, int) and isinstance(b, int):
        return a // b if b > 0 and a >= 0 else None
    return a if b == 1 else None


def _equal(a: Dim, b: Dim) -> Dim:
    """Extents are never negative."""
    if a is None or b is None:
        return None
    if a == b or (isinstance(a, int) and isinstance(b, int)):
        return int(a == b)
    number = a if isinstance(a, int) else b
    return 0 if isinstance(number, int) and number < 0 else None


def _elementwise(combine: Callable[[Dim, Dim], Dim]) -> Callable[..., Numbers | None]:
    def rule(node: onnx_ir.Node, read: Read) -> Numbers | None:
        told = _broadcast([read(value) for value in node.inputs])
        if told is None or len(told[0]) != 2:
            return None
        rows, is_scalar = told
        return Numbers(tuple(map(combine, *rows)), is_scalar)

    return rule


def _broadcast(given: list[Numbers | None]) -> tuple[list[tuple[Dim, ...]], bool] | None:
    """The elements of several tensors, those of length one as often as the others have them."""
    known = [one for one in given if one is not None]
    if len(known) < len(given) or not known:
        return None
    lengths = {len(one.items) for one in known} - {1}
    if len(lengths) > 1:
        return None
    length = lengths.pop() if lengths else 1
    rows = [one.items if len(one.items) == length else one.items * length for one in known]
    return rows, all(one.is_scalar for one in known)


def _where(node: onnx_ir.Node, read: Read) -> Numbers | None:
    told = _broadcast([read(value) for value in node.inputs])
    if told is None or len(told[0]) != 3:
        return None
    rows, is_scalar = told
    picked = (None if c is None else a if c else b for c, a, b in zip(*rows, strict=True))
    return Numbers(tuple(picked), is_scalar)


def _shape(node: onnx_ir.Node, read: Read) -> Numbers | None:
    dims = None if node.inputs[0] is None else dims_of(node.inputs[0].shape)
    if dims is None:
        return None
    start: int = node.attributes.get_int("start", 0)
    end = node.attributes.get_int("end", None)
    return Numbers(dims[start:end])


def _size(node: onnx_ir.Node, read: Read) -> Numbers | None:
    told = _shape(node, read)
    return None if told is None else Numbers((product(told.items),), True)


def _same(node: onnx_ir.Node, read: Read) -> Numbers | None:
    return read(node.inputs[0])


def _cast(node: onnx_ir.Node, read: Read) -> Numbers | None:
    to = node.attributes.get_int("to", 0)
    return read(node.inputs[0]) if to in (onnx_ir.DataType.INT64, onnx_ir.DataType.INT32) else None


def _flat(node: onnx_ir.Node, read: Read) -> Numbers | None:
    """Between no axis and one; the elements are the same."""
    told = read(node.inputs[0])
    if told is None or len(told.items) != 1:
        return None
    return Numbers(told.items, node.op_type == "Squeeze")


def _gather(node: onnx_ir.Node, read: Read) -> Numbers | None:
    told, index = read(node.inputs[0]), read(node.inputs[1])
    if told is None or index is None or told.is_scalar:
        return None
    picked = []
    for at in index.items:
        if not isinstance(at, int) or not -len(told.items) <= at < len(told.items):
            return None
        picked.append(told.items[at])
    return Numbers(tuple(picked), index.is_scalar)


def _concat(node: onnx_ir.Node, read: Read) -> Numbers | None:
    items: list[Dim] = []
    for value in node.inputs:
        told = read(value)
        if told is None or told.is_scalar:
            return None
        items += told.items
        if len(items) > SMALL:
            return None
    return Numbers(tuple(items))


def _slice(node: onnx_ir.Node, read: Read) -> Numbers | None:
    told = read(node.inputs[0])
    bounds = []
    for position in (1, 2, 4):
        if position < len(node.inputs) and node.inputs[position] is not None:
            one = read(node.inputs[position])
            if one is None or len(one.items) != 1 or not isinstance(one.items[0], int):
                return None
            bounds.append(one.items[0])
    if told is None or told.is_scalar or len(bounds) < 2 or bounds[2:] == [0]:
        return None
    if bounds[2:] and bounds[2] < 0:
        return None
    return Numbers(told.items[slice(*bounds)])


def _product(node: onnx_ir.Node, read: Read) -> Numbers | None:
    told = read(node.inputs[0])
    keep: int = node.attributes.get_int("keepdims", 1)
    return None if told is None else Numbers((product(told.items),), not keep)


_RULES: Mapping[str, Callable[[onnx_ir.Node, Read], Numbers | None]] = {
    "Add": _elementwise(_sum),
    "Cast": _cast,
    "Concat": _concat,
    "Div": _elementwise(_quotient),
    "Equal": _elementwise(_equal),
    "Gather": _gather,
    "Identity": _same,
    "Mul": _elementwise(_multiply),
    "ReduceProd": _product,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "Squeeze": _flat,
    "Sub": _elementwise(_difference),
    "Unsqueeze": _flat,
    "Where": _where,
}
