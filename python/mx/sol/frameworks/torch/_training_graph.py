"""A module of torch as it is in training: its parameters and buffers are inputs of the graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import onnx_ir
import torch
from onnx_ir.passes.common import RemoveUnusedNodesPass

from ....graph import Graph, GraphError
from ....importers._training import DOMAIN, SEED
from ._captured import check_changes
from ._held import Constants
from ._outputs import OutputTree


@dataclass
class TrainingGraph:
    """What a module computes in the modes that its modules are in, for arguments of known shapes.

    The inputs of the graph are the tensors among the arguments, then parameters and buffers, then
    the seed, if there are random elements.
    """

    graph: Graph
    tree: OutputTree
    arguments: list[str]
    constants: Constants
    state: list[str] = field(default_factory=list)  # names in the module, one for each input
    has_seed: bool = False
    # Buffers that get the outputs behind those of the module, by their names in that.
    writes: list[str] = field(default_factory=list)
    # Names of these outputs, and of the inputs that are the buffers.
    stores: dict[str, str] = field(default_factory=dict)
    # Buffers that count calls, and what each is increased by.
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def state_inputs(self) -> list[str]:
        """The names of the inputs that are parameters and buffers."""
        first = len(self.arguments)
        return [spec.name for spec in self.graph.inputs[first : first + len(self.state)]]

    def check_constants(self, name: str) -> None:
        """GraphError where a model of that name has gradients that plans do not give."""
        if any(one.requires_grad for one in self.constants.tensors):
            raise GraphError(
                f"sol.optimize: {name}: a tensor that is no parameter needs a gradient"
            )


def training_graph(module: Any, args: Any, kwargs: Any) -> TrainingGraph:
    """The graph of a module as it is now. GraphError where torch or the graph cannot have it."""
    # Models that are not trained need none of what these import.
    from ....importers.torch._export import decomposed
    from ....importers.torch._import import import_program
    from ._exporting import export

    name = type(module).__name__
    program, names = export(module, args, kwargs, None, training=True)
    tree = OutputTree.of(program)
    tensors = dict(module.named_parameters(remove_duplicate=False))
    tensors.update(module.named_buffers(remove_duplicate=False))
    constants = Constants(
        module,
        {
            key: value
            for key, value in program.constants.items()
            if isinstance(value, torch.Tensor) and key not in tensors
        },
    )
    graph = import_program(decomposed(program, training=True), names, name, training=True)
    return _arranged(graph, tree, constants, set(tensors))


def _arranged(
    graph: Graph, tree: OutputTree, constants: Constants, tensors: set[str]
) -> TrainingGraph:
    """The graph with its inputs and outputs in the order of a TrainingGraph."""
    inner = graph.model.graph
    seeds = [value for value in inner.inputs if value.metadata_props.get("mx.role") == SEED]
    for value in seeds:
        inner.inputs.remove(value)
    made = TrainingGraph(graph, tree, [value.name or "" for value in inner.inputs], constants)
    mutated = [value for value in inner.outputs if "mx.mutation" in value.metadata_props]
    check_changes(graph.name, mutated, tensors)
    for value in mutated:
        inner.outputs.remove(value)
    for value in mutated:
        target = value.metadata_props["mx.mutation"]
        step = _counted(value)
        if step is not None:
            made.counters[target] = step
        else:
            inner.outputs.append(_stopped(value))
            made.writes.append(target)
    RemoveUnusedNodesPass()(graph.model)
    inputs: dict[str, str] = {}
    for name, value in list(inner.initializers.items()):
        if "mx.state" in value.metadata_props:
            del inner.initializers[name]
            value.const_value = None
            inner.inputs.append(value)
            inputs[value.metadata_props["mx.state"]] = name
    # What is written, but not read, is no input yet.
    for value, target in zip(
        inner.outputs[len(inner.outputs) - len(made.writes) :], made.writes, strict=True
    ):
        if target not in inputs:
            inputs[target] = f"{target}.old"
            inner.inputs.append(
                onnx_ir.Value(name=inputs[target], type=value.type, shape=value.shape)
            )
        made.stores[value.name or ""] = inputs[target]
    made.state = list(inputs)
    inner.inputs.extend(seeds)
    made.has_seed = bool(seeds)
    return made


def _stopped(value: onnx_ir.Value) -> onnx_ir.Value:
    """The value as one that has no gradient."""
    node = onnx_ir.node("StopGradient", [value], domain=DOMAIN, name=f"{value.name}.stopped")
    (made,) = node.outputs
    made.name, made.type, made.shape = node.name, value.type, value.shape
    assert value.graph is not None
    value.graph.append(node)
    return made


def _counted(value: onnx_ir.Value) -> int | None:
    """By how much a call increases a buffer, which nothing else of the graph reads afterwards."""
    made = value.producer()
    if made is None or made.op_type != "Add" or made.domain or value.uses():
        return None
    buffer, number = made.inputs
    if buffer is None or number is None or number.const_value is None:
        return None
    of_itself = buffer.metadata_props.get("mx.state") == value.metadata_props["mx.mutation"]
    if not of_itself or number.const_value.size != 1 or number.dtype != onnx_ir.DataType.INT64:
        return None
    return int(number.const_value.numpy())
