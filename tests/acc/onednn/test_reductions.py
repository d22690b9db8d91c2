"""Reductions, against NumPy."""

import numpy as np
import pytest

from .cases import check, floats, rounded, run

REDUCTIONS = [
    ((3, 4), None),
    ((3, 4), 0),
    ((3, 4), -1),
    ((3, 4), []),
    ((3, 4, 5), [0, 2]),
    ((3, 4, 5), 1),
    ((3, 4, 5), [1, 2]),
    ((3, 1, 5), 1),
    ((), None),
    ((1,), 0),
    ((7,), None),
    ((0, 3), 0),
    ((0, 3), 1),
    ((2, 0), None),
    ((300, 200), 0),
    ((8, 50, 60), 1),
    ((8, 50, 60), [0, 1]),
    ((20000, 3), 0),
    ((2, 65536), 1),
    ((1000, 1000), None),
]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("shape", "axis"), REDUCTIONS)
@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_reductions(plugin, name, shape, axis, keepdims):
    # Products of many elements stay finite.
    least, most = (0.999, 1.001) if name == "prod" else (-1, 3)
    axes = tuple(axis) if isinstance(axis, list) else axis
    a = floats(*shape, least=least, most=most)
    turned = np.asarray(a, order="F")[..., ::-1] if a.ndim else a
    for array in (a, turned):
        total = getattr(np, "prod" if name == "prod" else "sum")
        expected = np.asarray(total(array, axis=axes, keepdims=keepdims, dtype="float64"))
        if name == "mean":
            with np.errstate(all="ignore"):
                expected = expected / (array.size / max(expected.size, 1))
        expected = expected.astype("float32")
        result = run(plugin, name, {"a": array}, expected, axis=axis, keepdims=keepdims)
        assert result.shape == expected.shape
        reduced = array.size / max(expected.size, 1)
        np.testing.assert_allclose(result, expected, rtol=1e-5 + 6e-7 * reduced**0.5)


@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_reductions_of_all_types(plugin, name, dtype):
    a = floats(6, 70, dtype=dtype, least=0.9, most=1.1)
    expected = rounded(lambda x: getattr(np, name)(x, axis=1), a)
    check(run(plugin, name, {"a": a}, expected, axis=1), expected)
    wide = getattr(np, name)(a.astype("float32"), axis=1)
    check(run(plugin, name, {"a": a}, wide, axis=1, dtype="float32"), wide)
    a[2, 3], a[3, 5], a[4, 6] = np.nan, np.inf, -np.inf
    expected = rounded(lambda x: getattr(np, name)(x, axis=1), a)
    check(run(plugin, name, {"a": a}, expected, axis=1), expected)


@pytest.mark.parametrize("count", [10**6, 2**20, 8193 * 100, 4099, 10007, 1048583])
def test_long_sums_stay_exact(plugin, count):
    a = floats(count, least=0, most=1)
    expected = np.asarray(a.sum(dtype="float64").astype("float32"))
    result = run(plugin, "sum", {"a": a}, expected, axis=None)
    np.testing.assert_allclose(result, expected, rtol=1e-6)
