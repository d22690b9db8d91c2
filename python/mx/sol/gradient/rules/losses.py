"""Gradients of losses."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ....importers._builder import dtype_of
from ...operators import DOMAIN
from .._rules import Call, expansion, gradient
from .._writer import Writer


@expansion("SoftmaxCrossEntropyLoss")
def _loss(to: Writer, call: Call) -> Sequence[ir.Value]:
    ignored = call.node.attributes.get("ignore_index")
    return to.own(
        "SoftmaxCrossEntropyTraining",
        call.x,
        call.input(1),
        call.optional(2),
        types=[call.x.dtype] * 2,
        reduction=call.string("reduction", "mean"),
        # No label is so small.
        ignore_index=-(2**31) if ignored is None else call.integer("ignore_index", 0),
    )[: len(call.node.outputs)]


@gradient("SoftmaxCrossEntropyTraining", domain=DOMAIN)
def _training(to: Writer, call: Call) -> list[ir.Value | None]:
    log_prob = call.node.outputs[1]
    grads: list[ir.Value] = []
    if call.grads[0] is not None:
        made = to.own_like(
            "SoftmaxCrossEntropyGrad",
            call.grads[0],
            log_prob,
            call.input(1),
            call.optional(2),
            like=call.x,
            reduction=call.string("reduction", "mean"),
            ignore_index=call.integer("ignore_index", -100),
        )
        grads.append(made)
    if call.grads[1] is not None:
        grads.append(to.own_like("LogSoftmaxGrad", call.grads[1], log_prob, like=call.x, axis=1))
    d_weight = _of_weights(to, call, log_prob) if call.wants(2) else None
    return [grads[0] if len(grads) == 1 else to.Add(*grads), None, d_weight]


def _of_weights(to: Writer, call: Call, log_prob: ir.Value) -> ir.Value | None:
    """For each class the sum of what came for its labels, times their losses without a weight; of
    a mean, times their distance from it, and divided by the weights of all labels."""
    if call.grads[0] is None:
        return None
    dtype, weight, reduction = dtype_of(call.x), call.input(2), call.string("reduction", "mean")
    ignored = to.constant(call.integer("ignore_index", -100), ir.DataType.INT64)
    labels = to.cast(call.input(1), ir.DataType.INT64)
    counts = to.Not(to.Equal(labels, ignored))
    labels = to.where(counts, labels, 0)
    wide = to.Unsqueeze(labels, [1])
    losses = to.Neg(to.Squeeze(to.GatherElements(log_prob, wide, axis=1), [1]))
    shares = to.cast(counts, dtype)
    dy = call.grads[0]
    if reduction == "mean":
        total = to.ReduceSum(to.Mul(to.Gather(weight, labels, axis=0), shares), keepdims=0)
        losses, dy = to.Sub(losses, call.y), to.Div(dy, total)
    found = to.Mul(to.Mul(losses, shares), dy)
    flat = [to.Reshape(one, [-1]) for one in (found, labels)]
    made: ir.Value = to.own_like("GatherGrad", *flat, to.shape(weight), like=weight, axis=0)
    return made
