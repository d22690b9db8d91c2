"""A function of TensorFlow as a graph: walks its operations and calls the rule of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
from onnx_ir.passes.common import RemoveUnusedNodesPass

from mx.graph import OPSET, Graph, GraphError

from .._builder import Names, dtype_of
from .._training import DOMAIN, Training
from . import rules
from ._call import Builder, Call, Unsupported, rule
from ._dtypes import type_of
from ._origin import describe, metadata_of
from ._writes import ASSIGNMENTS, LOOPS, assigns_plainly, writes_of

assert rules.FAMILIES  # their import fills the table

_IR_VERSION = 11
# Of more elements constants are weights.
_MOST_IN_A_NODE = 1024
_WITHOUT_RESULTS = frozenset(("NoOp", "Assert", "PrintV2", "Print", "StringFormat"))


def import_function(
    function: Any,
    inputs: Sequence[tuple[str, Sequence[int | str]]],
    outputs: Sequence[str],
    variables: Mapping[int, str],
    name: str,
    stops: bool = False,
    training: bool = False,
) -> Graph:
    """The graph of a concrete function of tensors.

    `inputs` has names and shapes for the function's arguments, `outputs` names for its results,
    `variables` a name for each variable, by the id of its handle. With `stops` what ends gradients
    is a node of the domain mxffi.sol. For `training` see `Traced.graph_of`; otherwise variables
    that the function writes to, and that keep their elements, are "mx.assigned" of the model's
    metadata. GraphError names what has no rule, and in training what writes to variables in
    branches and loops or in part; otherwise what reads a variable after such an operation.
    """
    started = _Import(function, inputs, outputs, variables, name)
    started.builder.stops = stops
    if training:
        started.builder.training = Training(started.builder.graph)
    return started.run()


class Variable:
    """What stands for the handle of a variable among the values of operations."""

    def __init__(self, name: str, source: Any) -> None:
        self.name = name
        self.source = source


class _Import:
    """One function on its way into a graph."""

    def __init__(
        self,
        function: Any,
        inputs: Sequence[tuple[str, Sequence[int | str]]],
        outputs: Sequence[str],
        variables: Mapping[int, str],
        name: str,
    ) -> None:
        self._function = function
        self._inputs, self._outputs, self._variables = inputs, outputs, variables
        self._wrong: list[str] = []
        self._names = Names()
        self._graph = ir.Graph([], [], nodes=[], opset_imports={"": OPSET}, name=name)
        self.builder = Builder(self._graph, self._names)
        self.builder.inline = self._inline
        self._weights: dict[str, ir.Value] = {}
        # What variables have after they were assigned to.
        self._assigned: dict[str, ir.Value] = {}
        # The operation that has written to a variable what is not known, and all such variables.
        self._stale: dict[str, str] = {}
        self._left_out: dict[str, None] = {}

    def run(self) -> Graph:
        graph = self._function.graph
        environment: dict[Any, Any] = {}
        for (name, shape), tensor in zip(self._inputs, graph.inputs, strict=False):
            value = ir.Value(
                name=self._names.new(name),
                type=ir.TensorType(type_of(tensor.dtype)),
                shape=ir.Shape(shape),
            )
            self._graph.inputs.append(value)
            environment[tensor.ref()] = value
        outputs = [self._names.new(name) for name in self._outputs]
        for name in self._variables.values():
            self._names.new(name)
        for outer, inner in graph.captures:
            environment[inner.ref()] = self._captured(outer)
        results = self._walk(graph, graph.outputs, environment, self.builder)
        if self._wrong:
            raise GraphError("mx.importers.tensorflow cannot import " + _listed(self._wrong))
        self.builder.set_outputs(results, outputs)
        if self.builder.training:
            self._set_assigned()
        model = ir.Model(self._graph, ir_version=_IR_VERSION, producer_name="mxffi")
        written = self._assigned | self._left_out
        if written and not self.builder.training:
            model.metadata_props["mx.assigned"] = ", ".join(written)
        RemoveUnusedNodesPass()(model)
        _forget(self._graph)
        result = Graph(model)
        result.infer()
        return result

    def _set_assigned(self) -> None:
        """Makes what is assigned to variables outputs of the graph, which have no gradients."""
        for name, value in self._assigned.items():
            if dtype_of(value).is_floating_point():
                shape = value.shape
                value = self.builder.op("StopGradient", value, domain=DOMAIN)[0]
                value.shape = shape
            self.builder.set_outputs([value], [self._names.new(f"{name}.new")])
            self._graph.outputs[-1].metadata_props["mx.mutation"] = name

    # Weights --------------------------------------------------------------------------------------

    def _captured(self, tensor: Any) -> Any:
        """A variable, or a constant that was made outside of the function."""
        if tensor.dtype.name != "resource":
            return self._constant(tensor.numpy(), type_of(tensor.dtype), "constant")
        for variable in self._function.graph.variables:
            if variable.handle is tensor:
                name = self._variables.get(id(tensor)) or variable.name.partition(":")[0]
                return Variable(name, variable)
        raise GraphError(
            "mx.importers.tensorflow: the model uses a resource that is no variable:"
            f" {tensor.dtype.name}"
        )

    def _weight(self, variable: Variable) -> ir.Value:
        if variable.name not in self._weights:
            source = variable.source
            tensor = tensor_of(source, variable.name)
            value = ir.Value(name=variable.name, const_value=tensor)
            value.type = ir.TensorType(tensor.dtype)
            value.shape = ir.Shape(tensor.shape.numpy())
            if not source.trainable:
                value.metadata_props["mx.role"] = "auxiliary"
            self._graph.register_initializer(value)
            self._weights[variable.name] = value
        return self._weights[variable.name]

    def _constant(self, array: Any, dtype: ir.DataType, name: str) -> ir.Value:
        if array.size <= _MOST_IN_A_NODE:
            return self.builder.constant(array, dtype)
        named = self._names.new(name)
        value = ir.Value(name=named, const_value=ir.Tensor(array, dtype=dtype, name=named))
        value.type, value.shape = ir.TensorType(dtype), ir.Shape(array.shape)
        value.metadata_props["mx.role"] = "constant"
        self._graph.register_initializer(value)
        return value

    # Nodes ----------------------------------------------------------------------------------------

    def _walk(
        self,
        graph: Any,
        outputs: Sequence[Any],
        environment: dict[Any, Any],
        builder: Builder,
        writes: bool = True,
    ) -> list[Any]:
        """Imports the operations that outputs depend on, and assignments; gives the outputs.

        Of what writes to variables all is imported for training, otherwise what assigns plainly.
        """
        operations = graph.get_operations()
        if not writes:
            forced = []
        elif self.builder.training:
            forced = [op for op in operations if next(writes_of(op), None)]
        elif builder.graph is self._graph:
            forced = [op for op in operations if assigns_plainly(op)]
        else:
            forced = []
        needed = _needed([*(tensor.op for tensor in outputs), *forced])
        for op in operations:
            if writes and not self.builder.training and (op not in needed or op.type in LOOPS):
                self._leave_out(op, environment)
            if op not in needed or op.type in _WITHOUT_RESULTS:
                continue
            if op.type == "Placeholder" and op.outputs[0].ref() in environment:
                continue
            results = self._call(op, environment, builder)
            # Rules may leave results away that they cannot give.
            for tensor, result in zip(op.outputs, results, strict=False):
                environment[tensor.ref()] = result
        return [environment.get(tensor.ref()) for tensor in outputs]

    def _call(self, op: Any, environment: dict[Any, Any], builder: Builder) -> Sequence[Any]:
        builder.prefix, builder.metadata = op.name, metadata_of(op)
        inputs = [environment.get(tensor.ref()) for tensor in op.inputs]
        if op.type == "Const":
            from tensorflow import make_ndarray

            array = make_ndarray(op.get_attr("value"))
            try:
                return [self._constant(array, type_of(op.outputs[0].dtype), op.name)]
            except ValueError as error:  # texts, of which only what is left out makes use
                return self._fail(op, str(error))
        if op.type in ("ReadVariableOp", "ResourceGather") and isinstance(inputs[0], Variable):
            if inputs[0].name in self._stale:
                return self._fail_stale(op, inputs[0])
            inputs[0] = self._elements(inputs[0])
            if op.type == "ReadVariableOp":
                return [inputs[0]]
        if op.type in ASSIGNMENTS:
            return self._assign(op, inputs, builder)
        if any(one is None for one in inputs):
            return [None] * len(op.outputs)  # of an operation that has been noted already
        function = rule.get(op.type)
        if function is None:
            writes = any(isinstance(one, Variable) for one in inputs) and next(writes_of(op), None)
            why = ", which writes to a variable" if writes else ""
            return self._fail(op, "there is no rule for the operator" + why)
        try:
            call = Call(op, inputs, lambda tensor: environment.get(tensor.ref()))
            result = function(builder, call)
            results = [result] if not isinstance(result, (list, tuple)) else list(result)
            return [
                self._finish(one, tensor, builder)
                for one, tensor in zip(results, op.outputs, strict=False)
            ]
        except GraphError:
            raise
        except (Unsupported, ValueError) as error:
            return self._fail(op, str(error))
        except Exception as error:
            raise GraphError(
                f"mx.importers.tensorflow: the rule of {describe(op)} fails:"
                f" {type(error).__name__}: {error}"
            ) from error

    def _elements(self, variable: Variable) -> ir.Value:
        """What a variable has where the walk has come to."""
        return self._assigned.get(variable.name) or self._weight(variable)

    def _assign(self, op: Any, inputs: Sequence[Any], builder: Builder) -> list[None]:
        variable, value = inputs
        if isinstance(variable, Variable) and isinstance(value, ir.Value):
            if builder.graph is not self._graph:
                return self._fail(op, "a variable is assigned to in a branch or a loop")
            operator = ASSIGNMENTS[op.type]
            if operator and variable.name in self._stale:
                return self._fail_stale(op, variable)
            self._stale.pop(variable.name, None)
            if operator:
                shape = value.shape
                value = builder.op(operator, self._elements(variable), value)[0]
                value.shape = shape
            self._assigned[variable.name] = value
        return []

    def _leave_out(self, op: Any, environment: dict[Any, Any]) -> None:
        """Notes the variables that an operation writes to, which from there on are not known."""
        for writer, handle in writes_of(op):
            variable = None if handle is None else environment.get(handle.ref())
            if isinstance(variable, Variable):
                self._stale[variable.name] = describe(writer)
                self._left_out[variable.name] = None
            else:
                self._fail(writer, "it writes to a variable, and which one cannot be told")

    def _fail_stale(self, op: Any, variable: Variable) -> list[None]:
        why = (
            f"it reads {variable.name}, to which a call writes before: {self._stale[variable.name]}"
        )
        return self._fail(op, why)

    def _fail(self, op: Any, why: str) -> list[None]:
        self._wrong.append(f"{describe(op)}: {why}")
        return [None] * len(op.outputs)

    def _finish(self, value: Any, tensor: Any, builder: Builder) -> Any:
        """Gives a result the data type and the shape that TensorFlow knows."""
        if not isinstance(value, ir.Value) or tensor.dtype.name == "variant":
            return value
        dtype = type_of(tensor.dtype)
        if value.dtype != dtype:
            value = builder.cast(value, dtype)
        if value.shape is None and tensor.shape.rank is not None:
            value.shape = ir.Shape(tensor.shape.as_list())
        if value.shape is None:
            raise Unsupported("a result whose number of axes is not known")
        return value

    def _inline(
        self,
        function: Any,
        operands: Sequence[Any],
        builder: Builder,
        tensors: Sequence[Any] | None = None,
    ) -> list[Any]:
        """Imports a function, which sees the given values as its inputs; or of it what tensors
        depend on, without what it writes to variables."""
        graph = function.graph
        saved = builder.prefix, builder.metadata
        environment = {
            tensor.ref(): value for tensor, value in zip(graph.inputs, operands, strict=True)
        }
        if tensors is None:
            results = self._walk(graph, graph.outputs, environment, builder)
        else:
            results = self._walk(graph, tensors, environment, builder, writes=False)
        builder.prefix, builder.metadata = saved
        return results


def _needed(operations: Iterable[Any]) -> set[Any]:
    """The operations that others depend on; these are among them."""
    found: set[Any] = set()
    waiting = list(operations)
    while waiting:
        op = waiting.pop()
        if op not in found:
            found.add(op)
            waiting.extend(tensor.op for tensor in op.inputs)
    return found


def tensor_of(variable: Any, name: str) -> ir.Tensor[np.ndarray[Any, Any]]:
    """The elements that a variable has now as a tensor of a graph, in the variable's own memory:
    what is assigned to the variable later is written to other memory."""
    value, dtype = variable.value(), type_of(variable.dtype)
    # NumPy takes no arrays of bfloat16 by DLPack.
    array = value._numpy_internal() if dtype == ir.DataType.BFLOAT16 else np.from_dlpack(value)
    return ir.Tensor(array, dtype=dtype, name=name)


def _listed(lines: Sequence[str]) -> str:
    if len(lines) == 1:
        return lines[0]
    return f"{len(lines)} operations:\n  " + "\n  ".join(lines)


def _forget(graph: ir.Graph) -> None:
    """Leaves what only the import had to know of values, and shapes that are not known."""
    values = [*graph.inputs, *graph.initializers.values()]
    for node in graph.all_nodes():
        values += node.outputs
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                values.extend(attribute.as_graph().inputs)
    for value in values:
        for key in ("sizes", "vector", "permuted", "order"):
            value.meta.pop(key, None)
