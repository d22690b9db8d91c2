"""All graphs, nodes and tensors of a model, those within nodes too."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from ...graph._errors import GraphError

# Graphs in graphs; protobuf itself stops a little later.
_DEEPEST = 24


def node_text(node: onnx.NodeProto) -> str:
    """A node by name and operator, or by what it gives where it has no name."""
    domain = f"{node.domain}::" if node.domain else ""
    name = f"{node.name!r}" if node.name else f"that gives {next(iter(node.output), '?')!r}"
    return f"node {name} ({domain}{node.op_type})"


def graphs_in(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The graphs that a node has as attributes."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def graphs_of(graph: onnx.GraphProto, file: str, depth: int = 0) -> Iterator[onnx.GraphProto]:
    """A graph and all within it."""
    if depth > _DEEPEST:
        raise GraphError(f"{file}: graphs are within nodes more than {_DEEPEST} deep")
    yield graph
    for node in graph.node:
        for inside in graphs_in(node):
            yield from graphs_of(inside, file, depth + 1)


def tensors_of(
    graph: onnx.GraphProto, file: str
) -> Iterator[tuple[onnx.TensorProto | onnx.SparseTensorProto, str]]:
    """All tensors, each with where it is, in words."""
    for inside in graphs_of(graph, file):
        for tensor in inside.initializer:
            yield tensor, f"the weight {tensor.name!r}"
        for sparse in inside.sparse_initializer:
            yield sparse, f"the sparse weight {sparse.values.name!r}"
        for node in inside.node:
            yield from tensors_in(node)


def tensors_in(
    node: onnx.NodeProto,
) -> Iterator[tuple[onnx.TensorProto | onnx.SparseTensorProto, str]]:
    """The tensors that are attributes of a node."""
    for attribute in node.attribute:
        where = ""
        for tensor in (
            *((attribute.t,) if attribute.HasField("t") else ()),
            *attribute.tensors,
            *((attribute.sparse_tensor,) if attribute.HasField("sparse_tensor") else ()),
            *attribute.sparse_tensors,
        ):
            where = where or f"{node_text(node)}: the attribute {attribute.name!r}"
            yield tensor, where
