"""`sol.summary`: the layers of a model with shapes, parameters, operations and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import onnx_ir

from ..graph import Graph
from ..graph._spec import dims_of, shape_text, spec_of
from ._compiled import Compiled
from ._operations import operations
from ._optimize import parts_of
from ._text import layer_of, shortened, table
from .schedule import bytes_of, size_text


@dataclass(frozen=True)
class Layer:
    """Nodes of a model that one of its modules is made of, or one node."""

    name: str
    operators: tuple[str, ...]
    shapes: tuple[str, ...]  # of what it gives to others
    parameters: int
    operations: int | None  # None where one of its nodes is not counted
    bytes: int  # of what it reads and gives


@dataclass(frozen=True)
class Summary:
    """The layers of a model for the shapes of its example, before passes change them."""

    name: str
    layers: tuple[Layer, ...]
    parameters: int
    trainable: int
    weight_bytes: int

    def __str__(self) -> str:
        heads = ("Layer (operators)", "Output Shape", "Param #", "Operations", "Bytes")
        rows = [_row(layer) for layer in self.layers]
        lines = table([heads, *rows], left=2)
        rule = len(lines[0]) if lines else 0
        wide = max(map(len, lines))
        return "\n".join(
            [
                f"Model: {self.name!r}",
                "_" * wide,
                lines[0],
                "=" * max(wide, rule),
                *lines[1:],
                "=" * wide,
                f"Total params: {self.parameters:,}",
                f"Trainable params: {self.trainable:,}",
                f"Non-trainable params: {self.parameters - self.trainable:,}",
                f"Operations: {sum(layer.operations or 0 for layer in self.layers):,}",
                f"Weights: {size_text(self.weight_bytes)}",
                "_" * wide,
            ]
        )


def summary(model: Any) -> Summary:
    """The layers of an optimized model as it was before: `print(sol.summary(fast))`.

    A layer is a module of the model's framework, by its path, or a node of the graph. Of several
    optimized parts of a model the layers follow each other.
    """
    parts = parts_of(model, "summary")
    found = [_summary_of(part.compiled, name) for name, part in parts]
    return Summary(
        found[0].name,
        tuple(layer for one in found for layer in one.layers),
        sum(one.parameters for one in found),
        sum(one.trainable for one in found),
        sum(one.weight_bytes for one in found),
    )


def _summary_of(compiled: Compiled, path: str) -> Summary:
    _, graph, _ = compiled.sized(compiled.example_arrays())
    weights = [
        (value, value.const_value)
        for value in graph.model.graph.initializers.values()
        if value.const_value is not None and _is_parameter(value)
    ]
    return Summary(
        compiled.source.name,
        tuple(_layers(graph, path)),
        sum(tensor.size for _, tensor in weights),
        sum(t.size for value, t in weights if value.metadata_props.get("mx.role") != "auxiliary"),
        sum(tensor.nbytes for _, tensor in weights),
    )


def _layers(graph: Graph, path: str) -> list[Layer]:
    counted: set[onnx_ir.Value] = set()
    nodes = [node for node in graph.model.graph if node.op_type != "Constant"]
    return [
        _layer(name, list(group), counted)
        for name, group in groupby(nodes, key=lambda node: layer_of(node, path))
    ]


def _layer(name: str, nodes: Sequence[onnx_ir.Node], counted: set[onnx_ir.Value]) -> Layer:
    inside = set(nodes)
    read: dict[onnx_ir.Value, None] = {}
    given: list[onnx_ir.Value] = []
    for node in nodes:
        read.update(
            (value, None) for value in node.inputs if value and value.producer() not in inside
        )
        given += [
            value
            for value in node.outputs
            if value.is_graph_output() or any(use.node not in inside for use in value.uses())
        ]
    weights = [value for value in read if value not in counted and _is_parameter(value)]
    counted.update(weights)
    counts = [operations(node) for node in nodes]
    return Layer(
        name,
        tuple(node.op_type for node in nodes),
        tuple(shape_text(dims_of(value.shape)) for value in given),
        sum(value.const_value.size for value in weights if value.const_value is not None),
        None if None in counts else sum(count or 0 for count in counts),
        sum(bytes_of(spec_of(value)) for value in [*read, *given]),
    )


def _is_parameter(value: onnx_ir.Value) -> bool:
    """Whether it is a weight of numbers that a model learns, not one of shapes and axes."""
    floats = (onnx_ir.DataType.INT64, onnx_ir.DataType.BOOL, onnx_ir.DataType.STRING)
    return value.is_initializer() and value.dtype not in floats


def _row(layer: Layer) -> tuple[str, ...]:
    operators = ", ".join(dict.fromkeys(layer.operators))
    return (
        shortened(f"{layer.name} ({operators})"),
        shortened(", ".join(layer.shapes)),
        f"{layer.parameters:,}",
        "not counted" if layer.operations is None else f"{layer.operations:,}",
        f"{layer.bytes:,}",
    )
