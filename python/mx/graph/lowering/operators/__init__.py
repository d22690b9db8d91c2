"""The operators of mx as a backend: a rule for each operator of ONNX that they can compute."""

from . import (  # noqa: F401  their rules
    _activation,
    _elementwise,
    _movement,
    _normalization,
    _product,
    _reduction,
    _shape,
)
from ._backend import OPERATORS

__all__ = ["OPERATORS"]
