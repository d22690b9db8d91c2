"""A jaxpr as a graph: walks its equations and calls the rule of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
from onnx_ir.passes.common import RemoveUnusedNodesPass

from mx.graph import OPSET, Graph, GraphError

from .._builder import Names
from . import rules
from ._call import Builder, Equation, Unsupported, rule, type_of
from ._origin import describe, metadata_of

assert rules.FAMILIES  # their import fills the table

_IR_VERSION = 11
# Of more elements constants are weights.
_MOST_IN_A_NODE = 1024


def import_jaxpr(
    closed: Any,
    weights: Sequence[tuple[str, Any]],
    inputs: Sequence[str],
    outputs: Sequence[str],
    name: str,
    stops: bool = False,
) -> Graph:
    """The graph of a closed jaxpr, whose first arguments are the weights.

    With `stops` what ends gradients is a node of the domain mxffi.sol.
    """
    started = _Import(closed, weights, inputs, outputs, name)
    started.builder.stops = stops
    return started.run()


class _Import:
    """One jaxpr on its way into a graph."""

    def __init__(
        self,
        closed: Any,
        weights: Sequence[tuple[str, Any]],
        inputs: Sequence[str],
        outputs: Sequence[str],
        name: str,
    ) -> None:
        self._closed, self._weights = closed, weights
        self._inputs, self._outputs = inputs, outputs
        self._wrong: list[str] = []
        # The equation at hand, behind those that call the functions it is in.
        self._eqns: list[Any] = []
        self._names = Names()
        self._graph = ir.Graph([], [], nodes=[], opset_imports={"": OPSET}, name=name)
        self.builder = Builder(self._graph, self._names)
        self.builder.inline = self._inline

    def run(self) -> Graph:
        jaxpr = self._closed.jaxpr
        count = len(self._weights)
        inputs = []
        for name, variable in zip(self._inputs, jaxpr.invars[count:], strict=True):
            value = ir.Value(name=self._names.new(name))
            value.type = ir.TensorType(type_of(variable.aval.dtype))
            value.shape = ir.Shape(variable.aval.shape)
            self._graph.inputs.append(value)
            inputs.append(value)
        outputs = [self._names.new(name) for name in self._outputs]
        weights = [self._initializer(name, array) for name, array in self._weights]
        results = self._inline(self._closed, [*weights, *inputs], self.builder)
        if self._wrong:
            raise GraphError("mx.importers.jax cannot import " + _listed(self._wrong))
        self.builder.set_outputs(results, outputs)
        model = ir.Model(self._graph, ir_version=_IR_VERSION, producer_name="mxffi")
        RemoveUnusedNodesPass()(model)
        for value in [*self._graph.initializers.values()]:
            if not value.uses() and not value.is_graph_output():
                del self._graph.initializers[value.name or ""]
        _forget(self._graph)
        return Graph(model)

    def _initializer(self, name: str, array: Any, role: str | None = None) -> ir.Value:
        named = self._names.new(name)
        value = ir.Value(name=named, const_value=tensor_of(array, named))
        value.type, value.shape = ir.TensorType(type_of(array.dtype)), ir.Shape(array.shape)
        if role is not None:
            value.metadata_props["mx.role"] = role
        self._graph.register_initializer(value)
        return value

    # Equations ------------------------------------------------------------------------------------

    def _inline(self, closed: Any, operands: Sequence[Any], builder: Builder) -> list[Any]:
        """Imports an expression, which sees the given values as its inputs."""
        jaxpr = getattr(closed, "jaxpr", closed)
        consts = getattr(closed, "consts", ())
        environment: dict[Any, Any] = {}
        for variable, array in zip(jaxpr.constvars, consts, strict=True):
            environment[variable] = self._constant(np.asarray(array))
        environment.update(zip(jaxpr.invars, operands, strict=True))
        saved = builder.prefix, builder.metadata
        uses = Counter(
            one
            for eqn in [*jaxpr.eqns, jaxpr]
            for one in (eqn.outvars if eqn is jaxpr else eqn.invars)
            if not hasattr(one, "val")
        )
        for eqn in jaxpr.eqns:
            inputs = [self._read(one, environment) for one in eqn.invars]
            once = [not hasattr(one, "val") and uses[one] == 1 for one in eqn.invars]
            results = self._call(eqn, inputs, once, builder)
            environment.update(zip(eqn.outvars, results, strict=False))
        builder.prefix, builder.metadata = saved
        return [self._read(one, environment) for one in jaxpr.outvars]

    def _read(self, variable: Any, environment: dict[Any, Any]) -> Any:
        if hasattr(variable, "val"):  # a literal
            return self._constant(np.asarray(variable.val, variable.aval.dtype))
        return environment.get(variable)

    def _constant(self, array: Any) -> ir.Value:
        if array.size <= _MOST_IN_A_NODE:
            return self.builder.constant(array, type_of(array.dtype))
        return self._initializer("constant", array, "constant")

    def _call(
        self, eqn: Any, inputs: Sequence[Any], once: Sequence[bool], builder: Builder
    ) -> Sequence[Any]:
        nothing = [None] * len(eqn.outvars)
        if any(one is None for one in inputs):
            return nothing  # of an equation that has been noted already
        self._eqns.append(eqn)
        try:
            return self._results(eqn, inputs, once, builder) or nothing
        finally:
            self._eqns.pop()

    def _results(
        self, eqn: Any, inputs: Sequence[Any], once: Sequence[bool], builder: Builder
    ) -> Sequence[Any]:
        """What the rule of an equation gives, nothing where it cannot be imported."""
        function = rule.get(eqn.primitive.name)
        builder.prefix, builder.metadata = eqn.primitive.name, metadata_of(self._eqns)
        if function is None:
            self._wrong.append(f"{describe(self._eqns)}: there is no rule for the primitive")
            return ()
        try:
            result = function(builder, Equation(eqn, inputs, once))
            results = [result] if not isinstance(result, (list, tuple)) else result
            return [
                self._finish(one, variable.aval, builder)
                for one, variable in zip(results, eqn.outvars, strict=False)
            ]
        except GraphError:
            raise
        except (Unsupported, ValueError) as error:
            self._wrong.append(f"{describe(self._eqns)}: {error}")
            return ()
        except Exception as error:
            raise GraphError(
                f"mx.importers.jax: the rule of {describe(self._eqns)} fails:"
                f" {type(error).__name__}: {error}"
            ) from error

    def _finish(self, value: Any, aval: Any, builder: Builder) -> Any:
        """Gives a result the data type and the shape that JAX knows."""
        if not isinstance(value, ir.Value):
            return value
        dtype = type_of(aval.dtype)
        if value.dtype != dtype:
            value = builder.cast(value, dtype)
        if value.shape is None:
            value.shape = ir.Shape(aval.shape)
        return value


def tensor_of(array: Any, name: str) -> ir.Tensor[np.ndarray[Any, Any]]:
    """An array of JAX as a tensor of a graph, in the same memory where that is on the CPU."""
    return ir.Tensor(np.asarray(array), dtype=type_of(array.dtype), name=name)


def _listed(lines: Sequence[str]) -> str:
    if len(lines) == 1:
        return lines[0]
    return f"{len(lines)} equations:\n  " + "\n  ".join(lines)


def _forget(graph: ir.Graph) -> None:
    """Leaves what only the import had to know of values."""
    values = [*graph.inputs, *graph.initializers.values()]
    for node in graph.all_nodes():
        values += node.outputs
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                values.extend(attribute.as_graph().inputs)
    for value in values:
        for key in ("sizes", "vector", "permuted", "order", "narrow"):
            value.meta.pop(key, None)
