"""softmax and log_softmax of `mx.npx` against the formula, which NumPy computes in float64."""

import numpy as np
import pytest

import mx

from .compare import BFLOAT16, quiet, sample

INTEGERS = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", BFLOAT16, "float32", "float64")
# Roundings of the result, and of what it is computed in.
CLOSE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-14}


def log_softmax(data, axis=-1, temperature=1.0):
    """The formula; NaN along the axis where no number is the largest."""
    x = np.asarray(data, "float64") / temperature
    # An array without axes counts as one of one element.
    line = x.reshape(1) if x.ndim == 0 else x
    lowered = line - line.max(axis, keepdims=True, initial=-np.inf)
    return (lowered - np.log(np.exp(lowered).sum(axis, keepdims=True))).reshape(x.shape)


FORMULAS = {
    "softmax": lambda *args: np.exp(log_softmax(*args)),
    "log_softmax": log_softmax,
}


def check(name, data, dtype, axis=-1, temperature=None, asked=None):
    """The result has the dtype, is row-major, and is what the formula gives."""
    with quiet():
        expected = FORMULAS[name](data, axis, temperature or 1.0)
    found = getattr(mx.npx, name)(data, axis, temperature, asked)
    assert isinstance(found, mx.np.ndarray)
    assert found.dtype == dtype
    assert found.shape == expected.shape
    assert found.flags.c_contiguous
    close = CLOSE[np.dtype(dtype).name]
    np.testing.assert_allclose(found.asnumpy().astype("float64"), expected, close, close)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_every_type_and_axis(name, dtype, axis):
    data = sample((3, 5, 4), dtype)
    check(name, mx.np.array(data), dtype if dtype in FLOATS else "float32", axis)


# Of one line and many, shorter and longer than what the loops take at a time.
SHAPES = [
    *[((1,), 0), ((7,), 0), ((33,), -1), ((4097,), 0), ((70000,), 0)],
    *[((1000, 1), 1), ((1000, 3), 1), ((3, 1000), 1), ((2, 2049), 1), ((1, 1), 0)],
    *[((3, 1000), 0), ((1000, 3), 0), ((700, 70), 0), ((2, 1030), 0), ((5000, 2), 0)],
    *[((600, 530), 0), ((4, 60, 3), 1), ((2, 3, 4, 5), 2), ((1, 9, 1), 1)],
]


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_lengths(name, shape, axis, dtype):
    data = (np.random.default_rng(0).standard_normal(shape) * 4).astype(dtype)
    check(name, mx.np.array(data), dtype if dtype in FLOATS else "float32", axis)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize(
    ("shape", "axis"), [((0,), 0), ((0, 3), 0), ((0, 3), 1), ((3, 0), -1), ((2, 0, 3), 2)]
)
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8"])
def test_no_elements(name, shape, axis, dtype):
    check(name, mx.np.zeros(shape, dtype=dtype), "float32" if dtype == "int8" else dtype, axis)


VIEWS = {
    "transposed": lambda a: a.transpose(2, 0, 1),
    "backwards": lambda a: a[:, ::-1],
    "every second": lambda a: a[..., ::2],
    "all backwards": lambda a: a[::-1, ::-1, ::-1],
    "column": lambda a: a[:, :, 1:2],
    "repeated": lambda a: mx.np.broadcast_to(a[:, :1], a.shape),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64", "uint8"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("view", VIEWS)
def test_views(name, view, axis, dtype):
    data = VIEWS[view](mx.np.array(sample((4, 6, 8), "int8"), dtype=dtype))
    check(name, data, "float32" if dtype == "uint8" else dtype, axis)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("temperature", [1, 0.25, 3.0, -1.5, np.float32(2), True, 1e-3, 1e4])
@pytest.mark.parametrize("axis", [0, 1])
def test_temperature(name, temperature, dtype, axis):
    data = mx.np.array(sample((5, 40), "int8"), dtype=dtype)
    if name == "log_softmax" and dtype == "float16":
        data = data / 8  # what 1e-3 makes of it is within float16 then
    check(name, data, "float32" if dtype == "int32" else dtype, axis, temperature)


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("target", ["float16", "float32", "float64"])
@pytest.mark.parametrize("source", ["bool", "int64", "float16", "float32", "float64"])
def test_dtype_of_the_result(name, source, target):
    check(name, mx.np.array(sample((3, 5), source)), target, 1, asked=target)


def test_numbers_are_not_rounded_to_a_shorter_result_first():
    data = np.float32([1.0, 1.0001, 2049.0, 2050.0])
    check("softmax", mx.np.array(data), "float16", asked="float16")


# An operand that is no array of ours, its axis, and the type of the result.
OPERANDS = [
    (2, 0, "float32"),
    (2.5, -1, "float32"),
    (True, 0, "float32"),
    ([1, 2, 3], 0, "float32"),
    ([[1.0, 2.0], [3.0, 5.0]], 0, "float32"),
    ((1, 2.5), 0, "float32"),
    (np.float32([[1, 2], [5, 3]]).T, 1, "float32"),
    (np.float16(3), 0, "float16"),
    (np.arange(4)[::-1], 0, "float32"),
]


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize(("data", "axis", "dtype"), OPERANDS, ids=repr)
def test_other_operands(name, data, axis, dtype):
    check(name, data, dtype, axis)


inf, nan = np.inf, np.nan
SPECIAL = {
    "a NaN": [nan, 1, 2],
    "a later NaN": [1, 2, nan],
    "infinity": [1, inf, 2],
    "infinity and minus infinity": [-inf, inf],
    "minus infinity": [-inf, 1, 2],
    "nothing but minus infinity": [-inf, -inf],
    "one minus infinity": [-inf],
    "large numbers": [1e4, 1e4 + 8, 6e4],
    "large negative numbers": [-6e4, -1e4 - 8, -1e4],
    "zeros of both signs": [0.0, -0.0],
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("length", [1, 100])
@pytest.mark.parametrize("case", SPECIAL)
def test_special_numbers(name, case, length, dtype):
    """In lines and in columns, beside an ordinary line."""
    line = np.array(SPECIAL[case] * length)
    data = np.stack([line, np.linspace(-1, 1, len(line))]).astype(dtype)
    close = CLOSE[np.dtype(dtype).name]
    with quiet():
        expected = FORMULAS[name](data, -1)
        # Of a line with infinity the logarithm is NaN, as that of the softmax is.
        assert np.isnan(expected[0]).all() == (case in NOT_NUMBERS)
    for given, axis in ((data, -1), (data.T, 0)):
        found = getattr(mx.npx, name)(mx.np.array(given), axis).asnumpy().astype("float64")
        np.testing.assert_allclose(found if axis else found.T, expected, close, close)


NOT_NUMBERS = {
    *("a NaN", "a later NaN", "infinity", "infinity and minus infinity"),
    *("nothing but minus infinity", "one minus infinity"),
}


@pytest.mark.parametrize(
    ("data", "temperature", "expected"),
    [
        ([3e38, -3e38, 3e38], 0.1, [0.5, 0, 0.5]),
        ([3e38, -3e38, 3e38], -0.1, [0, 1, 0]),
        ([inf, 1, 1], -2, [0, 0.5, 0.5]),
        ([-inf, 1, 1], -2, [nan, nan, nan]),
    ],
)
def test_a_temperature_makes_nothing_overflow(data, temperature, expected):
    found = mx.npx.softmax(mx.np.array(data, dtype="float32"), temperature=temperature)
    np.testing.assert_array_equal(found.asnumpy(), np.float32(expected))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [0, 1])
def test_long_lines_add_up_to_one(dtype, axis):
    data = mx.np.array(np.zeros((100_000, 3) if axis == 0 else (3, 100_000), dtype))
    expected = np.dtype(dtype).type(1e-5)
    found = mx.npx.softmax(data, axis).asnumpy()
    close = {"float32": 2e-7, "float64": 1e-15}.get(np.dtype(dtype).name, 0)
    np.testing.assert_allclose(found.astype("float64"), float(expected), close)


def test_logarithms_of_what_no_number_is_small_enough_for():
    found = mx.npx.log_softmax(mx.np.array([0.0, -1000.0]))
    np.testing.assert_array_equal(found.asnumpy(), np.float32([0, -1000]))


def test_the_data_stays_as_it_was():
    data = mx.np.array(sample((7, 5), "float32"))
    before = data.asnumpy().copy()
    for axis in (0, 1):
        mx.npx.softmax(data, axis)
        mx.npx.log_softmax(data.T, axis, 2.0)
    np.testing.assert_array_equal(data.asnumpy(), before)
