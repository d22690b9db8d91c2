"""Merges batch normalization of inference into the convolution or matrix before it."""

from __future__ import annotations

import numpy
import onnx_ir

from .._summary import label_of
from ._channels import OPERATORS, merge_into
from ._pass import Pass, is_onnx, may_replace, replace
from ._patterns import elements_of

# Before, an attribute said whether it was training.
_SINCE = 9


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    if model.opset_imports.get("", 1) < _SINCE:
        return removed
    for node in list(model.graph):
        if is_onnx(node, "BatchNormalization") and _merge(node, model.graph):
            removed.append(label_of(node))
    return removed


def _merge(node: onnx_ir.Node, graph: onnx_ir.Graph) -> bool:
    """Merges one normalization into what it normalizes; returns whether it could."""
    training: int = node.attributes.get_int("training_mode", 0)
    if len(node.inputs) < 5 or training:
        return False
    given = node.inputs[0]
    giver = given.producer() if given is not None else None
    if given is None or giver is None or giver.graph is not graph or len(giver.inputs) < 2:
        return False
    if not is_onnx(giver, *OPERATORS) or given.is_graph_output():
        return False
    if len(given.uses()) != 1 or not may_replace(node.outputs[0], given, graph):
        return False
    if any(value.uses() or value.is_graph_output() for value in node.outputs[1:]):
        return False
    parameters = [elements_of(value) for value in node.inputs[1:5]]
    if any(one is None for one in parameters):
        return False
    scale, shift, mean, variance = (numpy.asarray(one, "float64") for one in parameters)
    epsilon = node.attributes.get_float("epsilon", 1e-5)
    factor = scale / numpy.sqrt(variance + epsilon)
    if not merge_into(giver, factor, shift - mean * factor):
        return False
    replace(node.outputs[0], given)
    graph.remove(node, safe=True)
    return True


BATCH_NORM = Pass(
    "batch_norm", "merges batch normalization into the convolution or matrix before it", _run
)
