"""For tests: comparing arrays, and which devices and instructions there are."""

from __future__ import annotations

from typing import Any

import numpy

import ffi

from ._acc.table import list_acc

__all__ = ["assert_almost_equal", "cpu_level", "list_acc"]

cpu_level = ffi.get_global_func("mx.cpu_level")

# Relative and absolute tolerance by dtype; others are compared exactly.
TOLERANCES = {
    "bfloat16": (1e-2, 1e-2),
    "float16": (1e-2, 1e-4),
    "float32": (1e-4, 1e-5),
    "float64": (1e-5, 1e-8),
    "complex64": (1e-4, 1e-5),
    "complex128": (1e-5, 1e-8),
}


def assert_almost_equal(
    a: Any,
    b: Any,
    rtol: float | None = None,
    atol: float | None = None,
    names: tuple[str, str] = ("a", "b"),
    equal_nan: bool = False,
) -> None:
    """AssertionError unless a and b have one shape and |a - b| <= atol + rtol * |b| everywhere.

    Takes whatever numpy.asarray takes. Tolerances that are not given follow from the less precise
    of the two dtypes.
    """
    left, right = numpy.asarray(a), numpy.asarray(b)
    given = [TOLERANCES.get(array.dtype.name, (0.0, 0.0)) for array in (left, right)]
    rtol = max(pair[0] for pair in given) if rtol is None else rtol
    atol = max(pair[1] for pair in given) if atol is None else atol
    if left.shape != right.shape:
        shapes = f"{names[0]} has shape {left.shape}, {names[1]} has {right.shape}"
        raise AssertionError(shapes)
    numpy.testing.assert_allclose(
        _widened(left),
        _widened(right),
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        err_msg=f"{names[0]} against {names[1]}",
    )


def _widened(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    """bfloat16 as float32, which NumPy can compare."""
    return array.astype(numpy.float32) if array.dtype.name == "bfloat16" else array
