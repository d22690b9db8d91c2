"""Recognizes attention that models spell out: one node can be one kernel.

Where a mask leaves nothing to a query, Softmax gives NaN, and the operator 0.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy
import onnx_ir

from .._spec import Dim, dims_of
from .._summary import label_of
from ._pass import Pass, is_onnx
from ._patterns import (
    constant,
    giver_of,
    number,
    only_user,
    put,
    rank_of,
    register,
    remove,
    scaled,
)
from .transposes import order_of

# Since which version of ONNX's operators there is such a node.
_SINCE = 23
# Added to a score it leaves nothing of it in float32.
_ABSORBING = -1e30
# What a score has that weighs nothing beside another.
_LOW = -1e9


def recognize(model: onnx_ir.Model, masks_left: Container[onnx_ir.Value] = ()) -> list[str]:
    """Makes attention one node each, but with masks of these; gives the names of nodes removed."""
    removed: list[str] = []
    if model.opset_imports.get("", 1) < _SINCE:
        return removed
    for node in list(model.graph):
        if node.graph is not None and is_onnx(node, "Softmax"):
            removed += _attention(node, masks_left)
    return removed


def _attention(softmax: onnx_ir.Node, masks_left: Container[onnx_ir.Value]) -> list[str]:
    """softmax(q k^T * scale + mask) v, of four axes: batch, heads, positions, elements.

    In place of a mask there may be a condition of which scores are left out.
    """
    scores = softmax.inputs[0]
    last = only_user(softmax.outputs[0], "MatMul")
    rank = rank_of(scores)
    if last is None or last.inputs[0] is not softmax.outputs[0] or rank not in (3, 4):
        return []
    if softmax.attributes.get_int("axis", -1) not in (-1, rank - 1) or scores is None:
        return []
    value = last.inputs[1]
    found = _scores(scores, None)
    masked = giver_of(scores, "Add")
    if found is None and masked is not None and only_user(masked.outputs[0], "Softmax"):
        first, second = masked.inputs
        for one, mask in ((first, second), (second, first)):
            if found is None and one is not None and mask is not None:
                found = _scores(one, mask)
    chosen = giver_of(scores, "Where")
    filled = None if chosen is None else _filled(chosen)
    if filled is not None and _is_inside(scores):
        found = _scores(filled.scores, filled.condition)
    if found is None or rank_of(value) != rank or value is None:
        return []
    query, turned, scale, mask = found
    if not all(one.dtype == onnx_ir.DataType.FLOAT for one in (query, turned, value)):
        return []
    # The operator has no batch or heads that are repeated, but for whole groups of heads.
    dims = [dims_of(one.shape) or () for one in (query, turned, value)]
    before = dims[0][:-2]
    if None in before or any(one[:-2] != before or not one for one in dims):
        return []
    if mask is not None and (mask in masks_left or not _fits(mask, (*dims[0][:-1], dims[1][-1]))):
        return []
    # The operator multiplies both sides by the root of the scale.
    if not scale > 0:
        return []
    key = _turned_back(turned, last)
    if key is None:
        return []
    if filled is not None:
        mask = _added(filled, last)
    operands, attributes = [query, key, value, mask], {"scale": scale}
    return (put if rank == 4 else _put_of_one_head)(last, "Attention", operands, attributes)


def _put_of_one_head(
    last: onnx_ir.Node,
    operator: str,
    operands: Sequence[onnx_ir.Value | None],
    attributes: Mapping[str, float],
) -> list[str]:
    """The same as `put` for operands without an axis of heads, which they get, and the result does
    not have."""
    graph = last.graph
    assert isinstance(graph, onnx_ir.Graph)
    heads = register(graph, onnx_ir.tensor(numpy.array([1], "int64")), f"{last.name}_heads")
    label, given = label_of(last), list[onnx_ir.Value | None]()
    for one in operands:
        # A mask of positions alone is the same for all heads.
        if one is None or rank_of(one) == 2:
            given.append(one)
        else:
            dims = one.shape
            assert dims is not None
            made = onnx_ir.node("Unsqueeze", [one, heads], name=f"{label}.heads{len(given)}")
            made.outputs[0].type = one.type
            made.outputs[0].shape = onnx_ir.Shape([dims[0], 1, *dims[1:]])
            graph.insert_before(last, made)
            given.append(made.outputs[0])
    kernel = onnx_ir.node(operator, given, attributes, name=f"{label}.attention")
    kernel.metadata_props.update(last.metadata_props)
    result, shape = last.outputs[0], last.outputs[0].shape
    kernel.outputs[0].type = result.type
    if shape is not None:
        kernel.outputs[0].shape = onnx_ir.Shape([shape[0], 1, *shape[1:]])
    graph.insert_before(last, kernel)
    removed = put(last, "Squeeze", [kernel.outputs[0], heads])
    if not removed:
        remove(kernel)
    return removed


def _scores(
    value: onnx_ir.Value, mask: onnx_ir.Value | None
) -> tuple[onnx_ir.Value, onnx_ir.Value, float, onnx_ir.Value | None] | None:
    """Query, key with its last axes exchanged, and scale of what a mask is added to."""
    if not _is_inside(value) or (mask is not None and not _is_mask(mask)):
        return None
    product, scale = giver_of(value, "MatMul"), 1.0
    if product is None:
        before, scale = scaled(giver_of(value, "Mul", "Div"))
        product = giver_of(before, "MatMul")
        if product is None or before is None or not _is_inside(before):
            return None
    query, turned = product.inputs
    rank = rank_of(value)
    if query is None or turned is None or rank_of(query) != rank or rank_of(turned) != rank:
        return None
    return query, turned, scale, mask


@dataclass(frozen=True)
class _Filled:
    """Scores that have a number in place of them where a condition is, or is not."""

    scores: onnx_ir.Value
    condition: onnx_ir.Value
    fill: float
    is_kept: bool  # whether scores stay where the condition is true


def _filled(where: onnx_ir.Node) -> _Filled | None:
    """What a Where does, where adding its number to scores gives the same weights.

    Scores that are all left out weigh the same, which only a number that nothing is left beside
    gives when it is added.
    """
    condition, kept, other = where.inputs
    if condition is None or kept is None or other is None:
        return None
    for scores, filler, is_kept in ((kept, other, True), (other, kept, False)):
        fill = number(filler)
        if fill is not None and fill <= _LOW:
            found = _Filled(scores, condition, fill, is_kept)
            return found if fill <= _ABSORBING or _leaves_keys(found) else None
    return None


def _leaves_keys(filled: _Filled) -> bool:
    """Whether a condition is known to leave a key to each query."""
    elements = constant(filled.condition)
    if elements is None or elements.ndim == 0:
        return False
    return bool((elements == filled.is_kept).any(axis=-1).all())


def _added(filled: _Filled, before: onnx_ir.Node) -> onnx_ir.Value:
    """A mask to be added to scores for a condition."""
    graph = before.graph
    assert isinstance(graph, onnx_ir.Graph)
    numbers = [
        register(graph, onnx_ir.tensor(numpy.float32(value)), f"{filled.condition.name}_{name}")
        for name, value in (("kept", 0.0), ("filled", filled.fill))
    ]
    if not filled.is_kept:
        numbers.reverse()
    made = onnx_ir.node("Where", [filled.condition, *numbers])
    made.outputs[0].dtype = onnx_ir.DataType.FLOAT
    made.outputs[0].shape = filled.condition.shape
    graph.insert_before(before, made)
    return made.outputs[0]


def _is_mask(value: onnx_ir.Value) -> bool:
    rank = rank_of(value)
    return value.dtype in (onnx_ir.DataType.FLOAT, onnx_ir.DataType.BOOL) and rank in (2, 3, 4)


def _fits(mask: onnx_ir.Value, scores: Sequence[Dim]) -> bool:
    """Whether a mask has as many keys as the scores, and gives the sum no other shape than theirs.

    An addition repeats a mask of one key for all, but the operator takes it for one without the
    others.
    """
    dims = dims_of(mask.shape)
    if not dims or dims[-1] is None or dims[-1] != scores[-1]:
        return False
    pairs = zip(dims[-2::-1], scores[-2::-1], strict=False)
    return all(one == 1 or (one is not None and one == other) for one, other in pairs)


def _is_inside(value: onnx_ir.Value) -> bool:
    return len(value.uses()) == 1 and not value.is_graph_output()


def _turned_back(turned: onnx_ir.Value, before: onnx_ir.Node) -> onnx_ir.Value | None:
    """What has the last two axes of a transposed value in their order before."""
    node = giver_of(turned, "Transpose")
    order = None if node is None else order_of(node)
    if node is None or order is None or node.inputs[0] is None:
        return None
    wanted = [*order[:-2], order[-1], order[-2]]
    x = node.inputs[0]
    if wanted == list(range(len(order))):
        return x
    graph = before.graph
    assert isinstance(graph, onnx_ir.Graph)
    made = onnx_ir.node("Transpose", [x], {"perm": wanted}, name=node.name)
    made.metadata_props.update(node.metadata_props)
    made.outputs[0].type = x.type
    if x.shape is not None:
        made.outputs[0].shape = onnx_ir.Shape([x.shape[axis] for axis in wanted])
    graph.insert_before(before, made)
    return made.outputs[0]


ATTENTION = Pass("attention", "recognizes attention where models spell it out", recognize)
