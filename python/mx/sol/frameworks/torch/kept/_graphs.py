"""Captured graphs in files of the cache: all but the elements of what the module has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import onnx
import onnx_ir
import torch
from onnx_ir import serde

from .....cache import FileError
from .....cache._file import PieceFile, PieceWriter
from .....graph import Graph
from .....importers.torch._tensors import tensor_of
from .._captured import Captured
from .._outputs import OutputTree
from .._state import target_of

_GRAPH, REST = "graph", "rest"


class NotKeptError(Exception):
    """A graph that a file cannot have; the text says why."""


def writer_of(
    captured: Captured, module: Any, seconds: float
) -> Callable[[PieceWriter], dict[str, Any]]:
    """What writes a captured graph. NotKeptError where that cannot be kept."""
    if captured.changes:
        raise NotKeptError(f"a call changes {', '.join(captured.changes)}")
    outputs = text_of_outputs(captured.outputs)
    model = captured.graph.model.clone()
    held = taken_out(model, captured.constants, module)
    content = content_of(model)
    rest = {"outputs": outputs, "held": held, "file": captured.graph.file}
    about = {"accelerator": "torch", "graph": captured.graph.name, "seconds": seconds}

    def write(writer: PieceWriter) -> dict[str, Any]:
        writer.add(*content)
        writer.add(REST, json.dumps(rest).encode())
        return {**about, "nodes": len(captured.graph.nodes)}

    return write


def text_of_outputs(outputs: OutputTree) -> str:
    """The structure of outputs as text. NotKeptError for one that a file cannot have."""
    text = outputs.as_text()
    if text is None:
        raise NotKeptError("it returns objects of other classes than Python's and torch's")
    return text


def content_of(model: onnx_ir.Model) -> tuple[str, bytes]:
    """The piece of a file that `model_of` reads."""
    return _GRAPH, serde.serialize_model(model).SerializeToString()


def taken_out(model: onnx_ir.Model, constants: Mapping[str, Any], module: Any) -> dict[str, str]:
    """Makes inputs of the weights that the module has; where it has each, by their names."""
    state, attributes = _state_of(module), attributes_of(module)
    of_module = {one.data_ptr() for one in (*state.values(), *attributes.values())} - {0}
    held = {}
    graph = model.graph
    for name, value in list(graph.initializers.items()):
        assert value.const_value is not None
        address = value.const_value.numpy().__array_interface__["data"][0]
        target = target_of(name, state, constants)
        tensor = state.get(target)
        if tensor is None and target in constants:
            tensor = attributes.get(target)
        if tensor is None and address not in of_module:
            continue  # made while forward ran
        if tensor is None or (tensor.numel() and tensor.data_ptr() != address):
            raise NotKeptError(f"the weight {name} is not in memory of the module's own")
        del graph.initializers[name]
        value.const_value = None
        graph.inputs.append(value)
        held[name] = target
    return held


def read(file: PieceFile, module: Any) -> Captured:
    """The graph of a file with the weights of a module.

    FileError, KeyError, TypeError, ValueError or AttributeError where that is not what was written.
    """
    rest = json.loads(file.data(REST))
    model = model_of(file)
    constants = put_back(file, model, rest["held"], module)
    outputs = OutputTree.from_text(rest["outputs"])
    watched = tuple(rest["held"])
    return Captured(Graph(model, str(rest["file"])), outputs, (), watched, constants)


def model_of(file: PieceFile) -> onnx_ir.Model:
    """The model of a file, whose weights are inputs. FileError where it cannot be read."""
    try:
        return serde.deserialize_model(onnx.ModelProto.FromString(file.data(_GRAPH)))
    except FileError:
        raise
    except Exception as error:  # of protobuf and onnx_ir, of many kinds
        raise FileError(f"{file.path} has a graph that cannot be read: {error}") from None


def put_back(
    file: PieceFile, model: onnx_ir.Model, held: Mapping[str, str], module: Any
) -> dict[str, Any]:
    """Makes weights of the inputs that `taken_out` made of them; those that are no parameters and
    no buffers, by their names in the module."""
    state, attributes = _state_of(module), attributes_of(module)
    graph, constants = model.graph, {}
    for value in [one for one in graph.inputs if one.name in held]:
        name = value.name or ""
        target = held[name]
        if target not in state:
            constants[target] = attributes[target]
        tensor = tensor_of(state[target] if target in state else attributes[target], name)
        if tensor.dtype != value.dtype or tensor.shape != value.shape:
            raise FileError(f"{file.path} has another weight {name}")
        graph.inputs.remove(value)
        value.const_value = tensor
        graph.register_initializer(value)
    if held.keys() - graph.initializers.keys():
        raise FileError(f"{file.path} lacks weights")
    return constants


def _state_of(module: Any) -> dict[str, Any]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def attributes_of(module: Any) -> dict[str, Any]:
    """Tensors that are attributes of modules, but no parameters and no buffers."""
    return {
        f"{path}.{name}".strip("."): value
        for path, one in module.named_modules(remove_duplicate=False)
        for name, value in vars(one).items()
        if isinstance(value, torch.Tensor)
    }
