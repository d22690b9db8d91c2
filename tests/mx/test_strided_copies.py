"""Copies, fills and indices at any steps: what lies between elements is not written."""

import numpy as np
import pytest

import mx

from .compare import DTYPES, assert_same

STEPS = [1, 2, 3, 4, -1, -2]
# Single ones, and of long ones those that are a part of a register more than whole chunks.
SIZES = [1, 5, 31, 33, 300, 1031]


def line(size, step):
    """What picks so many elements of a buffer of `room(size)`, so far apart, but for its ends."""
    start = 3 if step > 0 else 3 - (size - 1) * step
    stop = start + size * step
    return slice(start, stop if stop >= 0 else None, step)


def room(size):
    """Elements of a buffer that has room for a line and some on either side."""
    return 4 * size + 10


def numbers(size, dtype):
    """Elements that differ, with the bytes of larger ones set."""
    return (np.arange(size) * 37 % 251 - (0 if dtype in ("bool", "uint8") else 100)).astype(dtype)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_copy(dtype, step):
    for size in SIZES:
        for step_from in STEPS:
            values = numbers(room(size), dtype)
            array = np.zeros(room(size), dtype)
            ours = mx.np.array(array)
            array[line(size, step)] = values[line(size, step_from)]
            ours[line(size, step)][...] = mx.np.array(values)[line(size, step_from)]
            assert_same(ours, array)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_fill(dtype, step):
    for size in SIZES:
        array = numbers(room(size), dtype)
        ours = mx.np.array(array)
        array[line(size, step)] = 1
        ours[line(size, step)] = 1
        assert_same(ours, array)
        array[line(size, step)].fill(2)
        ours[line(size, step)].fill(2)
        assert_same(ours, array)


@pytest.mark.parametrize("step", STEPS)
def test_floats_of_integers(step):
    """Of 64 bits, around all powers of two and between floats: rounded once, to even."""
    powers = [1 << bit for bit in range(63)]
    steps = [(power, by) for power in powers for by in (*range(-3, 4), power >> 53, power >> 54)]
    near = [sign * (power + by) for sign in (1, -1) for power, by in steps]
    random = np.random.default_rng(0).integers(-(2**63), 2**63 - 1, 3000, endpoint=True)
    ends = np.iinfo("int64")
    integers = np.array([0, ends.min, ends.min + 1, ends.max, ends.max - 511, *near, *random])
    ours = mx.np.array(integers)
    for size in (*range(20), 31, 63, 700, 3000):
        key = slice(0, size, step) if step > 0 else slice(size, None, step)
        expected = integers[key].astype("float64")
        assert_same(ours[key].astype("float64"), expected)
        assert not np.signbit(ours[key].astype("float64").asnumpy()[expected == 0]).any()


@pytest.mark.parametrize("dtype", [name for name in DTYPES if np.dtype(name).itemsize > 1])
def test_memory_that_is_not_aligned(dtype):
    """Of a foreign array, from which is copied and of which one element fills others."""
    size = 300
    raw = np.zeros(2 * size * np.dtype(dtype).itemsize + 1, "uint8")
    odd = raw[1:].view(dtype)
    odd[...] = numbers(2 * size, dtype)
    for key in (slice(0, size), slice(0, None, 2), slice(5, 6)):
        for step in (1, 2, 3):
            array = np.zeros(room(size), dtype)
            ours = mx.np.array(array)
            array[line(size, step)] = odd[key]
            ours[line(size, step)] = odd[key]
            assert_same(ours, array)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name[0] in "iu"])
@pytest.mark.parametrize("step", [1, 2, 3, -1])
def test_powers_of_integers(dtype, step):
    """All exponents 2, which is one product, all but one, and many; in place and not."""
    size = 700
    bases = numbers(room(size), dtype)[line(size, step)]
    twos = np.full(room(size), 2, dtype)
    all_but_one = twos.copy()
    all_but_one[line(size, step)][size // 2] = 3
    for powers in (twos, all_but_one, numbers(room(size), "uint8").astype(dtype) % 7):
        exponents = powers[line(size, step)]
        expected = bases**exponents
        ours = mx.np.array(numbers(room(size), dtype))
        ours_powers = mx.np.array(powers)[line(size, step)]
        assert_same(ours[line(size, step)] ** ours_powers, expected)
        ours[line(size, step)] **= ours_powers
        assert_same(ours[line(size, step)], expected)


@pytest.mark.parametrize("size", [9, 700, 70_000])
@pytest.mark.parametrize("step", [1, 2, 3, -1])
def test_negative_powers_of_integers_change_nothing(size, step):
    bases = mx.np.array(np.arange(size))
    for index in (0, size // 2, size - 1):
        exponents = np.full(3 * size, 2)
        exponents[::step][:size][index] = -1
        with pytest.raises(ValueError, match="negative integer powers"):
            bases **= mx.np.array(exponents)[::step][:size]
        assert bases.tolist() == list(range(size))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("step", [1, 2, 3, -1])
def test_indices(dtype, step):
    """More of them than are brought together at a time, and some that count from the end."""
    extent = 50
    for size in (1, 9, 512, 1300):
        keys = np.arange(room(size)) * 31 % (2 * extent) - extent
        key, our_key = keys[line(size, step)], mx.np.array(keys)[line(size, step)]
        for step_from in (1, 2, -1):
            array = numbers(room(extent), dtype)
            ours = mx.np.array(array)
            here = line(extent, step_from)
            assert_same(ours[here][our_key], array[here][key])
            array[here][key], ours[here][our_key] = 1, 1
            assert_same(ours, array)
            values = numbers(size, dtype)
            array[here][key], ours[here][our_key] = values, mx.np.array(values)
            assert_same(ours, array)
        columns = mx.np.array(np.stack([keys, keys], 1))[line(size, step)].T
        assert_same(ours[here][columns], array[here][np.stack([key, key])])


@pytest.mark.parametrize("wrong", [50, -51, 2**62])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_an_index_out_of_bounds_changes_nothing(step, wrong):
    size = 1300
    array = mx.np.arange(50)
    for at in (0, 511, 512, size - 1):
        keys = np.zeros(room(size), "int64")
        keys[line(size, step)][at] = wrong
        key = mx.np.array(keys)[line(size, step)]
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            array[key]
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            array[key] = 7
        assert array.tolist() == list(range(50))


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_tobytes(dtype, step):
    for size in (1, 300, 5000):
        values = numbers(room(size), dtype)
        ours = mx.np.array(values)[line(size, step)]
        assert ours.tobytes() == values[line(size, step)].tobytes()
