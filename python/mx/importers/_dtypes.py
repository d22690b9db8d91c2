"""Data types by the names that frameworks give them, as ONNX names them."""

from __future__ import annotations

import onnx_ir as ir

_TYPES = {
    "bool": ir.DataType.BOOL,
    "uint8": ir.DataType.UINT8,
    "uint16": ir.DataType.UINT16,
    "uint32": ir.DataType.UINT32,
    "uint64": ir.DataType.UINT64,
    "int8": ir.DataType.INT8,
    "int16": ir.DataType.INT16,
    "int32": ir.DataType.INT32,
    "int64": ir.DataType.INT64,
    "float16": ir.DataType.FLOAT16,
    "bfloat16": ir.DataType.BFLOAT16,
    "float32": ir.DataType.FLOAT,
    "float64": ir.DataType.DOUBLE,
    "float8_e4m3fn": ir.DataType.FLOAT8E4M3FN,
    "float8_e4m3fnuz": ir.DataType.FLOAT8E4M3FNUZ,
    "float8_e5m2": ir.DataType.FLOAT8E5M2,
    "float8_e5m2fnuz": ir.DataType.FLOAT8E5M2FNUZ,
    "complex64": ir.DataType.COMPLEX64,
    "complex128": ir.DataType.COMPLEX128,
}


def type_named(name: str) -> ir.DataType:
    """What ONNX calls a data type; ValueError for one that it lacks."""
    if name not in _TYPES:
        raise ValueError(f"ONNX has no data type for {name}")
    return _TYPES[name]
