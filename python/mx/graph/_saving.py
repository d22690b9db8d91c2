"""Graphs as ONNX files."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path, PurePosixPath

import numpy
import onnx
import onnx_ir

from ._errors import GraphError
from ._oldest import make_oldest

# What one file may have: protobuf's limit, less what is not weights.
_MOST_IN_ONE_FILE = (1 << 31) - (1 << 27)


def save(
    model: onnx_ir.Model, path: str | os.PathLike[str], external_data: bool | str | None, file: str
) -> None:
    """Writes a model, and where asked to or needed its weights into a file beside it.

    Both are whole or not there. Raises OSError, ValueError for a name of a file elsewhere.
    """
    target = Path(path)
    total = sum(_bytes_of(value) for value in model.graph.initializers.values())
    if external_data is None:
        external_data = total > _MOST_IN_ONE_FILE
    elif external_data is False and total > _MOST_IN_ONE_FILE:
        raise GraphError(
            f"{file}: {total:,} bytes of weights need a file of their own: external_data=True"
        )
    data = f"{target.name}.data" if external_data is True else external_data or None
    if data is not None and (PurePosixPath(data).name != data or data in (".", "..", target.name)):
        raise ValueError(
            f"save: external_data: expected the name of another file in the folder of "
            f"{target.name!r}, got {data!r}"
        )
    # What is written has weights of its own: in memory, or lazily from where they are now.
    copy = model.clone()
    make_oldest(copy)
    beside = None if data is None else os.path.realpath(target.parent / data)
    for graph in copy.graphs():
        for value in graph.initializers.values():
            _free_from_files(value, beside)
    descriptor, unfinished = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(descriptor)
    try:
        if data is None:
            onnx_ir.save(copy, unfinished, format="protobuf")
        else:
            onnx_ir.save(copy, unfinished, format="protobuf", external_data=data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(unfinished, 0o666 & ~umask)
        os.replace(unfinished, target)
    except BaseException:
        os.unlink(unfinished)
        raise


def to_bytes(model: onnx_ir.Model, file: str) -> bytes:
    """A model as it is, with its weights. GraphError where they are more than one file may have."""
    weights = [value for graph in model.graphs() for value in graph.initializers.values()]
    total = sum(map(_bytes_of, weights))
    if total > _MOST_IN_ONE_FILE:
        raise GraphError(f"{file}: {total:,} bytes of weights cannot be pickled: save the graph")
    copy = model.clone()
    for graph in copy.graphs():
        for value in graph.initializers.values():
            _free_from_files(value, None)
        for node in graph:
            _free_constant(node)
    data: bytes = onnx_ir.to_proto(copy).SerializeToString()
    return data


def of_bytes(data: bytes) -> onnx_ir.Model:
    """The model of such bytes."""
    model: onnx_ir.Model = onnx_ir.from_proto(onnx.ModelProto.FromString(data))
    return model


def _bytes_of(value: onnx_ir.Value) -> int:
    return 0 if value.const_value is None else int(value.const_value.nbytes)


def _free_constant(node: onnx_ir.Node) -> None:
    """Reads the tensor of a Constant into memory that is in a file."""
    given = node.attributes.get("value") if node.op_type == "Constant" else None
    if given is not None and isinstance(given.value, onnx_ir.ExternalTensor):
        node.attributes["value"] = onnx_ir.AttrTensor("value", _read(given.value))


def _free_from_files(value: onnx_ir.Value, beside: str | None) -> None:
    """Reads a tensor into memory whose file is not going to be, or to stay, where it is."""
    tensor = value.const_value
    if isinstance(tensor, onnx_ir.ExternalTensor):
        if beside is None or os.path.realpath(tensor.path) == beside:
            value.const_value = _read(tensor)


def _read(tensor: onnx_ir.ExternalTensor) -> onnx_ir.TensorProtocol:
    return onnx_ir.Tensor(numpy.array(tensor.numpy()), dtype=tensor.dtype, name=tensor.name)
