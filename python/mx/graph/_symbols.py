"""Extents that vary, where onnx's inference knows nothing of them and our operators' does.

onnx gives such an extent a name of its own, which all values that have it share. So one walk over
the nodes, which says what the names mean, is enough.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import onnx_ir

from .. import numpy as np
from .. import op
from ._spec import Dim, dims_of

_GENERATED = re.compile(r"unk__\d+")

Dims: TypeAlias = tuple[Dim, ...]


def is_generated(dim: Dim) -> bool:
    """Whether onnx has named an extent."""
    return isinstance(dim, str) and _GENERATED.fullmatch(dim) is not None


def meanings(graph: onnx_ir.Graph) -> dict[str, Dim]:
    """What the names mean that onnx has given to extents, as far as operators of ours tell."""
    found: dict[str, Dim] = {}
    for node in graph:
        rule = _RULES.get(node.op_type)
        if rule is None or node.domain not in ("", "ai.onnx") or not node.outputs:
            continue
        dims = _with(found, dims_of(node.outputs[0].shape))
        if dims is None or not any(map(is_generated, dims)):
            continue
        inputs = [None if v is None else _with(found, dims_of(v.shape)) for v in node.inputs]
        if not inputs or any(one is None or None in one for one in inputs):
            continue
        try:
            told = rule(node, inputs, dims)
        except (ValueError, TypeError, NotImplementedError):
            continue
        if told is not None and len(told) == len(dims):
            for dim, known in zip(dims, told, strict=True):
                if isinstance(dim, str) and is_generated(dim) and dim != known:
                    found.setdefault(dim, known)
    return found


def replace(value: onnx_ir.Value, names: Mapping[str, Dim]) -> None:
    """Gives the extents of a value that have these names others."""
    dims = dims_of(value.shape)
    if dims is not None and any(dim in names for dim in dims):
        value.shape = onnx_ir.Shape(_with(names, dims) or ())


def _with(names: Mapping[str, Dim], dims: Dims | None) -> Dims | None:
    if dims is None or not names:
        return dims
    return tuple(names.get(dim, dim) if isinstance(dim, str) else dim for dim in dims)


def _infer(operator: Any, *args: Any, **kwargs: Any) -> Dims:
    (spec,) = op.infer(operator, *args, **kwargs)
    return tuple(spec.shape)


def _spec(dims: Dims | None) -> Any:
    return op.TensorSpec(dims, "float32")


def _reshape(node: onnx_ir.Node, inputs: list[Dims | None], dims: Dims) -> Dims | None:
    """The extent that is left to be found, from all others: elements stay as many."""
    left = list(inputs[0] or ())
    divisor, wanted = 1, set()
    for dim in dims:
        if isinstance(dim, int):
            divisor *= dim
        elif dim in left:
            left.remove(dim)
        elif is_generated(dim) and dim not in wanted:
            wanted.add(dim)
        else:
            return None
    count = math.prod(dim for dim in left if isinstance(dim, int))
    if len(wanted) != 1 or not divisor or count % divisor:
        return None
    names = [dim for dim in left if not isinstance(dim, int)]
    found = _product((*names, count // divisor))
    return tuple(found if dim in wanted else dim for dim in dims)


def _flatten(node: onnx_ir.Node, inputs: list[Dims | None], dims: Dims) -> Dims | None:
    given = inputs[0] or ()
    axis = node.attributes.get_int("axis", 1)
    ends = given[:axis], given[axis:]
    return tuple(_product(dims) for dims in ends)


def _product(dims: Dims) -> Dim:
    if all(isinstance(dim, int) for dim in dims):
        return math.prod(dim for dim in dims if isinstance(dim, int))
    return _infer(np.reshape, _spec(dims), (-1,))[0]


def _concat(node: onnx_ir.Node, inputs: list[Dims | None], dims: Dims) -> Dims | None:
    axis = node.attributes.get_int("axis", 0)
    return _infer(np.concatenate, [_spec(dims) for dims in inputs], axis=axis)


def _broadcast(node: onnx_ir.Node, inputs: list[Dims | None], dims: Dims) -> Dims | None:
    made = inputs[0]
    for other in inputs[1:]:
        made = _infer(np.add, _spec(made), _spec(other))
    return made


def _matmul(node: onnx_ir.Node, inputs: list[Dims | None], dims: Dims) -> Dims | None:
    return _infer(np.matmul, _spec(inputs[0]), _spec(inputs[1]))


# Of a node, the shapes of its inputs, and what is known of its output's.
_Rule: TypeAlias = Callable[[onnx_ir.Node, list[Dims | None], Dims], Dims | None]
_BROADCASTING = """
    Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less
    LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub Sum Where Xor
""".split()
_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_BROADCASTING, _broadcast),
    "MatMul": _matmul,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Concat": _concat,
}
