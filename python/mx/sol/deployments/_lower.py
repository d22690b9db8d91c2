"""From the graph of a model whose shapes are known to calls of kernels."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx_ir

from ...graph import Graph, GraphError
from ...graph.lowering._body import body_of
from ...graph.lowering._host import HostNode
from ...graph.lowering._node import attributes_of, describe, since_version
from ...graph.lowering._value import Declined, Follower, Followers
from ...graph.lowering._value import Value as Tensor
from ..backends.gen import GenKernel, Target, emit
from ..backends.gen._chain import Chain, longest
from ..backends.gen._emit_group import is_in_groups
from ..backends.gen._table import SINCE
from ._aliases import UNKNOWN, alias_shape
from ._fusion import Fused, followers
from ._program import Call, Program, Value, constant_of

# What gives other elements each time.
_VARIES = frozenset(
    "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Bernoulli Multinomial".split()
)
# Constants that follow from others are computed beforehand up to this size, or up to twice theirs.
_MOST_BYTES = 1 << 20

# What emitters raise for arguments that they do not expect.
_REJECTIONS = (TypeError, ValueError, ArithmeticError, LookupError)

Values = dict[onnx_ir.Value, Value]
Behind = tuple[onnx_ir.Node, Follower]


def lower(graph: Graph, target: Target) -> Program:
    """The calls that give what the graph gives, for a target.

    Raises GraphError, which names the node and its module, where an operator has no kernel, and
    where an input has a dimension that varies.
    """
    return _Lowering(graph, target).program()


class _Lowering:
    def __init__(self, graph: Graph, target: Target) -> None:
        self._graph = graph.model.graph
        self._opset = {"": graph.opset, **graph.model.opset_imports}
        self._name = graph.name
        self._target = target
        self._calls: list[Call] = []
        self._label = ""
        self._done: set[onnx_ir.Node] = set()  # what kernels of nodes before compute

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
            self._lower(node, values)
        program = Program(self._name, inputs, [], self._calls)
        for value in self._graph.outputs:
            if value not in values:
                raise GraphError(f"{self._name}: the output {value.name!r} is nothing")
            program.outputs.append(self._output(values[value], value.name or "output", program))
        _drop_unused(program)
        return program

    def _input(self, value: onnx_ir.Value) -> Value:
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
        root = value.root
        is_free = root.known is None and root not in program.inputs
        if is_free and all(root is not other.root for other in program.outputs):
            value.name = root.name = name
            return value
        copy = emit(self._target, "Identity", [value.spec])
        made = Value(value.shape, value.dtype, name=name)
        self._calls.append(Call(copy, (value,), (made,), f"output {name}"))
        return made

    def _lower(self, node: onnx_ir.Node, values: Values) -> None:
        if node in self._done:
            return
        inputs = [None if value is None else values[value] for value in node.inputs]
        self._label = _label_of(node)
        behind = [] if node.domain else list(followers(node, values, self._opset))
        try:
            outputs, taken = self._outputs(node, inputs, self._opset, behind)
        except Declined as error:
            raise GraphError(f"{describe(node)}: cannot be deployed: {error}") from None
        self._done.update(one for one, _ in behind[:taken])
        last = behind[taken - 1][0] if taken else node
        values.update(zip(last.outputs, outputs, strict=False))

    def _outputs(
        self,
        node: onnx_ir.Node,
        inputs: Sequence[Value | None],
        opset: Mapping[str, int],
        behind: Sequence[Behind] = (),
    ) -> tuple[Sequence[Value], int]:
        """What a node gives: known elements, the same memory, what kernels write; and how many of
        the nodes behind it these compute, too, which give that then."""
        if _has_subgraphs(node):
            raise Declined("it has subgraphs")
        is_onnx = node.domain in ("", "ai.onnx")
        host = HostNode(node, opset)
        computed = _computed(node, inputs, host) if is_onnx else None
        if computed is not None:
            return computed, 0
        attributes = attributes_of(node)
        same = _alias(node, inputs, attributes) if is_onnx else None
        if same is not None:
            return [same], 0
        try:
            if since_version(node, opset.get(node.domain, 1)) < SINCE.get(node.op_type, 1):
                raise Declined(f"version {SINCE[node.op_type]} of the operator is needed")
            fused = self._fused(node, inputs, attributes, behind)
        except Declined as error:
            reason = str(error)
        except _REJECTIONS as error:
            reason = f"{type(error).__name__}: {error}"
        else:
            names = [_label_of(one) for one, _ in behind[: fused.taken]]
            return self._call(fused, " + ".join([self._label, *names])), fused.taken
        try:
            return self._by_body(inputs, host, len(node.outputs)), 0
        except Declined as error:
            raise Declined(f"{reason}; {error}") from None

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
            kernel, chain = longest(self._target, first, rest)
            given = [value for value in chain.inputs if isinstance(value, Value)]
            return Fused(kernel, given, len(chain) - 1)
        known = {
            index: value.constant
            for index, value in enumerate(inputs)
            if value is not None and value.constant is not None
        }
        specs = [None if value is None else value.spec for value in inputs]
        kernel = emit(self._target, node.op_type, specs, attributes, known)
        for output in node.outputs[len(kernel.outputs) :]:
            if output.uses() or output.is_graph_output():
                raise Declined(f"{len(node.outputs)} outputs")
        return Fused(kernel, inputs, 0)

    def _call(self, fused: Fused, label: str) -> list[Value]:
        kernel = fused.kernel
        constants = list(map(constant_of, kernel.constants))
        outputs = [Value(spec.shape, spec.dtype) for spec in kernel.outputs]
        read = read_inputs(kernel)
        inputs = [value for value in fused.inputs if value is not None]
        given = [
            value if read is None or index in read else None
            for index, value in enumerate((*inputs, *constants))
        ]
        self._calls.append(Call(kernel, tuple(given), tuple(outputs), label))
        return outputs

    def _by_body(self, inputs: Sequence[Value | None], host: HostNode, count: int) -> list[Value]:
        """What the nodes give that the operator is short for."""
        tensors = [None if one is None else Tensor(one.shape, one.dtype) for one in inputs]
        function = body_of(host.proto, tensors, host.opset)
        before = len(self._calls)
        values: dict[onnx_ir.Value | None, Value | None] = {None: None}
        values.update(zip(function.inputs, inputs, strict=False))
        opset = {**host.opset, **function.opset_imports}
        try:
            for node in function:
                given = [values.get(value) for value in node.inputs]
                made, _ = self._outputs(node, given, opset)
                values.update(zip(node.outputs, made, strict=False))
        except Declined as error:
            del self._calls[before:]  # nothing is left of a body that is lowered in part
            raise Declined(f"its body: {node.op_type}: {error}") from None
        found = [values.get(value) for value in function.outputs[:count]]
        return [value for value in found if value is not None]


def read_inputs(kernel: GenKernel) -> set[int] | None:
    """The inputs that a kernel reads, by position; None where its source does not show that.

    Weights that are packed for a kernel are constants of it; the model's own are not needed then.
    """
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", kernel.source, flags=re.S)
    body = code.rpartition(f"void {kernel.symbol}(")[2].partition("{")[2]
    indices = re.findall(r"\bin\[([^\]]*)\]", body)
    handed_on = re.search(r"\bin\b(?!\[)", body.replace("(void)in;", ""))
    if handed_on or not all(index.isdigit() for index in indices):
        return None
    return set(map(int, indices))


def _computed(
    node: onnx_ir.Node, inputs: Sequence[Value | None], host: HostNode
) -> list[Value] | None:
    """What a node gives that depends on no input of the model; None where that is large."""
    if node.op_type in ("Shape", "Size") and inputs[0] is not None:
        shape = numpy.array(inputs[0].shape, "int64")
        if node.op_type == "Size":
            return [constant_of(numpy.array(math.prod(inputs[0].shape), "int64"))]
        begin: int = node.attributes.get_int("start", 0)
        return [constant_of(shape[begin : node.attributes.get_int("end", None)])]
    given = [value for value in inputs if value is not None]
    if node.op_type == "CastLike" and given[0].constant is not None:
        return [constant_of(given[0].constant.astype(numpy.dtype(given[1].dtype)))]
    if node.op_type in _VARIES or any(value.known is None for value in given):
        return None
    if not given and node.op_type != "Constant":
        return None
    results = host.run([None if value is None else value.constant for value in inputs])
    if not all(isinstance(result, numpy.ndarray | numpy.generic) for result in results):
        return None
    arrays = [numpy.asarray(result) for result in results]
    most = max(_MOST_BYTES, 2 * sum(value.nbytes for value in given))
    return list(map(constant_of, arrays)) if sum(one.nbytes for one in arrays) <= most else None


def _alias(
    node: onnx_ir.Node, inputs: Sequence[Value | None], attributes: Mapping[str, object]
) -> Value | None:
    first = inputs[0] if inputs else None
    if first is None or len(node.outputs) != 1:
        return None
    if node.op_type in ("Cast", "CastLike"):
        return first if _type_of_cast(node, inputs) == first.dtype else None
    others = [None if value is None else _elements(value) for value in inputs[1:]]
    shape = alias_shape(node.op_type, first.shape, others, dict(attributes))
    return None if shape is None else first.reshaped(shape)


def _elements(value: Value) -> Any:
    return UNKNOWN if value.constant is None else value.constant


def _type_of_cast(node: onnx_ir.Node, inputs: Sequence[Value | None]) -> str:
    if node.op_type == "Cast":
        return str(onnx_ir.DataType(node.attributes.get_int("to")).numpy())
    return "" if inputs[1] is None else inputs[1].dtype


def _drop_unused(program: Program) -> None:
    """Removes calls of which nothing is used."""
    used = {value.root for value in program.outputs}
    kept = []
    for call in reversed(program.calls):
        if any(value.root in used for value in call.outputs):
            used.update(value.root for value in call.inputs if value is not None)
            kept.append(call)
    program.calls = kept[::-1]


def _label_of(node: onnx_ir.Node) -> str:
    source = node.metadata_props.get("mx.source")
    return f"{node.name or node.op_type} ({node.op_type})" + (f", {source}" if source else "")


def _has_subgraphs(node: onnx_ir.Node) -> bool:
    kinds = (onnx_ir.AttributeType.GRAPH, onnx_ir.AttributeType.GRAPHS)
    return any(attribute.type in kinds for attribute in node.attributes.values())
