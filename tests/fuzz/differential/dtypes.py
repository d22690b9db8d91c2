"""What the fuzzer asks of data types, of bfloat16 too, which NumPy knows as somebody else's."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def kind(dtype: np.dtype) -> str:
    """The letter of NumPy's for a class of types; "f" for bfloat16."""
    return "f" if dtype == BFLOAT16 else dtype.kind


def finfo(dtype: np.dtype) -> Any:
    """The limits of a type of floats or of complex numbers."""
    return ml_dtypes.finfo(dtype) if dtype == BFLOAT16 else np.finfo(dtype)


def unit(dtype: np.dtype) -> float:
    """The distance of 1 to the next number of a type; 0 of types without fractions."""
    return float(finfo(dtype).eps) if kind(dtype) in "fc" else 0.0


def parts(array: np.ndarray) -> tuple[np.ndarray, ...]:
    """Real and imaginary parts of complex numbers; of others the array alone."""
    return (array.real, array.imag) if array.dtype.kind == "c" else (array,)
