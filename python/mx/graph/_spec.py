"""What is known of a value of a graph."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import onnx_ir

# An extent, the name of one that varies, or None where nothing is known of it.
Dim: TypeAlias = int | str | None


class ValueSpec(NamedTuple):
    """Name, data type and shape of an input or output.

    `dtype` is a name of NumPy or ml_dtypes, "string", for sequences and the like ONNX's own
    notation, as "seq(tensor(float))", and None where it is unknown. A shape is a tuple of extents
    and of names of those that vary, with None for one nobody knows; None where the number of axes
    is unknown.
    """

    name: str
    dtype: str | None
    shape: tuple[Dim, ...] | None

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype or '?'} {shape_text(self.shape)}"


def spec_of(value: onnx_ir.Value) -> ValueSpec:
    """What a value says of itself."""
    return ValueSpec(value.name or "", dtype_of(value), dims_of(value.shape))


def dtype_of(value: onnx_ir.Value) -> str | None:
    """The name of a value's data type; see ValueSpec."""
    if value.type is None:
        return None
    if isinstance(value.type, onnx_ir.TensorType):
        return dtype_name(value.type.dtype)
    return type_text(value.type)


def dtype_name(dtype: onnx_ir.DataType) -> str | None:
    """The name of a tensor's data type."""
    if dtype == onnx_ir.DataType.UNDEFINED:
        return None
    return "string" if dtype == onnx_ir.DataType.STRING else str(dtype.numpy().name)


def type_text(type_: onnx_ir.TypeProtocol) -> str:
    """A type in ONNX's notation."""
    kinds = {
        onnx_ir.SequenceType: "seq",
        onnx_ir.OptionalType: "optional",
        onnx_ir.SparseTensorType: "sparse_tensor",
    }
    inside = type_.elem_type
    text = inside.name.lower() if isinstance(inside, onnx_ir.DataType) else type_text(inside)
    return f"{kinds.get(type(type_), 'tensor')}({text})"


def dims_of(shape: onnx_ir.ShapeProtocol | None) -> tuple[Dim, ...] | None:
    """The extents of a shape, and the names of those that vary."""
    if shape is None:
        return None
    return tuple(dim if isinstance(dim, int) else dim.value for dim in shape)


def shape_text(shape: tuple[Dim, ...] | None) -> str:
    """A shape as people write it."""
    if shape is None:
        return "(...)"
    inside = ", ".join("?" if dim is None else str(dim) for dim in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"
