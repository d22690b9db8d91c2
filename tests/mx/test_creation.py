"""Making arrays, against NumPy; without a dtype floats are float32, complex numbers complex64."""

import math

import ml_dtypes
import numpy as np
import pytest

import mx

from .compare import BFLOAT16, DTYPES, assert_same

SHAPES = [(), 3, (0,), (4,), [2, 3], (2, 0, 3), (1, 2, 3, 4)]


@pytest.mark.parametrize("dtype", [None, *DTYPES])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_filled_with_a_constant(name, shape, dtype):
    expected = getattr(np, name)(shape, dtype=dtype or "float32")
    assert_same(getattr(mx.np, name)(shape, dtype=dtype), expected)


@pytest.mark.parametrize("dtype", [None, *DTYPES])
@pytest.mark.parametrize("shape", SHAPES)
def test_empty(shape, dtype):
    expected = np.empty(shape, dtype=dtype or "float32")
    result = mx.np.empty(shape, dtype=dtype)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert not expected.size or result.strides == expected.strides


@pytest.mark.parametrize(
    "dtype",
    ["float64", np.float64, np.dtype("float64"), float, "f8", "double", mx.np.float64],
)
def test_spellings_of_a_dtype(dtype):
    assert mx.np.zeros((2, 2), dtype=dtype).dtype == np.float64
    assert mx.np.zeros((2, 2), dtype).dtype == np.float64


@pytest.mark.parametrize("dtype", ["bfloat16", ml_dtypes.bfloat16, BFLOAT16, mx.np.bfloat16])
def test_bfloat16(dtype):
    result = mx.np.ones((2, 3), dtype=dtype)
    assert result.dtype == BFLOAT16
    assert_same(result, np.ones((2, 3), BFLOAT16))


@pytest.mark.host_memory
@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        (((3, 4),), {}),
        (((3, 4), "float64"), {}),
        (((3, 4), "float64", "C"), {}),
        (((3, 4), "float64", "C", mx.cpu(0)), {}),
        (((3, 4),), {"dtype": "float64", "ctx": "cpu(0)"}),
        ((), {"shape": (3, 4), "order": "C"}),
        (((3, 4),), {"ctx": mx.cpu(0)}),
    ],
)
def test_zeros_takes_its_arguments_by_position_and_keyword(arguments, keywords):
    result = mx.np.zeros(*arguments, **keywords)
    assert result.shape == (3, 4)
    assert result.ctx == mx.cpu(0)
    assert not result.asnumpy().any()


@pytest.mark.parametrize("value", [0, 7, -1, 2.5, True, 1 + 2j])
@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128"])
def test_full(value, dtype):
    if isinstance(value, complex) and dtype != "complex128":
        with pytest.raises(TypeError):
            mx.np.full((2, 3), value, dtype=dtype)
    else:
        assert_same(mx.np.full((2, 3), value, dtype=dtype), np.full((2, 3), value, dtype=dtype))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        *((1, "int64"), (2**53 + 1, "int64"), (2**63, "uint64"), ([1, 2], "int64")),
        *((1.5, "float32"), (True, "bool"), (1j, "complex64")),
    ],
)
def test_full_without_a_dtype(value, dtype):
    assert_same(mx.np.full((2,), value), np.full((2,), value, dtype=dtype))


def test_full_broadcasts_its_value():
    expected = np.full((2, 3), np.arange(3, dtype="int64"))
    assert_same(mx.np.full((2, 3), np.arange(3, dtype="int64")), expected)


@pytest.mark.parametrize(
    "arguments",
    [
        *((5,), (0,), (-3,), (1, 4), (2, 9, 3), (9, 2, -2), (3, 3), (0, 5, None), (True, 3)),
        *((0, 1, 0.25), (1.5, 4), (2.0,), (1, 4.0)),
        *((2**24, 2**24 + 4), (2**53, 2**53 + 3), (2**63, 2**63 + 3), (2**63 - 1, 2**63 + 1)),
        (2**63 + 5, 2**63, -2),
    ],
)
@pytest.mark.parametrize("dtype", [None, "int32", "uint64", "float64"])
def test_arange(arguments, dtype):
    integers = all(isinstance(argument, int | None) for argument in arguments)
    if (dtype == "int32" and not (integers and max(arguments[:2]) < 2**31)) or (
        dtype == "uint64" and not (integers and min(arguments[:2]) >= 0)
    ):
        return
    # NumPy makes float64 of ints beyond int64, all of them equal.
    exact = dtype or ("uint64" if integers and max(arguments[:2]) > 2**63 - 1 else None)
    expected = np.arange(*arguments, dtype=exact if integers else "float64")
    assert_same(
        mx.np.arange(*arguments, dtype=dtype),
        expected if integers else expected.astype(dtype or "float32"),
    )


@pytest.mark.parametrize("arguments", [(0, 1), (0, 1, 5), (2, -3, 7), (1, 1, 3), (0, 9, 1)])
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", [None, "float64"])
def test_linspace(arguments, endpoint, dtype):
    expected = np.linspace(*arguments, endpoint=endpoint, dtype=dtype or "float32")
    assert_same(mx.np.linspace(*arguments, endpoint=endpoint, dtype=dtype), expected, exact=False)


@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        ((3,), {}),
        ((2, 4), {}),
        ((4, 2), {"k": 1}),
        ((3, 3), {"k": -2}),
        ((0,), {}),
        ((2,), {"k": 9}),
    ],
)
@pytest.mark.parametrize("dtype", [None, "int8", "complex64"])
def test_eye(arguments, keywords, dtype):
    expected = np.eye(*arguments, **keywords, dtype=dtype or "float32")
    assert_same(mx.np.eye(*arguments, **keywords, dtype=dtype), expected)


@pytest.mark.parametrize("dtype", [None, "int8"])
def test_identity_and_tri(dtype):
    assert_same(mx.np.identity(3, dtype=dtype), np.identity(3, dtype=dtype or "float32"))
    assert_same(mx.np.tri(3, 4, -1, dtype=dtype), np.tri(3, 4, -1, dtype=dtype or "float32"))


@pytest.mark.parametrize("dtype", [None, "int8"])
@pytest.mark.parametrize(
    ("name", "arguments"), [("zeros_like", ()), ("ones_like", ()), ("full_like", (3,))]
)
def test_like(name, arguments, dtype):
    prototype = np.arange(6.0).reshape(2, 3)
    expected = getattr(np, name)(prototype, *arguments, dtype=dtype)
    assert_same(getattr(mx.np, name)(mx.np.array(prototype), *arguments, dtype=dtype), expected)


@pytest.mark.parametrize("prototype", [[3], 3, [[1.5, 2.0]], np.ones(2)], ids=repr)
@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like", "full_like"])
def test_like_what_has_no_context_is_made_where_zeros_makes_arrays(name, prototype):
    value = (7,) if name == "full_like" else ()
    result = getattr(mx.np, name)(prototype, *value)
    assert result.ctx == mx.np.zeros(1).ctx
    assert result.shape == np.shape(prototype)
    assert getattr(mx.np, name)(prototype, *value, ctx=mx.cpu()).ctx == mx.cpu()


def test_empty_like():
    result = mx.np.empty_like(mx.np.zeros((2, 3), dtype="int16"))
    assert (result.shape, result.dtype) == ((2, 3), np.dtype("int16"))


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (1, "int64"),
        (1.5, "float32"),
        (True, "bool"),
        (1j, "complex64"),
        ([], "float32"),
        ([1, 2, 3], "int64"),
        ([2**24 + 1], "int64"),
        ([np.int64(2**53 + 1), np.uint8(1)], "int64"),
        ([2**63, 1], "uint64"),
        ([2**63, -1], "float64"),
        ([True, 2], "int64"),
        ([1, 2.5, True], "float32"),
        ([True, False], "bool"),
        ([[1, 2], [3, 4j]], "complex64"),
        (((1, 2), (3, 4)), "int64"),
        ([[[1]], [[2]]], "int64"),
        (range(3), "int64"),
        ([[], []], "float32"),
        ([-(2**63), 2**62], "int64"),
        ([math.inf, -math.inf, math.nan], "float32"),
    ],
)
def test_array_of_python_numbers(given, dtype):
    assert_same(mx.np.array(given), np.array(given, dtype=dtype))
    assert_same(mx.np.asarray(given, dtype="complex128"), np.array(given, dtype="complex128"))


@pytest.mark.parametrize("dtype", [*DTYPES, BFLOAT16])
def test_array_of_a_numpy_array_keeps_its_dtype(dtype):
    given = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    result = mx.np.array(given)
    assert_same(result, given)
    given[0, 0] = 1
    assert not result.asnumpy()[0, 0]


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_array_casts(source, target):
    given = np.array([0, 1, 2, 3, 100]).astype(source)
    expected = (given.real if target[0] != "c" and source[0] == "c" else given).astype(target)
    assert_same(mx.np.array(given, dtype=target), expected)
    assert_same(mx.np.array(given).astype(target), expected)


def test_array_of_a_list_of_arrays():
    parts = [np.arange(3, dtype="int64"), np.arange(3, 6, dtype="int64")]
    assert_same(mx.np.array([mx.np.array(part) for part in parts]), np.array(parts))
    assert_same(mx.np.array(parts), np.array(parts))


@pytest.mark.parametrize("order", ["C", "F"])
def test_array_of_a_strided_array(order):
    given = np.array(np.arange(24.0).reshape(4, 6), order=order)[::2, ::-3]
    assert_same(mx.np.array(given), given)


def test_array_copies_and_asarray_does_not_copy_an_array():
    source = mx.np.zeros((2, 3))
    assert not mx.np.shares_memory(mx.np.array(source), source)
    assert mx.np.shares_memory(mx.np.asarray(source), source)
