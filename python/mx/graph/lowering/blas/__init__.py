"""BLAS as a backend: products of matrices, with what is added to them, of float32 and float64."""

from . import _convolution, _product  # noqa: F401  their rules
from ._backend import BLAS, Product
from ._mkl import MKL

__all__ = ["BLAS", "MKL", "Product"]
