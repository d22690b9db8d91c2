"""The data types of TensorFlow as ONNX names them."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from .._dtypes import type_named


def type_of(dtype: Any) -> ir.DataType:
    """What ONNX calls a `tf.DType`; ValueError for one that it lacks."""
    return type_named(dtype.name)
