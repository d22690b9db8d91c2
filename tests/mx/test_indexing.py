"""Indexing and assignment, with NumPy as the oracle for every key."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mx

from .compare import assert_same, assert_same_error, sample

BASIC = [
    *(0, -1, 1, np.int64(1), True, False, None, ..., (), slice(None)),
    *(slice(1, None), slice(None, -1), slice(None, None, -1), slice(5, 0, -2), slice(1, 1)),
    *(slice(-100, 100), slice(10**30), slice(np.int8(1), None), (0, 1), (0, slice(1)), (..., 0)),
    *((0, ...), (slice(None), 1), (None, 0), (0, None), (None, ..., None), (slice(None), None)),
    *((..., slice(None, None, -1)), (slice(None, None, 2), slice(None, None, -3)), (0, 0, 0)),
    *((1, 2, 3), (..., 1, 2), (slice(1), ..., slice(1, 3)), (0, ..., None, 1)),
]
ADVANCED = [
    *([0], [0, 1], [1, 0, -1], [], [[0, 1], [1, 0]], np.array([1, 1, 0]), np.array(1)),
    *(([0, 1], [1, 0]), ([0, 1], slice(1, 3)), (slice(None), [0, 2]), (..., [0, 1])),
    *((0, [0, 1]), ([0, 1], 1), ([0, 1], slice(None), [1, 0]), (slice(None), 0, [1, 2])),
    *(([[0], [1]], [0, 2]), (None, [0, 1]), ([0, 1], None), ([0, 1], None, [0, 1])),
    *(([0], ..., [1]), (np.array([[0, 1], [1, 0]]), slice(None, None, 2)), ((0, 1),)),
    *(np.array([0, 1], dtype="uint8"), np.array([0, 1], dtype="int16")),
    *([True, False], [False, False], np.array([True, False]), (slice(None), [True, False, True])),
    *(np.array(True), np.array(False), ([True, False], 0), ([True, True], [0, 1])),
    *((np.array([True, False]), slice(1, None)), (True, [0, 1]), (0, True)),
    *(range(2), range(0), (slice(None), range(2, -1, -1))),
]
WRONG = [
    *(2, -3, (0, 3), (0, 0, 4), (0, 0, 0, 0), (..., ...), 1.0, 1j, "a", "...", b"a", {}, (0, "a")),
    *(
        slice(1.0),
        slice("a", None),
        slice(None, None, 0),
        [2],
        [0.5],
        [[0, 1], [0]],
        ([0, 1], [0, 1, 2]),
    ),
    *([True, False, True], (slice(None), [True, False]), np.zeros((2, 2), bool), np.array([0.5])),
    *((0, [9]), ([0, 1], ..., ...), ("slice", 0, 1, None), 10**30, [None], np.array(["a"])),
]
SHAPE = (2, 3, 4)


def cases(keys):
    return [pytest.param(key, id=repr(key)[:50]) for key in keys]


def convert(key):
    """The key with mx's arrays for NumPy's."""
    if isinstance(key, tuple):
        return tuple(map(convert, key))
    return mx.np.array(key) if isinstance(key, np.ndarray) and key.dtype.kind in "biuf" else key


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
@pytest.mark.parametrize("key", cases(BASIC + ADVANCED))
def test_get(key, dtype):
    array = sample(SHAPE, dtype)
    assert_same(mx.np.array(array)[key], array[key])
    assert_same(mx.np.array(array)[convert(key)], array[key])


@pytest.mark.parametrize("layout", [lambda x: x.T, lambda x: x[::-1, :, ::-1]])
@pytest.mark.parametrize(
    "key", cases([0, slice(None, None, -2), (..., 1), [1, 0], ([0, 1], [1, 0])])
)
def test_get_of_a_view(key, layout):
    array = sample((4, 4, 4), "int32")
    assert_same(layout(mx.np.array(array))[key], layout(array)[key])


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
@pytest.mark.parametrize("key", cases(BASIC + ADVANCED))
def test_set_a_number(key, dtype):
    array = sample(SHAPE, dtype)
    result = mx.np.array(array)
    array[key] = 9
    result[convert(key)] = 9
    assert_same(result, array)


@pytest.mark.parametrize("key", cases(BASIC + ADVANCED))
def test_set_an_array(key):
    array = sample(SHAPE, "float64")
    result = mx.np.array(array)
    value = sample(array[key].shape, "int64", 1)
    array[key] = value
    result[key] = mx.np.array(value)
    assert_same(result, array)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (0, [1, 2, 3, 4]),
        ((0, 1), np.array([[7]])),
        (slice(None), [[1], [2], [3]]),
        ([0, 1], np.arange(4)),
        ((slice(None), [0, 2]), np.arange(2).reshape(2, 1)),
        (slice(0, 0), 5),
        ([], 5),
        ((..., 0), np.float32(2.5)),
        ((0, 0, 0), np.array(3)),
        ([True, False], 4),
        (True, 3),
    ],
)
def test_set_broadcasts(key, value):
    array = sample(SHAPE, "float32")
    result = mx.np.array(array)
    array[key] = value
    result[key] = value
    assert_same(result, array)


@pytest.mark.parametrize("source", ["bool", "int64", "float64", "float16", "uint8"])
@pytest.mark.parametrize("target", ["bool", "int8", "uint64", "float16", "complex64"])
def test_set_casts(source, target):
    array, value = sample((3,), target), sample((3,), source, 1)
    value = np.abs(value) if source != "bool" else value
    result = mx.np.array(array)
    array[...] = value
    result[...] = value
    assert_same(result, array)


def test_set_from_an_overlapping_view():
    array = np.arange(10)
    result = mx.np.array(array)
    array[1:] = array[:-1].copy()
    result[1:] = result[:-1]
    assert_same(result, array)
    result[::-1] = result
    assert_same(result, array[::-1])


@pytest.mark.parametrize("key", cases(WRONG))
def test_wrong_keys(key):
    array = sample(SHAPE, "float64")
    given = mx.np.array(array)
    wrong = (IndexError, TypeError, ValueError, OverflowError)
    with pytest.raises(wrong):
        array[key]
    with pytest.raises(wrong):
        given[key]
    with pytest.raises(wrong):
        given[key] = 0
    assert_same(given, array)


@pytest.mark.parametrize("key", [2, -3, (0, 3), [2], ([0, 1], [0, 3])])
def test_out_of_bounds(key):
    array = sample(SHAPE, "float64")
    assert_same_error(lambda: mx.np.array(array)[key], lambda: array[key])


@pytest.mark.parametrize("step", [1, 2, -3])
@pytest.mark.parametrize("size", [3, 50, 600, 40_000])
@pytest.mark.parametrize("index", [100, -101, 2**63 - 1, 2**63 - 99, -(2**63), -(2**63) + 99])
def test_one_of_many_indices_is_out_of_bounds(index, size, step):
    array = np.arange(100)
    given = mx.np.array(array)
    key = np.zeros(size * abs(step), dtype="int64")
    key[::step][size - 2] = index
    indices = mx.np.array(key)[::step]
    message = f"index {index} is out of bounds for axis 0 with size 100"
    with pytest.raises(IndexError, match=message):
        given[indices]
    with pytest.raises(IndexError, match=message):
        given[indices] = 7
    assert_same(given, array)


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        (0, [1, 2, 3], ValueError),
        ([0, 1], np.zeros((3, 3, 4)), ValueError),
        (0, "text", (TypeError, ValueError)),
        (0, None, TypeError),
        (0, 1j, TypeError),
        (0, [[1, 2], [3]], ValueError),
    ],
)
def test_wrong_values(key, value, error):
    array = sample(SHAPE, "float64")
    result = mx.np.array(array)
    with pytest.raises(error):
        result[key] = value
    assert_same(result, array)


@pytest.mark.parametrize("key", [{1}, frozenset(), object(), "a", 1.0, (0, {}), np.str_("a")])
def test_what_is_no_index(key):
    array = sample(SHAPE, "float64")
    assert_same_error(lambda: mx.np.array(array)[key], lambda: array[key])


def test_elements_cannot_be_deleted():
    with pytest.raises(ValueError, match="cannot delete"):
        del mx.np.zeros(3)[0]


def test_basic_keys_give_views_and_advanced_keys_copies():
    array = mx.np.zeros((3, 4))
    for key in (0, slice(1), (slice(None), 1), ..., None, (0, 0, ...), (0, 0, None)):
        assert mx.np.shares_memory(array[key], array)
    for key in (
        [0],
        [True, False, False],
        np.array([0]),
        (0, 0),
        (-1, np.int64(2)),
        (0, np.array(0)),
    ):
        assert not mx.np.shares_memory(array[key], array)


def bubble_sort(a):
    for end in range(len(a) - 1, 0, -1):
        for i in range(end):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]


def swap(a):
    a[0], a[1] = a[1], a[0]


def change_an_element_taken_before(a):
    first = a[0]
    first += 10


def change_what_is_iterated_over(a):
    for item in a:
        item *= 2


def change_an_element_in_place(a):
    a[0] += 1
    a[-1] *= 2


def change_the_view_of_an_element(a):
    a[0, ...] += 5
    a[..., 1] *= 2


def reverse_by_unpacking(a):
    a[0], a[1], *_ = reversed(list(a))


PROGRAMS = [
    *(bubble_sort, swap, change_an_element_taken_before, change_what_is_iterated_over),
    *(change_an_element_in_place, change_the_view_of_an_element, reverse_by_unpacking),
    lambda a: random.Random(3).shuffle(a),
]


@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x[::-1], lambda x: x[::2]])
@pytest.mark.parametrize("program", PROGRAMS)
def test_elements_are_of_their_own_and_rows_are_views(program, layout, dtype):
    array = sample((12,), dtype)
    result = mx.np.array(array)
    program(layout(array))
    program(layout(result))
    assert_same(result, array)


@pytest.mark.parametrize("program", [swap, change_what_is_iterated_over, reverse_by_unpacking])
def test_rows_are_views(program):
    array = sample((3, 4), "float32")
    result = mx.np.array(array)
    program(array)
    program(result)
    assert_same(result, array)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bfloat16"])
def test_an_element_outlives_what_it_was_taken_from(dtype):
    array = mx.np.array([1, 2, 3], dtype=dtype)
    element, scalar = array[1], mx.np.array(7, dtype=dtype)
    copy = scalar[()]
    array[...] = 0
    scalar[...] = 0
    assert (element.item(), copy.item(), element.shape, element.dtype) == (2, 7, (), array.dtype)


def test_read_only_memory_is_not_written():
    source = np.zeros(3)
    source.flags.writeable = False
    array = mx.np.from_dlpack(source)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    assert not source.any()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex128"])
@pytest.mark.parametrize("size", [1, 5, 3000])
def test_all_elements_at_once(dtype, size):
    """Few of a number or of an array alike, and all that is not written so."""
    array = np.arange(2 * size).reshape(2, size).astype(dtype)
    ours = mx.np.array(array)
    for value in (0, 1, True, 7.5, -0.0, np.float64(3), np.ones(size), array[:, ::-1], array[1]):
        array[...] = value
        ours[...] = mx.np.array(value) if isinstance(value, np.ndarray) else value
        assert_same(ours, array)
    for number in (3, 2.5, False):
        array.fill(number)
        ours.fill(number)
        assert_same(ours, array)
    array[1] = ours[1] = 5
    array[:, ::2].fill(4)
    ours[:, ::2].fill(4)
    array.ravel()[1:][...] = array.ravel()[:-1]
    ours.ravel()[1:][...] = ours.ravel()[:-1]
    assert_same(ours, array)
    other = np.arange(size).astype(dtype)
    array[1][...] = other
    ours[1][...] = mx.np.array(other)
    assert_same(ours, array)


def test_numbers_beyond_a_type_fill_nothing():
    array = mx.np.arange(4).astype("uint8")
    for number in (256, -1, 2**70):
        with pytest.raises(OverflowError):
            array.fill(number)
        with pytest.raises(OverflowError):
            array[...] = number
    assert array.tolist() == [0, 1, 2, 3]


def test_read_only_memory_is_not_filled():
    array = mx.np.from_dlpack(np.broadcast_to(np.zeros(1), 3))
    for change in (lambda: array.fill(1), lambda: array.__setitem__(..., mx.np.ones(3))):
        with pytest.raises(ValueError, match="read-only"):
            change()


SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)


@st.composite
def shape_and_key(draw):
    shape = draw(SHAPES)
    basic = hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)
    integers = hnp.integer_array_indices(
        shape, result_shape=hnp.array_shapes(max_dims=2, max_side=3)
    )
    masks = hnp.arrays(bool, shape[: draw(st.integers(1, len(shape)))])
    return shape, draw(st.one_of(basic, integers, masks, mixed(shape)))


@st.composite
def mixed(draw, shape):
    """One item an axis: a slice, an integer or an array, all arrays of one length."""
    length = draw(st.integers(1, 3))
    items = [
        draw(
            st.one_of(
                st.slices(extent),
                st.integers(-extent, extent - 1),
                hnp.arrays("int64", length, elements=st.integers(-extent, extent - 1)),
            )
        )
        for extent in shape
    ]
    position = draw(st.integers(0, len(items)))
    return (*items[:position], None, *items[position:]) if draw(st.booleans()) else tuple(items)


@settings(max_examples=400, deadline=None)
@given(shape_and_key())
def test_any_key(case):
    shape, key = case
    array = np.arange(np.prod(shape)).reshape(shape)
    result = mx.np.array(array)
    expected = array[key]
    assert_same(result[key], expected)
    value = -np.arange(expected.size).reshape(expected.shape) - 1
    unique = np.unique(expected).size == expected.size
    array[key] = value if unique else -1
    result[key] = value if unique else -1
    assert_same(result, array)
