"""Executes the nodes of a graph: plans for as many as possible at once, what is left one by one.

A plan is made for known shapes. Where elements decide a shape (NonZero, or a Reshape by a computed
shape), the plan ends; when it has run, what follows is planned for the shapes that came out. Plans
are kept by the shapes that they are for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock, RLock
from time import perf_counter_ns
from typing import Any, Protocol

import onnx_ir

import ffi

from .._errors import GraphError
from ._choice import Chooser
from ._contents import Environment, key_of, to_array, to_numpy
from ._control_flow import control_flow
from ._graph_nodes import GraphNodes
from ._host import HostNode
from ._node import attributes_of
from ._planner import Planner
from ._segment import Segment
from ._slices import sliced, slices_of, suits
from ._value import BackendFailed, NeedsElements
from .recipes import Recipe

_plan_for_one_thread = ffi.get_global_func("mx.graph.plan_for_one_thread")

# Gets steps, as those of mx.graph.CompiledPlan.steps, and how long each took.
Record = Callable[[Sequence[Any], Sequence[int]], None]


class Body(Protocol):
    """What executes a subgraph."""

    def run(self, inputs: Sequence[Any], outer: Environment) -> list[Any]:
        """The outputs for these inputs. `outer` has the values of the graphs around it."""


# Makes what executes a subgraph, of its program.
Bodies = Callable[[onnx_ir.Graph, "Program"], Body]

# Plans that are kept, each with packed weights of its own; of more the one least used lately goes.
_MOST_SEGMENTS = 32


class Program(GraphNodes):
    """The nodes of a graph or a subgraph, ready to be executed for any shapes."""

    def __init__(
        self,
        graph: onnx_ir.Graph,
        opset: Mapping[str, int],
        chooser: Chooser,
        outer: Program | None = None,
        keep_nan: bool = False,
        stores: Mapping[onnx_ir.Value, onnx_ir.Value] | None = None,
        any_layout: frozenset[onnx_ir.Value] = frozenset(),
        layouts: Mapping[onnx_ir.Value, Any] | None = None,
        bodies: Bodies | None = None,
    ) -> None:
        """As GraphNodes; `outer` is the program of the graph around this one. `bodies` makes what
        executes subgraphs; by default their programs do."""
        super().__init__(graph, opset, chooser, outer, keep_nan, stores, any_layout, layouts)
        self._is_inner = outer is not None
        self._planning = RLock()  # held while one thread plans; others run what is planned
        self._lock = Lock()  # of the segments
        self._segments: dict[Any, Segment] = {}
        self._wanted: dict[int, set[onnx_ir.Value]] = {}
        self._hosts: dict[int, HostNode] = {}
        self._bodies = bodies
        self._subprograms: dict[onnx_ir.Graph, Body] = {}

    # -- execution --

    def run(
        self,
        inputs: Sequence[Any],
        outer: Environment | None = None,
        record: Record | None = None,
    ) -> list[Any]:
        """The outputs for these inputs. `outer` has the values of the graphs around this one.

        `record` gets what was executed, and the nanoseconds that each step of it took.
        """
        environment: Environment = dict(outer or {})
        environment.update(zip(self.inputs, inputs, strict=True))
        if self.layouts and self.single_plan(inputs) is None:
            raise GraphError("a graph of several plans does not take inputs in layouts of others")
        position = 0
        done: frozenset[onnx_ir.Node] = frozenset()
        while True:
            segment = self._segment(position, environment, done)
            done = segment.done
            if segment.plan is not None:
                arrays = [to_array(environment[value]) for value in segment.given]
                if record is None:
                    results = segment.plan.run(arrays)
                else:
                    results, times = segment.plan.profile(arrays)
                    record(segment.plan.steps, times)
                environment.update(zip(segment.computed, results, strict=True))
            environment.update(segment.known)
            if segment.end == len(self.nodes):
                break
            environment = {
                value: content
                for value, content in environment.items()
                if self.last_use(value) >= segment.end
            }
            begin = perf_counter_ns()
            self._run_alone(segment.end, environment)
            if record is not None:
                record([_alone_step(self.nodes[segment.end])], [perf_counter_ns() - begin])
            position = segment.end + 1
        results = [self._find(value, environment) for value in self.results]
        if self.stores and not segment.stores:
            results = self._store(results, environment)
        return results

    def _store(self, results: list[Any], environment: Environment) -> list[Any]:
        """Writes what no plan has written to inputs; gives results that are not changed by that."""
        given = {id(environment[value]) for value in self.stores.values()}
        kept = [result.copy() if id(result) in given else result for result in results]
        new = [to_numpy(self._find(value, environment)).copy() for value in self.stores]
        for value, elements in zip(self.stores.values(), new, strict=True):
            environment[value][...] = elements
        return kept

    def segments(self) -> list[Segment]:
        """The plans that were made so far."""
        with self._lock:
            return list(self._segments.values())

    def _subprogram(self, graph: onnx_ir.Graph) -> Body:
        """What executes a node's subgraph, made once."""
        with self._lock:
            if graph not in self._subprograms:
                program = Program(
                    graph,
                    self.opset,
                    Chooser(self.chooser.backends),
                    outer=self,
                    keep_nan=self.keep_nan,
                    bodies=self._bodies,
                )
                made = program if self._bodies is None else self._bodies(graph, program)
                self._subprograms[graph] = made
            return self._subprograms[graph]

    def _find(self, value: onnx_ir.Value, environment: Environment) -> Any:
        if value in environment:
            return environment[value]
        if value in self.weights:
            return self.weights[value].elements
        raise GraphError(f"the value {value.name!r} is used before a node has computed it")

    def _run_alone(self, position: int, environment: Environment) -> None:
        """Executes one node without a plan."""
        node = self.nodes[position]
        inputs = [
            None if value is None else self._find(value, environment) for value in node.inputs
        ]
        control = control_flow(node, self.version_of(node))
        if control is not None:
            results = control(attributes_of(node), inputs, self._runner(environment))
        else:
            if position not in self._hosts:
                self._hosts[position] = HostNode(node, self.opset)
            results = self._hosts[position].run([to_numpy(value) for value in inputs])
        for value, result in zip(node.outputs, results, strict=True):
            environment[value] = result

    def single_plan(self, inputs: Sequence[Any]) -> Any | None:
        """The compiled plan of the graph for such inputs, where one gives all outputs of it."""
        environment = dict(zip(self.inputs, inputs, strict=True))
        segment = self._segment(0, environment)
        whole = segment.end == len(self.nodes) and segment.plan is not None
        whole = whole and (segment.stores or not self.stores)
        if whole and segment.given == self.inputs and segment.computed == self.results:
            return segment.plan
        return None

    def recipe(self) -> Recipe | None:
        """Of the one plan that was made so far, where it gives all outputs of the graph; None where
        there are others, or its chooser had it not recorded."""
        segments = self.segments()
        if len(segments) != 1 or segments[0].end != len(self.nodes) or self.stores:
            return None
        (segment,) = segments
        is_whole = segment.given == self.inputs and segment.computed == self.results
        if segment.recording is None or segment.layouts or not is_whole:
            return None
        return segment.recording.recipe()

    def take_recipe(self, most_bytes: int) -> Recipe | None:
        """The same, None where weights take more bytes, as it copies what is packed of them; and
        forgets it, with all that only it refers to."""
        segments = self.segments()
        held = sum(each.plan.constant_bytes for each in segments if each.plan is not None)
        recipe = self.recipe() if held <= most_bytes else None
        for segment in segments:
            segment.recording = None
        return recipe

    def may_be_sliced(self, inputs: Sequence[Any]) -> bool:
        """Whether a chooser that allows for it would have such a batch cut into slices."""
        return slices_of(self, dict(zip(self.inputs, inputs, strict=True))) > 1

    def output_layouts(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """The layouts of outputs for such inputs, by name, without those that are row-major."""
        segment = self._segment(0, dict(zip(self.inputs, inputs, strict=True)))
        return {value.name or "": layout for value, layout in segment.layouts.items()}

    def _runner(self, environment: Environment) -> Callable[..., list[Any]]:
        """A function that executes a subgraph for inputs, with the values around it."""

        def run(graph: onnx_ir.Graph, inputs: Sequence[Any]) -> list[Any]:
            return self._subprogram(graph).run(inputs, environment)

        return run

    # -- planning --

    def _segment(
        self,
        position: int,
        environment: Environment,
        done: frozenset[onnx_ir.Node] = frozenset(),
    ) -> Segment:
        wanted = set(self._wanted.get(position, ()))
        key = (
            position,
            done,
            *(
                (id(value), key_of(content, value in wanted))
                for value, content in environment.items()
                if self.last_use(value) >= position
            ),
        )
        segment = self._planned(key)
        if segment is not None:
            return segment
        with self._planning:
            # Another thread may have planned the same meanwhile.
            segment = self._planned(key) or self._plan(position, environment, done)
            if set(self._wanted.get(position, ())) != wanted:
                return self._segment(position, environment, done)
            with self._lock:
                while len(self._segments) >= _MOST_SEGMENTS:
                    del self._segments[next(iter(self._segments))]
                self._segments[key] = segment
        return segment

    def _planned(self, key: Any) -> Segment | None:
        with self._lock:
            segment = self._segments.pop(key, None)
            if segment is not None:
                self._segments[key] = segment  # behind those that were used before
        return segment

    def _plan(
        self, position: int, environment: Environment, done: frozenset[onnx_ir.Node]
    ) -> Segment:
        """Lowers the nodes from a position on, as many as possible."""
        segment = self._plan_sliced(environment) if position == 0 and not done else None
        while segment is None:
            planner = Planner(self, environment, self._wanted.get(position, set()), done)
            try:
                segment = planner.plan(position)
            except NeedsElements as error:
                # Of a value that is there already: plan again, for these elements alone.
                self._wanted.setdefault(position, set()).add(planner.origin(error.value))
            except BackendFailed as error:
                self.failed.add(error.backend.name)
        return segment

    def _plan_sliced(self, environment: Environment) -> Segment | None:
        """A plan of all nodes that cuts a batch into slices; None where there is none, or it would
        not be faster."""
        if self._is_inner or not self.chooser.may_slice or self._wanted.get(0):
            return None
        slices = slices_of(self, environment)
        if slices == 1:
            return None
        _plan_for_one_thread(True)
        try:
            segment = Planner(self, sliced(environment, slices), set(), frozenset(), slices).plan(0)
        except (NeedsElements, BackendFailed):
            return None
        finally:
            _plan_for_one_thread(False)
        is_whole = segment.end == len(self.nodes) and segment.plan is not None
        is_whole = is_whole and segment.given == self.inputs and segment.computed == self.results
        return segment if is_whole and suits(segment.plan) else None


def _alone_step(node: onnx_ir.Node) -> tuple[str, str, list[Any], list[Any], int]:
    return node.name or node.op_type, f"alone:{node.op_type}", [], [], 0
