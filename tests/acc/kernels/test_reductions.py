"""Reductions over axes, against NumPy."""

import numpy as np
import pytest

from .cases import BFLOAT16, BOOL, CUBE, SIGNED, UNSIGNED, WIDE, attribute, check, run

LONG = np.random.default_rng(4).normal(size=(3, 10_000)).astype("float32")
TIES = np.array([[1, 3, 3], [3, 1, 3], [2, 2, 2]], "int32")
WITH_NAN = np.array([[1, np.nan, 3, np.nan], [4, 2, 4, 1]], "float32")

REDUCTIONS = [
    *(
        (name, CUBE, axis, {"keepdims": keepdims})
        for name in ("sum", "max", "mean", "var")
        for axis, keepdims in [(None, False), (0, True), (-1, False), ([0, 2], False), ([], True)]
    ),
    *((name, CUBE, 1, {}) for name in ("prod", "min", "std", "any", "all", "argmax", "argmin")),
    *((name, LONG, 1, {}) for name in ("sum", "std", "argmin")),
    ("argmax", LONG, None, {}),
    ("argmax", CUBE, None, {"keepdims": True}),
    *((name, WITH_NAN, 1, {}) for name in ("max", "min", "argmax", "argmin", "sum")),
    ("argmax", TIES, 0, {}),
    ("sum", SIGNED, 0, {}),
    ("sum", UNSIGNED, 0, {}),
    ("prod", WIDE, 0, {}),
    ("all", BOOL, None, {}),
    ("max", BOOL, 0, {}),
    ("min", WIDE, None, {}),
    ("mean", WIDE, None, {}),
    ("var", CUBE, 0, {"ddof": 1}),
    ("sum", SIGNED, 0, {"dtype": "int16"}),
    ("sum", np.full(4096, 0.1, "float16"), None, {}),
    ("mean", np.full(4096, 0.1, BFLOAT16), None, {}),
    ("sum", CUBE[:0], 0, {}),
    ("prod", CUBE[:, :0], 1, {}),
    ("sum", CUBE[:0], 1, {}),
    ("any", CUBE[:0], None, {}),
]


def reduced(name: str, x: np.ndarray, axis, attributes: dict) -> np.ndarray:
    """NumPy's result; two-byte floats are added up in float32."""
    axes = tuple(axis) if isinstance(axis, list) else axis
    wide = x.astype("float32") if x.dtype.itemsize == 2 else x
    result = np.asarray(getattr(np, name)(wide, axis=axes, **attributes))
    return result.astype(x.dtype) if wide is not x else result


@pytest.mark.parametrize(("name", "x", "axis", "attributes"), REDUCTIONS)
def test_reductions(plugin, name, x, axis, attributes):
    expected = reduced(name, x, axis, attributes)
    result = run(plugin, name, {"a": x}, expected, axis=axis, **attributes)
    if expected.dtype == "float32":
        np.testing.assert_allclose(result, expected, rtol=2e-5, atol=1e-5)
    else:
        check(result, expected)


@pytest.mark.parametrize("key", [(slice(None, None, -1), slice(1, 4), slice(None, None, 2)), (2,)])
@pytest.mark.parametrize("name", ["sum", "argmax"])
def test_reductions_of_views(plugin, name, key):
    view, memory = CUBE[key], plugin.to_device(CUBE)
    for axis in (None, 0):
        expected = np.asarray(getattr(np, name)(view, axis=axis))
        output = plugin.empty(expected.shape, expected.dtype)
        executor = plugin.executor(name, {"a": memory.view(key)}, [output], axis=attribute(axis))
        executor.run([memory.view(key)], [output])
        np.testing.assert_allclose(plugin.to_host(output), expected, rtol=1e-5, atol=1e-6)
        executor.close()
    memory.free()
