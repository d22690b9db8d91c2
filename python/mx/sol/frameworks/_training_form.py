"""Graphs of ONNX's operators as they are in training.

A file says what a model computes in inference. In training each BatchNormalization takes the
statistics of its batch, and moves those that the model keeps by its `momentum`, as the operator's
`training_mode` does; each Dropout drops elements by its `ratio`.
"""

from __future__ import annotations

import numpy
import onnx_ir

from ...graph import Graph, GraphError
from ...importers._training import DOMAIN, IN_TRAINING, SEED
from ..gradient import as_inputs
from ._framework import InTraining
from ._weights import weights_of

_KINDS = ("BatchNormalization", "Dropout")


def has_modes(graph: Graph) -> bool:
    """Whether a graph computes something else in training."""
    return any(map(_differs, graph.model.graph.all_nodes()))


def statistics_of(graph: Graph) -> frozenset[str]:
    """The weights that training moves, and gradients do not."""
    nodes = graph.model.graph.all_nodes()
    found = [one.inputs[3:5] for one in nodes if one.op_type == "BatchNormalization"]
    every = [value for pair in found for value in pair if value is not None]
    return frozenset(str(value.name) for value in every if value.is_initializer())


def in_training(graph: Graph, training: bool) -> InTraining:
    """The graph, which is changed, as it is in training, or in inference without `training`.

    GraphError for a layer that is something else in training inside of a branch or a loop.
    """
    form = _Form(graph)
    if training:
        for node in list(graph.model.graph):
            form.replace(node)
        # A Dropout that drops nothing stays as it is.
        own = set(graph.model.graph)
        left = [one for one in graph.model.graph.all_nodes() if one not in own and _differs(one)]
        if left:
            raise GraphError(
                f"{graph.name}: node {left[0].name!r} ({left[0].op_type}): in training expected"
                " none inside of a branch, a loop or a function"
            )
    return form.made()


def _differs(node: onnx_ir.Node) -> bool:
    """Whether a node is something else in training."""
    if node.op_type not in _KINDS or node.domain or node.metadata_props.get(IN_TRAINING) == "":
        return False
    if node.op_type == "Dropout":
        # One that is told to be in training is so in inference, too.
        told = node.inputs[2] if len(node.inputs) > 2 else None
        return told is None or _number(told) == 0
    given = node.inputs[3:5]
    are_weights = all(value is not None and value.is_initializer() for value in given)
    return are_weights and not node.attributes.get_int("training_mode", 0)


def _number(value: onnx_ir.Value) -> float | None:
    """The number that a value is; None where it is computed, or an input."""
    tensor = onnx_ir.convenience.get_const_tensor(value)
    return None if tensor is None else float(tensor.numpy().reshape(()))


class _Form:
    """A graph while its layers become those of training."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._inner = graph, graph.model.graph
        self._moved: dict[str, onnx_ir.Value] = {}  # what statistics have become, by their names
        self._seed: onnx_ir.Value | None = None
        self._count = 0  # of nodes that draw

    def replace(self, node: onnx_ir.Node) -> None:
        """Has a node be what it is in training."""
        if not _differs(node):
            return
        if unknown := node.metadata_props.get(IN_TRAINING):
            raise GraphError(f"{self._graph.name}: node {node.name!r}: in training: {unknown}")
        if node.op_type == "Dropout":
            self._drop(node)
        else:
            self._normalize(node)

    def made(self) -> InTraining:
        """The form; statistics are outputs, and weights inputs."""
        weights = list(weights_of(self._graph))
        for name, value in self._moved.items():
            node = onnx_ir.node("StopGradient", [value], domain=DOMAIN, name=f"{name}.stopped")
            self._inner.append(node)
            self._inner.outputs.append(_typed(node.outputs[0], f"{name}.new", value))
        if self._moved or self._seed is not None:
            self._inner.opset_imports[DOMAIN] = 1
        graph = as_inputs(self._graph, weights)
        if self._seed is not None:
            inputs = graph.model.graph.inputs
            (seed,) = [one for one in inputs if one.metadata_props.get("mx.role") == SEED]
            inputs.remove(seed)
            inputs.append(seed)
        return InTraining(graph, tuple(weights), tuple(self._moved), self._seed is not None)

    def _normalize(self, node: onnx_ir.Node) -> None:
        x, scale, shift, *kept = node.inputs
        statistics = [one for one in kept if one is not None]
        # Of layers that share theirs the next one moves what the one before has made.
        given = [self._moved.get(str(one.name), one) for one in statistics]
        made = onnx_ir.node(
            "BatchNormTraining",
            [x, scale, shift, *given],
            {
                "epsilon": node.attributes.get_float("epsilon", 1e-5),
                "momentum": 1 - node.attributes.get_float("momentum", 0.9),
                "unbiased": 0,
            },
            domain=DOMAIN,
            num_outputs=5,
        )
        names = ("new_mean", "new_var", "batch_mean", "inv_std")
        for name, value, like in zip(names, made.outputs[1:], statistics * 2, strict=True):
            _typed(value, f"{node.outputs[0].name}.{name}", like)
        for one, value in zip(statistics, made.outputs[1:3], strict=True):
            self._moved[str(one.name)] = value
        self._put(node, made)

    def _drop(self, node: onnx_ir.Node) -> None:
        ratio = self._ratio(node)
        if ratio <= 0:
            return
        x = node.inputs[0]
        made = onnx_ir.node(
            "DropoutTraining",
            [x, self._stream(node)],
            {"ratio": ratio},
            domain=DOMAIN,
            num_outputs=2,
        )
        mask = _typed(made.outputs[1], f"{node.outputs[0].name}.mask", node.outputs[0])
        mask.type = onnx_ir.TensorType(onnx_ir.DataType.BOOL)
        self._put(node, made)
        if len(node.outputs) > 1:
            node.outputs[1].replace_all_uses_with(mask, replace_graph_outputs=True)

    def _ratio(self, node: onnx_ir.Node) -> float:
        if len(node.inputs) < 2 or node.inputs[1] is None:
            return float(node.attributes.get_float("ratio", 0.5))
        ratio = _number(node.inputs[1])
        if ratio is None:
            raise GraphError(
                f"{self._graph.name}: node {node.name!r} (Dropout): ratio: expected a constant in"
                f" training, got {node.inputs[1].name!r}, which is computed"
            )
        return ratio

    def _stream(self, node: onnx_ir.Node) -> onnx_ir.Value:
        """The seed of one node: that of the graph, with the number of the node beside it."""
        if self._seed is None:
            self._seed = onnx_ir.Value(
                name=SEED, shape=onnx_ir.Shape([2]), type=onnx_ir.TensorType(onnx_ir.DataType.INT64)
            )
            self._seed.metadata_props["mx.role"] = SEED
            self._inner.inputs.append(self._seed)
        number, self._count = self._count, self._count + 1
        if number == 0:
            return self._seed
        # As models of other frameworks have it.
        offset = onnx_ir.node(
            "Constant",
            [],
            {"value": onnx_ir.tensor(numpy.array([0, number << 32]), name=f"{SEED}.{number}")},
        )
        own = onnx_ir.node("Add", [self._seed, offset.outputs[0]])
        for one, name in ((offset, "offset"), (own, "seed")):
            _typed(one.outputs[0], f"{node.outputs[0].name}.{name}", self._seed)
        self._inner.insert_before(node, [offset, own])
        return own.outputs[0]

    def _put(self, node: onnx_ir.Node, made: onnx_ir.Node) -> None:
        """Has a node stand where another one does, whose first output becomes its."""
        old, new = node.outputs[0], made.outputs[0]
        made.name = node.name
        made.metadata_props.update(node.metadata_props)
        self._inner.insert_before(node, [made])
        old.replace_all_uses_with(new, replace_graph_outputs=True)
        name, old.name = old.name, f"{old.name}.inference"
        _typed(new, str(name), old)
        self._inner.remove(node)


def _typed(value: onnx_ir.Value, name: str, like: onnx_ir.Value) -> onnx_ir.Value:
    value.name, value.type, value.shape = name, like.type, like.shape
    return value
