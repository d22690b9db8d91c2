"""The gradient of attention, which has one kernel as attention itself has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from ....graph._spec import Dim, dims_of
from ...operators import DOMAIN
from .._rules import Call, Declined, LeftToBody, expansion, gradient
from .._writer import Writer

_HEADS_FIRST = [0, 2, 1, 3]


@expansion("Attention")
def _attention(to: Writer, call: Call) -> ir.Value:
    try:
        return _in_training(to, call)
    except Declined as error:
        raise LeftToBody(str(error)) from None


def _in_training(to: Writer, call: Call) -> ir.Value:
    """The same with what its gradient needs."""
    q, k, v = (call.input(index) for index in range(3))
    mask = call.optional(3)
    if any(value.name for value in call.node.outputs[1:]) or len(call.node.inputs) > 4:
        raise Declined("keys and values of before, or further outputs")
    if call.number("softcap", 0.0) or call.node.attributes.get("softmax_precision") is not None:
        raise Declined("a bound of scores, or another precision of weights")
    if mask is not None and call.wants(3):
        raise Declined("the gradient of a mask")
    dims = [call.dims(index) for index in range(3)]
    joined = len(dims[0]) == 3
    if joined:
        heads, kv_heads = (call.integer(f"{name}_num_heads", 0) for name in ("q", "kv"))
        if not 0 < kv_heads <= heads or heads % kv_heads:
            raise Declined(f"{heads} heads of queries and {kv_heads} of keys")
        size = _known(dims[0][2]) // heads
    else:
        size = _known(dims[0][3])
    if mask is not None and _keys_of(call.dims(3)) != dims[1][1 if joined else 2]:
        raise Declined("a mask of fewer keys")
    scale = call.number("scale", 1 / math.sqrt(max(size, 1)))
    if scale < 0:
        raise Declined("a negative scale")
    attributes: dict[str, Any] = {"scale": scale, "is_causal": call.integer("is_causal", 0)}
    given = None if joined else _with_joined_heads(to, (q, k, v))
    if given is not None:
        heads, kv_heads = _known(dims[0][1]), _known(dims[1][1])
        q, k, v = given
    if joined or given is not None:
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    made = to.own("AttentionTraining", q, k, v, mask, types=[q.dtype] * 2, **attributes)[0]
    if given is None:
        return made
    apart = to.Reshape(made, to.ints([0, 0, heads, _known(dims[2][3])]))
    moved: ir.Value = to.Transpose(apart, perm=_HEADS_FIRST)
    return moved


@gradient("AttentionTraining", domain=DOMAIN)
def _attention_training(to: Writer, call: Call) -> Sequence[ir.Value | None]:
    names = ("q_num_heads", "kv_num_heads", "is_causal")
    attributes: dict[str, Any] = {name: call.integer(name, 0) for name in names}
    made = to.own(
        "AttentionGrad",
        call.dy,
        *(call.input(index) for index in range(3)),
        *call.node.outputs,
        call.optional(3),
        types=[call.x.dtype] * 3,
        scale=call.number("scale", 1.0),
        **attributes,
    )
    for index, value in enumerate(made):
        value.shape = call.input(index).shape
    return made


def _with_joined_heads(to: Writer, values: Sequence[ir.Value]) -> list[ir.Value] | None:
    """Values whose heads have been moved in front of the positions, as they were before that.

    So no gradient is moved back.
    """
    found = []
    for value in values:
        node = value.producer()
        if node is None or node.op_type != "Transpose" or node.domain or node.inputs[0] is None:
            return None
        if list(node.attributes.get_ints("perm", ())) != _HEADS_FIRST:
            return None
        before = node.inputs[0]
        dims = dims_of(before.shape) or (None,) * 4
        joined = (*dims[:2], _known(dims[2]) * _known(dims[3]))
        apart = before.producer()
        source = None if apart is None or apart.op_type != "Reshape" else apart.inputs[0]
        if source is not None and None not in joined and dims_of(source.shape) == joined:
            found.append(source)
            continue
        found.append(to.Reshape(before, to.ints([0, 0, _known(joined[2])])))
        found[-1].shape = ir.Shape(list(joined))
    return found


def _keys_of(mask: Sequence[Dim]) -> Dim:
    return mask[-1] if mask else None


def _known(extent: Dim) -> int:
    if not isinstance(extent, int):
        raise Declined(f"the extent {extent} varies")
    return extent
