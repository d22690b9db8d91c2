"""softmax and log_softmax along any axis, against their formula."""

import numpy as np
import pytest

from mxacc_check import abi
from mxacc_check.plugin import AccError

from .cases import ANY, BFLOAT16, BOOL, CUBE, SIGNED, TOLERANCES, WIDE, M, attribute, run

NAMES = ["softmax", "log_softmax"]
INF = np.inf
SPECIAL_ROWS = np.array(
    [[1, np.nan, 2], [-INF, -INF, -INF], [-INF, 1, 2], [1, -INF, 2], [INF, 1, 2], [INF, INF, 0]]
    + [[-INF, np.nan, 0], [np.nan, INF, 0], [3e38, 3e38, 0], [-3e38, 3e38, 1], [200, 100, 0]],
    "float32",
)
LONG = np.random.default_rng(6).normal(size=(3, 10_000)).astype("float32")
HALVES = (CUBE * 4).astype("float16")
# What is computed along which axis with which attributes.
CASES = [
    *((CUBE, axis, {}) for axis in (0, 1, 2, -1, -3)),
    (CUBE, None, {}),
    *((np.array(x, "float32"), axis, {}) for x in (3, INF) for axis in (-1, 0)),
    (LONG, 1, {}),
    (LONG.T.copy(), 0, {}),
    (SPECIAL_ROWS, 1, {}),
    (SPECIAL_ROWS.T.copy(), 0, {}),
    *((CUBE, 1, {"temperature": temperature}) for temperature in (0.25, 3, -2.5, None)),
    *((x, -1, {}) for x in (SIGNED, BOOL, WIDE, HALVES, HALVES.astype(BFLOAT16))),
    *((CUBE.astype("float64"), axis, {}) for axis in (0, 2)),
    *((CUBE, 1, {"dtype": dtype}) for dtype in ("float16", "bfloat16", "float64", None)),
    (SIGNED, 0, {"dtype": "float64", "temperature": 3}),
    (HALVES, 1, {"dtype": "float32"}),
    (CUBE[:0], 1, {}),
    (CUBE[:, :0], 1, {}),
    (CUBE[:, :0], 2, {}),
]


def dtype_of(x: np.ndarray, dtype: str | None) -> np.dtype:
    """The type of the result."""
    if dtype is not None:
        return BFLOAT16 if dtype == "bfloat16" else np.dtype(dtype)
    is_float = x.dtype.kind == "f" or x.dtype == BFLOAT16
    return x.dtype if is_float else np.dtype("float32")


def formula(name: str, x: np.ndarray, axis, temperature=None, dtype=None) -> np.ndarray:
    """In float64, of what is divided by the temperature in the type that is computed in."""
    result = dtype_of(x, dtype)
    computed = np.dtype("float64" if result == np.float64 else "float32")
    with np.errstate(all="ignore"):
        x = x.astype(computed) / computed.type(1 if temperature is None else temperature)
        x = np.atleast_1d(x).astype("float64") if x.ndim == 0 else x.astype("float64")
        axis = -1 if axis is None else axis
        below = x - x.max(axis, keepdims=True, initial=-INF)
        total = np.exp(below).sum(axis, keepdims=True)
        return (below - np.log(total) if name == "log_softmax" else np.exp(below) / total).astype(
            result
        )


def near(result: np.ndarray, expected: np.ndarray) -> None:
    tolerance = 4 * TOLERANCES[expected.dtype.name]
    wide = np.float64
    np.testing.assert_allclose(
        result.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("x", "axis", "attributes"), CASES)
def test_along_an_axis(plugin, name, x, axis, attributes):
    expected = formula(name, x, axis, **attributes).reshape(x.shape)
    data = plugin.to_device(x)  # as it is, where it has no axes
    near(run(plugin, name, {"data": data}, expected, axis=axis, **attributes), expected)


KEYS = [
    (slice(None, None, -1), slice(1, 4), slice(None, None, 2)),
    (2,),
    (slice(None), 3),
    (..., slice(4, None, -3)),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_of_views_into_views(plugin, name, key, transposed):
    memory, target = plugin.to_device(CUBE), plugin.to_device(CUBE * 0)
    values, data, out = CUBE[key], memory.view(key), target.view(key)
    if transposed:
        values, data, out = values.T, data.like(data.array.T), out.like(out.array.T)
    for axis in range(values.ndim):
        executor = plugin.executor(name, {"data": data}, [out], axis=attribute(axis))
        executor.run([data], [out])
        executor.close()
        near(plugin.to_host(out), formula(name, values, axis))
    around = plugin.to_host(target)
    around[key] = 0
    assert (around == 0).all()
    memory.free()
    target.free()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_the_output_may_be_the_input(plugin, axis):
    memory = plugin.to_device(CUBE)
    executor = plugin.executor("softmax", {"data": memory}, [memory], axis=attribute(axis))
    assert executor.executor.flags & abi.IN_PLACE
    executor.run([memory], [memory])
    near(plugin.to_host(memory), formula("softmax", CUBE, axis))
    executor.close()
    memory.free()


REJECTED = [
    ({"data": CUBE}, CUBE, {"axis": 3}, "an axis that the array has not"),
    ({"data": CUBE}, CUBE, {"axis": [0, 1]}, "an axis that the array has not"),
    ({"data": ANY.astype("complex64")}, ANY, {}, "complex"),
    ({"data": ANY}, SIGNED, {"dtype": "int8"}, "as integers"),
    ({"data": ANY}, ANY, {"temperature": 0.0}, "a temperature of 0 or infinity"),
    ({"data": ANY}, ANY, {"temperature": 1e-60}, "a temperature of 0 or infinity"),
    ({"data": ANY}, ANY, {"temperature": 1e60}, "a temperature of 0 or infinity"),
    ({"data": ANY}, ANY, {"temperature": "hot"}, "neither an array nor a number"),
    ({"data": ANY}, M, {}, "an output of another shape"),
    ({"data": ANY}, ANY.astype("float64"), {}, "of a result of float32"),
    ({"data": ANY, "out": ANY}, ANY, {}, "with 'out'"),
    ({}, ANY, {"data": 1.5}, "of a number"),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("arrays", "like", "attributes", "reason"), REJECTED)
def test_what_the_cpu_had_better_do(plugin, name, arrays, like, attributes, reason):
    with pytest.raises(AccError, match=reason) as caught:
        run(plugin, name, arrays, like, **attributes)
    assert caught.value.code == "unsupported"
