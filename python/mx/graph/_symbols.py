"""Extents that vary, where onnx's inference knows nothing of them and our operators' does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import onnx_ir

from .. import numpy as np
from .. import op
from ._custom import find
from ._shapes_as_data import Read, is_generated, named, product
from ._spec import Dim, dims_of

Dims: TypeAlias = tuple[Dim, ...]


def is_known(value: onnx_ir.Value) -> bool:
    """Whether data type and shape of a value are known, up to names that the model has given."""
    if value.type is None or not isinstance(value.type, onnx_ir.TensorType):
        return value.type is not None
    dims = dims_of(value.shape)
    return dims is not None and not any(dim is None or is_generated(dim) for dim in dims)


def told_shape(node: onnx_ir.Node, read: Read) -> Dims | None:
    """The shape of a node's first output, with None for what stays unknown; None for nothing."""
    custom = find(node.domain, node.op_type)
    if custom is not None:
        elements = read(node.inputs[custom.like[0]]) if 0 in custom.like else None
        return None if elements is None else elements.items
    rule = _RULES.get(node.op_type)
    if rule is None or node.domain not in ("", "ai.onnx"):
        return None
    inputs = [() if value is None else dims_of(value.shape) for value in node.inputs]
    made = dims_of(node.outputs[0].shape)
    if any(dims is None or None in dims for dims in inputs):
        return None
    try:
        told = rule(node, [dims or () for dims in inputs], made, read)
    except (ValueError, TypeError, IndexError, NotImplementedError):
        return None
    told = None if told is None else tuple(map(named, told))
    if made is None or told is None or len(made) != len(told):
        return told if made is None else None
    return tuple(b if is_generated(a) or a is None else a for a, b in zip(made, told, strict=True))


def replace(value: onnx_ir.Value, names: Mapping[str, Dim]) -> None:
    """Gives the extents of a value that have these names others."""
    dims = dims_of(value.shape)
    if dims is not None and any(dim in names for dim in dims):
        value.shape = onnx_ir.Shape(names.get(d, d) if isinstance(d, str) else d for d in dims)


def _infer(operator: Any, *args: Any, **kwargs: Any) -> Dims:
    (spec,) = op.infer(operator, *args, **kwargs)
    return tuple(spec.shape)


def _spec(dims: Dims) -> Any:
    return op.TensorSpec(dims, "float32")


def _reshape(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    wanted, given = read(node.inputs[1]), inputs[0]
    zero_is_zero: int = node.attributes.get_int("allowzero", 0)
    if wanted is None:
        return None
    dims = [
        given[axis] if dim == 0 and not zero_is_zero and axis < len(given) else dim
        for axis, dim in enumerate(wanted.items)
    ]
    unknown = [axis for axis, dim in enumerate(dims) if dim is None or dim == -1]
    if len(unknown) == 1:
        dims[unknown[0]] = _rest(given, dims[: unknown[0]] + dims[unknown[0] + 1 :])
    return tuple(None if dim == -1 else dim for dim in dims)


def _rest(given: Dims, dims: list[Dim]) -> Dim:
    """The extent that is left of a shape once it is divided by these."""
    left = list(given)
    divisor = 1
    for dim in dims:
        if isinstance(dim, int):
            divisor *= dim
        elif dim in left:
            left.remove(dim)
        else:
            return None
    count = product(tuple(dim for dim in left if isinstance(dim, int)))
    if not isinstance(count, int) or not divisor or count % divisor:
        return None
    return product((*(dim for dim in left if not isinstance(dim, int)), count // divisor))


def _flatten(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    axis: int = node.attributes.get_int("axis", 1)
    return product(inputs[0][:axis]), product(inputs[0][axis:])


def _concat(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    axis = node.attributes.get_int("axis", 0)
    return _infer(np.concatenate, [_spec(dims) for dims in inputs], axis=axis)


def _tile(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    repeats = read(node.inputs[1])
    if repeats is None or len(repeats.items) != len(inputs[0]):
        return None
    return tuple(
        None if times is None else product((dim, times))
        for dim, times in zip(inputs[0], repeats.items, strict=True)
    )


def _broadcast(
    node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read
) -> Dims | None:
    told = inputs[0]
    for other in inputs[1:]:
        told = _infer(np.add, _spec(told), _spec(other))
    return told


def _matmul(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    return _infer(np.matmul, _spec(inputs[0]), _spec(inputs[1]))


def _filled(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    wanted = read(node.inputs[0])
    return None if wanted is None else wanted.items


def _expand(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    wanted = read(node.inputs[1])
    if wanted is None:
        return None
    given, asked = inputs[0], wanted.items
    length = max(len(given), len(asked))
    given, asked = (1,) * (length - len(given)) + given, (1,) * (length - len(asked)) + asked
    return tuple(
        a if b == 1 or a == b else b if a == 1 else None for a, b in zip(given, asked, strict=True)
    )


def _plus(dim: Dim, number: int) -> Dim:
    """An extent that is larger by so many."""
    if isinstance(dim, int):
        return dim + number
    if dim is None or number == 0:
        return dim
    spec = op.TensorSpec((f"{dim} {'+' if number > 0 else '-'} {abs(number)}",), "float32")
    told: Dim = spec.shape[0]
    return told


def _window(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    """The extents along which a window moves by one."""
    count = len(inputs[0]) - 2
    ones = [1] * count
    kernel: Dims = tuple(node.attributes.get_ints("kernel_shape", ())) or inputs[1][2:]
    strides = node.attributes.get_ints("strides", ones)
    dilations = node.attributes.get_ints("dilations", ones)
    pads = node.attributes.get_ints("pads", [0] * 2 * count)
    how = node.attributes.get_string("auto_pad", "NOTSET")
    if made is None or len(pads) != 2 * count or len(kernel) != count:
        return None
    dims: list[Dim] = [*made[:2]]
    for axis, size in enumerate(kernel):
        if strides[axis] != 1 or not isinstance(size, int):
            dims.append(None)
            continue
        grown = 0
        if how in ("NOTSET", "VALID"):
            padding = pads[axis] + pads[axis + count] if how == "NOTSET" else 0
            grown = padding - (size - 1) * dilations[axis]
        dims.append(_plus(inputs[0][axis + 2], grown))
    return tuple(dims)


def _pad(node: onnx_ir.Node, inputs: list[Dims], made: Dims | None, read: Read) -> Dims | None:
    pads = read(node.inputs[1])
    axes = read(node.inputs[3]) if len(node.inputs) > 3 and node.inputs[3] is not None else None
    rank = len(inputs[0])
    if pads is None or (axes is None and len(node.inputs) > 3 and node.inputs[3] is not None):
        return None
    padded = list(range(rank)) if axes is None else [int(str(axis)) for axis in axes.items]
    dims: list[Dim] = list(inputs[0])
    for position, axis in enumerate(padded):
        before, after = pads.items[position], pads.items[position + len(padded)]
        known = isinstance(before, int) and isinstance(after, int)
        dims[axis] = _plus(dims[axis], int(str(before)) + int(str(after))) if known else None
    return tuple(dims)


# Of a node, the shapes of its inputs, what is known of its output's, and of inputs' elements.
_Rule: TypeAlias = Callable[[onnx_ir.Node, list[Dims], Dims | None, Read], Dims | None]
_BROADCASTING = """
    Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less
    LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub Sum Where Xor
""".split()
_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_BROADCASTING, _broadcast),
    "Concat": _concat,
    "ConstantOfShape": _filled,
    "Expand": _expand,
    "Flatten": _flatten,
    "MatMul": _matmul,
    **dict.fromkeys(("AveragePool", "Conv", "LpPool", "MaxPool"), _window),
    "Pad": _pad,
    "Reshape": _reshape,
    "Tile": _tile,
}
