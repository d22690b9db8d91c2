"""From the graph of a model whose shapes are known to calls of kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx_ir

from ...graph import Graph, GraphError
from ...graph._spec import dtype_of
from ...graph.lowering._followers import followers_of
from ...graph.lowering._host import HostNode
from ...graph.lowering._node import PRECISION, attributes_of, describe, has_subgraphs, since_version
from ...graph.lowering._value import Declined, Follower, Followers
from ..backends.gen import Spec, Target, emit
from ..backends.gen._chain import Chain, longest
from ..backends.gen._emit_group import is_in_groups
from ..backends.gen._reads import read_inputs
from ..backends.gen._table import SINCE
from ..backends.gen.products.recurrent import GATES, in_turns
from ._bodies import by_body, by_expansion
from ._control import control_of
from ._coverage import WITHOUT
from ._fusion import Fused
from ._known import alias, computed
from ._last import TO_FIRST, first_of, fused_last
from ._program import Call, Control, Program, Step, Value, constant_of

# What emitters raise for arguments that they do not expect.
_REJECTIONS = (TypeError, ValueError, ArithmeticError, LookupError)

Values = dict[onnx_ir.Value, Value]
Behind = tuple[onnx_ir.Node, Follower]


def lower(graph: Graph, target: Target) -> Program:
    """The calls that give what the graph gives, for a target.

    Raises GraphError, which names the node and its module, where an operator has no kernel, and
    where an input has a dimension that varies.
    """
    return Lowering(graph, target).program()


class Lowering:
    """A graph on its way to steps."""

    def __init__(self, graph: Graph, target: Target) -> None:
        self._graph = graph.model.graph
        self._opset = {"": graph.opset, **graph.model.opset_imports}
        self._name = graph.name
        self.target = target
        self.steps: list[Step] = []
        self._label = ""
        self._done: set[onnx_ir.Node] = set()  # what kernels of nodes before compute
        # Values whose elements lie elsewhere only, with their channels last; branches and loops
        # would need others in each.
        self._pending: set[Value] = set()
        # Branches and loops would need others in each.
        self.may_be_last = not any(map(has_subgraphs, self._graph))

    def program(self) -> Program:
        values: Values = {}
        inputs = []
        for value in self._graph.inputs:
            if not value.is_initializer():
                values[value] = self._input(value)
                inputs.append(values[value])
        for value in self._graph.initializers.values():
            if value.const_value is not None:
                values[value] = constant_of(value.const_value.numpy())
        for node in self._graph:
            self._lower(node, values, self._opset)
        program = Program(self._name, inputs, [], self.steps)
        for value in self._graph.outputs:
            if value not in values:
                raise GraphError(f"{self._name}: the output {value.name!r} is nothing")
            program.outputs.append(self._output(values[value], value.name or "output", program))
        _drop_unused(program)
        return program

    def _input(self, value: onnx_ir.Value) -> Value:
        if value.type is not None and not isinstance(value.type, onnx_ir.TensorType):
            raise GraphError(
                f"{self._name}: input {value.name!r}: expected a tensor, got {dtype_of(value)}"
            )
        shape = None if value.shape is None else list(value.shape)
        if shape is None or not all(isinstance(extent, int) for extent in shape):
            raise GraphError(
                f"{self._name}: input {value.name!r}: expected a known shape, got {value.shape}"
            )
        if value.dtype is None:
            raise GraphError(f"{self._name}: input {value.name!r}: its data type is unknown")
        extents = tuple(int(extent) for extent in shape if isinstance(extent, int))
        return Value(extents, str(value.dtype.numpy()), name=value.name or "input")

    def _output(self, value: Value, name: str, program: Program) -> Value:
        """What a graph gives as a value of its own, which a kernel writes."""
        value = self.first(value)
        root = value.root
        is_free = root.known is None and root not in program.inputs
        if is_free and all(root is not other.root for other in program.outputs):
            value.name = root.name = name
            return value
        made = Value(value.shape, value.dtype, name=name)
        self.copy(value, made, f"output {name}")
        return made

    def first(self, value: Value) -> Value:
        """A value whose elements lie as its shape says: where they do not yet, adds what moves
        them there."""
        if value in self._pending:
            self._pending.remove(value)
            assert value.last is not None
            kernel = emit(self.target, "Transpose", [value.last.spec], {"perm": list(TO_FIRST)})
            self.steps.append(Call((value.last,), (value,), kernel, f"{self._label}: channels"))
        return value

    def copy(self, value: Value, to: Value, label: str) -> None:
        """Adds what copies all elements of a value into the memory of another."""
        value = self.first(value)
        if not value.size:
            return
        kernel = emit(self.target, "Identity", [value.spec])
        self.steps.append(Call((value,), (to,), kernel, label))

    def emitted(self, operator: str, value: Value, **attributes: Any) -> Value:
        """Adds a node with one input, and gives its output."""
        kernel = emit(self.target, operator, [value.spec], attributes)
        return self._call(Fused(kernel, [value], 0), f"{self._label} + {operator}")[0]

    def inner(
        self,
        graph: onnx_ir.Graph,
        values: Values,
        given: Sequence[Value],
        opset: Mapping[str, int],
    ) -> list[Value]:
        """Adds the steps of a graph inside of a node, and gives its outputs.

        `values` has what it sees of the graph around it, `given` are its inputs.
        """
        own = {**values, **dict(zip(graph.inputs, given, strict=True))}
        for value in graph.initializers.values():
            if value.const_value is not None:
                own[value] = constant_of(value.const_value.numpy())
        for node in graph:
            self._lower(node, own, opset)
        return [own[value] for value in graph.outputs]

    def _lower(self, node: onnx_ir.Node, values: Values, opset: Mapping[str, int]) -> None:
        if node in self._done:
            return
        self._label = _label_of(node)
        behind: list[Behind] = []
        if not node.domain:
            behind += followers_of(node, values.get, lambda node: opset.get(node.domain, 1))
        try:
            outputs, taken = self.outputs(node, values, opset, behind)
        except Declined as error:
            raise GraphError(f"{describe(node)}: cannot be deployed: {error}") from None
        self._done.update(one for one, _ in behind[:taken])
        last = behind[taken - 1][0] if taken else node
        values.update(zip(last.outputs, outputs, strict=False))

    def outputs(
        self,
        node: onnx_ir.Node,
        values: Values,
        opset: Mapping[str, int],
        behind: Sequence[Behind] = (),
    ) -> tuple[Sequence[Value], int]:
        """What a node gives: known elements, the same memory, what kernels write; and how many of
        the nodes behind it these compute, too, which give that then."""
        inputs = [None if value is None else values[value] for value in node.inputs]
        is_onnx = node.domain in ("", "ai.onnx")
        if has_subgraphs(node):
            return control_of(self, node, inputs, values, opset), 0
        host = HostNode(node, opset)
        known = computed(node, inputs, host) if is_onnx else None
        if known is not None:
            return known, 0
        attributes = attributes_of(node)
        if PRECISION in node.metadata_props:
            attributes[PRECISION] = node.metadata_props[PRECISION]
        if is_onnx and self.may_be_last:
            made = self._last_outputs(node, inputs, attributes, behind)
            if made is not None:
                return made
        inputs = [None if value is None else self.first(value) for value in inputs]
        same = alias(node, inputs, attributes) if is_onnx else None
        if same is not None:
            return [same], 0
        try:
            if since_version(node, opset.get(node.domain, 1)) < SINCE.get(node.op_type, 1):
                raise Declined(f"version {SINCE[node.op_type]} of the operator is needed")
            if node.op_type == "Split" and len(inputs) < 2 and "split" not in attributes:
                attributes.setdefault("num_outputs", len(node.outputs))
            turns = self._in_turns(node, inputs, attributes) if is_onnx else None
            if turns is not None:
                return turns, 0
            fused = self._fused(node, inputs, attributes, behind)
        except Declined as error:
            reason = str(error)
        except _REJECTIONS as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            return self._call(fused, self._names(fused, behind)), fused.taken
        reasons = [reason]
        for nodes_of in (by_expansion, by_body):
            try:
                return nodes_of(self, host, inputs), 0
            except Declined as error:
                reasons.append(str(error))
        without = WITHOUT.get(node.op_type) if is_onnx else None
        raise Declined(without or "; ".join(reasons))

    def _last_outputs(
        self,
        node: onnx_ir.Node,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
        behind: Sequence[Behind],
    ) -> tuple[Sequence[Value], int] | None:
        """As `outputs`, of kernels that write tensors with their channels last; None without."""
        try:
            fused = fused_last(self, node, inputs, attributes, behind)
        except (Declined, *_REJECTIONS):
            return None
        if fused is None:
            return None
        values = [first_of(value) for value in self._call(fused, self._names(fused, behind))]
        self._pending.update(value for value in values if value.of is None)
        return values, fused.taken

    def _names(self, fused: Fused, behind: Sequence[Behind]) -> str:
        names = [_label_of(one) for one, _ in behind[: fused.taken]]
        return " + ".join([self._label, *names])

    def _fused(
        self,
        node: onnx_ir.Node,
        inputs: Sequence[Value | None],
        attributes: dict[str, Any],
        behind: Sequence[Behind],
    ) -> Fused:
        """The kernel of a node and of as many behind it as one can have."""
        rest = Followers(follower for _, follower in behind)
        if is_in_groups(node.op_type) and len(node.outputs) == 1:
            first = Chain().with_node(node.op_type, inputs, attributes)
            kernel, chain = longest(self.target, first, rest)
            given = [value for value in chain.inputs if isinstance(value, Value)]
            return Fused(kernel, given, len(chain) - 1)
        kernel = emit(self.target, node.op_type, *_described(inputs, attributes))
        for output in node.outputs[len(kernel.outputs) :]:
            if output.uses() or output.is_graph_output():
                raise Declined(f"{len(node.outputs)} outputs")
        return Fused(kernel, inputs, 0)

    def _in_turns(
        self, node: onnx_ir.Node, inputs: Sequence[Value | None], attributes: dict[str, Any]
    ) -> list[Value] | None:
        """What a recurrent layer gives whose steps several threads compute; None for others."""
        if node.op_type not in GATES:
            return None
        specs, settings, known = _described(inputs, attributes)
        kernel = in_turns(node.op_type, self.target, specs, settings, known)
        if kernel is None:
            return None
        given = [inputs[0], *inputs[5:7]]  # weights are constants of the kernel
        *outputs, _ = self._call(Fused(kernel, given, 0), self._label)
        return outputs

    def _call(self, fused: Fused, label: str) -> list[Value]:
        kernel = fused.kernel
        if not any(math.prod(spec.shape) for spec in kernel.outputs):
            return [constant_of(numpy.zeros(one.shape, one.dtype)) for one in kernel.outputs]
        constants = list(map(constant_of, kernel.constants))
        outputs = [Value(spec.shape, spec.dtype) for spec in kernel.outputs]
        read = read_inputs(kernel)
        inputs = [self.first(value) for value in fused.inputs if value is not None]
        given = [
            value if read is None or index in read else None
            for index, value in enumerate((*inputs, *constants))
        ]
        self.steps.append(Call(tuple(given), tuple(outputs), kernel, label))
        return outputs


def _described(
    inputs: Sequence[Value | None], attributes: dict[str, Any]
) -> tuple[list[Spec | None], dict[str, Any], dict[int, Any]]:
    """What emitters are told: specs, attributes, and the elements that are known."""
    known = {
        index: value.constant
        for index, value in enumerate(inputs)
        if value is not None and value.constant is not None
    }
    return [None if value is None else value.spec for value in inputs], attributes, known


def _drop_unused(program: Program) -> None:
    """Removes steps of which nothing is used."""
    used = {value.root for value in program.outputs}
    kept = []
    for step in reversed(program.steps):
        is_frame = isinstance(step, Control) and step.kind
        if is_frame or any(value.root in used for value in step.outputs):
            used.update(value.root for value in step.inputs if value is not None)
            kept.append(step)
    program.steps = kept[::-1]


def _label_of(node: onnx_ir.Node) -> str:
    source = node.metadata_props.get("mx.source")
    return f"{node.name or node.op_type} ({node.op_type})" + (f", {source}" if source else "")
