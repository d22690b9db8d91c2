"""Index arrays, lists and masks: they come to the CPU, elements of an accelerator stay there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import mx

NUMBERS = numpy.arange(60, dtype="float32").reshape(3, 4, 5)
ALL = slice(None)
KEYS: dict[str, Any] = {
    "one step": [0, 2],
    "several steps": [2, 0, 1],
    "twice": [0, 0, 2],
    "none": [],
    "middle axis": (ALL, [0, 3]),
    "last axis": (..., [0, 4, -2]),
    "matrix": [[0, 1], [2, 0]],
    "beside an int": (1, [0, 2]),
    "before an int": ([0, 2], 1),
    "apart from an int": (1, ALL, [0, 2]),
    "around a slice": ([0, 2], ALL, 1),
    "backwards": (slice(None, None, -1), [0, 1, 3]),
    "new axis": (None, [0, 2]),
    "two lists": ([0, 1], [1, 2]),
    "two lists, last": (ALL, [0, 1], [2, 3]),
    "two lists apart": ([0, 1], ALL, [1, 2]),
    "broadcast": ([0, 1, 2], [[1], [2]]),
    "every element": numpy.indices((3, 4, 5)).tolist(),
    "many": list(range(3)) * 40,
    "rows": [True, False, True],
    "columns": (ALL, [True, False, True, True]),
    "mask": (NUMBERS % 7 > 3).tolist(),
    "mask, two axes": (NUMBERS[:, :, 0] % 7 > 3).tolist(),
}
# In what form index arrays are given.
FORMS: dict[str, Callable[[Any, mx.Context], Any]] = {
    "list": lambda item, ctx: item,
    "numpy": lambda item, ctx: numpy.array(item, None if item else int),
    "cpu": lambda item, ctx: mx.np.array(item, None if item else int, ctx=mx.cpu()),
    "there": lambda item, ctx: mx.np.array(item, None if item else int, ctx=ctx),
}


def given(key: Any, form: str, ctx: mx.Context) -> Any:
    if isinstance(key, tuple):
        return tuple(given(item, form, ctx) for item in key)
    return FORMS[form](key, ctx) if isinstance(key, list) else key


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", KEYS)
def test_as_on_the_cpu(ctx: mx.Context, name: str, form: str) -> None:
    here = tuple(KEYS["every element"]) if name == "every element" else KEYS[name]
    expected = NUMBERS[here]
    key = given(here, form, ctx)
    found = mx.np.array(NUMBERS, ctx=ctx)[key]
    assert found.ctx == ctx and found.dtype == expected.dtype
    numpy.testing.assert_array_equal(found.asnumpy(), expected)
    last = numpy.ones(expected.shape[-1:])
    for value in (7, numpy.float64(3.5), expected * 2, last, mx.np.array(expected + 1, ctx=ctx)):
        changed = NUMBERS.copy()
        changed[here] = value.asnumpy() if isinstance(value, mx.np.ndarray) else value
        target = mx.np.array(NUMBERS, ctx=ctx)
        target[key] = value
        numpy.testing.assert_array_equal(target.asnumpy(), changed)


def test_values_overlap_what_is_assigned_to(ctx: mx.Context) -> None:
    a = mx.np.array(NUMBERS, ctx=ctx)
    a[[0, 1]] = a[1:]
    numpy.testing.assert_array_equal(a.asnumpy(), NUMBERS[[1, 2, 2]])
    a[[2, 0]] = a[[0, 2]]
    numpy.testing.assert_array_equal(a.asnumpy(), NUMBERS[[2, 2, 1]])


def test_types_of_what_is_assigned(ctx: mx.Context) -> None:
    a = mx.np.zeros(4, "int32", ctx=ctx)
    a[[1, 3]] = mx.np.array([1.75, -2.5], "float64", ctx=ctx)
    a[a == 0] = 9.5
    assert a.tolist() == [9, 1, 9, -2]


@pytest.mark.parametrize("form", FORMS)
def test_what_is_wrong_with_a_key(ctx: mx.Context, form: str) -> None:
    a = mx.np.array(NUMBERS, ctx=ctx)
    for key, message in (
        ([99], "index 99 is out of bounds for axis 0 with size 3"),
        (([0], [9]), "index 9 is out of bounds for axis 1 with size 4"),
        ((ALL, [[0, -5]]), "index -5 is out of bounds for axis 1 with size 4"),
        ([True] * 9, "boolean index did not match indexed array along axis 0"),
        (([0, 1], [0, 1, 2]), "shape mismatch: indexing arrays could not be broadcast"),
    ):
        with pytest.raises(IndexError, match=message):
            a[given(key, form, ctx)]
        with pytest.raises(IndexError, match=message):
            a[given(key, form, ctx)] = 1
    with pytest.raises(ValueError, match="shape mismatch: value array of shape"):
        a[given([0, 2], form, ctx)] = numpy.ones((3, 4, 5))
    numpy.testing.assert_array_equal(a.asnumpy(), NUMBERS)


def test_arrays_of_the_cpu_and_keys_there(ctx: mx.Context) -> None:
    a = mx.np.array(NUMBERS, ctx=mx.cpu())
    key = mx.np.array([0, 2], ctx=ctx)
    assert a[key].ctx == mx.cpu()
    numpy.testing.assert_array_equal(a[key].asnumpy(), NUMBERS[[0, 2]])
    a[key] = mx.np.zeros((2, 4, 5), ctx=ctx)
    assert a.sum().tolist() == NUMBERS[1].sum()


# Settings of the reference accelerator, a key, and what became of getting and of assigning.
STAYS = {
    "few copies": ({}, [0, 2], {}, {}),
    "take": ({}, [0, 2, 1] * 9, {"take": (1, 0)}, {}),
    "copies": ({"OPERATORS": "!take"}, [0, 2, 1] * 9, {}, {}),
    "rows of a matrix": ({}, ([0, 2, 1] * 50, [1, 2] * 75), {"take": (1, 0)}, {"setitem": (0, 1)}),
    "neither": (
        {"OPERATORS": "!take"},
        [0, 2, 1] * 90,
        {"getitem": (0, 1)},
        {"setitem": (0, 1)},
    ),
    "mask": ({}, NUMBERS % 7 > 3, {"take": (1, 0)}, {"where": (1, 0)}),
    "streams": ({"STREAMS": "1"}, [0, 2, 1] * 9, {"take": (1, 0)}, {}),
    "dense copies": ({"OPERATORS": "!take", "STRIDES": "0"}, [0, 2, 1] * 9, {}, {}),
    "strided copies": (
        {"OPERATORS": "!take,where", "STRIDES": "0"},
        (ALL, [0, 3]),
        {"getitem": (0, 1)},
        {"setitem": (0, 1)},
    ),
    "no copies within": (
        {"OPERATORS": "!take", "FAULTS": "copyWithinAcc=unsupported"},
        [0, 2, 1] * 9,
        {"getitem": (0, 1)},
        {"setitem": (0, 1)},
    ),
    "mask without where": ({"OPERATORS": "!take,where"}, NUMBERS == 7, {}, {}),
}


@pytest.mark.parametrize(("settings", "key", "got", "assigned"), STAYS.values(), ids=STAYS)
def test_what_is_carried_out_where(load_refacc, settings, key, got, assigned) -> None:
    a = mx.np.array(NUMBERS, ctx=load_refacc("indexed", **settings))
    mx.acc_stats(reset=True)
    numpy.testing.assert_array_equal(a[key].asnumpy(), NUMBERS[key])
    for expected in (got, assigned):
        stats = mx.acc_stats(reset=True)
        assert {row.operator: (row.on_accelerator, row.on_cpu) for row in stats} == expected
        for row in stats:
            why = "in more than 64 positions|does not copy within the device"
            assert not row.on_cpu or re.search(why, str(row.reasons))
        a[key] = 1
    changed = NUMBERS.copy()
    changed[key] = 1
    numpy.testing.assert_array_equal(a.asnumpy(), changed)
    mx.acc_stats(reset=True)


@pytest.mark.parametrize("key", [[0, 2], [0, 2, 1] * 50, (NUMBERS > 30).tolist()])
@pytest.mark.parametrize("operators", ["*", "!take,where"])
def test_keys_and_values_on_another_device(load_refacc, operators: str, key: Any) -> None:
    ctx = load_refacc("indexed", OPERATORS=operators, DEVICES="2")
    other = mx.Context("indexed", 1)
    there = mx.np.array(key, ctx=other)
    a = mx.np.array(NUMBERS, ctx=ctx)
    expected = NUMBERS.copy()
    numpy.testing.assert_array_equal(a[there].asnumpy(), NUMBERS[key])
    assert a[there].ctx == ctx
    for value in (9, NUMBERS[key] * 2):
        a[there] = mx.np.array(value, "float32", ctx=other)
        expected[key] = value
        numpy.testing.assert_array_equal(a.asnumpy(), expected)


def test_indices_into_nothing(ctx: mx.Context) -> None:
    empty = mx.np.zeros((0, 3), ctx=ctx)
    with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
        empty[mx.np.array([0], ctx=ctx)]


def test_whole_asks_for_no_operator(load_refacc) -> None:
    a = mx.np.array(NUMBERS, ctx=load_refacc("indexed"))
    mx.acc_stats(reset=True)
    with mx.acc_fallback("whole"):
        a[[0, 2, 1] * 90]
    (row,) = mx.acc_stats(reset=True)
    assert (row.operator, row.on_accelerator, row.on_cpu) == ("getitem", 0, 1)
