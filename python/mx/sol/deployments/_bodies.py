"""Operators that are short for nodes of others: by ONNX's definition, or as we say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import onnx_ir

from ...graph.lowering._body import body_of
from ...graph.lowering._host import HostNode
from ...graph.lowering._value import Declined
from ...graph.lowering._value import Value as Tensor
from ._program import Value

if TYPE_CHECKING:
    from ._lower import Lowering


def by_body(
    to: Lowering, inputs: Sequence[Value | None], host: HostNode, count: int
) -> list[Value]:
    """What the nodes give that the operator is short for. Declined where one has no kernel."""
    tensors = [None if one is None else Tensor(one.shape, one.dtype) for one in inputs]
    function = body_of(host.proto, tensors, host.opset, nested=True)
    values = dict(zip(function.inputs, inputs, strict=False))
    opset = {**host.opset, **function.opset_imports}
    _lower_all(to, function, values, opset, "its body")
    found = [values.get(value) for value in function.outputs[:count]]
    return [value for value in found if value is not None]


def _lower_all(
    to: Lowering,
    nodes: Sequence[onnx_ir.Node],
    values: dict[onnx_ir.Value, Value],
    opset: Mapping[str, int],
    where: str,
) -> None:
    before = len(to.steps)
    try:
        for node in nodes:
            made, _ = to.outputs(node, values, opset)
            values.update(zip(node.outputs, made, strict=False))
    except Declined as error:
        del to.steps[before:]  # nothing is left of what is lowered in part
        raise Declined(f"{where}: {node.op_type}: {error}") from None
