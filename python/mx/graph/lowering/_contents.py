"""What the values of a graph are while it is executed."""

from __future__ import annotations

from typing import Any

import numpy
import onnx_ir

from ... import numpy as np
from ._lowering import ARRAY_DTYPES

Environment = dict[onnx_ir.Value, Any]


def is_tensor(content: Any) -> bool:
    """Whether it is an array of a type that plans can have."""
    is_array = isinstance(content, (np.ndarray, numpy.ndarray, numpy.generic))
    return is_array and str(content.dtype) in ARRAY_DTYPES


def key_of(content: Any, by_elements: bool) -> Any:
    """What plans for a value are kept by."""
    if not is_tensor(content):
        return "no tensor"
    if by_elements:
        return str(content.dtype), content.shape, to_numpy(content).tobytes()
    return str(content.dtype), content.shape


def to_array(content: Any) -> Any:
    """A tensor as plans take it."""
    return content if isinstance(content, np.ndarray) else np.asarray(content)


def to_numpy(content: Any) -> Any:
    """A tensor as NumPy's array; what is no tensor as it is."""
    if isinstance(content, np.ndarray):
        return numpy.asarray(content)
    return numpy.asarray(content) if isinstance(content, numpy.generic) else content
