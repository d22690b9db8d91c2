"""Layers in training that a model has with fewer outputs than their gradients need."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from ...operators import DOMAIN, OPERATORS
from .._rules import Call, Declined, expansion
from .._writer import Writer

_SEVERAL = [name for name, one in OPERATORS.items() if len(one.outputs) > 1]


@expansion(*(name for name in _SEVERAL if name.endswith("Training")), domain=DOMAIN)
def _with_all_outputs(to: Writer, call: Call) -> Sequence[ir.Value]:
    """The same node, which gives all that it can."""
    count = len(OPERATORS[call.node.op_type].outputs)
    there = [value for value in call.node.outputs if value.name]
    if len(there) == count:
        raise Declined("it does already")
    attributes = {name: one.value for name, one in call.node.attributes.items()}
    made = to.own(call.node.op_type, *call.node.inputs, types=[None] * count, **attributes)
    return made[: len(call.node.outputs)]
