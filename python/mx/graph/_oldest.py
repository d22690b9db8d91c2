"""The oldest operator set in which nodes mean what they mean in the one that graphs are of.

Runtimes know the sets that were released with them, and most nodes are described alike in many.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import onnx
import onnx_ir

from ._opset import OPSET
from ._proto import const_tensor

# Since this one descriptions with the same inputs, outputs and attributes mean the same, and
# attributes that were added have defaults that change nothing.
_FIRST = 21


def make_oldest(model: onnx_ir.Model) -> None:
    """Has a model of OPSET be of the oldest set, of 2024 or later, in which its nodes are as they
    are."""
    if model.opset_imports.get("") != OPSET or model.functions:
        return
    nodes = [
        node
        for node in model.graph.all_nodes()
        if node.domain in ("", "ai.onnx") and onnx.defs.has(node.op_type, OPSET, "")
    ]
    version = next(
        one for one in range(_FIRST, OPSET + 1) if all(_fits(node, one) for node in nodes)
    )
    model.opset_imports[""] = version
    needed = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", version)])
    model.ir_version = min(model.ir_version, needed)


def _fits(node: onnx_ir.Node, version: int) -> bool:
    """Whether a set has a node's operator, with its attributes, for values of its types."""
    operator = node.op_type
    if not onnx.defs.has(operator, version, "") or not means_the_same(operator, version):
        return False
    old = onnx.defs.get_schema(operator, version, "")
    if old.since_version == onnx.defs.get_schema(operator, OPSET, "").since_version:
        return True
    if operator == "Mod" and not node.attributes.get_int("fmod", 0):
        # Of floats, too, since it is described anew.
        return all(
            _type_of(value).startswith(("tensor(int", "tensor(uint")) for value in node.inputs
        )
    return (
        set(node.attributes) <= set(old.attributes)
        and _are_of(node.inputs, old.inputs)
        and _are_of(node.outputs, old.outputs)
    )


def _are_of(values: Sequence[onnx_ir.Value | None], described: Sequence[Any]) -> bool:
    return all(
        value is None or _type_of(value) in described[min(number, len(described) - 1)].types
        for number, value in enumerate(values)
    )


def _type_of(value: onnx_ir.Value | None) -> str:
    """A type as descriptions have it, "" for one that is not known."""
    kind = None if value is None else value.type
    if value is not None and kind is None:
        tensor = const_tensor(value)
        kind = None if tensor is None else onnx_ir.TensorType(tensor.dtype)
    return "" if kind is None else _text(kind)


def _text(kind: Any) -> str:
    if isinstance(kind, onnx_ir.TensorType):
        return f"tensor({kind.dtype.name.lower()})"
    around = {onnx_ir.SequenceType: "seq", onnx_ir.OptionalType: "optional"}.get(type(kind))
    return "" if around is None else f"{around}({_text(kind.elem_type)})"


@functools.cache
def means_the_same(operator: str, version: int) -> bool:
    """Whether an operator of a set has the same inputs, outputs and attributes in OPSET, of more
    types at most."""
    old, new = (onnx.defs.get_schema(operator, one, "") for one in (version, OPSET))
    if old.since_version == new.since_version:
        return True
    if old.deprecated or new.deprecated:
        return False
    known = set(old.attributes) if version >= _FIRST else None
    if _signature(old, known) != _signature(new, known):
        return False
    pairs = zip((*old.inputs, *old.outputs), (*new.inputs, *new.outputs), strict=True)
    return all(set(before.types) <= set(now.types) for before, now in pairs)


def _signature(schema: onnx.defs.OpSchema, known: set[str] | None) -> Any:
    """What a description says of an operator, but for the types of its inputs and outputs, and for
    attributes that may be left out and are not among the known ones."""
    ends = [
        [(one.option, one.is_homogeneous, one.min_arity) for one in several]
        for several in (schema.inputs, schema.outputs)
    ]
    attributes = {
        name: (one.type, one.required, one.default_value.SerializeToString(deterministic=True))
        for name, one in schema.attributes.items()
        if known is None or name in known or one.required
    }
    return ends, attributes
