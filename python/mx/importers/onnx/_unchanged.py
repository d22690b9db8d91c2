"""Whether the nodes of a model mean the same in the operator set that graphs are of.

Then nothing of them has to be converted, for which onnx copies the descriptions of all operators of
all sets: 5 MB, and a millisecond for each dozen of nodes.
"""

from __future__ import annotations

import functools
from typing import Any

import onnx

from ...graph._opset import OPSET
from ._walk import graphs_of


def is_unchanged(proto: onnx.ModelProto, version: int, file: str) -> bool:
    """Whether all operators that the set has, of this version, are described alike in OPSET."""
    operators = {
        node.op_type
        for graph in graphs_of(proto.graph, file)
        for node in graph.node
        if node.domain in ("", "ai.onnx") and onnx.defs.has(node.op_type, version, "")
    }
    return all(_means_the_same(operator, version) for operator in operators)


@functools.cache
def _means_the_same(operator: str, version: int) -> bool:
    """Whether an operator has the same inputs, outputs and attributes, of more types at most."""
    old, new = (onnx.defs.get_schema(operator, one, "") for one in (version, OPSET))
    if old.since_version == new.since_version:
        return True
    if old.deprecated or new.deprecated or _signature(old) != _signature(new):
        return False
    pairs = zip((*old.inputs, *old.outputs), (*new.inputs, *new.outputs), strict=True)
    return all(set(before.types) <= set(now.types) for before, now in pairs)


def _signature(schema: onnx.defs.OpSchema) -> Any:
    """What a description says of an operator, but for the types of its inputs and outputs."""
    ends = [
        [(one.option, one.is_homogeneous, one.min_arity) for one in several]
        for several in (schema.inputs, schema.outputs)
    ]
    attributes = {
        name: (one.type, one.required, one.default_value.SerializeToString(deterministic=True))
        for name, one in schema.attributes.items()
    }
    return ends, attributes
