"""The plans of a model in training: forward, and backward when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import onnx_ir

from ..context import Context
from ..graph import Graph, PartitionedPlan, Plan
from ..graph.passes import Pass
from ._compiled import as_array
from .operators import DOMAIN
from .passes import run

Run = Callable[[Sequence[Any]], Sequence[Any]]


class TrainingPlans:
    """A graph of known shapes, with its gradients for some of its inputs.

    `run` takes arrays for all inputs of the graph; it gives the outputs, and what `backward` needs
    besides: the values `saved`, behind them. Without inputs that gradients are wanted for, it gives
    the outputs alone.
    """

    def __init__(
        self, graph: Graph, wrt: Sequence[str], context: Context, passes: Sequence[Pass]
    ) -> None:
        self._context, self._passes = context, passes
        self._lock = threading.Lock()
        self._backward: Run | None = None
        self.inputs = [spec.name for spec in graph.inputs]
        self.num_outputs = len(graph.outputs)
        self.forward_graph = graph
        self.backward_graph: Graph | None = None
        self.saved: tuple[str, ...] = ()
        self.grads: dict[str, str] = {}
        self.differentiable: frozenset[str] = frozenset()  # outputs with gradients
        if wrt:
            from .gradient import training  # type: ignore[import-not-found]

            found = training(graph, list(wrt))
            self.forward_graph, self.backward_graph = found.forward, found.backward
            self.saved, self.grads = tuple(found.saved), dict(found.grads)
            self.differentiable = _differentiable(graph, wrt)
        self.run = self._runner(self.forward_graph)

    @property
    def backward_inputs(self) -> list[str]:
        """Names of what `backward` takes: "grad." and an output's name, saved values, inputs."""
        assert self.backward_graph is not None
        return [spec.name for spec in self.backward_graph.inputs]

    def backward(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """The gradients, in the order of the outputs of the backward graph."""
        if self._backward is None:
            with self._lock:
                if self._backward is None:
                    assert self.backward_graph is not None
                    self._backward = self._runner(self.backward_graph)
        return self._backward(arrays)

    def _runner(self, graph: Graph) -> Run:
        """What executes a graph, after the passes over a copy of it."""
        smaller = graph.copy()
        run(self._passes, smaller)
        names = [spec.name for spec in smaller.inputs]
        if self._context.device_type == "cpu":
            plan = Plan(smaller, optimize=False)
        else:
            plan = PartitionedPlan(smaller, self._context, optimize=False)

        def carefully(arrays: Sequence[Any]) -> Sequence[Any]:
            named = dict(zip(names, map(as_array, arrays), strict=True))
            return plan.run(named)

        return carefully


def _differentiable(graph: Graph, wrt: Sequence[str]) -> frozenset[str]:
    """The outputs that depend on inputs by more than elements without gradients."""
    inner = graph.model.graph
    reached = {value for value in inner.inputs if value.name in wrt}
    for node in inner:
        ends = node.op_type == "StopGradient" and node.domain == DOMAIN
        if not ends and not reached.isdisjoint(_read_by(node)):
            reached.update(
                value
                for value in node.outputs
                if value.dtype is None or value.dtype.is_floating_point()
            )
    return frozenset(value.name or "" for value in inner.outputs if value in reached)


def _read_by(node: onnx_ir.Node) -> list[onnx_ir.Value | None]:
    """The inputs of a node, and what its branches take from around them."""
    read = list(node.inputs)
    for attribute in node.attributes.values():
        if attribute.type == onnx_ir.AttributeType.GRAPH:
            for inner in attribute.as_graph().all_nodes():
                read += inner.inputs
    return read
