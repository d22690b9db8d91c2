"""Order: sort, argsort and unique by every way that a line of elements is sorted."""

import numpy as np
import pytest

import mx

from .compare import BFLOAT16, DTYPES, assert_same, quiet

# Lines that are compared, counted by digits of eight and of eleven bits, and sorted side by side.
SHAPES = ((0,), (1,), (9,), (95,), (1001,), (8200,), (3, 5), (40, 33), (5, 2050), (2, 3, 70))


def elements(shape, dtype, kind):
    """Few values, many, or those far apart; of floats also NaN, infinities and zeros of signs."""
    random = np.random.default_rng(sum(shape))
    values = {
        "few": lambda: random.integers(-3, 4, shape) * 1.0,
        "many": lambda: random.normal(0, 100, shape),
        "wide": lambda: random.integers(-(2**31), 2**31, shape) * 2.0**30,
    }[kind]()
    with quiet():
        values = values.astype(dtype)
    if np.dtype(dtype).kind not in "biu":
        which = random.uniform(size=shape)
        special = (np.nan, -0.0, 0.0, np.inf, -np.inf)
        for number, value in enumerate(special):
            values[(which * 20).astype(int) == number] = value
    return values


@pytest.mark.parametrize("kind", ["few", "many", "wide"])
@pytest.mark.parametrize("dtype", [*DTYPES, BFLOAT16], ids=str)
def test_sort(dtype, kind):
    for shape in SHAPES:
        array = elements(shape, dtype, kind)
        ours = mx.np.array(array, dtype=dtype)
        for axis in (*range(len(shape)), None):
            # NumPy 2.4 sorts long lines of float16 wrongly, and NaN of bfloat16.
            by = array.astype("float32") if array.dtype.itemsize == 2 else array
            order = np.argsort(by, axis, kind="stable")
            flat = array.ravel() if axis is None else array
            expected = np.take_along_axis(flat, order, axis if axis is not None else 0)
            assert_same(mx.np.argsort(ours, axis), order)
            found = mx.np.sort(ours, axis)
            assert found.dtype == array.dtype
            if array.dtype == BFLOAT16:
                found, expected = found.astype("float32"), expected.astype("float32")
            assert_same(found, expected)
            if array.dtype.kind == "f":
                known = expected == expected
                assert (np.signbit(found.asnumpy()) == np.signbit(expected))[known].all()


# What partitions, networks and runs of a sort meet, as functions of positions and random numbers.
PATTERNS = {
    "sorted": lambda i, u: i,
    "reversed": lambda i, u: -i,
    "reversed with equals": lambda i, u: -(i // 3),
    "equal": lambda i, u: i * 0 + 7,
    "few values": lambda i, u: np.floor(u * 4),
    "organ pipe": lambda i, u: np.minimum(i, i[::-1]),
    "nearly sorted": lambda i, u: np.where(u < 0.05, 1000 * u, i),
    "random": lambda i, u: 1e6 * (u - 0.5),
    "close together": lambda i, u: 1 + u * 1e-12,
    "far apart": lambda i, u: (u - 0.5) * 1e300 ** np.floor(u * 100 % 2),
    "least and greatest": lambda i, u: np.where(u < 0.4, -np.inf, np.where(u < 0.8, np.inf, u)),
    "with NaN": lambda i, u: np.where(u < 0.3, np.nan, np.where(u < 0.5, np.inf, u * 100)),
    "zeros": lambda i, u: np.where(u < 0.4, -0.0, np.where(u < 0.8, 0.0, u - 0.9)),
    "NaN": lambda i, u: i * np.nan,
}
LENGTHS = (*range(1, 301), 1000, 1024, 5000)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("dtype", [name for name in DTYPES if name[0] not in "bc"])
def test_patterns(dtype, pattern):
    random = np.random.default_rng(0)
    for length in LENGTHS if dtype[-1] in "24" else LENGTHS[::25]:
        values = PATTERNS[pattern](np.arange(length) * 1.0, random.uniform(size=length))
        if dtype[0] in "iu":
            least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
            # Adding an integer puts the values where those of another sign are, too.
            values = np.clip(np.nan_to_num(values), -(2.0**62), 2.0**62).astype("int64")
            array = np.where(values >= 2**60, most, np.where(values <= -(2**60), least, 0))
            array = array.astype(dtype) + values.astype(dtype)
        else:
            with quiet():
                array = values.astype(dtype)
        by = array.astype("float32") if dtype == "float16" else array
        order = np.argsort(by, kind="stable")
        ours = mx.np.array(array, dtype=dtype)
        assert_same(mx.np.argsort(ours), order)
        found = mx.np.sort(ours)
        assert_same(found, array[order])
        if dtype[0] == "f":
            known = array[order] == array[order]
            signs = np.signbit(found.asnumpy()) == np.signbit(array[order])
            assert signs[known].all()
        assert_same(mx.np.unique(ours), np.unique(by).astype(dtype))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_long_lines(dtype):
    """So long that positions and keys have not room in a word, with equal ones far apart."""
    random = np.random.default_rng(0)
    values = random.normal(0, 1, 300_000)
    for array in (values * 1e9, np.round(values * 100) * 1e16, values):
        with quiet():
            array = np.abs(array).astype(dtype) if dtype[0] == "u" else array.astype(dtype)
        ours = mx.np.array(array, dtype=dtype)
        assert_same(mx.np.sort(ours), np.sort(array))
        assert_same(mx.np.argsort(ours), np.argsort(array, kind="stable"))
        assert_same(mx.np.unique(ours), np.unique(array))


@pytest.mark.parametrize(
    "shape", [(300, 9), (17, 33), (9, 300), (3, 100, 20), (1000, 3), (130, 270)]
)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float32", "float64"])
def test_lines_across(dtype, shape):
    """The last shape is of so many elements that its lines are shared by threads."""
    array = elements(shape, dtype, "many")
    ours = mx.np.array(array, dtype=dtype)
    for axis in range(len(shape)):
        assert_same(mx.np.sort(ours, axis), np.sort(array, axis))
        assert_same(mx.np.argsort(ours, axis), np.argsort(array, axis, kind="stable"))


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "float16"])
@pytest.mark.parametrize("size", [0, 1, 9, 1000, 70_000])
def test_unique(dtype, size):
    array = elements((size,), dtype, "few")
    if array.dtype.kind == "c":
        array = array[array == array]
    assert_same(mx.np.unique(array), np.unique(array))


@pytest.mark.parametrize("step", [2, -1, -3])
def test_sort_of_strided(step):
    array = elements((40, 60), "float32", "many")
    ours = mx.np.array(array)
    assert_same(mx.np.sort(ours[:, ::step], 0), np.sort(array[:, ::step], 0))
    assert_same(mx.np.argsort(ours[::step], 1), np.argsort(array[::step], 1, kind="stable"))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex64"])
def test_sort_in_place(dtype):
    for shape in ((0,), (9,), (300,), (3, 40), (40, 3, 2)):
        for view in (lambda x: x, lambda x: x[::-2], lambda x: x.T):
            for axis in range(-len(shape), len(shape)):
                array = elements(shape, dtype, "many")
                ours = mx.np.array(array)
                view(array).sort(axis)
                view(ours).sort(axis)
                assert_same(ours, array)
    ours.sort(kind="stable")
    with pytest.raises(ValueError, match="kind"):
        ours.sort(kind="other")
    with pytest.raises(ValueError, match="out of bounds"):
        ours.sort(3)
    with pytest.raises(OverflowError):
        ours.sort(2**70)
    with pytest.raises(ValueError, match="read-only"):
        mx.np.broadcast_to(ours[:1], (2, 3, 2)).sort()
