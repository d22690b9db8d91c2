"""Recognizes activation functions that models spell out: one node can be one kernel."""

from __future__ import annotations

import math

import onnx_ir

from ._pass import Pass, is_onnx
from ._patterns import giver_of, number, only_user, other, put, rank_of, scaled_by

# Since which version of ONNX's operators there are such nodes.
_GELU_SINCE, _SWISH_SINCE, _HARD_SWISH_SINCE = 20, 24, 14


def _run(model: onnx_ir.Model) -> list[str]:
    opset = model.opset_imports.get("", 1)
    removed: list[str] = []
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(model.graph)):
        if node.graph is None:
            continue  # removed since
        if is_onnx(node, "Erf") and opset >= _GELU_SINCE:
            removed += _gelu(node)
        elif node.metadata_props.get("mx.function") == "erfc" and opset >= _GELU_SINCE:
            removed += _gelu_of_erfc(node)
        elif is_onnx(node, "Tanh") and opset >= _GELU_SINCE:
            removed += _gelu_of_tanh(node)
        elif is_onnx(node, "Sigmoid") and opset >= _SWISH_SINCE:
            removed += _swish(node)
        elif is_onnx(node, "HardSigmoid", "Clip") and opset >= _HARD_SWISH_SINCE:
            removed += _hard_swish(node)
    return removed


def _gelu(erf: onnx_ir.Node) -> list[str]:
    """x * 0.5 * (1 + erf(x / sqrt(2))), multiplied in any order."""
    scaled = giver_of(erf.inputs[0])
    x = None if scaled is None else scaled_by(scaled, 1 / math.sqrt(2))
    return [] if x is None else _halved(erf, x, {})


def _gelu_of_erfc(where: onnx_ir.Node) -> list[str]:
    """x * 0.5 * erfc(-x / sqrt(2)), multiplied in any order; the last node of what importers write
    for erfc is marked. The other one of its two ways begins with erf."""
    near = giver_of(where.inputs[2], "Sub")
    erf = None if near is None else giver_of(near.inputs[1], "Erf")
    scaled = None if erf is None else giver_of(erf.inputs[0])
    if scaled is None:
        return []
    x = scaled_by(scaled, -1 / math.sqrt(2))
    if x is None:
        negated = giver_of(scaled_by(scaled, 1 / math.sqrt(2)), "Neg")
        x = None if negated is None else negated.inputs[0]
    return [] if x is None else _half_of(where, x, {})


def _gelu_of_tanh(tanh: onnx_ir.Node) -> list[str]:
    """x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))"""
    scaled = giver_of(tanh.inputs[0])
    inner = None if scaled is None else scaled_by(scaled, math.sqrt(2 / math.pi))
    summed = giver_of(inner, "Add")
    if summed is None:
        return []
    for x, cubic in (summed.inputs, reversed(summed.inputs)):
        if x is not None and _is_cubic(giver_of(cubic, "Mul"), x):
            return _halved(tanh, x, {"approximate": "tanh"})
    return []


def _is_cubic(node: onnx_ir.Node | None, x: onnx_ir.Value) -> bool:
    """Whether a node gives 0.044715 * x ** 3, with the power spelled out or not."""
    cube = None if node is None else scaled_by(node, 0.044715)
    if cube is not None:
        power = giver_of(cube, "Pow")
        if power is not None:
            return power.inputs[0] is x and number(power.inputs[1]) == 3
        return _is_product(giver_of(cube, "Mul"), x, 3)
    # (0.044715 * x) * x * x
    if node is None or x not in node.inputs:
        return False
    rest = giver_of(other(node, x), "Mul")
    if rest is None or x not in rest.inputs:
        return False
    first = giver_of(other(rest, x), "Mul")
    return first is not None and scaled_by(first, 0.044715) is x


def _is_product(node: onnx_ir.Node | None, x: onnx_ir.Value, count: int) -> bool:
    """Whether a node multiplies x with itself so many times."""
    if node is None or x not in node.inputs:
        return False
    rest = other(node, x)
    return rest is x if count == 2 else _is_product(giver_of(rest, "Mul"), x, count - 1)


def _halved(function: onnx_ir.Node, x: onnx_ir.Value, attributes: dict[str, str]) -> list[str]:
    """x * 0.5 * (1 + function), multiplied in any order."""
    shifted = only_user(function.outputs[0], "Add")
    if shifted is None or number(other(shifted, function.outputs[0])) != 1:
        return []
    return _half_of(shifted, x, attributes)


def _half_of(shifted: onnx_ir.Node, x: onnx_ir.Value, attributes: dict[str, str]) -> list[str]:
    """x * 0.5 * what a node gives, multiplied in any order."""
    product = only_user(shifted.outputs[0], "Mul")
    if product is None:
        return []
    factor = other(product, shifted.outputs[0])
    if factor is x or scaled_by(product, 0.5) is shifted.outputs[0]:
        # x * (1 + f) * 0.5, or 0.5 * (1 + f) * x
        last = only_user(product.outputs[0], "Mul", "Div")
        if last is None:
            return []
        if factor is x and scaled_by(last, 0.5) is product.outputs[0]:
            return _put(last, "Gelu", x, attributes)
        if factor is not x and last.op_type == "Mul" and other(last, product.outputs[0]) is x:
            return _put(last, "Gelu", x, attributes)
        return []
    halved = giver_of(factor)
    if halved is not None and scaled_by(halved, 0.5) is x:  # (x * 0.5) * (1 + f)
        return _put(product, "Gelu", x, attributes)
    return []


def _swish(sigmoid: onnx_ir.Node) -> list[str]:
    """x * sigmoid(x)"""
    x = sigmoid.inputs[0]
    product = only_user(sigmoid.outputs[0], "Mul")
    if x is None or product is None or other(product, sigmoid.outputs[0]) is not x:
        return []
    return put(product, "Swish", [x])


def _hard_swish(node: onnx_ir.Node) -> list[str]:
    """x * hardsigmoid(x, 1/6, 0.5), or x * clip(x + 3, 0, 6) / 6"""
    if node.op_type == "HardSigmoid":
        x = node.inputs[0]
        alpha = node.attributes.get_float("alpha", 0.2)
        is_known = math.isclose(alpha, 1 / 6, rel_tol=1e-3)
        if not is_known or node.attributes.get_float("beta", 0.5) != 0.5:
            return []
        product = only_user(node.outputs[0], "Mul")
        if x is None or product is None or other(product, node.outputs[0]) is not x:
            return []
        return _put(product, "HardSwish", x)
    shifted = giver_of(node.inputs[0], "Add")
    bounds = [number(value) for value in node.inputs[1:]]
    if shifted is None or bounds != [0, 6]:
        return []
    for x, three in (shifted.inputs, reversed(shifted.inputs)):
        if x is not None and number(three) == 3:
            return _sixth(node, x)
    return []


def _sixth(clip: onnx_ir.Node, x: onnx_ir.Value) -> list[str]:
    """x * clip / 6, multiplied in any order."""
    first = only_user(clip.outputs[0], "Mul", "Div")
    if first is None:
        return []
    if scaled_by(first, 1 / 6) is clip.outputs[0]:
        last = only_user(first.outputs[0], "Mul")
        if last is not None and other(last, first.outputs[0]) is x:
            return _put(last, "HardSwish", x)
        return []
    if first.op_type != "Mul" or other(first, clip.outputs[0]) is not x:
        return []
    last = only_user(first.outputs[0], "Mul", "Div")
    if last is None or scaled_by(last, 1 / 6) is not first.outputs[0]:
        return []
    return _put(last, "HardSwish", x)


def _put(
    last: onnx_ir.Node, operator: str, x: onnx_ir.Value, attributes: dict[str, str] | None = None
) -> list[str]:
    """Puts one node there, unless a constant with an axis has given a number without axes one."""
    rank = rank_of(x)
    if not rank and (rank is None or rank_of(last.outputs[0]) != 0):
        return []
    return put(last, operator, [x], attributes)


ACTIVATIONS = Pass(
    "activations", "recognizes Gelu, Swish and HardSwish where models spell them out", _run
)
