"""How far a result may be from the CPU's, and how far it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..plugin import Array
from .case import Case, expected_of

# In parts of the result.
TOLERANCES = {"bfloat16": 3e-2, "float16": 4e-3, "float32": 1e-5, "float64": 1e-12}
TOLERANCES |= {"complex64": TOLERANCES["float32"], "complex128": TOLERANCES["float64"]}


def _widened(array: Array) -> Array:
    """In a type that NumPy computes with itself, and whose numbers do not get too large."""
    if array.dtype.name in ("bfloat16", "float16"):
        return array.astype("float32")
    return array.astype("float64") if array.dtype.name == "float32" else array


def _largest(array: Array) -> float:
    """The largest finite element."""
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 1.0


def _magnitude(case: Case) -> float:
    """The largest result if nothing cancelled out, which is what sums are as exact as."""
    arguments = [abs(item) if isinstance(item, np.ndarray) else item for item in case.arguments]
    try:
        (made, *_) = expected_of(replace(case, arguments=tuple(arguments)))
    except Exception:
        return 1.0
    return _largest(_widened(made))


def _is_wrong(case: Case, came: Array, expected: Array, relative: float) -> tuple[Array, float]:
    """Which elements are too far off, and how far one of 0 might have been."""
    absolute = relative * (_largest(expected) if case.is_tiny else 1.0)
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(came, expected, rtol=relative, atol=absolute, equal_nan=True)
        if case.is_sum and wrong.any():
            absolute = relative * _magnitude(case)
            wrong = ~np.isclose(came, expected, rtol=relative, atol=absolute, equal_nan=True)
    if case.signed_zeros:
        wrong |= (expected == 0) & (np.signbit(came) != np.signbit(expected))
    return wrong, absolute


def difference(case: Case, came: Array, expected: Array, factor: float) -> str | None:
    """What is wrong with a result; None if nothing is."""
    tolerance = TOLERANCES.get(expected.dtype.name)
    if expected.dtype == bool:
        # NumPy takes bools of other bytes than 0 and 1 for equal.
        came, expected = came.view("uint8"), np.ascontiguousarray(expected).view("uint8")
    if tolerance is None:
        return _text(came, expected, came != expected, None)
    came, expected = _widened(came), _widened(expected)
    relative = factor * tolerance
    wrong, absolute = _is_wrong(case, came, expected, relative)
    return _text(came, expected, wrong, (relative, absolute))


def _text(
    came: Array, expected: Array, wrong: Array, allowed: tuple[float, float] | None
) -> str | None:
    """Of the elements that are wrong: how many, and the worst, or the first, one."""
    if not wrong.any():
        return None
    came, expected, wrong = np.atleast_1d(came), np.atleast_1d(expected), np.atleast_1d(wrong)
    count = f"{int(wrong.sum())} of {expected.size} elements differ"
    first = tuple(int(axis[0]) for axis in np.nonzero(wrong))
    if allowed is None:
        return f"{count}; {came[first]} instead of {expected[first]} at {list(first)}"
    with np.errstate(all="ignore"):
        errors = np.where(wrong, np.abs(came - expected), -1.0)
    numbers = np.isfinite(errors) & wrong
    relative, absolute = allowed
    limit = f"{relative:.3g} of it + {absolute:.3g} may be"
    if not numbers.any():
        return f"{count}; {came[first]} instead of {expected[first]} at {list(first)}; {limit}"
    worst = np.unravel_index(int(np.argmax(np.where(numbers, errors, -1.0))), errors.shape)
    at = [int(i) for i in worst]
    off = f"off by {errors[worst]:.3g}, where {limit}"
    return f"{count}; at worst {came[worst]} instead of {expected[worst]} at {at}, {off}"
