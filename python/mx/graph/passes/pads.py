"""Has convolutions pad what nodes before them pad."""

from __future__ import annotations

import onnx_ir

from ._pass import Pass, is_onnx
from ._patterns import constant, giver_of, number, rank_of, register, remove


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(model.graph)):
        while node.graph is not None and is_onnx(node, "Conv", "Pad"):
            gone = _merge(node)
            if not gone:
                break
            removed += gone
    return removed


def _merge(node: onnx_ir.Node) -> list[str]:
    """Takes the Pad before a node into it; the nodes that are gone then."""
    pad = giver_of(node.inputs[0], "Pad")
    rank = rank_of(pad.inputs[0]) if pad is not None else None
    if pad is None or rank is None or pad.graph is not node.graph or pad.inputs[0] is None:
        return []
    before = _zeros_around(pad, rank)
    value = pad.outputs[0]
    if before is None or len(value.uses()) != 1 or value.is_graph_output():
        return []
    if is_onnx(node, "Pad"):
        own = _zeros_around(node, rank)
        # In old versions it is an attribute, and axes are a later input.
        if own is None or len(node.inputs) not in (2, 3) or not node.inputs[1]:
            return []
        both = onnx_ir.tensor([a + b for a, b in zip(before, own, strict=True)])
        return _with_pads(node, both, pad)
    if any(before[axis] for axis in (0, 1, rank, rank + 1)):
        return []
    kind = node.attributes.get_string("auto_pad", "NOTSET")
    if kind not in ("NOTSET", "VALID"):
        return []
    spatial = rank - 2
    own = list(node.attributes.get_ints("pads", [0] * (2 * spatial)))
    if kind == "VALID":
        own = [0] * (2 * spatial)
    added = [*before[2:rank], *before[rank + 2 :]]
    node.attributes["pads"] = onnx_ir.AttrInt64s(
        "pads", [a + b for a, b in zip(added, own, strict=True)]
    )
    node.attributes.pop("auto_pad", None)
    node.replace_input_with(0, pad.inputs[0])
    return remove(pad)


def _with_pads(node: onnx_ir.Node, pads: onnx_ir.TensorProtocol, inner: onnx_ir.Node) -> list[str]:
    graph = node.graph
    if not isinstance(graph, onnx_ir.Graph):
        return []
    value = register(graph, pads, f"{node.outputs[0].name}_pads")
    node.replace_input_with(1, value)
    node.replace_input_with(0, inner.inputs[0])
    return remove(inner)


def _zeros_around(pad: onnx_ir.Node, rank: int) -> list[int] | None:
    """How many zeros a Pad adds before and behind each axis; None where it does something else."""
    if pad.attributes.get_string("mode", "constant") != "constant":
        return None
    if "pads" in pad.attributes:
        found = list(pad.attributes["pads"].as_ints())
        is_zero = pad.attributes.get_float("value", 0.0) == 0
    else:
        elements = constant(pad.inputs[1]) if len(pad.inputs) > 1 else None
        if elements is None:
            return None
        found = [int(one) for one in elements]
        fill = pad.inputs[2] if len(pad.inputs) > 2 else None
        is_zero = fill is None or number(fill) == 0
    if not is_zero or any(one < 0 for one in found):
        return None
    axes_value = pad.inputs[3] if len(pad.inputs) > 3 else None
    if axes_value is None:
        return found if len(found) == 2 * rank else None
    axes = constant(axes_value)
    if axes is None or len(found) != 2 * axes.size:
        return None
    whole = [0] * (2 * rank)
    for index, axis in enumerate(int(one) % rank for one in axes.reshape(-1)):
        whole[axis], whole[rank + axis] = found[index], found[axes.size + index]
    return whole


PADS = Pass("pads", "has convolutions pad what a Pad before them pads", _run)
