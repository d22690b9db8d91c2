"""Emitters of products: matrices, convolutions, recurrences, quantized ones."""

from . import (
    attention,
    convolution,
    matmul,
    quantized,
    quantized_convolution,
    recurrent,
    transposed,
)
from ._epilogue import Extra, Step
from ._group import PRODUCTS, emit_product_group

__all__ = [
    "PRODUCTS",
    "Extra",
    "Step",
    "attention",
    "convolution",
    "emit_product_group",
    "matmul",
    "quantized",
    "quantized_convolution",
    "recurrent",
    "transposed",
]
