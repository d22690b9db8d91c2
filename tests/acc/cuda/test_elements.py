"""Elements in memory, of all types, against the CPU."""

import numpy as np
import pytest

import mx

from ..kernels.cases import BFLOAT16, check, run

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
]
REAL = np.array(
    [0, -0.0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2.5, 3, -3, 7.25, 100.75, -100.75]
    + [127, 128, 129, -128, -129, 255, 256, 32767, 32768, -32769, 65535, 65536, 65504, 65520]
    + [2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32, 2**53 + 1, -(2**63), 2**63, 2**64, 1e30]
    + [1e-8, 6e-8, 1e-40, 1e300, np.inf, -np.inf, np.nan, 1 + 2**-11 + 2**-40],
    "float64",
)
WHOLE = [0, 1, 2, 3, 7, 8, 100, 127, 128, 255, 256, 32767, 65535, 2**31 - 1, 2**31, 2**32 - 1]
WHOLE += [2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]


def numpy_dtype(name: str) -> np.dtype:
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def elements(name: str) -> np.ndarray:
    """All kinds of elements of a type."""
    dtype = numpy_dtype(name)
    if name == "bool":
        return np.array([True, False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = [x for x in [*WHOLE, *(-x for x in WHOLE)] if limits.min <= x <= limits.max]
        return np.array([*values, limits.min, limits.max], dtype)
    with np.errstate(over="ignore"):
        return REAL.astype(dtype)


@pytest.mark.parametrize("wanted", DTYPES)
@pytest.mark.parametrize("stored", DTYPES)
def test_conversions_are_those_of_the_cpu(on_cpu, stored, wanted):
    x = elements(stored)
    expected = mx.np.array(x).astype(wanted).asnumpy()
    result = run(on_cpu, "astype", {"a": x}, expected, dtype=wanted)
    # Where NaN is, its sign and what else it has may differ.
    number = expected == expected
    np.testing.assert_array_equal(result == result, number)
    if wanted == "uint64" and np.dtype(x.dtype).kind not in "biu":
        # What NaN and floats beyond the range become is not specified.
        number &= x.astype("float64") < 2.0**64
    assert result[number].tobytes() == expected[number].tobytes()


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
def test_all_floats_of_two_bytes(on_cpu, dtype):
    x = np.arange(65536, dtype="uint16").view(dtype)
    wide = run(on_cpu, "astype", {"a": x}, np.empty(65536, "float32"), dtype="float32")
    np.testing.assert_array_equal(wide, x.astype("float32"))
    back = run(on_cpu, "astype", {"a": wide}, x, dtype=np.dtype(dtype).name)
    number = wide == wide
    np.testing.assert_array_equal(back.view("uint16")[number], x.view("uint16")[number])


@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=str)
@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_rounding_to_two_bytes(on_cpu, dtype, wide):
    # Halfway between neighbours, and next to there; then any.
    x = np.arange(0x7C00, dtype="uint16").view(np.float16).astype(wide)
    if dtype == BFLOAT16:
        x = np.arange(0x7F80, dtype="uint16").view(BFLOAT16).astype(wide)
    middle = x[:-1] + (x[1:] - x[:-1]) / 2
    near = [np.nextafter(middle, middle.dtype.type(side * np.inf)) for side in (1, -1)]
    rng = np.random.default_rng(9)
    anything = rng.integers(0, 2**32, 50_000, "uint32").view("float32")
    anything = anything[anything == anything].astype(wide)
    x = np.concatenate([middle, *near, -middle, anything])
    # ml_dtypes rounds float64 twice.
    expected = mx.np.array(x).astype(np.dtype(dtype).name).asnumpy()
    result = run(on_cpu, "astype", {"a": x}, expected, dtype=np.dtype(dtype).name)
    np.testing.assert_array_equal(result.view("uint16"), expected.view("uint16"))


@pytest.mark.parametrize("of_b", DTYPES)
@pytest.mark.parametrize("of_a", DTYPES)
def test_two_types(on_cpu, of_a, of_b):
    a, b = elements(of_a)[:3], elements(of_b)[:3]
    for name in ("add", "arctan2"):
        expected = getattr(mx.np, name)(mx.np.array(a), mx.np.array(b)).asnumpy()
        check(run(on_cpu, name, {"x1": a, "x2": b}, expected), expected)
