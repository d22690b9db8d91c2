"""Emitters of products: matrices, convolutions, recurrences, quantized ones."""

from . import convolution, matmul
from ._epilogue import Step

__all__ = ["Step", "convolution", "matmul"]
