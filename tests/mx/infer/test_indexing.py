"""What brackets behind an array come to, told without its elements."""

from __future__ import annotations

from operator import getitem
from typing import Any

import numpy
import pytest

import mx
from mx.op import TensorSpec, infer

from .operators import outcome

# What stands between the brackets behind an array of n by m by 3, and the shape of that.
INDEXED: tuple[tuple[Any, Any], ...] = (
    (0, ("m", 3)),
    ((0, -1), (3,)),
    ((..., 2), ("n", "m")),
    ((None, 0, None), (1, 1, "m", 3)),
    (slice(None), ("n", "m", 3)),
    (slice(2, None), ("max(n - 2, 0)", "m", 3)),
    (slice(-2, None), ("min(n, 2)", "m", 3)),
    (slice(2), ("min(n, 2)", "m", 3)),
    (slice(None, -1), ("max(n - 1, 0)", "m", 3)),
    (slice(None, None, -1), ("n", "m", 3)),
    (slice(None, None, 2), ("floor((n + 1)/(2))", "m", 3)),
    ((..., slice(1), None), ("n", "m", 1, 1)),
    ([0, 1, 0, 1], (4, "m", 3)),
    ((slice(None), [[0], [1]], slice(2)), ("n", 2, 1, 2)),
    (([[0]], slice(None), [1, 2]), (1, 2, "m")),
    (numpy.array([True, False, True]), (2, "m", 3)),
)


@pytest.mark.parametrize(("key", "expected"), INDEXED, ids=str)
def test_symbolic_extents_behind_brackets(key: Any, expected: Any) -> None:
    (made,) = infer(getitem, TensorSpec(("n", "m", 3), "int8"), key)
    assert (tuple(made.shape), made.dtype) == (expected, "int8")


# Keys of an array of 3 by 4: what they come to is told, be it an error.
KEYS = (
    *(0, -3, 3, (1, 2), (1, 4), (), ..., None, (..., None), (None,) * 63, (0, 0, 0), (..., ...)),
    *(slice(1, None), slice(-9, 9, 3), slice(None, None, 0), slice(3, 1), (slice(2), slice(None))),
    *([0, 2], [0, 5], [], [True, False, True], [True], True, False, [[0, 1], [2, 0]], [0.5], "x"),
    *(([0, 1], [1, 2]), ([0, 1], [0, 1, 2]), (slice(None), [3, 3]), ([[0]], None, [1, 2, 3])),
    *(numpy.array(1), numpy.array([1], "uint8"), numpy.array([1.5]), numpy.int8(2), 2.5),
    *(numpy.eye(3, 4, dtype=bool), mx.np.eye(3, 4, dtype="bool"), numpy.ones((4, 3), bool), {}),
)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_as_the_call_has_them(key: Any) -> None:
    x = mx.np.ones((3, 4), dtype="int16")
    told, given = outcome(infer, getitem, x, key), outcome(getitem, x, key)
    # An index in an array is an element, which infer does not look at.
    assert told == given or (key == [0, 5] and given[0] is IndexError)
