"""Python numbers and lists of them given to operators: integers are exact, as NumPy has them."""

import numpy as np
import pytest

import mx

from .compare import assert_same, quiet

# Beyond what float32 and float64 hold exactly, and beyond int64.
A, B, C = 2**24 + 1, 2**53 + 1, 2**63

# Each is evaluated with m as mx.np and as numpy.
CALLS = [
    *("concatenate([[A, 1], [2]])", "concatenate([[True], [B]])", "concatenate([[], [1]])"),
    *("concatenate([[A, 1], [2.5]])", "concatenate([[C], [1]])"),
    "concatenate([np.array([1], 'int8'), [B]])",
    "concatenate([np.array([1], 'uint64'), [True]])",
    "concatenate([[[B, 1]], [[2, 3]]], axis=None)",
    *("stack([[B, 1], [2, 3]])", "stack([B, 1])", "stack([np.array(1, 'int16'), B])"),
    *("hstack([[B, 1], [2]])", "hstack([B, 1])", "vstack([[B, 1], [2, 3]])", "vstack([B, 1])"),
    *("sum([B, 1])", "sum([True, True])", "sum([C, -1])", "prod([B, 1])", "max([B, 1])"),
    *("cumsum([B, 1])", "cumsum([B, 1], dtype='int64')", "mean([A, 1])"),
    *("var([A, 1])", "argmax([B - 1, B])", "argsort([B, B - 1])", "any([0, 1])", "min([C, C + 1])"),
    *("add([B], [1])", "add([B], 1)", "add(1, [B])", "add([C], [1])", "add([1.5], [A])"),
    *("multiply([True], [B])", "maximum([B], [B - 1])", "power([B], 1)", "divide([A], [1])"),
    *("bitwise_and([B], [1])", "invert([B])", "negative([B])", "abs([-B])", "square([A])"),
    *("equal([B], [B - 1])", "equal(B, [B - 1])", "less([-1], [C])", "greater([C], [-1])"),
    *("less(np.array([-1]), [C])", "equal(np.array([C - 1]), [C])", "less(-1, C)", "equal(C, -C)"),
    *("greater(np.array([C], 'uint64'), [-1])", "less_equal([C], np.array([-1]))", "less([C], -1)"),
    *("sort([B, 1])", "unique([B, B - 1])", "take([B, 1], [0])", "repeat([B, 1], 2)"),
    *("tile([B, 1], 2)", "where([True, False], [B, 1], [1, B])", "where(True, B, 1)"),
    *("reshape([B, 1], (2, 1))", "transpose([[B, 1]])", "ravel([B, 1])", "squeeze([[B]])"),
    *("expand_dims([B], 0)", "broadcast_to([B], (2,))", "flip([B, 1])", "roll([B, 1], 1)"),
    *("swapaxes([[B]], 0, 1)", "moveaxis([[B]], 0, 1)", "diag([B, 1])", "tril([[B, 1], [1, 1]])"),
    *("tensordot([B], [1], 1)", "dot([B], [1])", "matmul([[B]], [[1]])", "inner([B], [1])"),
    *("outer([B], [1])", "vdot([B], [1])", "real([B])", "imag([B])", "clip([B, 1], 0, B - 1)"),
    *("zeros_like([B])", "full_like([1, 2], B)", "copy([B])", "array_split([B, 1], 2)[0]"),
    *("astype(m.asarray([B, 1], dtype='int64'), 'uint64')", "asarray([B], dtype='int64')"),
]


@pytest.mark.parametrize("call", CALLS)
def test_a_list_is_what_numpy_makes_of_it(call):
    names = {"A": A, "B": B, "C": C, "np": np}
    with quiet():
        expected = eval(f"m.{call}", names, {"m": np})
    assert_same(eval(f"m.{call}", names, {"m": mx.np}), expected)


NUMBERS = [1, 1.5, True, 2j, [1, A], [1.5, 1], [True, 2], [[1.5]], [C, 1]]


@pytest.mark.parametrize("numbers", NUMBERS, ids=repr)
@pytest.mark.parametrize("name", ["square", "sin", "sum", "mean", "cumsum", "ravel", "copy"])
def test_numbers_are_what_asarray_makes_of_them(name, numbers):
    function = getattr(mx.np, name)
    assert function(numbers).dtype == function(mx.np.asarray(numbers)).dtype


@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    [
        *((1, 2, "int64"), (1, 2.5, "float32"), (True, 2.5, "float32"), (1.5, 2j, "complex64")),
        *((True, 1, "int64"), (True, C, "uint64"), (1, C, "uint64"), (C, 1.5, "float32")),
        *(([1.5], 2, "float32"), ([1.5], [2.5], "float32"), ([1], 2.5, "float64")),
        *((np.array([1], "int8"), 2.5, "float64"), (np.array([1], "int8"), [2.5], "float64")),
        *((np.array([1], "int8"), [2j], "complex128"), (np.array([1], "int8"), [2], "int64")),
        *((np.array([1.5], "float16"), [2.5], "float16"), (np.array([1.5]), 1, "float64")),
    ],
)
def test_type_of_two_operands(left, right, dtype):
    assert mx.np.add(left, right).dtype == mx.np.add(right, left).dtype == dtype
    assert mx.np.where(True, left, right).dtype == dtype


@pytest.mark.parametrize(
    "call",
    [
        *("m.arange(5)[m.array([0, 2])]", "m.ones(3, 'int8')[m.arange(2)]"),
        *("m.take(m.arange(5), m.array([0, 2]))", "m.array([1, 2]) & 1", "m.array([3, 6]) >> 1"),
        *("m.right_shift(10, m.array([1, 2, 3]))", "m.array([B]) + 1", "m.array([1, 2]) / 2"),
        *("m.array([7]) // 2", "-m.array([1])", "m.eye(2, dtype=int)[m.array([1, 0])]"),
    ],
)
def test_arrays_of_integers(call):
    assert_same(eval(call, {"B": B}, {"m": mx.np}), eval(call, {"B": B}, {"m": np}))


@pytest.mark.parametrize(
    ("dtype", "numbers"), [("float16", [1.5]), ("float32", [2]), ("complex64", [1.5])]
)
def test_a_list_does_not_widen_a_float_array(dtype, numbers):
    array = mx.np.ones(1, dtype=dtype)
    assert (array + numbers).dtype == dtype
    assert mx.np.concatenate([array, numbers]).dtype == dtype


@pytest.mark.parametrize("target", ["int64", "uint64"])
def test_astype_of_a_list(target):
    assert_same(mx.np.astype([B, 1], target), np.array([B, 1], target))
