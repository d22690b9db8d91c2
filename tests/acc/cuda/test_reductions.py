"""Reduces by threads, by a block for each output, and by several; against the CPU."""

import numpy as np
import pytest

import mx

from ..kernels.cases import attribute, check, run

REDUCTIONS = ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin"]
DTYPES = ["bool", "int8", "int64", "uint32", "uint64", "float16", "float32", "float64"]
# How many outputs there are of how many elements: few elements, one block, several that share an
# output, more of those than a block has threads, and so many outputs that threads take one each.
SIZES = [(300, 5), (7, 3000), (3, 20_000)]
LARGE = (1, 2_000_000)
CASES = [(name, dtype, size) for name in REDUCTIONS for dtype in DTYPES for size in SIZES]
CASES += [(name, dtype, LARGE) for name in REDUCTIONS for dtype in ("int64", "float32")]


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Elements with the same largest and smallest one at many positions."""
    rng = np.random.default_rng(sum(shape))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == "f":
        return (rng.integers(-50, 51, shape) / 64).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(max(info.min, -60), min(info.max, 60), shape).astype(dtype)


@pytest.mark.parametrize(("name", "dtype", "size"), CASES)
def test_reductions(on_cpu, name, dtype, size):
    x = values(size, dtype)
    if name == "prod" and x.dtype.kind == "f":
        x = 1 + x / size[1]  # neither 0 nor infinite
    expected = getattr(mx.np, name)(mx.np.array(x), axis=1).asnumpy()
    result = run(on_cpu, name, {"a": x}, expected, axis=1)
    if expected.dtype.kind == "f":
        tolerance = 3e-3 if expected.dtype == "float16" else 1e-4
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
    else:
        check(result, expected)


@pytest.mark.parametrize("position", [0, 255, 256, 4095, 4096, 12_345, 19_999])
def test_one_among_many(on_cpu, position):
    # In each of the parts, and at their borders.
    x = np.zeros(20_000, "float32")
    x[position] = 3
    for name, expected in (("argmax", position), ("max", 3), ("sum", 3), ("any", True)):
        like = np.asarray(getattr(np, name)(x))
        assert run(on_cpu, name, {"a": x}, like, axis=None) == expected
    x[[position, -1]] = np.nan
    like = np.array(0)
    assert run(on_cpu, "argmax", {"a": x}, like, axis=None) == position
    assert np.isnan(run(on_cpu, "min", {"a": x}, like.astype("float32"), axis=None))


KEYS = [(slice(None, None, -1),), (slice(None), slice(None, None, 2)), (..., slice(1, 2), 3)]


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2), None], ids=str)
@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("name", ["sum", "argmin", "var"])
def test_reductions_of_views(on_cpu, name, key, axis):
    x = values((40, 30, 50), "float64")
    view, memory = x[key], on_cpu.to_device(x)
    if axis not in (0, 1, None) and view.ndim < 3:
        axis = 0
    if name == "argmin" and isinstance(axis, tuple):
        axis = None
    expected = np.asarray(getattr(np, name)(view, axis=axis))
    output = on_cpu.empty(expected.shape, expected.dtype)
    told = attribute(list(axis) if isinstance(axis, tuple) else axis)
    executor = on_cpu.executor(name, {"a": memory.view(key)}, [output], axis=told)
    executor.run([memory.view(key)], [output])
    executor.close()
    check(on_cpu.to_host(output), expected)
    memory.free()


def test_so_many_outputs_that_threads_take_one_each(on_cpu):
    x = values((70, 300_000), "int8")
    expected = x.sum(axis=0)
    check(run(on_cpu, "sum", {"a": x}, expected, axis=0), expected)
