"""A program of torch as a graph: walks its nodes and calls the rule of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import onnx_ir as ir
from onnx_ir.passes.common import RemoveUnusedNodesPass

from mx.graph import OPSET, Graph, GraphError

from .._training import Training
from . import _rule, rules
from ._builder import Builder, Names
from ._dimensions import NamedDimensions, known_length
from ._dtypes import type_of
from ._origin import describe, metadata_of
from ._tensors import tensor_of

assert rules.FAMILIES  # their import fills the table

# What says where and how torch keeps a tensor, which the graph does not know.
_OF_MEMORY = ("device", "layout", "memory_format", "non_blocking", "pin_memory")
_IR_VERSION = 11
_OWN = f"{__package__}."


def import_program(
    program: Any, dimensions: NamedDimensions | None, name: str, training: bool = False
) -> Graph:
    """The graph of an exported program that is decomposed already.

    For `training` it has operators of the domain `mxffi.sol` where gradients need them, and, where
    it has random elements, one more input: `seed`.
    """
    _check_rules(program.graph_module)
    _check_numbers(program.graph_module)
    return _Import(program, dimensions, name, training).run()


def _call_nodes(module: Any) -> Iterator[Any]:
    """The nodes that call something, those of branches and loop bodies among them."""
    import torch

    for inner in module.modules():
        if isinstance(inner, torch.fx.GraphModule):
            yield from (node for node in inner.graph.nodes if node.op == "call_function")


def _check_rules(module: Any) -> None:
    missing = [
        describe(node, _rule.key_of(node.target))
        for node in _call_nodes(module)
        if not _rule.has_rule(node.target)
    ]
    if missing:
        raise GraphError(
            "mx.importers.torch has no rule for " + _listed(missing, "operators, at these nodes")
        )


def _check_numbers(module: Any) -> None:
    """GraphError where numbers are complex: ONNX has types for them, but hardly an operator.

    A rule of others may write what it likes for them, as pairs of real numbers.
    """
    inputs = (node for node in module.graph.nodes if node.op == "placeholder" and node.users)
    found = [f"the input {node.name}" for node in inputs if _is_complex(node)]
    found += [
        describe(node, _rule.key_of(node.target))
        for node in _call_nodes(module)
        if _is_complex(node) and _rule.rule_of(node.target).__module__.startswith(_OWN)
    ]
    if found:
        raise GraphError(
            "mx.importers.torch cannot import complex numbers, which graphs have not: "
            + _listed(found, "inputs and results")
        )


def _is_complex(node: Any) -> bool:
    values = node.meta.get("val")
    every = values if isinstance(values, (list, tuple)) else [values]
    return any(getattr(getattr(one, "dtype", None), "is_complex", False) for one in every)


def _listed(lines: list[str], what: str) -> str:
    return lines[0] if len(lines) == 1 else f"{len(lines)} {what}:\n  " + "\n  ".join(lines)


class _Import:
    """One program on its way into a graph."""

    def __init__(
        self, program: Any, dimensions: NamedDimensions | None, name: str, training: bool
    ) -> None:
        self._program = program
        self._signature = program.graph_signature
        self._symbols: dict[Any, str] = {}
        self._dimensions = dimensions
        self._unsupported: list[str] = []
        self._names = Names()
        self._graph = ir.Graph([], [], nodes=[], opset_imports={"": OPSET}, name=name)
        self._builder = Builder(self._graph, self._names)
        self._builder.inline = self._inline
        if training:
            self._builder.training = Training(self._graph)

    def run(self) -> Graph:
        nodes = list(self._program.graph_module.graph.nodes)
        self._name_dimensions(nodes)
        for spec in self._user_inputs():
            self._names.new(spec.arg.name)
        environment = self._inputs(nodes)
        outputs = [self._names.new(name) for name in self._output_names()]
        results = self._walk(nodes, environment, self._builder)
        if self._unsupported:
            raise GraphError(
                "mx.importers.torch cannot import "
                + _listed(self._unsupported, "calls of operators with these arguments")
            )
        self._set_outputs(results, outputs)
        return Graph(self._model())

    # Inputs ---------------------------------------------------------------------------------------

    def _user_inputs(self) -> list[Any]:
        return [spec for spec in self._signature.input_specs if spec.kind.name == "USER_INPUT"]

    def _name_dimensions(self, nodes: Sequence[Any]) -> None:
        if self._dimensions is None:
            return
        import torch

        values = {node.name: node.meta["val"] for node in nodes if node.op == "placeholder"}
        tensors = [values.get(getattr(spec.arg, "name", "")) for spec in self._user_inputs()]
        self._dimensions.name_symbols(
            self._symbols, [one for one in tensors if isinstance(one, torch.Tensor)]
        )

    def _inputs(self, nodes: Sequence[Any]) -> dict[Any, Any]:
        """Values for the placeholders: inputs of the graph, and weights."""
        placeholders = [node for node in nodes if node.op == "placeholder"]
        environment: dict[Any, Any] = {}
        for node, spec in zip(placeholders, self._signature.input_specs, strict=True):
            kind, value = spec.kind.name, node.meta.get("val")
            if kind == "USER_INPUT" and hasattr(spec.arg, "value"):
                environment[node] = spec.arg.value
            elif kind == "USER_INPUT":
                made = ir.Value(name=spec.arg.name)
                self._graph.inputs.append(made)
                environment[node] = self._describe(made, value)
            elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
                # Weights that nobody uses are none.
                if node.users or self._is_output(node.name):
                    environment[node] = self._weight(spec, value)
            else:
                raise GraphError(
                    f"mx.importers.torch: the input {node.name} is of the kind {kind}, which"
                    " graphs have not"
                )
        return environment

    def _is_output(self, name: str) -> bool:
        return any(
            spec.arg.name == name
            for spec in self._signature.output_specs
            if hasattr(spec.arg, "name")
        )

    def _weight(self, spec: Any, fake: Any) -> ir.Value:
        state, constants = self._program.state_dict, self._program.constants
        tensor = state[spec.target] if spec.target in state else constants[spec.target]
        name = self._names.new(spec.target)
        try:
            data = tensor_of(tensor, name)
        except (ValueError, KeyError, TypeError, RuntimeError) as error:
            raise GraphError(f"mx.importers.torch: weight {spec.target}: {error}") from error
        value = ir.Value(name=name, const_value=data)
        if self._builder.training and spec.kind.name != "CONSTANT_TENSOR":
            value.metadata_props["mx.state"] = spec.target
        if spec.kind.name == "BUFFER":
            value.metadata_props["mx.role"] = "auxiliary"
        self._graph.register_initializer(self._describe(value, fake))
        return value

    def _describe(self, value: ir.Value, fake: Any) -> ir.Value:
        """Gives a value the type and the shape that torch found."""
        import torch

        if isinstance(fake, torch.Tensor):
            value.type = ir.TensorType(type_of(fake.dtype))
            value.shape = ir.Shape([self._dimension(length) for length in fake.shape])
        else:
            value.type = ir.TensorType(_type_of_number(fake))
            value.shape = ir.Shape([])
        value.meta["torch"] = fake
        return value

    def _dimension(self, length: Any) -> int | str:
        length = known_length(length)
        if isinstance(length, int):
            return length
        text = str(length.node.expr)
        for symbol, name in self._symbols.items():
            text = re.sub(rf"\b{symbol}\b", name, text)
        return text

    # Nodes ----------------------------------------------------------------------------------------

    def _walk(self, nodes: Sequence[Any], environment: dict[Any, Any], builder: Builder) -> Any:
        """Imports all nodes; gives what the output node has."""
        import torch

        for node in nodes:
            if node.op == "output":
                return self._arguments(node.args[0], environment)
            if node.op == "get_attr":
                found: Any = node.graph.owning_module
                for name in node.target.split("."):
                    found = getattr(found, name)
                if isinstance(found, torch.Tensor):
                    found = self._attribute_tensor(node, found)
                environment[node] = found
            elif node.op == "call_function":
                environment[node] = self._call(node, environment, builder)
        return None

    def _attribute_tensor(self, node: Any, tensor: Any) -> ir.Value:
        name = self._names.new(node.target)
        value = ir.Value(name=name, const_value=tensor_of(tensor, name))
        self._graph.register_initializer(self._describe(value, tensor))
        return value

    def _call(self, node: Any, environment: dict[Any, Any], builder: Builder) -> Any:
        function = _rule.rule_of(node.target)
        assert function is not None
        fake = node.meta.get("val")
        builder.prefix, builder.metadata = node.name, metadata_of(node)
        builder.results = list(fake) if isinstance(fake, (tuple, list)) else [fake]
        before = len(builder.graph)
        try:
            args = self._arguments(node.args, environment)
            kwargs = self._arguments(
                {name: one for name, one in node.kwargs.items() if name not in _OF_MEMORY},
                environment,
            )
            result = self._finish(function(builder, *args, **kwargs), fake, node, builder, before)
        except _rule.Unsupported as error:
            described = describe(node, _rule.key_of(node.target))
            self._unsupported.append(f"{described}: {error}")
            result = self._stand_in(fake)
        except GraphError:
            raise
        except Exception as error:
            described = describe(node, _rule.key_of(node.target))
            raise GraphError(
                f"mx.importers.torch: the rule of {described} fails:"
                f" {type(error).__name__}: {error}"
            ) from error
        return result

    def _arguments(self, argument: Any, environment: dict[Any, Any]) -> Any:
        """An argument with the values of the graph for torch's nodes."""
        import torch

        if isinstance(argument, torch.fx.Node):
            return environment[argument]
        if isinstance(argument, (list, tuple)):
            return (
                type(argument)(self._arguments(one, environment) for one in argument)
                if type(argument) is tuple
                else [self._arguments(one, environment) for one in argument]
            )
        if isinstance(argument, dict):
            return {key: self._arguments(one, environment) for key, one in argument.items()}
        return argument

    def _finish(self, result: Any, fake: Any, node: Any, builder: Builder, before: int) -> Any:
        """Gives what a rule returned the data types and shapes that torch found."""
        if isinstance(fake, (tuple, list)):
            if isinstance(result, ir.Value):
                result = (result,)
            # A rule may leave outputs away that it cannot give; whoever uses them is told.
            whole = list(result) + [None] * (len(fake) - len(result))
            return tuple(
                None if one is None else self._finish_one(one, of, node, builder, before, i)
                for i, (one, of) in enumerate(zip(whole, fake, strict=True))
            )
        return self._finish_one(result, fake, node, builder, before, None)

    def _finish_one(
        self, result: Any, fake: Any, node: Any, builder: Builder, before: int, index: int | None
    ) -> Any:
        if not isinstance(result, ir.Value):
            return result
        if fake is None:
            return result
        made = result.producer()
        new = made is not None and made.graph is builder.graph and "torch" not in result.meta
        wanted = type_of(fake.dtype) if hasattr(fake, "dtype") else None
        if wanted is not None and result.dtype != wanted:
            result, new = builder.cast(result, wanted), True
            made = result.producer()
        if new and made is not None and made.op_type != "Constant":
            self._describe(result, fake)
            name = self._names.new(node.name if index is None else f"{node.name}.{index}")
            result.name = name
            if index in (None, 0):
                made.name = name
        elif "torch" not in result.meta:
            self._describe(result, fake)
        return result

    def _stand_in(self, fake: Any) -> Any:
        """What later rules see of a node that could not be imported."""
        if isinstance(fake, (tuple, list)):
            return tuple(self._stand_in(one) for one in fake)
        return None if fake is None else self._describe(ir.Value(name="unsupported"), fake)

    def _inline(self, module: Any, operands: Sequence[Any], builder: Builder) -> list[Any]:
        """Imports a module of torch's graph, which sees the given values as its inputs."""
        nodes = list(module.graph.nodes)
        inputs = [node for node in nodes if node.op == "placeholder"]
        saved = builder.prefix, builder.metadata, builder.results
        results = self._walk(nodes, dict(zip(inputs, operands, strict=True)), builder)
        builder.prefix, builder.metadata, builder.results = saved
        return list(results) if isinstance(results, (tuple, list)) else [results]

    # Outputs --------------------------------------------------------------------------------------

    def _output_names(self) -> list[str]:
        """A name for each output of the program: where it is in what the model returns."""
        user = iter(_leaf_names(self._program.call_spec.out_spec))
        names = []
        for spec in self._signature.output_specs:
            if spec.kind.name == "USER_OUTPUT":
                names.append(next(user, "output"))
            else:
                names.append(f"{spec.target}.new")
        return names

    def _set_outputs(self, results: Any, names: Sequence[str]) -> None:
        builder = self._builder
        builder.prefix, builder.metadata = "", {}
        seen: set[ir.Value] = set()
        for spec, name, result in zip(self._signature.output_specs, names, results, strict=True):
            if result is None or isinstance(result, str):
                continue
            value = result if isinstance(result, ir.Value) else _number(builder, result)
            made = value.producer()
            if made is None or made.op_type == "Constant" or value in seen:
                copy = builder.Identity(value)
                copy.shape, copy.meta["torch"] = value.shape, value.meta.get("torch")
                value = copy
            value.name = name
            seen.add(value)
            if spec.kind.name != "USER_OUTPUT":
                value.metadata_props["mx.mutation"] = str(spec.target)
            self._graph.outputs.append(value)

    def _model(self) -> ir.Model:
        from torch.utils import _pytree as pytree

        model = ir.Model(self._graph, ir_version=_IR_VERSION, producer_name="mxffi")
        RemoveUnusedNodesPass()(model)
        _forget(self._graph)
        spec = self._program.call_spec
        for key, tree in (("mx.torch.inputs", spec.in_spec), ("mx.torch.outputs", spec.out_spec)):
            try:
                model.metadata_props[key] = pytree.treespec_dumps(tree)
            except NotImplementedError:
                # A class that torch knows how to flatten, but not what to call in a file.
                continue
        ranges = {
            self._symbols.get(symbol, str(symbol)): [_bound(limits.lower), _bound(limits.upper)]
            for symbol, limits in self._program.range_constraints.items()
        }
        if ranges:
            self._graph.metadata_props["mx.dimensions"] = json.dumps(ranges)
        return model


def _forget(graph: ir.Graph) -> None:
    """Leaves what only the import had to know of values, torch's tensors among it."""
    values = [*graph.inputs, *graph.initializers.values()]
    for node in graph.all_nodes():
        values += node.outputs
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                values.extend(attribute.as_graph().inputs)
    for value in values:
        for key in ("sizes", "torch", "vector"):
            value.meta.pop(key, None)


def _leaf_names(spec: Any) -> list[str]:
    """Names of what a model returns, in the order in which torch flattens it."""
    from torch.utils import _pytree as pytree

    tree = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
    names = []
    for path, _ in pytree.tree_flatten_with_path(tree)[0]:
        name = "_".join(_key_name(key) for key in path)
        names.append(name if name and not name[0].isdigit() else f"output_{name}".rstrip("_"))
    return names


def _key_name(key: Any) -> str:
    """The number, the key or the name of the attribute that leads to a part of a structure."""
    found = [getattr(key, name) for name in ("idx", "key", "name") if hasattr(key, name)]
    return str(found[0] if found else key)


def _type_of_number(number: Any) -> ir.DataType:
    """The data type of what a number of Python, or a symbolic one, is as a value."""
    import torch

    if isinstance(number, (bool, torch.SymBool)):
        return ir.DataType.BOOL
    if isinstance(number, (int, torch.SymInt)):
        return ir.DataType.INT64
    return ir.DataType.DOUBLE


def _number(builder: Builder, number: Any) -> ir.Value:
    return builder.constant(number, _type_of_number(number))


def _bound(limit: Any) -> int | None:
    """A limit of a dimension, None for no limit."""
    if not getattr(limit, "is_Integer", False):
        return None
    value = int(limit)
    # torch has the largest numbers of its integers for no limit, too.
    return value if value < 2**62 else None
