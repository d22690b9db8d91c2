"""Gradients of losses."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ...operators import DOMAIN
from .._rules import Call, Declined, expansion, gradient
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
    if call.wants(2):
        raise Declined("gradients for the weights of classes")
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
    return [grads[0] if len(grads) == 1 else to.Add(*grads)]
