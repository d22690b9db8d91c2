"""The operators of mx as a backend: a rule for each operator of ONNX that they can compute."""

from . import (  # noqa: F401  their rules
    _activation,
    _adaptive_steps,
    _attention,
    _attention_training,
    _einsum,
    _elementwise,
    _movement,
    _normalization,
    _product,
    _quantization,
    _recurrence,
    _reduction,
    _resize,
    _shape,
    _training,
    _wide_convolutions,
    _windows,
)
from ._backend import OPERATORS

__all__ = ["OPERATORS"]
