"""Operators between arrays, Python numbers, lists and NumPy's arrays."""

import operator

import numpy as np
import pytest

import mx

from .compare import DTYPES, assert_same, assert_same_error, quiet, sample

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["lt", "le", "eq", "ne", "gt", "ge"]
IN_PLACE = [f"i{name.rstrip('_')}" for name in (*ARITHMETIC, *BITWISE)]


def pair(name, left="float64", right="float64"):
    both = sample((3, 4), left), sample((3, 4), right, 1)
    return tuple(np.abs(x) if name in ("pow", "lshift", "rshift") else x for x in both)


def dtypes_for(name):
    return "int64" if name in BITWISE else "float64"


@pytest.mark.parametrize("name", [*ARITHMETIC, *BITWISE, *COMPARISONS])
def test_operands_of_every_kind(name):
    operate = getattr(operator, name)
    left, right = pair(name, dtypes_for(name), dtypes_for(name))
    expected = operate(left, right)
    wrapped = mx.np.array(left), mx.np.array(right)
    exact = name not in {"pow", "truediv"}
    assert_same(operate(*wrapped), expected, exact)
    assert_same(operate(wrapped[0], right), expected, exact)
    assert_same(operate(left, wrapped[1]), expected, exact)
    assert_same(operate(wrapped[0], 2), operate(left, 2), exact)
    assert_same(operate(2, wrapped[1]), operate(2, right), exact)
    row = [1, 2, 3, 4]
    assert_same(operate(wrapped[0], np.array(row)), operate(left, row), exact)


@pytest.mark.parametrize("name", ["add", "mul", "eq"])
def test_a_list_is_an_array_of_its_numbers(name):
    operate = getattr(operator, name)
    array = mx.np.array([1.0, 2.0])
    expected = operate(array.asnumpy(), np.array([3, 2], "float32"))
    assert_same(operate(array, [3, 2]), expected)
    assert_same(operate([3, 2], array), expected)


@pytest.mark.parametrize("name", ["neg", "pos", "abs", "invert"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_unary(name, dtype):
    operate, array = getattr(operator, name), sample((3,), dtype)
    try:
        expected = operate(array)
    except TypeError:
        assert_same_error(lambda: operate(mx.np.array(array)), lambda: operate(array))
    else:
        assert_same(operate(mx.np.array(array)), expected, exact=False)


@pytest.mark.parametrize("right", ["number", *DTYPES])
@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name, left, right):
    operate = getattr(operator, name)
    array, other = pair(name[1:], left, left if right == "number" else right)
    other = 2 if right == "number" else other
    result = mx.np.array(array)
    with quiet():
        try:
            expected = operate(array.copy(), other)
        except (TypeError, OverflowError):
            assert_same_error(lambda: operate(result, other), lambda: operate(array, other))
            assert_same(result, array)
        else:
            given = other if right == "number" else mx.np.array(other)
            assert operate(result, given) is result
            assert_same(
                result, expected, exact=name not in {"ipow", "itruediv", "ifloordiv", "imod"}
            )


def test_in_place_through_a_view_and_on_itself():
    array = mx.np.zeros((2, 3))
    array[0] += 1
    array[:, 1] *= 5
    array += array.T.reshape(2, 3)[:, ::-1] * 0
    assert array.tolist() == [[1, 5, 1], [0, 0, 0]]
    shifted = mx.np.arange(5)
    shifted[1:] += shifted[:-1]
    assert shifted.tolist() == [0, 1, 3, 5, 7]


@pytest.mark.parametrize("other", [np.ones((2, 3)), np.ones((4, 3)), np.ones((2, 3, 3))])
def test_in_place_does_not_broadcast_the_result(other):
    array = mx.np.ones((1, 3))
    with pytest.raises(ValueError):
        array += other
    assert array.shape == (1, 3)


def test_power_and_divmod():
    array = np.array([5.0, -7.0, 9.0])
    given = mx.np.array(array)
    for found, oracle in zip(divmod(given, 4), divmod(array, 4), strict=True):
        assert_same(found, oracle)
    for found, oracle in zip(divmod(100, given), divmod(100, array), strict=True):
        assert_same(found, oracle)
    with pytest.raises(TypeError):
        pow(given, 2, 3)


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (3, 4)), ((3,), (3,)), ((2, 2, 3), (3, 1)), ((2, 3), (2, 3)), ((), (2,))],
)
def test_matmul(left, right):
    both = sample(left, "float32"), sample(right, "float32", 1)
    try:
        expected = operator.matmul(*both)
    except ValueError:
        with pytest.raises(ValueError):
            operator.matmul(*map(mx.np.array, both))
    else:
        assert_same(operator.matmul(*map(mx.np.array, both)), expected, exact=False)
        assert_same(operator.matmul(both[0], mx.np.array(both[1])), expected, exact=False)


def test_matmul_in_place():
    array, other = sample((3, 3), "float64"), sample((3, 3), "float64", 1)
    result = original = mx.np.array(array)
    result @= other
    assert result is original
    assert_same(result, array @ other, exact=False)


@pytest.mark.parametrize("other", [None, object(), "text", {}, {1}, print])
@pytest.mark.parametrize("name", ["add", "mul", "and_", "matmul", "lt", "iadd", "pow"])
def test_what_is_not_an_operand(name, other):
    with pytest.raises(TypeError):
        getattr(operator, name)(mx.np.ones((2, 2)), other)
    if not name.startswith("i"):
        with pytest.raises(TypeError):
            getattr(operator, name)(other, mx.np.ones((2, 2)))


def test_equality_with_what_is_not_an_operand():
    assert (mx.np.ones(2) == None) is False  # noqa: E711
    assert (mx.np.ones(2) != "text") is True


class Other:
    """Something that knows what to do with an array."""

    def __radd__(self, other):
        return "added"

    def __rmatmul__(self, other):
        return "multiplied"

    def __gt__(self, other):
        return "compared"


def test_the_other_operand_is_asked():
    array = mx.np.ones(2)
    assert array + Other() == "added"
    assert array @ Other() == "multiplied"
    assert (array < Other()) == "compared"
    array += Other()
    assert array == "added"


# What a list makes of an array: as NumPy beside integers, no wider floats beside floats.
LISTS = [
    ("bool", [1, 2], "int64"),
    ("int8", [1, 300], "int64"),
    ("int64", [16777217, 2**53 + 1], "int64"),
    ("uint8", [True, False], "uint8"),
    ("int32", [0.1, 2], "float64"),
    ("int32", [1j, 2], "complex128"),
    ("float16", [1, 2], "float16"),
    ("float32", [0.1, 0.2], "float32"),
    ("float64", [0.1, 0.2], "float64"),
    ("float64", [[0.1], [0.2]], "float64"),
    ("float32", [1j, 0.1], "complex64"),
    ("complex128", [0.1, 2], "complex128"),
]


@pytest.mark.parametrize(("dtype", "numbers", "result"), LISTS)
def test_numbers_of_a_list_keep_their_value(dtype, numbers, result):
    array = np.array([1, 0], dtype)
    same = np.array(numbers, result)
    given = mx.np.array(array)
    assert_same(given + numbers, array + same)
    assert_same(numbers * given, same * array)
    assert_same(mx.np.array(same) == numbers, np.ones(same.shape, bool))


@pytest.mark.parametrize(
    ("function", "dtype", "numbers"),
    [
        ("outer", "float64", [0.1, 0.2]),
        ("vdot", "float64", [0.1, 0.2]),
        ("vdot", "int64", [16777217, 1]),
        ("inner", "float64", [0.1, 0.2]),
        ("matmul", "int64", [16777217, 1]),
        ("maximum", "float64", [0.1, 0.2]),
        ("arctan2", "float64", [0.1, 0.2]),
        ("full_like", "float64", [0.1, 0.2]),
        ("full_like", "int64", [16777217, 1]),
    ],
)
def test_numbers_of_a_list_keep_their_value_in_functions(function, dtype, numbers):
    array = np.ones(2, dtype)
    result = getattr(mx.np, function)(mx.np.array(array), numbers)
    assert_same(result, getattr(np, function)(array, numbers), exact=False)


def test_lists_change_integer_arrays_in_place():
    array = mx.np.array([1, 6], dtype="int32")
    array += [1, 2]
    array &= [3, 9]
    assert_same(array, np.array([2, 8], "int32"))


@pytest.mark.parametrize("ufunc", [np.exp, np.negative, np.isfinite])
def test_numpys_unary_functions_take_arrays(ufunc):
    array = sample((3,), "float64")
    assert_same(ufunc(mx.np.array(array)), ufunc(array), exact=False)


@pytest.mark.host_memory
def test_numpys_other_functions_take_arrays():
    array = sample((3, 4), "float64")
    given = mx.np.array(array)
    assert_same(np.add.reduce(given), np.add.reduce(array))
    assert_same(np.multiply.outer(given, 2), np.multiply.outer(array, 2))
    assert_same(np.add(given, 1, where=[True, False, True, True], out=given), given.asnumpy())
    for found, oracle in zip(np.modf(given), np.modf(given.asnumpy()), strict=True):
        assert_same(found, oracle)
    array = given.asnumpy()
    np.add.at(given, [0, 0], 1)
    np.add.at(array, [0, 0], 1)
    assert_same(given, array)
    np.testing.assert_array_equal(np.linalg.norm(given), np.linalg.norm(given.asnumpy()))


def test_numpy_arrays_change_in_place():
    array = np.ones(3)
    same = array
    array += mx.np.array([1, 2, 3], dtype="float64")
    assert array is same
    assert array.tolist() == [2, 3, 4]
