"""The plans of a model in training: forward, and backward when it is first needed."""

from __future__ import annotations

import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx_ir

from .. import numpy as np
from ..context import Context
from ..graph import Graph, GraphError, Plan
from ..graph.lowering._contents import to_numpy
from ..graph.lowering._lowering import row_major_plan
from ..graph.passes import Pass
from ._compiled import as_array, on_host
from ._errors import SolWarning
from ._limited import arrays_of, limited
from ._plans import plan_of, plan_on
from ._stops import remove_stops
from ._text import layer_of
from ._version import Optimized
from .gradient import Training, training
from .operators import DOMAIN
from .passes import run
from .tuning import Choices, Tuner, Tuning

Run = Callable[[Sequence[Any]], Sequence[Any]]
OnCompiled = Callable[[Any], None]

# Layers that a warning names.
_MOST_NAMED = 5


def keep_outputs(compiled: Any) -> None:
    """Saved values and gradients are large, come at each step, and go before the next one."""
    compiled.keep_outputs()


class TrainingPlans:
    """A graph of known shapes, with its gradients for the inputs `wrt`.

    `forward` takes arrays for all inputs of the graph; it gives its outputs without those of
    `stores`, which are written to the arrays of inputs, and behind them the values `saved`.
    `backward` takes arrays for `backward_inputs`: gradients of outputs ("grad." and the name), and
    saved values, inputs and outputs by their names. With `memory_limit` both take no more bytes
    than that.
    """

    def __init__(
        self,
        graph: Graph,
        wrt: Sequence[str],
        context: Context,
        passes: Sequence[Pass],
        stores: Mapping[str, str],
        memory_limit: int | None = None,
        before_backward: Callable[[], None] | None = None,
        on_compiled: OnCompiled = keep_outputs,
        tuner: Tuner | None = None,
    ) -> None:
        """`before_backward` is called before the backward pass is planned, and `on_compiled` with
        each compiled plan on the CPU; `tuner` measures layers first."""
        self._context, self._passes, self._name = context, passes, graph.name
        self._before_backward, self._on_compiled = before_backward, on_compiled
        self._tuner = tuner
        self._lock = threading.Lock()
        # On the CPU, by "forward" and "backward": plans, their graphs with what passes have removed
        # of these, and what was measured of layers.
        self.plans: dict[str, Plan] = {}
        self.passed: dict[str, Optimized] = {}
        self.tunings: dict[str, Tuning] = {}
        self.backward: Run = self._first_backward
        # The same for saved values that nobody reads again; None before the first backward pass,
        # and where that takes several plans.
        self.last_backward: Run | None = None
        self.inputs = [spec.name for spec in graph.inputs]
        self.outputs = [spec for spec in graph.outputs if spec.name not in stores]
        self.forward_graph = graph
        self.backward_graph: Graph | None = None
        self.graphs: Training | None = None
        self.stores = dict(stores)
        self.saved: tuple[str, ...] = ()
        self.grads: dict[str, str] = {}
        if wrt:
            if memory_limit is None:
                found = training(graph, list(wrt))
            else:
                found = limited(graph, list(wrt), passes, memory_limit)
            self.graphs = found
            self.forward_graph, self.backward_graph = found.forward, found.backward
            self.saved, self.grads = found.saved, found.grads
        self.differentiable = _differentiable(graph, wrt)
        self._planned_forward: Planned | None = None
        self.forward = self._forward_runner(stores)

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
                if self._before_backward is not None:
                    self._before_backward()
                self.backward = self._backward_runner(arrays)
        return self.backward(arrays)

    def _forward_runner(self, stores: Mapping[str, str]) -> Run:
        """What executes the forward pass first; the attribute gets the compiled plan then."""
        graph = self._smaller("forward", self.forward_graph)
        if self._context.device_type != "cpu":
            return _elsewhere(graph, self._context, stores)
        given = None if self._tuner is None else arrays_of(graph.inputs, np.ones)
        plan = self._plan("forward", graph, given, stores=dict(stores), any_layout=self.saved)
        self._planned_forward = self._planned(plan, "forward")
        return self._planned_forward

    def _backward_runner(self, arrays: Sequence[Any]) -> Run:
        """What executes the backward pass. It takes saved values in the layouts that they have."""
        assert self.backward_graph is not None
        graph = self._smaller("backward", self.backward_graph)
        if self._context.device_type != "cpu":
            return _elsewhere(graph, self._context, {})
        layouts = self._planned_forward.layouts if self._planned_forward else {}
        names = self.backward_inputs
        layouts = {name: layout for name, layout in layouts.items() if name in names}
        options = {"layouts": layouts} if layouts else {}
        named = self.named(arrays)
        plan = self._plan("backward", graph, named, **options)
        compiled = _compiled(plan, named)
        if compiled is not None:
            self._on_compiled(compiled)
            warn_of_reference(plan, self._name)
            self._share_memory(compiled)
            made: Run = compiled.run
            return made
        if not layouts:
            return self._planned(plan, "backward")
        plan = self.plans["backward"] = plan_of(graph, Choices())
        rows = {names.index(name): one for name, one in layouts.items()}
        return _Rows(rows, plan, self._name, self._on_compiled)

    def _plan(
        self, which: str, graph: Graph, inputs: Mapping[str, Any] | None, **options: Any
    ) -> Plan:
        """A plan of the forward or of the backward pass; inputs are to measure layers with."""
        plan = None
        if self._tuner is not None and inputs is not None:
            # A GraphError: it takes several plans, which take no layouts.
            with contextlib.suppress(GraphError):
                tuning, plan = self._tuner.plan(graph, inputs, **options)
                if tuning is not None:
                    self.tunings[which] = tuning
        if plan is None:
            plan = plan_of(graph, Choices(), **options)
        self.plans[which] = plan
        return plan

    def named(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """What `backward` is given, as plans take it."""
        return dict(zip(self.backward_inputs, map(as_array, arrays), strict=True))

    def _planned(self, plan: Plan, attribute: str) -> Planned:
        tell = functools.partial(setattr, self, attribute)
        return Planned(plan, tell, self._name, self._on_compiled)

    def _share_memory(self, backward: Any) -> None:
        """Has gradients written where saved values lie that are not needed any more."""
        forward = self._planned_forward.compiled if self._planned_forward else None
        if forward is None:
            return
        outputs = [*(spec.name for spec in self.outputs), *self.saved]
        inputs = {name: i for i, name in enumerate(self.backward_inputs)}
        first = len(self.outputs)  # what is before it others have, too
        pairs = [(i, inputs[outputs[i]]) for i in range(first, len(outputs))]
        backward.share_memory(forward, pairs)
        self.last_backward = backward.run_last

    def _smaller(self, which: str, graph: Graph) -> Graph:
        """A copy of a graph behind the passes."""
        smaller = graph.copy()
        remove_stops(smaller)
        self.passed[which] = smaller, run(self._passes, smaller)
        return smaller


def _compiled(plan: Plan, named: Mapping[str, Any]) -> Any | None:
    """The one compiled plan for inputs in layouts of their own; None where there are several."""
    try:
        return plan.compiled(named)
    except GraphError:
        return None


def warn_of_reference(plan: Plan, name: str) -> None:
    """A SolWarning where NumPy computes layers of a model of that name, which is slow."""
    found = [step.node for step in plan.steps() if step.backend == "reference"]
    if not found:
        return
    layers = dict.fromkeys(f"{layer_of(node, '')} ({node.op_type})" for node in found)
    listed = ", ".join(list(layers)[:_MOST_NAMED])
    more = f", and {len(layers) - _MOST_NAMED} more" if len(layers) > _MOST_NAMED else ""
    warnings.warn(
        f"{name}: NumPy executes layers of a step of training, for which there are no"
        f" kernels: {listed}{more}",
        SolWarning,
        stacklevel=2,
    )


class Planned:
    """Runs a plan for inputs of known shapes.

    `tell` gets what does so from the first run on: the one compiled plan, where it is one, which
    `on_compiled` gets before.
    """

    def __init__(
        self,
        plan: Plan,
        tell: Callable[[Run], None],
        name: str,
        on_compiled: OnCompiled = keep_outputs,
    ) -> None:
        self._plan, self._tell, self._name = plan, tell, name
        self._on_compiled = on_compiled
        # Of outputs that are not row-major, as the plan may let them be; known from the first run.
        self.layouts: dict[str, Any] = {}
        self.compiled: Any | None = None

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        named = dict(zip(self._plan.input_names, map(as_array, arrays), strict=True))
        compiled = self._plan.compiled(named)
        warn_of_reference(self._plan, self._name)
        if compiled is not None:
            self._on_compiled(compiled)
            self.compiled = compiled
            self.layouts = self._plan.output_layouts(named)
        how: Run = self._each if compiled is None else compiled.run
        self._tell(how)
        return how(arrays)

    def _each(self, arrays: Sequence[Any]) -> Sequence[Any]:
        named = dict(zip(self._plan.input_names, map(as_array, arrays), strict=True))
        return self._plan.run(named)


class _Rows:
    """Runs what takes row-major arrays for some in other layouts."""

    def __init__(
        self, layouts: Mapping[int, Any], plan: Plan, name: str, on_compiled: OnCompiled
    ) -> None:
        """`layouts` are those of the arrays, by number."""
        self._layouts = layouts
        self._plans: dict[int, Any] = {}
        tell = functools.partial(setattr, self, "_inner")
        self._inner: Run = Planned(plan, tell, name, on_compiled)

    def __call__(self, arrays: Sequence[Any]) -> Sequence[Any]:
        given = list(arrays)
        for n, layout in self._layouts.items():
            if n not in self._plans:
                self._plans[n] = row_major_plan(given[n].shape, str(given[n].dtype), layout)
            (given[n],) = self._plans[n].run([as_array(given[n])])
        return self._inner(given)


def _elsewhere(graph: Graph, context: Context, stores: Mapping[str, str]) -> Run:
    """Runs a graph on a device, whose plans write to no inputs."""
    plan = plan_on(graph, context)
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
