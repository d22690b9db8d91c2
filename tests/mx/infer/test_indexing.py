"""What brackets behind an array come to, told without its elements."""

from __future__ import annotations

from operator import getitem, setitem
from typing import Any

import numpy
import pytest

import ffi
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


set_by_name = ffi.get_global_func("_npi.setitem")


def assigned(array: Any, key: Any, value: Any) -> Any:
    setitem(array, key, value)
    return array


NARROW = mx.np.ones((1, 1, 4), dtype="int8")

# Assignments to an array of int16 of 3 by 4: whether they fit is told, be it an error.
ASSIGNED: tuple[tuple[Any, Any], ...] = (
    *((key, value) for key in (0, (0, 1), slice(2), [0, 2], None) for value in (1, 2.5, True)),
    *((0, value) for value in ([1, 2, 3, 4], [[1, 2, 3, 4]], [1, 2, 3], NARROW, [NARROW[0, 0]])),
    *((0, value) for value in (2**40, float("nan"), 1j, [1, 2**40, 3, 4], numpy.ones(4), (), [[]])),
    *((0, value) for value in ("x", None, {}, [1, "x"], [[1], [1, 2]])),
    *(((0, 1), value) for value in ([1], [[1]], mx.np.array(2.5), mx.np.ones(1), numpy.int8(3))),
    *((slice(2), value) for value in ([[1], [2]], [[1], [2], [3]], mx.np.ones((5, 2, 4)))),
    *((..., value) for value in (NARROW, [[NARROW[0, 0]]], [NARROW], [[[1, 2, 3, 4]]])),
    *(([0, 2], value) for value in ([1, 2, 3, 4], [[1], [2]], [[1], [2], [3]], NARROW, "x")),
    *((([0, 1], [1, 2]), value) for value in ([5, 6], [[5, 6]], [5, 6, 7], [], mx.np.ones(2))),
    *((numpy.eye(3, 4, dtype=bool), value) for value in (1, [1], [1, 2, 3], [1, 2], [[1, 2, 3]])),
    *((numpy.ones((4, 3), bool), 1), ([True, False, True], [[1], [2]]), ([True, False], 1)),
    *(((0, 0, 0), 1), ((..., ...), 1), (5, 1), ([0.5], 1), ("x", 1), ({}, 1), ([], [])),
)


@pytest.mark.parametrize(("key", "value"), ASSIGNED, ids=repr)
def test_assignments_as_the_call_has_them(key: Any, value: Any) -> None:
    told = outcome(infer, setitem, mx.np.zeros((3, 4), dtype="int16"), key, value)
    assert told == outcome(assigned, mx.np.zeros((3, 4), dtype="int16"), key, value)


# Keys, what is assigned, of which tuples are shapes, and what is wrong with it.
SYMBOLIC_VALUES: tuple[tuple[Any, Any, str | None], ...] = (
    (0, ("m", 3), None),
    (0, (3,), None),
    (0, (1, 1, "m", 3), None),
    (0, ("k", 3), None),
    (0, (4,), r"from shape \(4,\) into shape \(m,3\)"),
    (0, ("k", "m", 3), r"from shape \(k,m,3\) into shape \(m,3\)"),
    ((0, 1, 2), (1,), "setting an array element with a sequence"),
    ([0, 1], (2, "m", 1), None),
    ([0, 1], (3, "m", 1), r"shape \(3,m,1\) could not .* shape \(2,m,3\)"),
    (numpy.array([True, False, True]), ("k", 1, 1), None),
    (slice(2), 2.5, None),
)


@pytest.mark.parametrize(("key", "value", "text"), SYMBOLIC_VALUES, ids=str)
def test_assignments_to_symbolic_extents(key: Any, value: Any, text: str | None) -> None:
    a = TensorSpec(("n", "m", 3), "int8")
    given = TensorSpec(value, "float32") if isinstance(value, tuple) else value
    if text is None:
        assert list(infer(setitem, a, key, given)) == [a]
    else:
        with pytest.raises(ValueError, match=text):
            infer(setitem, a, key, given)


def test_what_cannot_be_assigned_to() -> None:
    for array in (mx.np.broadcast_to(mx.np.ones(3), (2, 3)), [1, 2], 1, None):
        told, given = outcome(infer, setitem, array, 0, 1), outcome(set_by_name, array, 0, 1)
        assert told == given
        assert isinstance(told[0], type) and issubclass(told[0], Exception)
