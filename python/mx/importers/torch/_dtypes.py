"""The data types of torch as ONNX names them."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from .._dtypes import type_named

FLOATS = frozenset(
    {ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.FLOAT, ir.DataType.DOUBLE}
)
UNSIGNED = frozenset(
    {ir.DataType.UINT8, ir.DataType.UINT16, ir.DataType.UINT32, ir.DataType.UINT64}
)


def type_of(dtype: Any) -> ir.DataType:
    """What ONNX calls a `torch.dtype`; ValueError for one that it lacks."""
    return type_named(str(dtype).removeprefix("torch."))
