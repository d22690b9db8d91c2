"""Has convolutions and pools pad what nodes before them pad."""

from __future__ import annotations

import onnx_ir

from ._pass import Pass, is_onnx
from ._patterns import constant, giver_of, number, rank_of, register, remove


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(model.graph)):
        while node.graph is not None and is_onnx(node, "Conv", "MaxPool", "Pad"):
            gone = _merge(node)
            if not gone:
                break
            removed += gone
    return removed


def _merge(node: onnx_ir.Node) -> list[str]:
    """Takes the Pad before a node into it; the nodes that are gone then."""
    between = None if is_onnx(node, "Pad") else _used_once(node.inputs[0], node, "Transpose")
    pad = _used_once(node.inputs[0] if between is None else between.inputs[0], node, "Pad")
    padded = None if pad is None else pad.inputs[0]
    rank = rank_of(padded)
    if pad is None or padded is None or rank is None:
        return []
    zeros = _zeros_around(pad, rank)
    if zeros is None:
        return []
    if is_onnx(node, "Pad"):
        own = _zeros_around(node, rank)
        # In old versions it is an attribute, and axes are a later input.
        if own is None or len(node.inputs) not in (2, 3) or not node.inputs[1]:
            return []
        both = onnx_ir.tensor([a + b for a, b in zip(zeros, own, strict=True)])
        return _with_pads(node, both, pad)
    order = _order_of(between, rank)
    pads = _pads_with([zeros[axis] for axis in (*order, *(rank + axis for axis in order))], node)
    if pads is None or is_onnx(node, "MaxPool") and not _never_sees_zeros(node, pads, padded):
        return []
    node.attributes["pads"] = onnx_ir.AttrInt64s("pads", pads)
    node.attributes.pop("auto_pad", None)
    if between is None:
        node.replace_input_with(0, padded)
        return remove(pad)
    between.replace_input_with(0, padded)
    shape = padded.shape
    between.outputs[0].shape = None if shape is None else onnx_ir.Shape(shape[i] for i in order)
    return remove(pad)


def _used_once(
    value: onnx_ir.Value | None, node: onnx_ir.Node, operator: str
) -> onnx_ir.Node | None:
    """The node of an operator that gives a value to one use alone, in the graph of `node`."""
    giver = giver_of(value, operator)
    if giver is None or value is None or giver.graph is not node.graph:
        return None
    return giver if len(value.uses()) == 1 and not value.is_graph_output() else None


def _order_of(transpose: onnx_ir.Node | None, rank: int) -> list[int]:
    """The axes of its input, as its output has them."""
    if transpose is None:
        return list(range(rank))
    return list(transpose.attributes.get_ints("perm", list(reversed(range(rank)))))


def _pads_with(zeros: list[int], node: onnx_ir.Node) -> list[int] | None:
    """The padding of a convolution or pool with that of a Pad before it; None where it cannot."""
    rank = len(zeros) // 2
    if any(zeros[axis] for axis in (0, 1, rank, rank + 1)):
        return None
    kind = node.attributes.get_string("auto_pad", "NOTSET")
    if kind not in ("NOTSET", "VALID"):
        return None
    own = list(node.attributes.get_ints("pads", [0] * (2 * (rank - 2))))
    if kind == "VALID":
        own = [0] * (2 * (rank - 2))
    return [a + b for a, b in zip([*zeros[2:rank], *zeros[rank + 2 :]], own, strict=True)]


def _never_sees_zeros(pool: onnx_ir.Node, pads: list[int], padded: onnx_ir.Value) -> bool:
    """Whether zeros around a tensor are no maximum of a pool: each window has an element of it, and
    none of these is less."""
    shape = list(pool.attributes.get_ints("kernel_shape", []))
    is_plain = (
        len([one for one in pool.outputs if one.name]) == 1  # positions would be others
        and not pool.attributes.get_int("ceil_mode", 0)
        and set(pool.attributes.get_ints("dilations", [1])) == {1}
    )
    if not is_plain or any(pad >= size for pad, size in zip(pads, shape * 2, strict=True)):
        return False
    if giver_of(padded, "Relu", "Sigmoid", "Abs") is not None:
        return True
    clip = giver_of(padded, "Clip")
    least = number(clip.inputs[1]) if clip is not None and len(clip.inputs) > 1 else None
    return least is not None and least >= 0


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


PADS = Pass("pads", "has convolutions and pools pad what a Pad before them pads", _run)
