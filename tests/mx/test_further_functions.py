"""Rounding, running products, diagonals, and what an array does with its own memory."""

import numpy as np
import pytest

import mx

from .compare import DTYPES, assert_same, quiet, sample

CUBE = sample((2, 3, 4), "float64")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("decimals", [0, 1, 2, -1])
@pytest.mark.parametrize("name", ["round", "around"])
def test_round(name, decimals, dtype):
    array = (sample((40,), dtype) * 7).astype(dtype)
    # NumPy rounds bool to whole numbers only, and float16 after each step of the way.
    with quiet():
        expected = getattr(np, name)(
            array.astype("float16") if dtype == "bool" else array, decimals
        )
    assert_same(getattr(mx.np, name)(array, decimals), expected, exact=dtype != "float16")
    assert_same(mx.np.array(array).round(decimals), expected, exact=dtype != "float16")


@pytest.mark.parametrize(("decimals", "rounded"), [(400, 1.25), (-400, 0.0)])
def test_round_beyond_what_can_be_represented(decimals, rounded):
    assert mx.np.round([1.25], decimals).item() == rounded


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_cumprod(axis, dtype):
    array = sample((2, 3, 4), dtype)
    with quiet():
        expected = np.cumprod(array, axis=axis)
    assert_same(mx.np.cumprod(array, axis=axis), expected, exact=False)
    assert_same(mx.np.array(array).cumprod(axis), expected, exact=False)


@pytest.mark.parametrize("arguments", [(), (1,), (-1,), (9,), (0, 1, 2), (1, -1, 0), (-2, 0, -1)])
def test_diagonals(arguments):
    for layout in (CUBE, CUBE[::-1, :, ::2], CUBE.T):
        array = mx.np.asarray(layout)
        assert_same(array.diagonal(*arguments), layout.diagonal(*arguments))
        assert_same(array.trace(*arguments), layout.trace(*arguments), exact=False)
        assert_same(
            mx.np.trace(layout, *arguments, dtype="int64"),
            np.trace(layout, *arguments, dtype="int64"),
        )


@pytest.mark.host_memory
def test_a_diagonal_is_a_read_only_view():
    array = mx.np.zeros((2, 2))
    diagonal = mx.np.diagonal(array)
    with pytest.raises(ValueError, match="read-only"):
        diagonal[0] = 1
    array[1, 1] = 5
    assert diagonal.tolist() == [0, 5]


@pytest.mark.parametrize("options", [{}, {"endpoint": False}, {"num": 1}, {"num": 0}])
def test_linspace_tells_its_step(options):
    numbers, step = mx.np.linspace(1, 3, **{"num": 5, **options}, retstep=True, dtype="float64")
    expected, expected_step = np.linspace(1, 3, **{"num": 5, **options}, retstep=True)
    assert_same(numbers, expected)
    assert isinstance(step, float)
    np.testing.assert_equal(step, float(expected_step))


@pytest.mark.host_memory
@pytest.mark.parametrize("target", ["float32", "uint32", "int8", "float64", "complex64", "bool"])
def test_view_as_another_type(target):
    for layout in (CUBE, CUBE[::-1, 1:], CUBE[:, :, ::1]):
        array = mx.np.array(layout)
        assert_same(array.view(target), np.array(layout).view(target))
        assert mx.np.shares_memory(array.view(target), array)
    words = np.arange(8, dtype="uint8").reshape(2, 4)
    if np.dtype(target).itemsize <= 4:
        assert_same(mx.np.asarray(words).view(target), words.view(target))


@pytest.mark.parametrize("layout", [CUBE, CUBE.T, CUBE[::2, ::-1], CUBE[0, 0, 0]])
@pytest.mark.parametrize("order", ["C", "F"])
def test_tobytes(layout, order):
    assert mx.np.asarray(layout).tobytes(order) == layout.tobytes(order)


@pytest.mark.host_memory
def test_flat():
    array = mx.np.array([[1, 2], [3, 4]]).T
    assert list(array.flat) == [1, 3, 2, 4]
    assert array.flat[1] == 3
    array.flat[1] = 7
    assert array.tolist() == [[1, 7], [2, 4]]
    array.flat = [5, 6]
    assert array.tolist() == [[5, 6], [5, 6]]


@pytest.mark.parametrize(("axis", "kind"), [(-1, None), (0, "stable"), (1, "mergesort")])
def test_sort_in_place(axis, kind):
    expected = CUBE.copy()
    expected.sort(axis, kind)
    array = mx.np.array(CUBE)
    assert array.sort(axis, kind) is None
    assert_same(array, expected)


@pytest.mark.host_memory
def test_flags():
    array = mx.np.zeros((2, 3))
    assert array.flags.c_contiguous and array.flags["WRITEABLE"]
    assert array.T.flags.f_contiguous
    assert not mx.np.broadcast_to(array, (2, 2, 3)).flags.writeable


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (), [1]])
def test_size(axis):
    expected = CUBE.size if axis is None else int(np.prod(np.take(CUBE.shape, axis)))
    assert mx.np.size(mx.np.array(CUBE), axis) == mx.np.size(CUBE, axis) == expected


@pytest.mark.parametrize(("axis", "kind"), [(3, np.exceptions.AxisError), ((0, 0), ValueError)])
def test_size_of_axes_that_are_not_there(axis, kind):
    with pytest.raises(kind, match="axis"):
        mx.np.size(CUBE, axis)
