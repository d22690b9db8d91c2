"""Polynomials of arrays. The functions are those of the C++ library beside this file."""

from pathlib import Path

import ffi

_library = ffi.load_library(Path(__file__).parent / "libpolynomial.so")

evaluate = _library.evaluate
derivative = _library.derivative

__all__ = ["derivative", "evaluate"]
