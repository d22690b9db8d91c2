"""softmax and log_softmax, against the formula in float64."""

import numpy as np
import pytest

from mxacc_check.plugin import AccError

from .cases import BF16, TOLERANCES, floats, run

NAMES = ["softmax", "log_softmax"]
INF = np.inf
SPECIAL = np.array(
    [[1, np.nan, 2], [2, 1, np.nan], [-INF, -INF, -INF], [-INF, 1, 2], [1, -INF, 2], [INF, 1, 2]]
    + [[INF, INF, -INF], [200, 100, 0], [3e4, -3e4, 3e4], [0, -0.0, 1]],
    "float32",
)


def formula(name, x, axis=-1, temperature=1.0, dtype=None):
    lines = np.atleast_1d(x.astype("float64")) / temperature
    with np.errstate(all="ignore"):
        below = lines - lines.max(axis, keepdims=True)
        result = below - np.log(np.exp(below).sum(axis, keepdims=True))
        result = np.exp(result) if name == "softmax" else result
        return result.reshape(x.shape).astype(dtype or x.dtype)


def near(result, expected):
    tolerance = TOLERANCES[expected.dtype]
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(
        result.astype("float64"), expected.astype("float64"), rtol=tolerance, atol=tolerance
    )


ROWS = {
    "one": (floats(1), 0),
    "no axes": (floats(), 0),
    "short": (floats(3, 5), 1),
    "of one": (floats(9, 1), 1),
    "long": (floats(300, 700), -1),
    "very long": (floats(2, 70001, most=9), 1),
    "three axes": (floats(4, 6, 70), -1),
    "nothing behind the axis": (floats(6, 70, 1), 1),
    "step": (floats(8, 100)[::2], 1),
    "backwards": (floats(8, 100)[::-1, ::-1], -1),
    "transposed": (floats(100, 80).T, 1),
    "broadcast": (np.broadcast_to(floats(80), (70, 80)), 1),
    "nothing": (floats(3, 0), 1),
    "no rows": (floats(0, 3), 1),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rows", ROWS)
def test_rows(plugin, name, rows):
    x, axis = ROWS[rows]
    expected = formula(name, x, axis) if x.size else x
    near(run(plugin, name, {"data": x}, expected, axis=axis), expected)


@pytest.mark.parametrize("name", NAMES)
def test_types(plugin, name, dtype):
    x = floats(30, 90, dtype=dtype)
    expected = formula(name, x)
    near(run(plugin, name, {"data": x}, expected), expected)
    wide = formula(name, x, dtype="float32")
    near(run(plugin, name, {"data": x}, wide, dtype="float32"), wide)
    narrow = formula(name, x.astype("float32"), dtype=dtype)
    result = run(plugin, name, {"data": x.astype("float32")}, narrow, dtype=dtype.name)
    near(result, narrow)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("temperature", [None, 1, 0.25, -3.5, True, 1e4])
def test_temperatures(plugin, name, temperature):
    x = floats(7, 130)
    expected = formula(name, x, temperature=temperature or 1)
    near(run(plugin, name, {"data": x}, expected, temperature=temperature), expected)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [1, 30, 400])
@pytest.mark.parametrize("temperature", [None, 2])
def test_nan_and_infinity_are_of_all_the_row(plugin, dtype, name, length, temperature):
    x = np.tile(SPECIAL, length).astype(dtype)
    expected = formula(name, x, temperature=temperature or 1)
    near(run(plugin, name, {"data": x}, expected, temperature=temperature), expected)


X = floats(3, 4)
REJECTED = [
    (X.astype("float64"), X.astype("float64"), {}, "unsupported", "float32"),
    (X.astype("int32"), X, {}, "unsupported", "float32"),
    (X, X.astype("float64"), {"dtype": "float64"}, "unsupported", "float32"),
    (X, X.astype("float16"), {}, "unsupported", "another type"),
    (X, X.astype("float16"), {"dtype": "bfloat16"}, "unsupported", "another type"),
    (X, X.astype(BF16), {"dtype": "float16"}, "unsupported", "another type"),
    (X, X, {"axis": 0}, "unsupported", "no dense rows"),
    (X, X, {"axis": 2}, "unsupported", "not there"),
    (X, X, {"axis": [1]}, "unsupported", "no integer"),
    (X, X, {"temperature": 0}, "unsupported", "0 or not finite"),
    (X, X, {"temperature": 1e-60}, "unsupported", "0 or not finite"),
    (X, X, {"temperature": "1"}, "unsupported", "no number"),
    (X, X[:2], {}, "bad_argument", "shape of the result"),
    (floats(2000, 5), floats(2000, 5), {}, "unsupported", "short rows"),
]


@pytest.mark.parametrize(("data", "like", "attributes", "code", "words"), REJECTED)
def test_what_it_rejects(plugin, data, like, attributes, code, words):
    with pytest.raises(AccError, match=words) as caught:
        run(plugin, "softmax", {"data": data}, like, **attributes)
    assert caught.value.code == code
