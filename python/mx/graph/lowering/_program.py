"""Executes the nodes of a graph: plans for as many as possible at once, what is left one by one.

A plan is made for known shapes. Where elements decide a shape (NonZero, or a Reshape by a computed
shape), the plan ends; when it has run, what follows is planned for the shapes that came out. Plans
are kept by the shapes that they are for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock, RLock
from time import perf_counter_ns
from typing import Any

import numpy
import onnx_ir

from ... import numpy as np
from .._custom import rule_name
from .._errors import GraphError
from ._body import body_of
from ._body_chain import followers_in, taken_from
from ._choice import Chooser, Layer
from ._constant import Constant
from ._control_flow import control_flow
from ._host import HostNode
from ._lowering import ARRAY_DTYPES, Lowering
from ._node import PRECISION, attributes_of, since_version
from ._value import REJECTIONS, BackendFailed, Declined, Follower, Followers, NeedsElements, Value

Environment = dict[onnx_ir.Value, Any]
# Gets steps, as those of mx.graph.CompiledPlan.steps, and how long each took.
Record = Callable[[Sequence[Any], Sequence[int]], None]

# Plans that are kept, each with packed weights of its own; of more the one least used lately goes.
_MOST_SEGMENTS = 32


@dataclass(frozen=True)
class Step:
    """Where one node of a graph is executed."""

    node: onnx_ir.Node
    # The name of a backend; "body" where they have what the operator is short for, "constant" where
    # its outputs are known beforehand, "reference" and "alone" where Python executes it.
    backend: str
    reasons: tuple[str, ...]  # why the backends before that one declined


@dataclass
class Segment:
    """Nodes from one position on, for values of known shapes."""

    plan: Any  # None where nothing has to be computed
    given: list[onnx_ir.Value]
    computed: list[onnx_ir.Value]
    known: dict[onnx_ir.Value, Any]
    end: int  # the position of the first node that is not of it
    steps: list[Step]
    done: frozenset[onnx_ir.Node]  # behind it, which kernels of it or of earlier ones computed
    stores: bool = False  # whether the plan writes what the program stores to inputs
    # Of outputs that are no row-major arrays, as the program lets them be.
    layouts: Mapping[onnx_ir.Value, Any] = field(default_factory=dict)


class Program:
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
    ) -> None:
        """`keep_nan` says whether kernels that would make numbers of NaN are left out. `chooser` is
        asked for backends of this graph's nodes; nodes of subgraphs get them in its order. Outputs
        `any_layout` and inputs that have `layouts` are as Plan says."""
        self.graph = graph
        # Outputs that are written to the memory of inputs, and those that a run gives.
        self.stores = dict(stores or {})
        self.results = [value for value in graph.outputs if value not in self.stores]
        self.any_layout = any_layout
        self.layouts = dict(layouts or {})
        self.keep_nan = keep_nan
        self.nodes = [node for node in graph if not _is_constant(node)]
        # Weights of old models are inputs, too.
        weights = set(graph.initializers.values())
        self.inputs = [value for value in graph.inputs if value not in weights]
        self.opset = opset
        self.chooser = chooser
        self.failed: set[str] = set()  # backends that plans do without
        # All plans share them.
        self.weights: dict[onnx_ir.Value, Constant] = dict(outer.weights) if outer else {}
        for node in filter(_is_constant, graph):
            self.weights[node.outputs[0]] = Constant(node.attributes["value"].as_tensor())
        for value in graph.initializers.values():
            if value.const_value is None:
                raise GraphError(f"the weight {value.name!r} has no elements")
            self.weights[value] = Constant(value.const_value)
        self.own = set(self.nodes)
        self._last_use = self._find_last_uses()
        self._planning = RLock()  # held while one thread plans; others run what is planned
        self._lock = Lock()  # of the segments
        self._segments: dict[Any, Segment] = {}
        self._wanted: dict[int, set[onnx_ir.Value]] = {}
        self._hosts: dict[int, HostNode] = {}
        self._subprograms: dict[onnx_ir.Graph, Program] = {}

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
                arrays = [_to_array(environment[value]) for value in segment.given]
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

    def _subprogram(self, graph: onnx_ir.Graph) -> Program:
        """The program of a node's subgraph, made once."""
        if graph not in self._subprograms:
            self._subprograms[graph] = Program(
                graph,
                self.opset,
                Chooser(self.chooser.backends),
                outer=self,
                keep_nan=self.keep_nan,
            )
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
        control = control_flow(node, self._version(node))
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

    def output_layouts(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """The layouts of outputs for such inputs, by name, without those that are row-major."""
        segment = self._segment(0, dict(zip(self.inputs, inputs, strict=True)))
        return {value.name or "": layout for value, layout in segment.layouts.items()}

    def _runner(self, environment: Environment) -> Callable[..., list[Any]]:
        """A function that executes a subgraph for inputs, with the values around it."""

        def run(graph: onnx_ir.Graph, inputs: Sequence[Any]) -> list[Any]:
            return self._subprogram(graph).run(inputs, environment)

        return run

    def _version(self, node: onnx_ir.Node) -> int:
        return self.opset.get(node.domain, 1)

    # -- planning --

    def _find_last_uses(self) -> dict[onnx_ir.Value, int]:
        """The position of the last node that uses a value, in a subgraph of its, too."""
        last: dict[onnx_ir.Value, int] = {}
        for position, node in enumerate(self.nodes):
            for value in _used_by(node):
                last[value] = position
        for value in (*self.graph.outputs, *self.stores.values()):
            last[value] = len(self.nodes)
        return last

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
                (id(value), _key_of(content, value in wanted))
                for value, content in environment.items()
                if self._last_use.get(value, -1) >= position
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
        while True:
            planner = _Planner(self, environment, self._wanted.get(position, set()), done)
            try:
                return planner.plan(position)
            except NeedsElements as error:
                # Of a value that is there already: plan again, for these elements alone.
                self._wanted.setdefault(position, set()).add(planner.origin(error.value))
            except BackendFailed as error:
                self.failed.add(error.backend.name)

    def last_use(self, value: onnx_ir.Value) -> int:
        """The position of the last node that uses a value; -1 where none does."""
        return self._last_use.get(value, -1)


class _Planner:
    """Makes one segment."""

    def __init__(
        self,
        program: Program,
        environment: Environment,
        wanted: set[onnx_ir.Value],
        done: frozenset[onnx_ir.Node],
    ) -> None:
        self._program = program
        self._environment = environment
        self._wanted = wanted
        self._to = Lowering(program.keep_nan)
        self._values: dict[onnx_ir.Value, Value] = {}
        self._given: list[onnx_ir.Value] = []
        self._steps: list[Step] = []
        self._fused = set(done)
        self._position = 0  # of the node that is being lowered

    def origin(self, wanted: Value) -> onnx_ir.Value:
        """The value of the graph that a Value of the lowering is."""
        for value, made in self._values.items():
            if made is wanted:
                return value
        raise GraphError("a rule needs the elements of what it computes itself")

    def plan(self, begin: int) -> Segment:
        program = self._program
        if begin == 0:
            # In the order of the graph, so that a plan of all of it takes what the graph takes.
            for value in program.inputs:
                if value not in self._wanted and _is_tensor(self._environment.get(value)):
                    self._input(value)
        position = begin
        while position < len(program.nodes):
            node, self._position = program.nodes[position], position
            try:
                if node not in self._fused:
                    self._lower(node)
            except NeedsElements as error:
                if self.origin(error.value) in self._given:
                    raise
                break
            except Declined as error:
                self._steps.append(Step(node, "alone", (str(error),)))
                break
            position += 1
        return self._finish(begin, position)

    def _finish(self, begin: int, end: int) -> Segment:
        program = self._program
        stores: dict[onnx_ir.Value, onnx_ir.Value] = {}
        if begin == 0 and end == len(program.nodes) and self._may_store():
            stores = program.stores
        computed: list[onnx_ir.Value] = []
        known: dict[onnx_ir.Value, Any] = {}
        for value, made in self._values.items():
            if program.last_use(value) < end or value in self._environment or value in stores:
                continue
            if value in program.weights and value not in program.graph.outputs:
                continue
            if made.known is not None:
                known[value] = made.known.elements
            else:
                computed.append(value)
        if end == len(program.nodes):
            # So that what the plan gives is what the graph gives.
            position = {value: index for index, value in enumerate(program.graph.outputs)}
            computed.sort(key=lambda value: position[value])
        plan = None
        layouts: dict[onnx_ir.Value, Any] = {}
        if computed or stores:
            written = [(self._values[value], self._given.index(to)) for value, to in stores.items()]
            layouts = self._layouts_of(computed) if not known and begin == 0 else {}
            plan = self._to.build(
                [self._values[value] for value in computed],
                written,
                [self._values[value] for value in layouts],
            )
        done = self._fused.intersection(program.nodes[end + 1 :]) if self._fused else ()
        return Segment(
            plan,
            self._given,
            computed,
            known,
            end,
            self._steps,
            frozenset(done),
            bool(stores),
            layouts,
        )

    def _layouts_of(self, computed: Sequence[onnx_ir.Value]) -> dict[onnx_ir.Value, Any]:
        """Outputs that may have any layout, with the one that they have, where this plan is all of
        the program. A run gives arrays of their shapes, so that layouts have to take their sizes.
        """
        program = self._program
        if list(computed) != program.results or self._given != program.inputs:
            return {}
        made = {value: self._values[value] for value in computed if value in program.any_layout}
        return {
            value: one.layout
            for value, one in made.items()
            if one.layout is not None and self._to.has_its_size(one)
        }

    def _may_store(self) -> bool:
        """Whether the plan computes all that is stored, and is given what is written to."""
        stores = self._program.stores
        return all(
            made in self._values and made not in self._environment and to in self._given
            for made, to in stores.items()
        )

    def _input(self, value: onnx_ir.Value | None) -> Value | None:
        """A value as rules take it. Declined where it is no tensor that plans can have."""
        if value is None:
            return None
        if value in self._values:
            return self._values[value]
        program = self._program
        if value in self._environment:
            content = self._environment[value]
            if not _is_tensor(content):
                raise Declined("an input is no tensor, or of a type that arrays do not have")
            if value in self._wanted:
                if value in program.layouts:
                    raise GraphError(f"the elements of {value.name!r}, in a layout, decide a shape")
                # A copy: the plan is kept by these elements, whatever the caller writes later.
                elements = numpy.array(to_numpy(content))
                elements.flags.writeable = False
                made = self._to.constant(elements)
            else:
                layout = program.layouts.get(value)
                made = self._to.input(content.shape, str(content.dtype), layout)
                self._given.append(value)
        elif value in program.weights:
            made = self._to.constant(program.weights[value])
        else:
            raise GraphError(f"the value {value.name!r} is used before a node has computed it")
        self._values[value] = made
        return made

    def _lower(self, node: onnx_ir.Node) -> None:
        if _has_subgraphs(node):
            raise Declined("it has subgraphs")
        inputs = [self._input(value) for value in node.inputs]
        self._to.node_name = node.name or node.op_type
        self._to.precision = node.metadata_props.get(PRECISION, "")
        self._to.num_outputs = len(node.outputs)
        outputs, backend, reasons = self._choose(node, inputs)
        for read in inputs:
            if read is not None and read.known is not None:
                read.known.release()
        self._steps.append(Step(node, backend, tuple(reasons)))
        last = node
        for _ in range(self._to.taken):
            (use,) = last.outputs[0].uses()
            last = use.node
            self._fused.add(last)
            self._steps.append(Step(last, backend, ("part of the kernel before",)))
        for value, made in zip(last.outputs, outputs, strict=False):
            self._values[value] = made

    def _followers(self, node: onnx_ir.Node) -> Iterator[Follower]:
        """The chain of nodes behind one, each of which alone uses the one before."""
        while True:
            value, *others = node.outputs
            uses = tuple(value.uses())
            if len(uses) != 1 or value.is_graph_output() or any(one.uses() for one in others):
                return
            node, position = uses[0].node, uses[0].idx
            if node not in self._program.own or node.domain or _has_subgraphs(node):
                return
            # Of a follower one output is written.
            if any(one.uses() or one.is_graph_output() for one in node.outputs[1:]):
                return
            inputs = []
            for other in node.inputs:
                if other is not None and other is not value and not self._is_there(other):
                    return
                inputs.append(None if other is value else self._input(other))
            version = since_version(node, self._program._version(node))
            yield Follower(node.op_type, version, tuple(inputs), position, attributes_of(node))

    def _is_there(self, value: onnx_ir.Value) -> bool:
        """Whether a value is known when the node that is being lowered is executed."""
        if value in self._values or value in self._program.weights:
            return True
        return _is_tensor(self._environment.get(value))

    def _choose(
        self, node: onnx_ir.Node, inputs: list[Value | None]
    ) -> tuple[list[Value], str, list[str]]:
        """What a node gives, and by which backend; the reasons of those that declined."""
        version = self._program._version(node)
        host = HostNode(node, self._program.opset)
        if _may_compute(node, inputs):
            self._to.taken = 0
            computed = self._compute(host, inputs)
            if computed is not None:
                return computed, "constant", []
        reasons: list[str] = []
        since = since_version(node, version)
        chooser, attributes = self._program.chooser, attributes_of(node)
        layer = Layer(
            self._to.node_name,
            self._position,
            rule_name(node.domain, node.op_type),
            since,
            tuple(inputs),
            attributes,
            len(node.outputs),
            Followers(self._followers(node)),
            self._to.precision,
        )
        for backend in chooser.order(layer):
            if backend.name in self._program.failed:
                continue
            self._to.taken, self._to.followers = 0, layer.followers
            try:
                outputs = backend.lower(self._to, layer.operator, since, inputs, attributes)
                chooser.note(layer, backend.name, self._to.taken, outputs)
                return outputs, backend.name, reasons
            except Declined as error:
                reasons.append(f"{backend.name}: {error}")
            except NeedsElements:
                raise
            except REJECTIONS as error:
                reasons.append(f"{backend.name}: {error}")
        self._to.taken, self._to.followers = 0, Followers()
        try:
            return self._by_body(node, host, inputs), "body", reasons
        except Declined as error:
            reasons.append(f"body: {error}")
        return self._by_reference(node, host, inputs), "reference", reasons

    def _by_body(
        self, node: onnx_ir.Node, host: HostNode, inputs: list[Value | None]
    ) -> list[Value]:
        """What the nodes give that the operator is short for, if backends have rules for all."""
        function = body_of(host.proto, inputs, host.opset)
        trial = Lowering(
            self._to.keep_nan
        )  # nothing is to be left of a body that is lowered in part
        self._lower_body(trial, function, [trial.like(value) for value in inputs], inputs)
        return self._lower_body(self._to, function, inputs, inputs)[: len(node.outputs)]

    def _lower_body(
        self,
        to: Lowering,
        function: onnx_ir.Function,
        inputs: Sequence[Value | None],
        origins: Sequence[Value | None],
    ) -> list[Value]:
        values = dict(zip(function.inputs, inputs, strict=False))
        to.node_name = self._to.node_name

        def version_of(node: onnx_ir.Node) -> int:
            return {**self._program.opset, **function.opset_imports}.get(node.domain, 1)

        done: set[onnx_ir.Node] = set()
        for node in function:
            if node in done:
                continue
            given = [None if value is None else values.get(value) for value in node.inputs]
            to.num_outputs = len(node.outputs)
            behind = Followers(followers_in(function, node, values, version_of))
            try:
                outputs = self._lower_inner(to, node, version_of(node), given, behind)
            except NeedsElements as error:
                for value, origin in zip(inputs, origins, strict=True):
                    if error.value is value and origin is not None:
                        raise NeedsElements(origin) from None
                raise Declined(f"{node.op_type}: elements decide a shape") from None
            chain = taken_from(node, to.taken)
            done.update(chain)
            values.update(zip((chain or [node])[-1].outputs, outputs, strict=False))
        to.taken, to.followers = 0, Followers()
        found = [values.get(value) for value in function.outputs]
        if None in found:
            raise Declined("a body that gives what it is given as nothing")
        return [value for value in found if value is not None]

    def _lower_inner(
        self,
        to: Lowering,
        node: onnx_ir.Node,
        version: int,
        inputs: list[Value | None],
        followers: Followers,
    ) -> list[Value]:
        """A node of a body, by one of the backends; as many behind it as `taken` of `to` says."""
        to.taken = 0
        if _is_constant(node):
            return [to.constant(attributes_of(node)["value"])]
        host = HostNode(node, {**self._program.opset, node.domain: version})
        if _may_compute(node, inputs):
            results = host.run([None if value is None else value.constant for value in inputs])
            return [to.constant(result) for result in results]
        since = since_version(node, version)
        reasons = []
        for backend in self._program.chooser.backends:
            if backend.name in self._program.failed:
                continue
            to.taken, to.followers = 0, followers
            try:
                name = rule_name(node.domain, node.op_type)
                return backend.lower(to, name, since, inputs, attributes_of(node))
            except (Declined, *REJECTIONS) as error:
                reasons.append(f"{backend.name}: {error}")
        to.taken, to.followers = 0, Followers()
        try:
            return self._lower_body(to, body_of(host.proto, inputs, host.opset), inputs, inputs)
        except Declined as error:
            reasons.append(str(error))
        raise Declined(f"{node.op_type} in it: " + "; ".join(reasons))

    def _compute(self, host: HostNode, inputs: list[Value | None]) -> list[Value] | None:
        results = host.run([None if value is None else value.constant for value in inputs])
        if not all(isinstance(result, (numpy.ndarray, numpy.generic)) for result in results):
            return None
        return [self._to.constant(result) for result in results]

    def _by_reference(
        self, node: onnx_ir.Node, host: HostNode, inputs: list[Value | None]
    ) -> list[Value]:
        specs = host.infer(inputs)
        if any(dtype not in ARRAY_DTYPES for _, dtype in specs):
            raise Declined("an output is of a type that arrays do not have")
        constants = [None if value is None else value.constant for value in inputs]

        def run(*arrays: Any) -> list[Any]:
            given = [
                constant if constant is not None else to_numpy(array)
                for constant, array in zip(constants, arrays, strict=True)
            ]
            results = host.run(given)
            return [
                np.zeros((), dtype="float32") if result is None else np.asarray(result)
                for result in results
            ]

        passed = [None if value is None or value.known is not None else value for value in inputs]
        return self._to.function(f"reference:{node.op_type}", run, passed, specs)


def _may_compute(node: onnx_ir.Node, inputs: list[Value | None]) -> bool:
    """Whether all that a node reads is known, and what it gives will not be large."""
    if node.op_type in _VARIES:
        return False
    given = [value for value in inputs if value is not None]
    if node.op_type == "Constant":
        return True
    if not given or any(value.known is None for value in given):
        return False
    if node.op_type in _GROWS:
        return False
    return True


# What gives other elements each time, and what may give many of few.
_VARIES = frozenset(
    "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Bernoulli Multinomial "
    "Dropout".split()
)
_GROWS = frozenset("ConstantOfShape Expand Tile Range EyeLike OneHot Pad Resize Upsample".split())


def _alone_step(node: onnx_ir.Node) -> tuple[str, str, list[Any], list[Any], int]:
    return node.name or node.op_type, f"alone:{node.op_type}", [], [], 0


def _is_constant(node: onnx_ir.Node) -> bool:
    return node.op_type == "Constant" and node.domain == "" and "value" in node.attributes


def _has_subgraphs(node: onnx_ir.Node) -> bool:
    kinds = (onnx_ir.AttributeType.GRAPH, onnx_ir.AttributeType.GRAPHS)
    return any(attribute.type in kinds for attribute in node.attributes.values())


def _used_by(node: onnx_ir.Node) -> list[onnx_ir.Value]:
    """The values that a node reads, those that its subgraphs take from around them included."""
    used = [value for value in node.inputs if value is not None]
    for attribute in node.attributes.values():
        if attribute.type == onnx_ir.AttributeType.GRAPH:
            graphs = [attribute.as_graph()]
        elif attribute.type == onnx_ir.AttributeType.GRAPHS:
            graphs = list(attribute.as_graphs())
        else:
            continue
        for graph in graphs:
            for inner in graph:
                used += _used_by(inner)
            used += list(graph.outputs)
    return used


def _is_tensor(content: Any) -> bool:
    is_array = isinstance(content, (np.ndarray, numpy.ndarray, numpy.generic))
    return is_array and str(content.dtype) in ARRAY_DTYPES


def _key_of(content: Any, by_elements: bool) -> Any:
    """What plans for a value are kept by."""
    if not _is_tensor(content):
        return "no tensor"
    if by_elements:
        return str(content.dtype), content.shape, to_numpy(content).tobytes()
    return str(content.dtype), content.shape


def _to_array(content: Any) -> Any:
    return content if isinstance(content, np.ndarray) else np.asarray(content)


def to_numpy(content: Any) -> Any:
    """A tensor as NumPy's array; what is no tensor as it is."""
    if isinstance(content, np.ndarray):
        return numpy.asarray(content)
    return numpy.asarray(content) if isinstance(content, numpy.generic) else content
