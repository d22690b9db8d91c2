"""Lowers nodes from one position on, as many as possible: one plan for values of known shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import onnx_ir

from ... import _onednn
from .._errors import GraphError
from .._layout import is_of_graph
from ._contents import Environment, is_tensor, to_numpy
from ._followers import followers_of, taken_from
from ._graph_nodes import GraphNodes
from ._lowering import Lowering
from ._node import PRECISION, has_subgraphs
from ._node_lowering import NodeLowering
from ._segment import Segment, Step
from ._slices import shape_of_slice
from ._value import Declined, Followers, NeedsElements, Value


class Planner:
    """Makes one segment."""

    def __init__(
        self,
        program: GraphNodes,
        environment: Environment,
        wanted: set[onnx_ir.Value],
        done: frozenset[onnx_ir.Node],
        slices: int = 1,
    ) -> None:
        """`environment` has the values of one slice where the plan is to run for several."""
        self._program = program
        self._slices = slices
        self._environment = environment
        self._wanted = wanted
        self._to = Lowering(program.keep_nan, program.chooser.records)
        self._chosen = NodeLowering(program, self._to)
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
        try:
            return self._plan(begin)
        finally:
            # What looks for followers refers to this object, and this to that: the arrays are not
            # to live until such circles are collected.
            self._environment = {}

    def _plan(self, begin: int) -> Segment:
        program = self._program
        if begin == 0:
            # In the order of the graph, so that a plan of all of it takes what the graph takes.
            for value in program.inputs:
                if value not in self._wanted and is_tensor(self._environment.get(value)):
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
                self._slices,
            )
            if any(step.backend == "onednn" for step in self._steps):
                _onednn.give_back_code()  # what makes kernels, 7 MB
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
            self._to.recording,
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
            if not is_tensor(content):
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
        if has_subgraphs(node):
            raise Declined("it has subgraphs")
        program = self._program
        inputs = [self._input(value) for value in node.inputs]
        if self._slices != 1 and node.op_type == "Reshape" and inputs[1] is not None:
            shape = shape_of_slice(self._to.elements(inputs[1]), self._slices)
            inputs[1] = self._to.constant(shape)
        self._to.node_name = node.name or node.op_type
        self._to.precision = node.metadata_props.get(PRECISION, "")
        self._to.num_outputs = len(node.outputs)
        behind = followers_of(node, self._find, program.version_of, program.own)
        followers = Followers(follower for _, follower in behind)
        outputs, backend, reasons, estimates = self._chosen.choose(
            node, self._position, inputs, followers
        )
        for read in inputs:
            if read is not None and read.known is not None:
                read.known.release()
        self._steps.append(Step(node, backend, tuple(reasons), estimates))
        chain = taken_from(node, self._to.taken)
        self._fused.update(chain)
        self._steps += [Step(one, backend, ("part of the kernel before",)) for one in chain]
        if is_of_graph(node):
            outputs = [made and self._to.plain(made) for made in outputs]
        for value, made in zip((chain or [node])[-1].outputs, outputs, strict=False):
            self._values[value] = made

    def _find(self, value: onnx_ir.Value) -> Value | None:
        """A value that a follower reads, if it is there."""
        return self._input(value) if self._is_there(value) else None

    def _is_there(self, value: onnx_ir.Value) -> bool:
        """Whether a value is known when the node that is being lowered is executed."""
        if value in self._values or value in self._program.weights:
            return True
        return is_tensor(self._environment.get(value))
