"""Loops compiled for several processors: accuracy, special values, layouts, at every level."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mx
from mx import _library

from .compare import DTYPES, assert_same, quiet

# Units in the last place from the correct result that a function of one value may have.
ULPS = 4
CLOSER = {"tanh float32": 2.5}
UNARY = [
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt", "sqrt"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
]
BINARY = ["power", "arctan2", "hypot"]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
EXACT = [
    *("add", "subtract", "multiply", "divide", "maximum", "minimum"),
    *COMPARISONS,
    *("floor_divide", "remainder"),
]
CLASSES = ["isnan", "isinf", "isfinite"]
FLOATS = ["float32", "float64"]
LEVELS = ["baseline", "avx2", "avx512"]
# A long double is no more than a double on some machines, and then not the correct result.
PRECISE = np.finfo(np.longdouble).nmant > 60

PROGRAM = """
import sys
import numpy as np, mx
given = np.load(sys.argv[1])
results = {}
for key in given["keys"]:
    name, dtype, *inputs = key.split()
    arrays = [mx.np.array(given[f"{dtype} {i}"]) for i in inputs]
    results[key] = getattr(mx.np, name)(*arrays).asnumpy()
np.savez(sys.argv[2], **results)
"""


def special(dtype):
    """Values at which functions have their exceptions."""
    info = np.finfo(dtype)
    values = [0, 1, 0.5, 2, 3, 7, 10, 1e4, 1e8, 1e20, 1e-10, 1 / 3, np.inf, np.nan]
    values += [info.tiny, info.smallest_subnormal, info.tiny / 4, info.max, info.eps]
    values += [1 + info.eps, 1 - info.epsneg, np.pi, np.pi / 2, 2.0**52, 2.0**53]
    values += [88, 89, 87.5, 103.5, 104, 127.9, 128, 149, 150, 709, 710, 745, 746, 1024, 1075]
    values = np.array(values).astype(dtype)
    return np.concatenate([values, -values])


def representable(dtype):
    """Functions of numbers whose results are representable, or defined by others: all by name."""
    info = np.finfo(dtype)
    cubes = np.arange(-250, 251) if dtype == "float32" else np.arange(-3000, 3001)
    tens = np.arange(-37, 39) if dtype == "float32" else np.arange(-307, 309)
    powers = np.array([float(f"1e{k}") for k in tens])
    twos = np.arange(info.minexp - info.nmant, info.maxexp)
    scales = np.arange((info.minexp - info.nmant) // 3 + 1, (info.maxexp - 5) // 3)
    bases = np.random.default_rng(1).normal(size=3000).astype(dtype) * 10
    sizes = np.abs(bases)
    small = np.array([(b, n) for b in range(-40, 1000) for n in range(2, 40)], dtype=np.float64)
    small = small[np.abs(small[:, 0]) ** small[:, 1] < 2.0 ** (info.nmant + 1)]
    beyond = np.repeat([np.inf, -np.inf, 0, -0.0, np.nan, 3], 10)
    roots = np.array([(b**n, k / n, b**k) for n in (2, 4, 8) for k in (1, 3) for b in range(2, 8)])
    cases = {
        "cubes": ("cbrt", [cubes**3.0], cubes),
        "cubes of powers of 2": ("cbrt", [np.ldexp(-27.0, 3 * scales)], np.ldexp(-3.0, scales)),
        "powers of 10": ("log10", [powers], tens),
        "powers of 2": ("log2", [np.ldexp(1.0, twos)], twos),
        "whole exponents": ("exp2", [twos], np.ldexp(1.0, twos)),
        "small powers": ("power", list(small.T), small[:, 0] ** small[:, 1]),
        "small roots": ("power", list(roots.T[:2]), roots[:, 2]),
        "squares": ("power", [bases, np.full(1, 2)], bases * bases),
        "squares, one by one": ("power", [bases, np.full(3000, 2)], bases * bases),
        "square roots": ("power", [sizes, np.full(1, 0.5)], np.sqrt(sizes)),
        "squares and roots among others": (
            "power",
            [np.repeat(np.arange(1, 15), 9) ** 2, np.tile([2, 3, 0.5], 42)],
            np.repeat(np.arange(1, 15), 9) ** np.tile([4, 6, 1], 42),
        ),
        "squares of what is beyond": ("power", [beyond, np.full(60, 2)], beyond * beyond),
        "square roots, one by one": ("power", [sizes, np.full(3000, 0.5)], np.sqrt(sizes)),
    }
    return {
        name.replace(" ", "_"): (function, [x.astype(dtype) for x in arguments], result)
        for name, (function, arguments, result) in cases.items()
    }


def inputs():
    """Operands by "DTYPE NUMBER": all pairs of special values, then numbers of many sizes."""
    generator = np.random.default_rng(0)
    table = {}
    for dtype in FLOATS:
        scale = 30 if dtype == "float32" else 300
        sizes = np.exp2(generator.uniform(-scale, scale, 4000))
        near = generator.uniform(-2, 2, 4000)
        bases = np.concatenate([sizes, generator.uniform(0.9, 1.1, 4000)])
        exponents = generator.uniform(-3.9, 3.9, 4000)
        exponents = np.concatenate([exponents, generator.uniform(-500, 500, 4000)])
        pairs = np.meshgrid(special(dtype), special(dtype))
        table[f"{dtype} 0"] = np.concatenate([pairs[0].ravel(), bases]).astype(dtype)
        table[f"{dtype} 1"] = np.concatenate([pairs[1].ravel(), exponents]).astype(dtype)
        table[f"{dtype} 2"] = np.concatenate([special(dtype), sizes, near]).astype(dtype)
        for name, (_, arguments, _) in representable(dtype).items():
            for i, argument in enumerate(arguments):
                table[f"{dtype} {name}.{i}"] = argument
    return table


def key_of(name, dtype):
    """What PROGRAM knows a case of representable() by."""
    function, arguments, _ = representable(dtype)[name]
    return " ".join([function, dtype, *(f"{name}.{i}" for i in range(len(arguments)))])


@pytest.fixture(scope="module")
def operands():
    """The inputs, which every level is given."""
    return inputs()


@pytest.fixture(scope="module")
def results(operands, tmp_path_factory):
    """What a process of each level makes of the inputs: by level, then by case."""
    folder = tmp_path_factory.mktemp("levels")
    keys = [f"{name} {dtype} 2" for name in UNARY for dtype in FLOATS]
    keys += [f"{name} {dtype} 2" for name in CLASSES for dtype in FLOATS]
    keys += [f"{name} {dtype} 0 1" for name in BINARY + EXACT for dtype in FLOATS]
    keys += [key_of(name, dtype) for dtype in FLOATS for name in representable(dtype)]
    np.savez(folder / "given.npz", keys=np.array(keys), **operands)
    table = {}
    for level in LEVELS:
        output = folder / f"{level}.npz"
        subprocess.run(
            [sys.executable, "-c", PROGRAM, folder / "given.npz", output],
            env={**os.environ, "MXNET_CPU_LEVEL": level},
            check=True,
        )
        table[level] = np.load(output)
    return table


def ulps(found, expected):
    """Distance in units in the last place of the expected; infinite where one alone is special."""
    alike = (found == expected) | (np.isnan(found) & np.isnan(expected))
    distance = np.abs(found.astype(np.longdouble) - expected.astype(np.longdouble))
    distance = distance / np.spacing(np.abs(expected)).astype(np.longdouble)
    return np.where(alike, 0, np.where(np.isfinite(distance), distance, np.inf))


@pytest.mark.skipif(not PRECISE, reason="no type to compute the correct results with")
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_functions_are_accurate(results, operands, name, dtype, level):
    numbers = "2" if name in UNARY else "0 1"
    arguments = [operands[f"{dtype} {i}"] for i in numbers.split()]
    with quiet():
        exact = getattr(np, name)(*(x.astype(np.longdouble) for x in arguments)).astype(dtype)
        found = results[level][f"{name} {dtype} {numbers}"]
        distance = ulps(found, exact)
    worst = int(np.argmax(distance))
    most = CLOSER.get(f"{name} {dtype}", ULPS)
    assert distance[worst] <= most, (*(x[worst] for x in arguments), found[worst], exact[worst])
    zeros = (found == 0) & (exact == 0)
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(exact[zeros]))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", EXACT)
def test_arithmetic_is_numpys(results, operands, name, dtype, level):
    with quiet():
        expected = getattr(np, name)(operands[f"{dtype} 0"], operands[f"{dtype} 1"])
    np.testing.assert_array_equal(results[level][f"{name} {dtype} 0 1"], expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_numpys(results, operands, name, dtype, level):
    expected = getattr(np, name)(operands[f"{dtype} 2"])
    np.testing.assert_array_equal(results[level][f"{name} {dtype} 2"], expected)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", representable("float64"))
def test_what_is_representable_is_exact(results, name, dtype, level):
    expected = representable(dtype)[name][2].astype(dtype)
    np.testing.assert_array_equal(results[level][key_of(name, dtype)], expected)


def layouts(x):
    """The elements of x in arrays of other layouts, each with how to find them in the result."""
    spread = mx.np.zeros((x.size, 3), dtype=x.dtype)
    spread[:, 1] = x
    yield spread[:, 1], slice(None)
    yield mx.np.array(x)[::-1], slice(None, None, -1)
    shifted = mx.np.zeros((x.size + 1,), dtype=x.dtype)
    shifted[1:] = x
    yield shifted[1:], slice(None)


@pytest.mark.parametrize("dtype", [*FLOATS, "float16"])
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_results_do_not_depend_on_the_layout(name, dtype):
    function = getattr(mx.np, name)
    x = np.linspace(0.1, 1.9, 300).astype(dtype)
    others = [mx.np.array(x[:1])] if name in BINARY else []
    whole = function(mx.np.array(x), *others).asnumpy()
    for array, order in layouts(x):
        np.testing.assert_array_equal(function(array, *others).asnumpy()[order], whole)
    for length in range(1, 40):
        part = function(mx.np.array(x[:length]), *others).asnumpy()
        np.testing.assert_array_equal(part, whole[:length])
    np.testing.assert_array_equal(function(mx.np.array(x[7]), *others).asnumpy(), whole[7])
    in_place = mx.np.array(x)
    function(in_place, *others, out=in_place)
    np.testing.assert_array_equal(in_place.asnumpy(), whole)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("base", [2, 3, 5, 10, -3])
def test_powers_of_whole_numbers_are_exact(base, dtype):
    exponents = np.arange(0, 10).astype(dtype)
    expected = np.array([base**n for n in range(10)]).astype(dtype)
    found = mx.np.power(mx.np.full((10,), base, dtype=dtype), mx.np.array(exponents))
    np.testing.assert_array_equal(found.asnumpy(), expected)


@pytest.mark.parametrize("dtype", [*FLOATS, "float16"])
@pytest.mark.parametrize("exponent", [2, 0.5])
def test_squares_and_roots_do_not_depend_on_the_layout(exponent, dtype):
    x = np.linspace(0, 90, 300).astype(dtype)
    expected = x * x if exponent == 2 else np.sqrt(x)
    exponents = mx.np.full((300,), exponent, dtype=dtype)
    np.testing.assert_array_equal((mx.np.array(x) ** exponent).asnumpy(), expected)
    for array, order in layouts(x):
        np.testing.assert_array_equal((array**exponent).asnumpy()[order], expected)
        np.testing.assert_array_equal((array**exponents).asnumpy()[order], expected)
    for length in range(1, 40):
        part = mx.np.array(x[:length])
        np.testing.assert_array_equal((part**exponent).asnumpy(), expected[:length])
        np.testing.assert_array_equal((part ** exponents[:length]).asnumpy(), expected[:length])


SEARCHES = ["max", "min", "argmax", "argmin"]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64", *FLOATS])
@pytest.mark.parametrize("name", SEARCHES)
def test_extrema_at_every_position(name, dtype):
    function, oracle = getattr(mx.np, name), getattr(np, name)
    extreme = 100 if name.endswith("max") else 0
    for length in [1, 3, 16, 31, 32, 33, 64, 127, 200, 2049]:
        for position in {0, length // 3, length // 2, length - 1}:
            x = np.full(length, 50, dtype)
            x[position:] = extreme
            assert function(mx.np.array(x)).item() == oracle(x)
            assert function(mx.np.array(x)[::-1]).item() == oracle(x[::-1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_nan_is_found_at_every_position(name, dtype):
    function, oracle = getattr(mx.np, name), getattr(np, name)
    for length in [1, 5, 40, 150, 5000]:
        for position in {0, length // 3, length // 2, length - 1}:
            x = np.linspace(-1, 1, length).astype(dtype)
            x[position:] = np.nan
            np.testing.assert_equal(function(mx.np.array(x)).item(), oracle(x).item())


def imported_with(level):
    """What a process that imports mx says of the level in use, and what it complains of."""
    done = subprocess.run(
        [sys.executable, "-c", "import mx; print(mx.test_utils.cpu_level())"],
        env={**os.environ, "MXNET_CPU_LEVEL": level},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip(), done.stderr


@pytest.mark.parametrize("level", ["mmx", "AVX2"])
def test_a_level_that_there_is_not_is_an_error(level):
    complaint = imported_with(level)[1].splitlines()
    expected = f"MXNET_CPU_LEVEL: expected one of baseline, avx2, avx512, got {level!r}"
    assert complaint[-1] == f"ValueError: {expected}"
    assert not any("ignored" in line for line in complaint)


@pytest.mark.parametrize("level", LEVELS)
def test_the_level_in_use_is_what_is_asked_for_or_less(level):
    there, complaint = imported_with("")
    assert complaint == ""
    used, complaint = imported_with(level)
    assert used == min(level, there, key=LEVELS.index)
    assert ("no more than" in complaint) == (used != level)


def test_a_level_that_the_processor_lacks_is_told():
    _library._warn_of_lesser_level("avx2", "avx2")
    with pytest.warns(RuntimeWarning, match="is avx512, but this processor has no more than avx2"):
        _library._warn_of_lesser_level("avx512", "avx2")


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", ["int64", *FLOATS])
def test_comparisons_of_every_length(dtype, name):
    """Each result is where its numbers are, in whole registers and in what is left of one."""
    random = np.random.default_rng(6)
    a, b = random.integers(-2, 3, (2, 150)).astype(dtype)
    ours, expected = getattr(mx.np, name), getattr(np, name)
    for n in range(1, 150):
        assert_same(ours(mx.np.array(a[:n]), mx.np.array(b[:n])), expected(a[:n], b[:n]))
        assert_same(ours(mx.np.array(a[-n:]), 1), expected(a[-n:], 1))
        assert_same(ours(1, mx.np.array(a[-n:])), expected(1, a[-n:]))


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).kind in "iu"])
def test_integer_division(dtype, name):
    """Every rounding, by arrays and by one number for all, of which powers of two are shifts."""
    limits = np.iinfo(dtype)
    near = [-10, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, 10]
    # Where floats have all numbers, or loops take them for such.
    near += [sign * 2**bits + n for bits in (24, 51, 53) for sign in (-1, 1) for n in (-1, 0, 1)]
    numbers = [limits.min, limits.min + 1, limits.max - 1, limits.max]
    numbers += [n for n in near if limits.min <= n <= limits.max]
    random = np.random.default_rng(5)
    spread = random.integers(limits.min, limits.max, 200, dtype, endpoint=True)
    x = np.concatenate([np.array(numbers, dtype), spread])
    a, b = np.repeat(x, len(x)), np.tile(x, len(x))
    with quiet():
        assert_same(getattr(mx.np, name)(a, b), getattr(np, name)(a, b))
        for number in x:
            divide, expected = getattr(mx.np, name), getattr(np, name)(x, number)
            assert_same(divide(mx.np.array(x), int(number)), expected)
            assert_same(divide(mx.np.array(x)[::2], int(number)), expected[::2])


@pytest.mark.parametrize("step", [2, 3, -1, -2])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64", "complex128"])
def test_chunks_of_what_lies_apart(dtype, step):
    """Runs of some chunks and a part of one, of both operands and of one."""
    array = np.arange(1, 2001).astype(dtype)
    ours = mx.np.array(array)
    with quiet():
        assert_same(ours[::step] + ours[::step], array[::step] + array[::step])
        some = len(array[::step])
        assert_same(ours[:some] * ours[::step], array[:some] * array[::step])
        assert_same(mx.np.maximum(ours[::step], 9), np.maximum(array[::step], 9))
        assert_same(ours[::step].copy(), array[::step].copy())
        assert_same(ours[::step].max(), array[::step].max())


@pytest.mark.parametrize("name", [*EXACT, *BINARY, "floor_divide", "remainder"])
@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_no_elements(dtype, name):
    """Nothing is read of them, as the sanitizers would tell."""
    function, expected = getattr(mx.np, name), getattr(np, name)
    for shape in ((0,), (2, 0, 3)):
        x = np.empty(shape, dtype)
        assert_same(function(mx.np.array(x), mx.np.array(x)), expected(x, x))
        assert_same(function(mx.np.array(x), mx.np.array(x[..., :1])), expected(x, x[..., :1]))
        assert_same(function(mx.np.array(x), 3), expected(x, x.dtype.type(3)))


@pytest.mark.parametrize("step", [2, 3, -2])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "int32", "float64", "complex128"])
def test_results_that_lie_apart(dtype, step):
    """What lies between them stays as it is."""
    array, expected = mx.np.arange(2001).astype(dtype), np.arange(2001).astype(dtype)
    array[::step] += array[::step]
    expected[::step] += expected[::step]
    array[::step] *= 3
    expected[::step] *= 3
    mx.np.subtract(array[1::2], mx.np.ones(1000, dtype=dtype), out=array[1::2])
    np.subtract(expected[1::2], np.ones(1000, dtype), out=expected[1::2])
    assert_same(array, expected)


@pytest.mark.parametrize("size", [1, 31, 64, 100, 70_000])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("name", ["exp", "sqrt", "arctan", "rint", "cbrt"])
def test_functions_of_bytes(name, dtype, size):
    """Which are looked up: the same as of float16."""
    x = np.resize(np.arange(256).astype(dtype), size)
    with quiet():
        expected = getattr(mx.np, name)(mx.np.array(x.astype("float16")))
        assert_same(getattr(mx.np, name)(mx.np.array(x)), expected.asnumpy())
        assert_same(getattr(mx.np, name)(mx.np.array(x)[::3]), expected.asnumpy()[::3])


@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).kind in "iu"])
def test_powers_of_integers_wrap(dtype):
    limits = np.iinfo(dtype)
    bases = np.array([limits.min, limits.min + 1, 0, 1, 2, 3, 7, 10, limits.max], dtype)
    exponents = np.array([0, 1, 2, 3, 5, 8, 13, 63, 64, 100, limits.max], dtype)
    a, b = np.repeat(bases, len(exponents)), np.tile(exponents, len(bases))
    expected = np.power(a, b)
    for function in (lambda x, y: x**y, lambda x, y: mx.np.power(x[::-1], y[::-1])[::-1]):
        assert_same(function(mx.np.array(a), mx.np.array(b)), expected)
    for exponent in exponents[:4]:
        assert_same(mx.np.array(bases) ** int(exponent), np.power(bases, exponent))


@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "bool"])
@pytest.mark.parametrize("number", [2, 2.5, -1.0])
def test_numbers_beside_integers(dtype, number, step):
    """Of arrays that lie apart as well: a float makes floats of them, an int is of their type."""
    x = (np.arange(400) % 100 + 1).astype(dtype)
    for operator in ("add", "true_divide", "power", "arctan2", "floor_divide"):
        function = {"true_divide": "divide"}.get(operator, operator)
        with quiet():
            expected = getattr(np, operator)(x[::step], number)
            found = getattr(mx.np, function)(mx.np.array(x)[::step], number)
            assert_same(found, expected, exact=operator in ("add", "true_divide"))
            expected = getattr(np, operator)(number, x[::step])
            found = getattr(mx.np, function)(number, mx.np.array(x)[::step])
            assert_same(found, expected, exact=operator in ("add", "true_divide"))


@pytest.mark.parametrize("dtype", FLOATS)
def test_logaddexp_near_zero(dtype):
    """Where little is left of the larger operand."""
    a = np.linspace(-6, 1, 3001).astype(dtype)
    for distance in (0, 0.1, 1, 5, 50, 800):
        b = (a - distance).astype(dtype)
        exact = np.logaddexp(a.astype(np.longdouble), b.astype(np.longdouble))
        found = mx.np.logaddexp(a, b).asnumpy()
        np.testing.assert_allclose(
            found,
            exact.astype(dtype),
            1e-6 if dtype == "float32" else 1e-14,
            4 * np.finfo(dtype).eps,
        )
