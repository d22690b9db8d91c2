"""One file with a graph, its weights, and what a library has compiled of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import onnx
import onnx_ir

from ...cache._file import FileError, PieceFile, PieceWriter, write_whole
from ...context import Context
from .._graph import Graph
from ._compiled import Saved, model_key, specs_key
from ._plan import PartitionedPlan

_KIND = "a compiled model of mx"
_WEIGHTS = "weights"
# Weights of fewer bytes are in the graph itself.
_FEW_BYTES = 256


def save(path: str | os.PathLike[str], plan: PartitionedPlan) -> None:
    """Writes what `load` reads. Raises OSError, ValueError where nothing was compiled yet, and what
    the library fails with; NotImplementedError where it exports no models."""
    target = os.path.abspath(path)
    write_whole(target, f"{target}.{os.getpid()}.part", lambda writer: _write(writer, plan))


def _write(writer: PieceWriter, plan: PartitionedPlan) -> dict[str, Any]:
    plan.wait()
    device, placements = plan.device, plan.placements()
    if not placements:
        raise ValueError(
            "save_compiled: the plan has compiled nothing yet, as its inputs vary: run it, call "
            "prepare, or give shapes"
        )
    key = model_key(device.ctx)
    if not key:
        raise NotImplementedError(f"{device.name} does not export compiled models")
    graph = plan.graph.copy()
    _move_weights(writer, graph.model)
    writer.add("graph", onnx_ir.to_proto(graph.model).SerializeToString())
    models: dict[str, list[str]] = {}
    for placement in placements.values():
        for loaded in placement.models():
            if loaded.digest not in models:
                prefix = f"{len(models)}/"
                models[loaded.digest] = writer.add_all(prefix, loaded.model.export)
    return {
        "kind": _KIND,
        "accelerator": device.name,
        "key": key,
        "options": device.options,
        "secret": device.secret.hex(),
        "models": models,
        "answers": {
            specs_key(specs): [[answer.group, answer.reason] for answer in placement.answers]
            for specs, placement in placements.items()
        },
    }


def _move_weights(writer: PieceWriter, model: onnx_ir.Model) -> None:
    """Writes large weights as pieces, to which the model refers then as external data."""
    for number, value in enumerate(model.graph.initializers.values()):
        tensor = value.const_value
        movable = tensor is not None and tensor.dtype != onnx_ir.DataType.STRING
        if tensor is None or not movable or tensor.nbytes < _FEW_BYTES:
            continue
        row = writer.add(f"{_WEIGHTS}/{number}", tensor.tobytes())
        value.const_value = onnx_ir.ExternalTensor(
            _WEIGHTS,
            row.offset,
            row.size,
            tensor.dtype,
            shape=onnx_ir.Shape(tensor.shape.numpy()),
            name=value.name or "",
        )


def accelerator_of(path: str | os.PathLike[str]) -> str:
    """The name of the accelerator that a file was written for. Raises OSError and FileError."""
    with PieceFile(path) as file:
        return str(_about(file)["accelerator"])


def load(
    path: str | os.PathLike[str],
    ctx: Context,
    fallback: str | None,
    verify: Any,
    keep_nan: bool,
    use_cache: bool,
) -> PartitionedPlan:
    """The plan that was saved, on a device. Raises OSError and FileError."""
    file = PieceFile(path)
    file.check()
    about = _about(file)
    graph = Graph(_read_model(file), os.path.basename(file.path))
    try:
        models = {
            str(digest): [str(name) for name in names] for digest, names in about["models"].items()
        }
        answers = {
            str(specs): [(int(group), str(reason)) for group, reason in rows]
            for specs, rows in about["answers"].items()
        }
        secret = bytes.fromhex(about["secret"])
        saved = Saved(file, str(about["key"]), models, answers, secret)
        options = dict(about["options"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(f"{file.path} has a description that makes no sense: {error!r}") from None
    if any(name not in file.rows for names in models.values() for name in names):
        raise FileError(f"{file.path} lacks a piece of a model")
    return PartitionedPlan(
        graph,
        ctx,
        optimize=False,
        fallback=fallback,
        options=options,
        verify=verify,
        keep_nan=keep_nan,
        cache=use_cache,
        saved=saved,
    )


def _about(file: PieceFile) -> Mapping[str, Any]:
    if file.about.get("kind") != _KIND:
        raise FileError(f"{file.path} is no file of save_compiled")
    return file.about


def _read_model(file: PieceFile) -> onnx_ir.Model:
    """The graph, whose large weights are mapped from the file."""
    try:
        proto = onnx.ModelProto.FromString(file.data("graph"))
        model: onnx_ir.Model = onnx_ir.from_proto(proto)
    except FileError:
        raise
    except Exception as error:  # of protobuf and onnx_ir, of many kinds
        raise FileError(f"{file.path} has a graph that cannot be read: {error}") from None
    folder, name = os.path.split(os.path.abspath(file.path))
    inside = {(row.offset, row.size) for row in file.rows.values()}
    for graph in model.graphs():
        for value in graph.initializers.values():
            tensor = value.const_value
            if not isinstance(tensor, onnx_ir.ExternalTensor):
                continue
            if str(tensor.location) != _WEIGHTS or (tensor.offset, tensor.length) not in inside:
                raise FileError(f"{file.path}: the weight {value.name!r} is not in the file")
            value.const_value = onnx_ir.ExternalTensor(
                name,
                tensor.offset,
                tensor.length,
                tensor.dtype,
                shape=tensor.shape,
                name=tensor.name or "",
                base_dir=folder,
            )
            value.const_value.numpy()  # maps it now, before the file may be another
    return model
