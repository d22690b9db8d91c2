"""The array itself: what it says of itself, and how others see its memory."""

import copy
import gc
import math
import operator
import pickle

import numpy as np
import pytest
import torch

import ffi
import mx

from .compare import BFLOAT16, DTYPES, assert_same, sample

LAYOUTS = {
    "row-major": lambda x: x,
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1],
    "every other": lambda x: x[:, ::2],
    "an element": lambda x: x[1, 2],
    "a new axis": lambda x: x[:, None],
    "nothing": lambda x: x[1:1],
}
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())


@pytest.mark.host_memory
@layouts
@pytest.mark.parametrize("dtype", DTYPES)
def test_properties(layout, dtype):
    array = sample((3, 4), dtype)
    expected, result = layout(array), layout(mx.np.array(array))
    for name in ("shape", "ndim", "size", "itemsize", "nbytes", "dtype"):
        assert getattr(result, name) == getattr(expected, name), name
    if expected.size:
        assert result.strides == expected.strides
    assert type(result.shape) is tuple
    assert isinstance(result.dtype, np.dtype)
    assert result.ctx == result.context == result.device == mx.cpu(0)
    for name in ("T", "real", "imag"):
        assert_same(getattr(result, name), getattr(expected, name))


def test_shape_of_a_matrix_transpose():
    array = sample((2, 3, 4), "int32")
    assert_same(mx.np.array(array).mT, array.mT)
    with pytest.raises(ValueError):
        _ = mx.np.ones(3).mT


def test_complex_parts_are_views():
    array = mx.np.array([1 + 2j, 3 + 4j])
    array.real = 5
    array.imag[0] = 7
    assert array.tolist() == [5 + 7j, 5 + 4j]
    with pytest.raises(TypeError):
        mx.np.ones(2).imag = 1
    with pytest.raises(ValueError, match="read-only"):
        mx.np.ones(2).imag[0] = 1  # which would change no element of the array


READ_ONLY = ["shape", "dtype", "ctx", "size", "ndim", "strides", "nbytes", "T"]


@pytest.mark.parametrize("name", READ_ONLY)
def test_properties_cannot_be_set(name):
    with pytest.raises(AttributeError):
        setattr(mx.np.ones(2), name, 1)


@pytest.mark.host_memory
@layouts
@pytest.mark.parametrize("dtype", [*DTYPES, BFLOAT16])
def test_asnumpy_copies_and_asarray_does_not(layout, dtype):
    array = sample((3, 4), dtype)
    expected, result = layout(array), layout(mx.np.array(array))
    np.testing.assert_array_equal(result.asnumpy(), expected)
    assert result.asnumpy().dtype == expected.dtype
    assert not np.shares_memory(result.asnumpy(), np.asarray(result))
    view = np.asarray(result)
    assert view.dtype == expected.dtype
    np.testing.assert_array_equal(view, expected)
    if result.size:
        view[...] = 0
        assert not result.asnumpy().any()


def test_asarray_keeps_the_memory_alive():
    view = np.asarray(mx.np.full((1000,), 3.0))
    gc.collect()
    mx.np.full((1000,), 4.0)
    assert view.tolist() == [3.0] * 1000


@pytest.mark.host_memory
@pytest.mark.parametrize("copy", [None, True, False])
def test_array_protocol(copy):
    array = mx.np.ones((2, 3))
    assert np.shares_memory(array.__array__(copy=copy), np.asarray(array)) == (copy is not True)
    if copy is False:
        with pytest.raises(ValueError):
            array.__array__("float64", copy=copy)
    else:
        assert array.__array__("float64", copy=copy).dtype == np.float64


@pytest.mark.host_memory
@layouts
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_and_torch_by_dlpack(layout, dtype):
    array = sample((3, 4), dtype)
    expected, result = np.asarray(layout(array)), layout(mx.np.array(array))
    np.testing.assert_array_equal(np.from_dlpack(result), expected)
    assert np.shares_memory(np.from_dlpack(result), np.asarray(result)) == bool(result.size)
    assert_same(mx.np.from_dlpack(expected), expected)
    assert result.__dlpack_device__() == (1, 0)
    if min((*result.strides, 1)) > 0:
        tensor = torch.from_dlpack(result)
        assert tuple(tensor.shape) == expected.shape
        np.testing.assert_array_equal(tensor.numpy(), expected)
        assert_same(mx.np.from_dlpack(tensor), expected)


def test_dlpack_shares_both_ways():
    tensor = torch.zeros(3)
    array = mx.np.from_dlpack(tensor)
    array[0] = 1
    tensor[1] = 2
    assert array.tolist() == tensor.tolist() == [1, 2, 0]
    back = torch.from_dlpack(array)
    del tensor, array
    gc.collect()
    back[2] = 3
    assert back.tolist() == [1, 2, 3]


def test_torch_tensors_are_operands():
    tensor = torch.arange(3, dtype=torch.float32)
    assert_same(mx.np.add(tensor, 1), np.array([1, 2, 3], "float32"))
    assert_same(mx.np.ones(3) + tensor, np.array([1, 2, 3], "float32"))
    assert mx.np.array(tensor.to(torch.bfloat16)).dtype == BFLOAT16


cython_only = pytest.mark.skipif(
    ffi.backend != "cython", reason="only an extension type has the buffer protocol"
)


@pytest.mark.host_memory
@cython_only
@layouts
@pytest.mark.parametrize("dtype", DTYPES)
def test_buffer_protocol(layout, dtype):
    array = sample((3, 4), dtype)
    expected, result = layout(array), layout(mx.np.array(array))
    view, oracle = memoryview(result), memoryview(np.asarray(expected))
    names = ["format", "itemsize", "ndim", "shape", "nbytes", "readonly", "contiguous"]
    for name in [*names, "c_contiguous", "f_contiguous"]:
        assert getattr(view, name) == getattr(oracle, name), name
    assert bytes(view) == bytes(oracle)


@cython_only
def test_buffer_of_bfloat16_is_rejected():
    with pytest.raises(BufferError):
        memoryview(mx.np.ones(2, dtype="bfloat16"))


@layouts
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
def test_lists_and_items(layout, dtype):
    array = sample((3, 4), BFLOAT16 if dtype == "bfloat16" else dtype)
    expected, result = layout(array), layout(mx.np.array(array))
    assert result.tolist() == expected.tolist()
    for index in range(expected.size):
        found = result.item(index)
        assert found == expected.item(index)
        assert type(found) in (bool, int, float, complex)


@pytest.mark.parametrize("arguments", [(3,), (-1,), (1, 2), ((1, 2),)])
def test_item_at_an_index(arguments):
    array = sample((3, 4), "int16")
    assert mx.np.array(array).item(*arguments) == array.item(*arguments)


@pytest.mark.parametrize(
    ("shape", "arguments", "error"),
    [
        ((3,), (), ValueError),
        ((0,), (), ValueError),
        ((3,), (3,), IndexError),
        ((2, 2), (0, 2), IndexError),
    ],
)
def test_no_such_item(shape, arguments, error):
    with pytest.raises(error):
        mx.np.zeros(shape).item(*arguments)


@pytest.mark.parametrize("value", [0, 1, -3, 2.75, True, False, 1e30])
@pytest.mark.parametrize("convert", [bool, int, float, complex, round, math.floor])
def test_numbers(value, convert):
    array = mx.np.array(value, dtype="float64")
    assert convert(array) == convert(float(value))
    assert type(convert(array)) is (int if convert in (round, math.floor) else convert)


@pytest.mark.parametrize(("digits", "expected"), [((1,), 2.7), ((), 3), ((None,), 3), ((-1,), 0.0)])
def test_round(digits, expected):
    assert round(mx.np.array(2.6875), *digits) == expected


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64"])
def test_an_integer_array_without_axes_is_an_index(dtype):
    assert operator.index(mx.np.array(3, dtype=dtype)) == 3
    assert "abcdef"[mx.np.array(3, dtype=dtype)] == "d"
    assert list(range(5))[mx.np.array(1, dtype=dtype) :] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("convert", "array"),
    [
        (int, np.ones(2)),
        (float, np.ones((1, 1))),
        (complex, np.zeros(0)),
        (operator.index, np.array(1.0)),
        (operator.index, np.array([1])),
        (operator.index, np.array(True)),
        (float, np.array(1j)),
        (int, np.array(np.inf)),
        (round, np.ones(1)),
        (len, np.array(1)),
        (iter, np.array(1)),
        (hash, np.ones(1)),
        (bool, np.ones(2)),
        (bool, np.zeros(0)),
    ],
)
def test_what_an_array_is_not(convert, array):
    with pytest.raises((TypeError, ValueError, OverflowError)) as found:
        convert(mx.np.array(array))
    if array.dtype.kind != "c":
        with pytest.raises((TypeError, ValueError, OverflowError)) as expected:
            convert(array)
        assert isinstance(found.value, expected.type)


@pytest.mark.parametrize(("value", "truth"), [(0, False), (2, True), ([0.0], False), ([[5]], True)])
def test_truth(value, truth):
    assert bool(mx.np.array(value)) is truth


@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 2), (1, 0)])
def test_length_and_iteration(shape):
    array = sample(shape, "int64")
    result = mx.np.array(array)
    assert len(result) == len(array)
    for found, expected in zip(result, array, strict=True):
        assert_same(found, expected)
    assert [item.tolist() for item in reversed(result)] == array[::-1].tolist()


def test_iteration_gives_views():
    array = mx.np.zeros((2, 2))
    for row in array:
        row += 1
    assert array.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("value", "found"),
    [(2, True), (9, False), ([1, 2], True), (2.0, True), (None, False), ("2", False), ({}, False)],
)
def test_contains(value, found):
    assert (value in mx.np.array([[1, 2], [3, 4]])) is found


REPRESENTATIONS = [
    ([[0.0, 0.0]], None, "array([[0., 0.]])"),
    ([1.5, -2.25], "float64", "array([1.5, -2.25], dtype=float64)"),
    ([1, 2], "int64", "array([1, 2])"),
    ([1, 2], "int32", "array([1, 2], dtype=int32)"),
    ([2**63], None, "array([9223372036854775808], dtype=uint64)"),
    ([True, False], None, "array([ True, False])"),
    (3, None, "array(3)"),
    (3.0, None, "array(3.)"),
    ([], None, "array([])"),
    ([], "int64", "array([], dtype=int64)"),
    ([], "bool", "array([], dtype=bool)"),
    (np.zeros((0, 3)), None, "array([], shape=(0, 3), dtype=float64)"),
    ([1 + 2j], None, "array([1.+2.j])"),
    ([1.5, 2], "bfloat16", "array([1.5, 2. ], dtype=bfloat16)"),
    ([1.0, math.inf, math.nan], None, "array([ 1., inf, nan])"),
    (np.arange(4).reshape(2, 2), "uint8", "array([[0, 1],\n       [2, 3]], dtype=uint8)"),
]


@pytest.mark.host_memory
@pytest.mark.parametrize(("value", "dtype", "text"), REPRESENTATIONS)
def test_representation(value, dtype, text):
    array = mx.np.array(value, dtype=dtype)
    aligned = text.replace("1.5, -2.25", " 1.5 , -2.25")
    assert repr(array) == aligned


def test_representation_names_another_context():
    assert repr(mx.np.zeros(1, ctx=mx.cpu(1))) == "array([0.], ctx=cpu(1))"


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 3), (2000,)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
def test_text(shape, dtype):
    array = sample(shape, dtype)
    result = mx.np.array(array)
    assert str(result) == str(array)
    assert f"{result}" == f"{array}"
    assert len(repr(result)) < 1000


def test_format():
    assert f"{mx.np.array(1.25):.1f}" == f"{1.25:.1f}"
    with pytest.raises(TypeError, match="format"):
        f"{mx.np.ones(2):.1f}"


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", ["float32", "bool", "complex128", "bfloat16"])
def test_pickle(dtype, protocol):
    array = mx.np.array(sample((3, 4), "bool")).astype(dtype)
    for given in (array, array.T[::2], array[1, 1], mx.np.zeros((0, 2), dtype=dtype)):
        assert_same(pickle.loads(pickle.dumps(given, protocol)), given.asnumpy())
    elsewhere = mx.np.zeros(2, ctx=mx.cpu(1))
    assert pickle.loads(pickle.dumps(elsewhere, protocol)).ctx == mx.cpu(1)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda x: x.copy(), mx.np.copy])
def test_copies(duplicate):
    array = mx.np.array(sample((3, 4), "int32"))
    result = duplicate(array)
    assert_same(result, array.asnumpy())
    assert not mx.np.shares_memory(result, array)


def test_fill_and_flatten():
    array = mx.np.zeros((2, 3))
    flat = array.flatten()
    array.fill(4)
    assert array.tolist() == [[4] * 3] * 2
    assert_same(flat, np.zeros(6, "float32"))


def test_every_array_is_of_the_one_class():
    assert isinstance(mx.np.zeros(1), mx.np.ndarray)
    assert isinstance(mx.np.zeros(1), ffi.NDArray)
    assert mx.np.ndarray.__name__ == "ndarray"
