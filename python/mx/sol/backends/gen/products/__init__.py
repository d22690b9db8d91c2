"""Emitters of products: matrices, convolutions, recurrences, quantized ones."""

from . import convolution, matmul, recurrent
from ._epilogue import Step

__all__ = ["Step", "convolution", "matmul", "recurrent"]
