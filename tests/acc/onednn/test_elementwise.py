"""Elementwise operators, of all layouts, against NumPy."""

import numpy as np
import pytest

from mxacc_check import abi

from .cases import LAYOUTS, SPECIAL, check, floats, rounded, run

BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
UNARY = {
    "absolute": np.abs,
    "exp": np.exp,
    "isnan": np.isnan,
    "logical_not": np.logical_not,
    "negative": np.negative,
    "positive": np.positive,
    "reciprocal": np.reciprocal,
    "relu": lambda x: np.maximum(x, np.float32(0)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "square": np.square,
    "tanh": np.tanh,
}
EXTREMA = {"maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["add", "subtract", "divide", "less", "greater", "maximum"])
def test_binary_layouts(plugin, name, layout):
    x1, x2 = LAYOUTS[layout](floats)
    expected = rounded((BINARY | EXTREMA)[name], x1, x2)
    check(run(plugin, name, {"x1": x1, "x2": x2}, expected), expected)


@pytest.mark.parametrize("name", [*BINARY, "maximum", "minimum"])
def test_binary_operators(plugin, name, dtype):
    x1, x2 = np.meshgrid(*[np.array(SPECIAL, dtype)] * 2)
    expected = rounded((BINARY | EXTREMA)[name], x1, x2)
    check(run(plugin, name, {"x1": x1, "x2": x2}, expected), expected)


@pytest.mark.parametrize("number", [2, -0.1, 1e3, float("inf"), 0, True])
@pytest.mark.parametrize("name", BINARY | EXTREMA)
def test_binary_operators_with_a_number(plugin, name, number, dtype):
    x = np.array(SPECIAL, dtype)
    function = (BINARY | EXTREMA)[name]
    typed = np.array(number, dtype).astype("float32")
    expected = rounded(function, x, typed)
    check(run(plugin, name, {"x1": x}, expected, x2=number), expected)
    expected = rounded(lambda x: function(typed, x), x)
    check(run(plugin, name, {"x2": x}, expected, x1=number), expected)


@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(plugin, name, dtype):
    for x in (np.array(SPECIAL, dtype), floats(300, 500, dtype=dtype), floats(dtype=dtype)):
        expected = rounded(UNARY[name], x)
        check(run(plugin, name, {"x": x}, expected), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["negative", "sqrt", "exp", "isnan"])
def test_unary_layouts(plugin, name, layout):
    x = LAYOUTS[layout](floats)[0]
    expected = rounded(UNARY[name], x)
    check(run(plugin, name, {"x": x}, expected), expected)


@pytest.mark.parametrize("exponent", [2, 2.0, -1])
def test_powers(plugin, dtype, exponent):
    x = np.array(SPECIAL, dtype)
    expected = rounded(lambda x: np.power(x, np.float32(exponent)), x)
    check(run(plugin, "power", {"x1": x}, expected, x2=exponent), expected)


@pytest.mark.parametrize("dtype", [np.dtype("float16")], indirect=True, ids=str)
def test_logarithm_of_float16(plugin, dtype):
    x = np.array([*SPECIAL, 6e-8, 1e-5], dtype)
    expected = rounded(np.log, x)
    check(run(plugin, "log", {"x": x}, expected), expected)


def test_rint(plugin):
    x = np.array([*SPECIAL, 1.5, 2.5, -0.5], "float32")
    check(run(plugin, "rint", {"x": x}, x), np.rint(x))


def test_two_types_give_float32(plugin, dtype):
    x1, x2 = floats(4, 5), floats(4, 5, dtype=dtype)
    for name in ("add", "divide", "less_equal"):
        expected = rounded(BINARY[name], x1, x2, dtype="float32")
        check(run(plugin, name, {"x1": x1, "x2": x2}, expected), expected)


@pytest.mark.parametrize("name", [*UNARY, *BINARY, "maximum"])
def test_in_place(plugin, name):
    x = floats(3, 5, least=0.1)
    memory = plugin.to_device(x)
    inputs = (
        {"x": memory} if name in UNARY else {"x1": memory, "x2": plugin.to_device(x.T.copy().T)}
    )
    expected = rounded((UNARY | BINARY | EXTREMA)[name], *[x] * len(inputs))
    out = plugin.empty(x.shape, expected.dtype)
    executor = plugin.executor(name, inputs, [out])
    if executor.executor.flags & abi.IN_PLACE and expected.dtype == x.dtype:
        out = memory
    executor.run(list(inputs.values()), [out])
    executor.close()
    check(plugin.to_host(out), expected)
