"""The plans of a model in training: forward, and backward when it is first needed."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx_ir

from ..context import Context
from ..graph import Graph, PartitionedPlan, Plan
from ..graph.lowering._program import to_numpy
from ..graph.passes import Pass
from ._compiled import as_array, on_host
from ._stops import remove_stops
from .gradient import training
from .operators import DOMAIN
from .passes import run

Run = Callable[[Sequence[Any]], Sequence[Any]]


class TrainingPlans:
    """A graph of known shapes, with its gradients for the inputs `wrt`.

    `forward` takes arrays for all inputs of the graph; it gives its outputs without those of
    `stores`, which are written to the arrays of inputs, and behind them the values `saved`.
    `backward` takes arrays for `backward_inputs`: gradients of outputs ("grad." and the name), and
    saved values, inputs and outputs by their names.
    """

    def __init__(
        self,
        graph: Graph,
        wrt: Sequence[str],
        context: Context,
        passes: Sequence[Pass],
        stores: Mapping[str, str],
    ) -> None:
        self._context, self._passes = context, passes
        self._lock = threading.Lock()
        self.plans: dict[str, Plan] = {}  # on the CPU, by "forward" and "backward"
        self.backward: Run = self._first_backward
        self.inputs = [spec.name for spec in graph.inputs]
        self.outputs = [spec for spec in graph.outputs if spec.name not in stores]
        self.forward_graph = graph
        self.backward_graph: Graph | None = None
        self.saved: tuple[str, ...] = ()
        self.grads: dict[str, str] = {}
        if wrt:
            found = training(graph, list(wrt))
            self.forward_graph, self.backward_graph = found.forward, found.backward
            self.saved, self.grads = found.saved, found.grads
        self.differentiable = _differentiable(graph, wrt)
        self.forward = self._runner(self.forward_graph, stores, "forward")

    @property
    def backward_inputs(self) -> list[str]:
        """The names of what `backward` takes."""
        assert self.backward_graph is not None
        return [spec.name for spec in self.backward_graph.inputs]

    @property
    def gradients(self) -> list[str]:
        """The names of what `backward` gives."""
        assert self.backward_graph is not None
        return [spec.name for spec in self.backward_graph.outputs]

    def _first_backward(self, arrays: Sequence[Any]) -> Sequence[Any]:
        """Plans the backward pass, and runs it."""
        with self._lock:
            if self.backward == self._first_backward:
                assert self.backward_graph is not None
                self.backward = self._runner(self.backward_graph, {}, "backward")
        return self.backward(arrays)

    def _runner(self, graph: Graph, stores: Mapping[str, str], name: str) -> Run:
        """What executes a graph, after the passes over a copy of it; an attribute of that name gets
        the compiled plan, when there is one."""
        smaller = graph.copy()
        remove_stops(smaller)
        run(self._passes, smaller)
        if self._context.device_type != "cpu":
            return _elsewhere(smaller, self._context, stores)
        plan = self.plans[name] = Plan(smaller, optimize=False, stores=stores)
        return Planned(plan, functools.partial(setattr, self, name))


class Planned:
    """Runs a plan for inputs of known shapes.

    `tell` gets what does so from the first run on: the one compiled plan, where it is one.
    """

    def __init__(self, plan: Plan, tell: Callable[[Run], None]) -> None:
        self._plan, self._tell = plan, tell

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        named = dict(zip(self._plan.input_names, map(as_array, arrays), strict=True))
        compiled = self._plan.compiled(named)
        if compiled is not None:
            # Saved values and gradients are large, come at each step, and go before the next one.
            compiled.keep_outputs()
        how: Run = self._each if compiled is None else compiled.run
        self._tell(how)
        return how(arrays)

    def _each(self, arrays: Sequence[Any]) -> Sequence[Any]:
        named = dict(zip(self._plan.input_names, map(as_array, arrays), strict=True))
        return self._plan.run(named)


def _elsewhere(graph: Graph, context: Context, stores: Mapping[str, str]) -> Run:
    """Runs a graph on a device, whose plans write to no inputs."""
    plan = PartitionedPlan(graph, context, optimize=False)
    inputs = [spec.name for spec in graph.inputs]
    outputs = [spec.name for spec in graph.outputs]

    def run_there(arrays: Sequence[Any]) -> Sequence[Any]:
        named = dict(zip(inputs, map(as_array, arrays), strict=True))
        found = dict(zip(outputs, map(on_host, plan.run(named)), strict=True))
        for output, name in stores.items():
            to_numpy(named[name])[...] = to_numpy(found.pop(output))
        return list(found.values())

    return run_there


def _differentiable(graph: Graph, wrt: Sequence[str]) -> frozenset[str]:
    """The outputs that depend on inputs by more than elements without gradients."""
    inner = graph.model.graph
    reached = {value for value in inner.inputs if value.name in wrt}
    for node in inner:
        ends = node.op_type == "StopGradient" and node.domain == DOMAIN
        if not ends and not reached.isdisjoint(_read_by(node)):
            reached.update(value for value in node.outputs if _is_float(value))
    return frozenset(value.name or "" for value in inner.outputs if value in reached)


def _is_float(value: onnx_ir.Value) -> bool:
    return value.dtype is None or value.dtype.is_floating_point()


def _read_by(node: onnx_ir.Node) -> list[onnx_ir.Value | None]:
    """The inputs of a node, and what its branches take from around them."""
    read = list(node.inputs)
    for attribute in node.attributes.values():
        if attribute.type == onnx_ir.AttributeType.GRAPH:
            for inner in attribute.as_graph().all_nodes():
                read += inner.inputs
    return read
