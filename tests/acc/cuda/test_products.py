"""Products of matrices: by the kernel for tiles, and by what cuBLAS is told to do."""

import numpy as np
import pytest

from mxacc_check.plugin import AccError, Memory, Plugin

from ..kernels.cases import BFLOAT16
from .conftest import compiled

TURNED = "turned"
# Shapes of a and b, and how each is seen: as it is, with its last two axes turned, or by a key.
# With extents that fill no tile, one, and some; batches of one step, of two, and broadcast.
CASES = [
    ((70, 90), (), (90, 130), ()),
    ((64, 64), (), (64, 64), ()),
    ((90, 70), TURNED, (90, 65), ()),
    ((70, 90), (), (33, 90), TURNED),
    ((70, 90), (slice(None, None, -1),), (90, 40), ()),
    ((70, 90), (slice(0, 70, 2), slice(5, 85)), (80, 90), (..., slice(3, 60))),
    ((40, 100), (..., slice(None, None, 2)), (50, 40), ()),
    ((5, 33, 20), (), (5, 20, 70), ()),
    ((2, 3, 33, 20), (), (2, 3, 20, 70), ()),
    ((2, 3, 33, 20), (slice(None, None, -1),), (2, 3, 20, 70), ()),
    ((2, 3, 33, 20), (), (3, 20, 70), ()),
    ((33, 20), (), (4, 20, 70), ()),
    ((4, 33, 20), (), (20, 70), ()),
    ((4, 20, 33), TURNED, (4, 20, 70), (..., slice(None, None, -1))),
    ((33, 5, 20), "batch", (5, 20, 70), ()),
]
DTYPES = ["float32", "float64", "float16", "bfloat16"]


def whole(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Whole numbers whose products add up to such that each type has."""
    numbers = np.random.default_rng(len(shape)).integers(-1, 2, shape)
    return numbers.astype(BFLOAT16 if dtype == "bfloat16" else dtype)


def seen(array: np.ndarray, how) -> np.ndarray:
    if how == TURNED:
        return array.swapaxes(-1, -2)
    return array.swapaxes(0, 1) if how == "batch" else array[how]


def multiply(plugin: Plugin, a, of_a, b, of_b, spread: bool = False) -> np.ndarray:
    """The product of what is seen of both; into memory with gaps, if it is to be spread."""
    memories = [plugin.to_device(item) for item in (a, b)]
    views = [m.like(seen(m.array, how)) for m, how in zip(memories, (of_a, of_b), strict=True)]
    shape = np.matmul(*(np.empty(view.array.shape, "int8") for view in views)).shape
    whole_output = plugin.empty((*shape, 2) if spread else shape, a.dtype)
    output: Memory = whole_output.view((..., 1)) if spread else whole_output
    executor = plugin.executor("matmul", dict(zip(("x1", "x2"), views, strict=True)), [output])
    executor.run(views, [output])
    executor.close()
    result = plugin.to_host(output)
    for memory in (*memories, whole_output):
        memory.free()
    return result


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_by_tiles(on_cpu, case, dtype):
    shape_a, of_a, shape_b, of_b = case
    a, b = whole(shape_a, dtype), whole(shape_b, dtype)
    expected = seen(a.astype("int64"), of_a) @ seen(b.astype("int64"), of_b)
    for spread in (False, True):
        result = multiply(on_cpu, a, of_a, b, of_b, spread)
        np.testing.assert_array_equal(result.astype("int64"), expected)
    assert on_cpu.configure()["gemms"] == "0"


@pytest.fixture(scope="module")
def by_cublas(load_with, tmp_path_factory) -> Plugin:
    return load_with(MXACC_CUBLAS=compiled("cublas", tmp_path_factory.mktemp("compiled")))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_cublas_is_told(by_cublas, monkeypatch, case, dtype):
    monkeypatch.setenv("CUDAACC_CPU_EAGER", "1")
    shape_a, of_a, shape_b, of_b = case
    a, b = whole(shape_a, dtype), whole(shape_b, dtype)
    expected = seen(a.astype("int64"), of_a) @ seen(b.astype("int64"), of_b)
    for spread in (False, True):
        before = int(by_cublas.configure()["gemms"])
        result = multiply(by_cublas, a, of_a, b, of_b, spread)
        np.testing.assert_array_equal(result.astype("int64"), expected)
        assert int(by_cublas.configure()["gemms"]) > before


def test_less_exact_only_where_it_is_allowed(by_cublas, monkeypatch):
    monkeypatch.setenv("CUDAACC_CPU_EAGER", "1")
    a = np.ones((64, 64), "float32")
    assert by_cublas.configure()["tf32"] == "0"
    assert (multiply(by_cublas, a, (), a, ()) == 64).all()
    by_cublas.configure(tf32=1)
    assert (multiply(by_cublas, a, (), a, ()) == 64.5).all()
    wide = a.astype("float64")
    assert (multiply(by_cublas, wide, (), wide, ()) == 64).all()
    by_cublas.configure(tf32=0)


def test_the_version_of_cublas(by_cublas, load_with, tmp_path):
    assert by_cublas.configure()["cublas"] == "13.1.2"
    before_12 = load_with(MXACC_CUBLAS=compiled("cublas", tmp_path, "-DVERSION=11402"))
    assert before_12.configure()["cublas"] == "11.4.2"


def test_a_cublas_that_lacks_a_function(load_with, tmp_path):
    plugin = load_with(MXACC_CUBLAS=compiled("cublas", tmp_path, "-DOLD"))
    assert "undefined symbol: cublasSetMathMode" in plugin.configure()["cublas"]
    a = np.ones((64, 64), "float32")
    assert (multiply(plugin, a, (), a, ()) == 64).all()


def test_a_path_without_cublas(load_with, tmp_path):
    told = load_with(MXACC_CUBLAS=tmp_path / "nowhere.so").configure()["cublas"]
    assert told.startswith("none: MXACC_CUBLAS: ") and "nowhere.so: cannot open" in told


def test_an_error_of_cublas(load_with, tmp_path):
    plugin = load_with(MXACC_CUBLAS=compiled("cublas", tmp_path, "-DBROKEN"))
    a = np.ones((64, 64), "float32")
    with pytest.raises(AccError, match=r"cublasSetStream: an invalid value \(7\)"):
        multiply(plugin, a, (), a, ())
