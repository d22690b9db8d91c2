"""Writes Einsum as products of matrices, which other passes and kernels know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import onnx_ir

from .._einsum import NotWritten, write_einsum
from .._spec import Dim
from ._pass import Pass, is_onnx, may_replace, replace
from ._patterns import register, remove

# Since this version axes are inputs of all operators that are written.
_SINCE = 13
# Sums of smaller types are computed in float32, and rounded once, where the node stays as it is.
_TYPES = (onnx_ir.DataType.FLOAT, onnx_ir.DataType.DOUBLE)


def _run(model: onnx_ir.Model) -> list[str]:
    removed: list[str] = []
    if model.opset_imports.get("", 1) < _SINCE:
        return removed
    for node in list(onnx_ir.traversal.RecursiveGraphIterator(model.graph)):
        if is_onnx(node, "Einsum") and all(
            x is not None and x.dtype in _TYPES for x in node.inputs
        ):
            removed += _written(node)
    return removed


def _written(node: onnx_ir.Node) -> list[str]:
    graph = node.graph
    assert isinstance(graph, onnx_ir.Graph)
    nodes = _Nodes(graph, node)
    old = node.outputs[0]
    try:
        new = write_einsum(nodes, node.attributes.get_string("equation", ""), node.inputs)
    except NotWritten:
        return nodes.undo()
    if not may_replace(old, new, graph):
        return nodes.undo()
    name = old.name
    producer = new.producer()
    assert producer is not None and name is not None
    label = node.name
    replace(old, new)
    removed = remove(node, label or "Einsum")
    new.name, producer.name = name, label
    return removed


class _Nodes:
    """Writes nodes in front of another one, for what that gives."""

    def __init__(self, graph: onnx_ir.Graph, node: onnx_ir.Node) -> None:
        self._graph, self._node = graph, node
        self._made: list[onnx_ir.Node] = []
        self._constants: list[onnx_ir.Value] = []

    def __call__(
        self,
        operator: str,
        *inputs: onnx_ir.Value | Sequence[int],
        shape: Sequence[Dim],
        **attributes: int | Sequence[int],
    ) -> onnx_ir.Value:
        """The output of a new node."""
        values = [one if isinstance(one, onnx_ir.Value) else self._constant(one) for one in inputs]
        name = f"{self._node.name or 'Einsum'}.{len(self._made)}"
        made = onnx_ir.node(operator, values, attributes, name=name)
        made.metadata_props.update(self._node.metadata_props)
        made.outputs[0].type = values[0].type
        made.outputs[0].shape = onnx_ir.Shape(shape)
        self._graph.insert_before(self._node, made)
        self._made.append(made)
        return made.outputs[0]

    def _constant(self, numbers: Sequence[int]) -> onnx_ir.Value:
        wanted = f"{self._node.name or 'Einsum'}.numbers"
        value = register(self._graph, onnx_ir.tensor(numpy.array(numbers, "int64")), wanted)
        self._constants.append(value)
        return value

    def undo(self) -> list[str]:
        """Removes all that was written."""
        for node in reversed(self._made):
            self._graph.remove(node, safe=True)
        for value in self._constants:
            if value.name is not None:
                self._graph.initializers.pop(value.name)
        return []


EINSUM = Pass("einsum", "writes Einsum as products of matrices and sums", _run)
