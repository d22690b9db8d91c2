"""The tensors of a model: whether they have what they say, and how big ones wait aside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy
import onnx
import onnx_ir
from onnx_ir import serde

from ...graph._errors import GraphError
from ...graph._proto import SMALL
from ._light import Aside
from ._walk import tensors_of

# How many elements of typed fields make one of the tensor.
_PARTS: dict[int, int] = {onnx.TensorProto.COMPLEX64: 2, onnx.TensorProto.COMPLEX128: 2}
# Sparse tensors are made dense up to this many bytes.
_MOST_DENSE = 1 << 28


def check(proto: onnx.ModelProto, aside: Aside, file: str) -> None:
    """Raises GraphError for tensors whose elements are not as many as their shape says."""
    for tensor, where in tensors_of(proto.graph, file):
        if isinstance(tensor, onnx.SparseTensorProto):
            _check_sparse(tensor, aside, where, file)
            continue
        size = size_of(tensor, where, file)
        if tensor.HasField("segment"):
            raise GraphError(f"{file}: {where} is in segments, which nobody writes")
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            continue
        _check_elements(tensor, size, aside, where, file)
    _make_dense(proto.graph, file)


def size_of(tensor: onnx.TensorProto, where: str, file: str) -> int:
    """The number of elements of a tensor; raises where its shape or type make no sense."""
    if any(extent < 0 for extent in tensor.dims):
        raise GraphError(f"{file}: {where} has a negative extent: {tuple(tensor.dims)}")
    try:
        kind = onnx_ir.DataType(tensor.data_type)
    except ValueError:
        kind = onnx_ir.DataType.UNDEFINED
    if kind == onnx_ir.DataType.UNDEFINED:
        raise GraphError(f"{file}: {where} is of data type {tensor.data_type}, which is none")
    size = int(math.prod(tensor.dims))
    if size >= 1 << 60:
        raise GraphError(f"{file}: {where} is of shape {tuple(tensor.dims)}: no memory has that")
    return size


def bytes_of(tensor: onnx.TensorProto, size: int) -> int:
    """How many bytes the elements of a tensor take, packed as files have them."""
    return int((size * onnx_ir.DataType(tensor.data_type).bitwidth + 7) // 8)


def _check_elements(
    tensor: onnx.TensorProto, size: int, aside: Aside, where: str, file: str
) -> None:
    if tensor.data_type == onnx.TensorProto.STRING:
        came, wanted = len(tensor.string_data), size
    elif tensor.HasField("raw_data"):
        came = aside.size_of(tensor.raw_data)
        wanted = bytes_of(tensor, size)
    else:
        fields = (tensor.float_data, tensor.int32_data, tensor.int64_data)
        came = sum(map(len, (*fields, tensor.double_data, tensor.uint64_data)))
        wanted = size * _PARTS.get(tensor.data_type, 1)
        bits = onnx_ir.DataType(tensor.data_type).bitwidth
        # Small numbers are packed into bytes, or written one by one.
        if bits < 8 and came == (size * bits + 7) // 8:
            wanted = came
    if came != wanted:
        what = "bytes" if tensor.HasField("raw_data") else "elements"
        raise GraphError(
            f"{file}: {where} is of shape {tuple(tensor.dims)} and has {came:,} {what}, "
            f"not {wanted:,}"
        )


def _check_sparse(sparse: onnx.SparseTensorProto, aside: Aside, where: str, file: str) -> None:
    if any(extent < 0 for extent in sparse.dims):
        raise GraphError(f"{file}: {where} has a negative extent: {tuple(sparse.dims)}")
    for part in (sparse.values, sparse.indices):
        if part.data_location == onnx.TensorProto.EXTERNAL:
            raise GraphError(f"{file}: {where} is sparse and in another file, which is not read")
        _check_elements(part, size_of(part, where, file), aside, where, file)


def _make_dense(graph: onnx.GraphProto, file: str) -> None:
    """Writes sparse weights out, as long as that takes little memory."""
    for sparse in graph.sparse_initializer:
        name, dims = sparse.values.name, tuple(sparse.dims)
        size = math.prod(dims)
        if size > _MOST_DENSE // 16:
            raise GraphError(f"{file}: the sparse weight {name!r} is too large: {dims}")
        try:
            values = onnx.numpy_helper.to_array(sparse.values)
            indices = onnx.numpy_helper.to_array(sparse.indices)
            if indices.ndim == 2:
                indices = numpy.ravel_multi_index(tuple(indices.T), dims)
            dense = numpy.zeros(size, values.dtype)
            dense[indices] = values
        except (ValueError, IndexError, TypeError) as error:
            raise GraphError(f"{file}: the sparse weight {name!r}: {error}") from None
        graph.initializer.append(onnx.numpy_helper.from_array(dense.reshape(dims), name))
    del graph.sparse_initializer[:]


@dataclass(frozen=True)
class Weights:
    """Big weights of a model, by name, while its nodes are worked on; and who were inputs."""

    tensors: dict[str, onnx.TensorProto]
    inputs: frozenset[str]
    order: list[str]


def take_out(graph: onnx.GraphProto, folder: Path | None) -> Weights:
    """Makes inputs of big weights, and reads small ones that are in other files."""
    inputs = {value.name for value in graph.input}
    taken: dict[str, onnx.TensorProto] = {}
    kept = []
    order = [tensor.name for tensor in graph.initializer]
    for tensor in graph.initializer:
        if math.prod(tensor.dims) > SMALL:
            taken[tensor.name] = tensor
            if tensor.name not in inputs:
                graph.input.append(
                    onnx.helper.make_tensor_value_info(
                        tensor.name, tensor.data_type, list(tensor.dims)
                    )
                )
        elif tensor.data_location == onnx.TensorProto.EXTERNAL:
            array = serde.deserialize_tensor(tensor, str(folder)).numpy()
            kept.append(
                serde.serialize_tensor(onnx_ir.tensor(numpy.array(array), name=tensor.name))
            )
        else:
            kept.append(tensor)
    # What is taken out of a message of protobuf lives on.
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return Weights(taken, frozenset(inputs), order)


def put_back(model: onnx_ir.Model, weights: Weights, aside: Aside, folder: Path | None) -> None:
    """Makes weights of these inputs again, which have their elements when they are looked up."""
    graph = model.graph
    by_name = {value.name: value for value in graph.inputs}
    for name, tensor in weights.tensors.items():
        value = by_name[name]
        value.const_value = _tensor_of(tensor, aside, folder)
        value.type = onnx_ir.TensorType(value.const_value.dtype)
        value.shape = onnx_ir.Shape(value.const_value.shape.numpy())
        graph.initializers.add(value)
    # That a caller might give them was a rule of old files.
    kept = [value for value in graph.inputs if not value.is_initializer()]
    graph.inputs.clear()
    graph.inputs.extend(kept)
    there = dict(graph.initializers)
    first = [name for name in weights.order if name in there]
    graph.initializers.clear()
    for name in (*first, *(name for name in there if name not in set(first))):
        graph.initializers.add(there[name])


def _tensor_of(
    tensor: onnx.TensorProto, aside: Aside, folder: Path | None
) -> onnx_ir.TensorProtocol:
    """A weight as onnx-ir has it."""
    elements = aside.find(tensor.raw_data)
    if elements is None:
        return serde.deserialize_tensor(tensor, "" if folder is None else str(folder))
    kind = onnx_ir.DataType(tensor.data_type)
    if kind.bitwidth < 8:  # several in a byte
        tensor.raw_data = elements.tobytes()
        return serde.deserialize_tensor(tensor)
    array = elements.view(kind.numpy()).reshape(tensor.dims)
    array.flags.writeable = False
    return onnx_ir.Tensor(array, dtype=kind, name=tensor.name, doc_string=tensor.doc_string)
