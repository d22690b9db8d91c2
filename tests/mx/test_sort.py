"""Order: sort, argsort and unique by every way that a line of elements is sorted."""

import numpy as np
import pytest

import mx

from .compare import BFLOAT16, DTYPES, assert_same, quiet

# Lines that are compared, counted by digits of eight and of eleven bits, and sorted side by side.
SHAPES = ((0,), (1,), (9,), (95,), (1001,), (8200,), (3, 5), (40, 33), (5, 2050), (2, 3, 70))


def elements(shape, dtype, kind):
    """Few values, many, or those far apart; of floats also NaN, infinities and zeros of signs."""
    random = np.random.default_rng(sum(shape))
    values = {
        "few": lambda: random.integers(-3, 4, shape) * 1.0,
        "many": lambda: random.normal(0, 100, shape),
        "wide": lambda: random.integers(-(2**31), 2**31, shape) * 2.0**30,
    }[kind]()
    with quiet():
        values = values.astype(dtype)
    if np.dtype(dtype).kind not in "biu":
        which = random.uniform(size=shape)
        special = (np.nan, -0.0, 0.0, np.inf, -np.inf)
        for number, value in enumerate(special):
            values[(which * 20).astype(int) == number] = value
    return values


@pytest.mark.parametrize("kind", ["few", "many", "wide"])
@pytest.mark.parametrize("dtype", [*DTYPES, BFLOAT16], ids=str)
def test_sort(dtype, kind):
    for shape in SHAPES:
        array = elements(shape, dtype, kind)
        ours = mx.np.array(array, dtype=dtype)
        for axis in (*range(len(shape)), None):
            # NumPy 2.4 sorts long lines of float16 wrongly, and NaN of bfloat16.
            by = array.astype("float32") if array.dtype.itemsize == 2 else array
            order = np.argsort(by, axis, kind="stable")
            flat = array.ravel() if axis is None else array
            expected = np.take_along_axis(flat, order, axis if axis is not None else 0)
            assert_same(mx.np.argsort(ours, axis), order)
            found = mx.np.sort(ours, axis)
            assert found.dtype == array.dtype
            if array.dtype == BFLOAT16:
                found, expected = found.astype("float32"), expected.astype("float32")
            assert_same(found, expected)
            if array.dtype.kind == "f":
                known = expected == expected
                assert (np.signbit(found.asnumpy()) == np.signbit(expected))[known].all()


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "float16"])
@pytest.mark.parametrize("size", [0, 1, 9, 1000, 70_000])
def test_unique(dtype, size):
    array = elements((size,), dtype, "few")
    if array.dtype.kind == "c":
        array = array[array == array]
    assert_same(mx.np.unique(array), np.unique(array))


@pytest.mark.parametrize("step", [2, -1, -3])
def test_sort_of_strided(step):
    array = elements((40, 60), "float32", "many")
    ours = mx.np.array(array)
    assert_same(mx.np.sort(ours[:, ::step], 0), np.sort(array[:, ::step], 0))
    assert_same(mx.np.argsort(ours[::step], 1), np.argsort(array[::step], 1, kind="stable"))
