"""Comparing what `mx.np` gives with what NumPy gives."""

import contextlib
import warnings

import ml_dtypes
import numpy as np

import mx

DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

# Units in the last place by which an elementary function may differ from NumPy's.
CLOSE = {
    "float16": {"rtol": 2e-3, "atol": 1e-6},
    "float32": {"rtol": 2e-6, "atol": 1e-6},
    "float64": {"rtol": 1e-13, "atol": 1e-13},
    "complex64": {"rtol": 4e-6, "atol": 1e-6},
    "complex128": {"rtol": 1e-12, "atol": 1e-13},
}


def assert_same(result, expected, exact=True):
    """Dtype, shape and every element; elements of inexact types within CLOSE unless exact."""
    expected = np.asarray(expected)
    assert isinstance(result, mx.np.ndarray), type(result)
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    found = result.asnumpy()
    if exact or expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, equal_nan=True, **CLOSE[expected.dtype.name])


def assert_same_error(function, oracle):
    """Both fail, with exceptions of one class or of classes people catch alike."""
    try:
        expected = oracle()
    except Exception as error:
        wanted = error
    else:
        raise AssertionError(f"NumPy returned {expected!r}")
    try:
        found = function()
    except Exception as error:
        alike = isinstance(error, type(wanted)) or isinstance(wanted, type(error))
        assert alike, f"{error!r}, where NumPy raises {wanted!r}"
    else:
        raise AssertionError(f"{found!r}, where NumPy raises {wanted!r}")


@contextlib.contextmanager
def quiet():
    """NumPy's warnings about invalid values and overflows off: the values are what counts."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def sample(shape, dtype, seed=0):
    """Small numbers of every sign that dtype has, the same each time, without zeros."""
    generator = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    low = 1 if dtype.kind in "bu" else -6
    values = generator.integers(low, 7, size=shape)
    values = np.where(values == 0, 1, values)
    if dtype.kind == "b":
        return np.asarray(generator.integers(0, 2, size=shape), dtype=bool)
    if dtype.kind in "fcV":
        values = values + generator.integers(0, 4, size=shape) / 4
    if dtype.kind == "c":
        values = values + 1j * generator.integers(-3, 4, size=shape)
    return np.asarray(values).astype(dtype)
