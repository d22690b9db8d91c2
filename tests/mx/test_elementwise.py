"""Elementwise functions: every pair of dtypes, Python numbers, broadcasting and layouts."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest

import mx

from .compare import BFLOAT16, DTYPES, assert_same, assert_same_error, quiet, sample

BINARY = [
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power"),
    *("maximum", "minimum", "equal", "not_equal", "less", "less_equal", "greater"),
    *("greater_equal", "logical_and", "logical_or", "logical_xor"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"),
    *("arctan2", "hypot", "copysign", "logaddexp", "fmax", "fmin"),
]
UNARY = [
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square"),
    *("absolute", "negative", "positive", "sign", "reciprocal", "conjugate"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
    *("arcsinh", "arccosh", "arctanh", "floor", "ceil", "trunc", "rint"),
    *("isnan", "isinf", "isfinite", "logical_not", "invert"),
]
PYTHON_NUMBERS = [True, 3, -2, 2.5, 1 + 2j]
# Of what numbers of other signs would give NaN or overflow, small positive ones are taken.
POSITIVE = {"power", "left_shift", "right_shift"}
# The last digits of these differ between implementations of the elementary functions.
INEXACT = {"power", "divide", "arctan2", "hypot", "logaddexp", "floor_divide", "remainder"}


def operands(name, left, right, shapes=((3, 4), (3, 4))):
    pair = [
        sample(shape, dtype, seed)
        for seed, (shape, dtype) in enumerate(zip(shapes, (left, right), strict=True))
    ]
    if name in POSITIVE:
        pair = [np.abs(x).astype(x.dtype) if x.dtype.kind != "b" else x for x in pair]
    return pair


def check(name, arguments, exact):
    """mx.np's function against NumPy's: the same result, or an error of the same class."""
    function, oracle = getattr(mx.np, name), getattr(np, name)
    given = [mx.np.array(x) if isinstance(x, np.ndarray) else x for x in arguments]
    with quiet():
        try:
            expected = oracle(*arguments)
        except (TypeError, ValueError, OverflowError):
            assert_same_error(lambda: function(*given), lambda: oracle(*arguments))
        else:
            assert_same(function(*given), expected, exact)


@pytest.mark.parametrize(("left", "right"), list(itertools.product(DTYPES, DTYPES)))
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, left, right):
    check(
        name,
        operands(name, left, right),
        exact=name not in INEXACT and "c" not in left[0] + right[0],
    )


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("number", PYTHON_NUMBERS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_python_numbers_are_weak(name, dtype, number, swapped):
    array = operands(name, dtype, dtype)[0]
    arguments = [number, array] if swapped else [array, number]
    check(name, arguments, exact=name not in INEXACT and not isinstance(number, complex))


@pytest.mark.parametrize(
    "scalar", [np.float64(2), np.float16(2), np.int8(2), np.uint64(2), np.True_]
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less"])
def test_numpy_scalars_keep_their_type(name, dtype, scalar):
    array = sample((4,), dtype)
    check(name, [array, scalar], exact=True)
    check(name, [scalar, array], exact=True)


@pytest.mark.parametrize("number", [256, -1, 2**31, 2**63, 2**64 - 1, -(2**63)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "less", "maximum"])
def test_integers_that_may_not_fit(name, dtype, number):
    check(name, [sample((4,), dtype), number], exact=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    exact = name in {"absolute", "negative", "positive", "sign", "floor", "ceil", "trunc", "rint"}
    check(name, [sample((3, 5), dtype)], exact and np.dtype(dtype).kind != "c")


@pytest.mark.parametrize("name", [name for name in UNARY if hasattr(mx.np, name)])
def test_unary_at_special_values(name):
    special = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-30, 1e30, 0.5, -0.5])
    for dtype in ("float32", "float64"):
        with quiet():
            given = special.astype(dtype)
        if name != "invert":
            check(name, [given], exact=False)


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_classes_of_floats(name, dtype):
    """Of all exponents and signs, quiet and signaling NaN among them, at any steps."""
    bits = np.dtype(dtype).itemsize * 8
    patterns = np.arange(2**12, dtype=f"uint{bits}") << np.array(bits - 12, f"uint{bits}")
    given = np.concatenate([patterns, patterns | np.array(1, patterns.dtype)]).view(dtype)
    for count in (1, 63, 64, 65, 8192):
        for step in (1, 2, -1):
            array, ours = given[-count:][::step], mx.np.array(given[-count:])[::step]
            expected = getattr(np, name)(array)
            assert_same(getattr(mx.np, name)(ours), expected)
            out = mx.np.zeros(3 * array.size, dtype="bool")[::3]
            assert_same(getattr(mx.np, name)(ours, out=out), expected)


SHAPE_PAIRS = [
    ((), (3,)),
    ((4,), ()),
    ((3, 1), (1, 4)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (3, 1)),
    ((1,), (0,)),
    ((2, 0), (1, 1)),
    ((5, 1, 3, 1), (1, 2, 1, 4)),
    ((2, 3), (3, 2)),
    ((3,), (4,)),
    ((0,), (2,)),
]


@pytest.mark.parametrize(("left", "right"), SHAPE_PAIRS)
@pytest.mark.parametrize("name", ["add", "less", "power"])
def test_broadcasting(name, left, right):
    check(name, operands(name, "float64", "int32", (left, right)), exact=name != "power")


LAYOUTS = {
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1, ::-1],
    "every other": lambda x: x[::2, ::2],
    "one row": lambda x: x[:1],
    "a column": lambda x: x[:, 1:2],
    "broadcast": lambda x: np.broadcast_to(x[0], x.shape),
    "Fortran": np.asfortranarray,
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128", "float16"])
def test_layouts(layout, dtype):
    array = layout(sample((6, 6), dtype))
    assert_same(mx.np.add(array, 1), array + 1)
    assert_same(mx.np.multiply(array, array), array * array, exact=False)
    assert_same(mx.np.subtract(array, array[:1]), array - array[:1])
    assert_same(mx.np.negative(array), -array)


def test_what_numpy_does_not_have():
    values = np.array([-800, -3, -0.5, 0, 0.5, 3, 800])
    with quiet():
        expected = 1 / (1 + np.exp(-values))
    assert_same(mx.npx.sigmoid(values), expected, exact=False)
    assert_same(mx.npx.relu(values), np.maximum(values, 0))
    assert_same(mx.npx.softsign(values), values / (1 + np.abs(values)), exact=False)
    expected = np.array([math.erf(value) for value in values])
    assert_same(mx.npx.erf(values), expected, exact=False)


BFLOAT16_PARTNERS = {
    "bfloat16": BFLOAT16,
    "bool": BFLOAT16,
    "int8": BFLOAT16,
    "uint8": BFLOAT16,
    "float16": np.dtype("float32"),
    "float32": np.dtype("float32"),
    "float64": np.dtype("float64"),
    "complex64": np.dtype("complex64"),
    "complex128": np.dtype("complex128"),
}


@pytest.mark.parametrize(("other", "dtype"), BFLOAT16_PARTNERS.items())
def test_bfloat16_promotes(other, dtype):
    left = mx.np.array([1, 2, 3], dtype="bfloat16")
    right = mx.np.array([1, 0, 1], dtype=other)
    assert_same(left + right, np.array([2, 2, 4], dtype))
    assert_same(right + left, np.array([2, 2, 4], dtype))


@pytest.mark.parametrize("name", ["exp", "sqrt", "tanh", "negative"])
def test_bfloat16_unary(name):
    given = np.array([0.5, 1, 2, 3], ml_dtypes.bfloat16)
    expected = getattr(np, name)(given.astype("float32")).astype(ml_dtypes.bfloat16)
    assert_same(getattr(mx.np, name)(given), expected)


@pytest.mark.parametrize("number", [1, 2.5])
def test_bfloat16_with_python_numbers(number):
    result = mx.np.array([1, 2], dtype="bfloat16") + number
    assert_same(result, np.array([1 + number, 2 + number], BFLOAT16))


@pytest.mark.parametrize(("bounds"), [(None, 2), (-1, None), (-1, 2), (2, -1)])
@pytest.mark.parametrize("dtype", ["int32", "float64", "uint8"])
def test_clip(bounds, dtype):
    array = sample((4, 5), dtype)
    if dtype != "uint8" or all(bound is None or bound >= 0 for bound in bounds):
        assert_same(mx.np.clip(array, *bounds), np.clip(array, *bounds))


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "complex64"])
def test_where(dtype):
    condition = np.array([[True], [False], [True]])
    left, right = sample((3, 4), dtype), sample((4,), "float64", 1)
    assert_same(mx.np.where(condition, left, right), np.where(condition, left, right))
    assert_same(mx.np.where(left, 1, right), np.where(left, 1, right))
    assert_same(mx.np.where(mx.np.array(condition), left, 2), np.where(condition, left, 2))


@pytest.mark.parametrize("shape", [None, (), (1, 1)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_one_power_of_a_half_is_the_square_root(dtype, shape):
    one = 0.5 if shape is None else mx.np.full(shape, 0.5, dtype=dtype)
    for base in ([-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf, np.nan], [-np.inf], [-0.0]):
        array = np.array(base, dtype)
        with quiet():
            expected = np.sqrt(array)
        found = (mx.np.array(array) ** one).asnumpy().ravel()
        np.testing.assert_array_equal(found, expected)
        zeros = expected == 0
        assert np.array_equal(np.signbit(found[zeros]), np.signbit(expected[zeros]))


def test_one_power_of_many_in_a_row_is_as_in_c():
    bases = mx.np.array([-np.inf, -1.0, -0.0, 4.0])
    found = mx.np.power(bases, mx.np.array([[0.5], [1.0]])).asnumpy()
    np.testing.assert_array_equal(found[0], [np.inf, np.nan, 0.0, 2.0])


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("dtype", [name for name in DTYPES if name[0] in "iu"])
def test_one_power_of_integers_wraps(dtype, step):
    info = np.iinfo(dtype)
    array = np.array([0, 1, 2, 3, info.max, info.min, info.max // 3] * 30, dtype)[::step]
    for power in (0, 1, 2, 3):
        assert_same(mx.np.power(mx.np.array(array), power), np.power(array, power))
        ours = mx.np.array(array[::-1])[::-1]
        assert_same(ours ** mx.np.array(power, dtype=dtype), array ** np.array(power, dtype))


def add_in_place(array):
    array += 1


@pytest.mark.parametrize(
    "write",
    [
        *(add_in_place, lambda a: add_in_place(a[:]), lambda a: add_in_place(a.T)),
        *(lambda a: mx.np.add(a, 1, out=a), lambda a: mx.np.cumsum(a, 0, out=a)),
        *(lambda a: a.sort(), lambda a: a.fill(1), lambda a: a.__setitem__(0, 1)),
    ],
)
def test_what_is_read_only_is_not_written_to(write):
    owner = mx.np.zeros(3)
    array = mx.np.broadcast_to(owner, (3, 3))
    with pytest.raises(ValueError, match="read-only"):
        write(array)
    np.testing.assert_array_equal(owner.asnumpy(), 0)
