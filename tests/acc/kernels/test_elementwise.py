"""Elementwise operators, against NumPy."""

import math

import numpy as np
import pytest

from .cases import ANY, BFLOAT16, BOOL, POSITIVE, SIGNED, SPECIAL, UNIT, UNSIGNED, WIDE, check, run


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softsign(x):
    return x / (1 + np.abs(x))


def erf(x):
    return np.vectorize(math.erf)(x.astype("float64")).astype(x.dtype)


def relu(x):
    return np.where(x < 0, x.dtype.type(0), x)


def int_reciprocal(x):
    return np.array([0 if v == 0 else int(1 / v) for v in x.tolist()], x.dtype)


# What an operator is of, and NumPy's function where the two differ in name or in meaning.
UNARY = [
    *(
        (name, ANY, getattr(np, name))
        for name in (
            "absolute arctan arcsinh cbrt ceil cos cosh exp exp2 expm1 floor negative positive "
            "rint sign sin sinh square tan tanh trunc"
        ).split()
    ),
    *((name, POSITIVE, getattr(np, name)) for name in "log log10 log1p log2 sqrt".split()),
    *((name, UNIT, getattr(np, name)) for name in "arccos arcsin arctanh".split()),
    *((name, SPECIAL, getattr(np, name)) for name in "isfinite isinf isnan logical_not".split()),
    ("arccosh", POSITIVE + 1, np.arccosh),
    ("reciprocal", SPECIAL, np.reciprocal),
    ("conjugate", SPECIAL, np.conjugate),
    ("sigmoid", ANY, sigmoid),
    ("softsign", ANY, softsign),
    ("erf", ANY, erf),
    ("relu", SPECIAL, relu),
    ("sign", SPECIAL, np.sign),
    ("absolute", SIGNED, np.absolute),
    ("negative", SIGNED, np.negative),
    ("sign", SIGNED, np.sign),
    ("square", BOOL, np.square),
    ("invert", SIGNED, np.invert),
    ("invert", BOOL, np.invert),
    ("reciprocal", WIDE, int_reciprocal),
    ("floor", BOOL, np.floor),
    ("exp", np.arange(-3, 4, dtype="int8"), np.exp),
    ("exp", UNIT.astype("float64"), np.exp),
    ("exp", UNIT.astype(BFLOAT16), np.exp),
]


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(("name", "x", "function"), UNARY)
def test_of_one_array(plugin, name, x, function):
    expected = np.asarray(function(x))
    check(run(plugin, name, {"x": x}, expected), expected)


PAIRS = np.array(
    [(7, 2), (-7, 2), (7, -2), (-7, -2), (0, 3), (5, 0), (-128, -1), (1, 127)], "int8"
).T
FLOAT_PAIRS = np.array(
    [(7.5, 2), (-7.5, 2), (7.5, -2), (6, -3), (-0.0, 3), (5, 0), (np.nan, 1), (1, np.nan)],
    "float32",
).T
SHIFTS = np.array(
    [(1, 3), (-128, 1), (-1, 7), (64, 1), (1, 8), (-5, 100), (5, -1), (3, 0)], "int8"
).T


def shifted(function):
    """NumPy leaves distances open that are out of range; they shift everything out."""

    def shift(a, b):
        wide = np.where((b < 0) | (b >= 8), 63, b).astype("int64")
        return function(a.astype("int64"), wide).astype(a.dtype)

    return shift


def int_power(a, b):
    wrapped = [pow(int(x), int(y)) & 0xFF for x, y in zip(a, b, strict=True)]
    return np.array(wrapped, "uint8").astype(np.result_type(a, b))


BINARY = [
    *(
        (name, FLOAT_PAIRS, getattr(np, name))
        for name in (
            "add subtract multiply divide floor_divide remainder maximum minimum fmax fmin "
            "arctan2 hypot copysign logaddexp equal not_equal less less_equal greater "
            "greater_equal logical_and logical_or logical_xor"
        ).split()
    ),
    *(
        (name, PAIRS, getattr(np, name))
        for name in (
            "add subtract multiply divide floor_divide remainder maximum bitwise_and "
            "bitwise_or bitwise_xor less"
        ).split()
    ),
    ("power", np.abs(FLOAT_PAIRS), np.power),
    ("power", np.stack([UNSIGNED, UNSIGNED[::-1] % 7]), int_power),
    ("left_shift", SHIFTS, shifted(np.left_shift)),
    ("right_shift", SHIFTS, shifted(np.right_shift)),
    ("add", np.stack([BOOL, ~BOOL]), np.add),
    ("multiply", np.stack([BOOL, BOOL[::-1]]), np.multiply),
    ("remainder", np.stack([BOOL, BOOL[::-1]]), np.remainder),
    ("multiply", np.stack([UNIT, UNIT[::-1] / 3]).astype("float16"), np.multiply),
    ("multiply", np.stack([UNIT, UNIT[::-1] / 3]).astype(BFLOAT16), np.multiply),
    ("arctan2", (np.arange(9, dtype="int8"), UNIT.astype("float16")), np.arctan2),
    ("equal", (SIGNED, UNSIGNED), np.equal),
]


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize(("name", "pair", "function"), BINARY)
def test_of_two_arrays(plugin, name, pair, function):
    a, b = pair
    expected = np.asarray(function(a, b))
    if name == "floor_divide" and expected.dtype == "int8":
        expected[b == -1] = -a[b == -1]
    check(run(plugin, name, {"x1": a, "x2": b}, expected), expected)


# Which parameter is a number, the other's elements, the number, NumPy's result.
NUMBERS = [
    ("add", "x2", ANY, 2, ANY + np.float32(2)),
    ("subtract", "x1", ANY, 0.1, np.float32(0.1) - ANY),
    ("multiply", "x2", ANY.astype("float16"), 0.1, ANY.astype("float16") * np.float16(0.1)),
    ("add", "x2", SIGNED, 1, SIGNED + np.int8(1)),
    ("add", "x2", SIGNED, 0.5, SIGNED + 0.5),
    ("add", "x2", BOOL, 2, BOOL + 2),
    ("maximum", "x2", UNIT, float("nan"), np.full_like(UNIT, np.nan)),
    ("less", "x1", WIDE, 0, 0 < WIDE),
    ("power", "x2", WIDE, 2, WIDE**2),
    ("add", "x2", UNSIGNED.astype("uint64"), 2**64 - 1, UNSIGNED.astype("uint64") - np.uint64(1)),
]


@pytest.mark.parametrize(("name", "param", "x", "number", "expected"), NUMBERS)
def test_of_an_array_and_a_number(plugin, name, param, x, number, expected):
    other = "x1" if param == "x2" else "x2"
    check(run(plugin, name, {other: x}, expected, **{param: number}), expected)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("exponent", "function"), [(2, np.square), (0.5, np.sqrt)])
def test_squares_and_square_roots_are_exact(plugin, exponent, function, dtype):
    x = np.linspace(0, 9, 3000).astype(dtype)
    found = run(plugin, "power", {"x1": x}, x, x2=exponent)
    np.testing.assert_array_equal(found, function(x))


LARGEST = 2**64 - 1
CHOICES = [
    ("where", {"condition": ANY > 0, "x": ANY, "y": -ANY}, {}, np.where(ANY > 0, ANY, -ANY)),
    ("where", {"condition": ANY, "x": SIGNED[:4]}, {"y": 3}, np.where(ANY, SIGNED[:4], np.int8(3))),
    ("where", {"x": ANY, "y": ANY[0]}, {"condition": False}, np.broadcast_to(ANY[0], ANY.shape)),
    ("clip", {"a": ANY}, {"a_min": -0.5, "a_max": 1}, ANY.clip(-0.5, 1)),
    ("clip", {"a": ANY, "a_min": ANY[::-1]}, {"a_max": None}, np.maximum(ANY, ANY[::-1])),
    ("clip", {"a": SPECIAL}, {"a_min": None, "a_max": 0}, np.minimum(SPECIAL, np.float32(0))),
    ("clip", {"a": SIGNED}, {"a_min": -7, "a_max": 7}, SIGNED.clip(-7, 7)),
    ("round", {"a": ANY}, {"decimals": 0}, ANY.round()),
    ("round", {"a": SIGNED}, {}, SIGNED),
    ("copy", {"a": WIDE}, {}, WIDE),
    ("zeros", {}, {"shape": [2, 3], "dtype": None}, np.zeros((2, 3), "float32")),
    ("ones", {}, {"shape": 4, "dtype": "float16"}, np.ones(4, "float16")),
    ("ones_like", {"a": WIDE}, {"dtype": None}, np.ones_like(WIDE)),
    (
        "full",
        {},
        {"shape": [3], "fill_value": 2**64 - 1, "dtype": "uint64"},
        np.full(3, 2**64 - 1, "uint64"),
    ),
    (
        "full_like",
        {"a": ANY, "fill_value": SIGNED[:4]},
        {},
        np.broadcast_to(SIGNED[:4], ANY.shape).astype("float32"),
    ),
]


@pytest.mark.parametrize(("name", "arrays", "attributes", "expected"), CHOICES)
def test_choices_and_fills(plugin, name, arrays, attributes, expected):
    check(run(plugin, name, arrays, expected, **attributes), expected)


CASTS = [
    (ANY, "int8"),
    (ANY, "bool"),
    (np.abs(ANY), "uint64"),
    (ANY / 3, "float16"),
    (ANY.astype("float64") / 3, BFLOAT16),
    (np.array([1 + 2**-11 + 2**-40, 65520, 1e-8, np.nan]), "float16"),
    (WIDE, "uint8"),
    (WIDE, "float32"),
    (BOOL, "float16"),
]


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize(("x", "dtype"), CASTS)
def test_conversion(plugin, x, dtype):
    expected = x.astype(dtype)
    result = run(plugin, "astype", {"a": x}, expected, dtype=expected.dtype.name)
    np.testing.assert_array_equal(result.astype("float64"), expected.astype("float64"))


def test_a_number_is_rounded_once(plugin):
    # Rounded to float32 first it would be a tie, and then go to the even side.
    number = 1 + 2**-11 + 2**-40
    x = np.zeros(1, "float16")
    assert run(plugin, "add", {"x1": x}, x, x2=number) == np.float16(number)
