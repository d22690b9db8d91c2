"""Emitters of products: matrices, convolutions, recurrences, quantized ones."""

from . import convolution, matmul, recurrent, transposed
from ._epilogue import Step

__all__ = ["Step", "convolution", "matmul", "recurrent", "transposed"]
