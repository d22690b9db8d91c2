"""What elementwise operators convert, they convert in blocks: the values are those of whole arrays.

Whole arrays are converted by `astype`, before and after a call in which nothing is converted.
"""

import functools

import numpy as np
import pytest

import ffi
import mx

from .. import formulas
from .compare import DTYPES, quiet, sample

# So many that there are several blocks, and threads.
SIZE = 40_000
ALL_DTYPES = (*DTYPES, "bfloat16")
# Whose integers may not be negative.
POSITIVE = {"power", "left_shift", "right_shift"}
FURTHER = {
    "clip": (1, lambda x, out: mx.np.clip(x, 1, 3, out=out)),
    "round": (1, lambda x, out: mx.np.round(x, 1, out=out)),
}
OPERANDS = {operator.name: operator.operands for operator in formulas.operators()}
ELEMENTWISE = sorted({*OPERANDS, "round"} - {"where"})


def caller(name):
    """How many operands an operator has, and its call."""
    if name in FURTHER:
        return FURTHER[name]
    function = getattr(mx.np, name, None) or getattr(mx.npx, name)
    return OPERANDS[name], lambda *args: function(*args[:-1], out=args[-1])


def operands(name, dtypes, shapes=None):
    """Arrays of these types, with the numbers that an operator takes."""
    shapes = shapes or [(SIZE,)] * len(dtypes)
    given = []
    for seed, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True)):
        array = sample(shape, "float32" if dtype == "bfloat16" else dtype, seed)
        if name in POSITIVE and array.dtype.kind in "if":
            array = np.abs(array)
        given.append(mx.np.array(array).astype(dtype))
    return given


def assert_equal(found, expected):
    """The same bits, NaN apart."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    found, expected = found.asnumpy(), expected.asnumpy()
    if found.dtype.name == "bfloat16":
        found, expected = found.astype("float32"), expected.astype("float32")
    np.testing.assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@functools.cache
def takers(dtype):
    """The data types of `out` that a result of one fits into."""
    found, x = [], mx.np.ones(2, "int8").astype(dtype)
    for other in ALL_DTYPES:
        try:
            mx.np.maximum(x, x, out=mx.np.ones(2, other))
        except TypeError:
            continue
        found.append(other)
    return found


LAYOUTS = {
    "dense": lambda array: array,
    "every other": lambda array: mx.np.zeros(2 * array.size, dtype=array.dtype)[::2],
    "reversed": lambda array: mx.np.zeros(array.size, dtype=array.dtype)[::-1],
}


def test_all_elementwise_operators_are_compared():
    is_elementwise = ffi.get_global_func("testing.is_elementwise")
    names = [n for n in ffi.list_global_func_names() if n.startswith(("_npi.", "_npx."))]
    found = {n.partition(".")[2] for n in names if is_elementwise(ffi.get_global_func(n))}
    assert found - {"where"} == set(ELEMENTWISE)


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_out_of_every_type(name, dtype):
    count, call = caller(name)
    given = operands(name, [dtype] * count)
    with quiet():
        try:
            result = call(*given, None)
        except TypeError:
            return
        for other in takers(result.dtype):
            expected = result.astype(other)
            for layout in LAYOUTS.values():
                out = layout(expected)
                assert call(*given, out) is out
                assert_equal(out, expected)


PAIRS = [("int8", "int64"), ("float32", "float64"), ("int32", "float16")]


@pytest.mark.parametrize("name", [name for name in ELEMENTWISE if caller(name)[0] == 2])
@pytest.mark.parametrize(
    "dtypes", [("int8", "int64"), ("float32", "float64"), ("int32", "float16")]
)
def test_operands_of_several_types(name, dtypes):
    count, call = caller(name)
    given = operands(name, dtypes)
    common = np.result_type(*dtypes).name
    with quiet():
        try:
            expected = call(*(array.astype(common) for array in given), None)
        except TypeError:
            with pytest.raises(TypeError):
                call(*given, None)
            return
        for pair in (given, given[::-1]) if name in ("add", "maximum", "equal") else (given,):
            assert_equal(call(*pair, None), expected)
        spread = mx.np.zeros((3, SIZE), dtype=expected.dtype)
        call(*given, spread[1])
        assert_equal(spread[1], expected)
        assert not spread[::2].any()


SHAPES = [
    ((300, 200), (200,)),
    ((300, 1), (1, 200)),
    ((300, 1), (300, 200)),
    ((5, 1, 3000, 3), (1, 4, 1, 3)),
    ((2, 3, 7, 1001), ()),
    ((2, 3, 7, 1001), (1, 1)),
    ((9000, 7), (9000, 1)),
]
ORDERS = [
    lambda shape, dtype: mx.np.zeros(shape, dtype),
    lambda shape, dtype: mx.np.zeros(shape[::-1], dtype).T,
    lambda shape, dtype: mx.np.zeros((*shape[:-1], 3 * shape[-1]), dtype)[..., ::3],
    lambda shape, dtype: mx.np.zeros((2, *shape), dtype)[1, ::-1],
]


@pytest.mark.parametrize("name", ["add", "power", "less", "arctan2"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_broadcasting_and_order_in_memory(name, shapes):
    call = caller(name)[1]
    for dtypes in (("float32", "float32"), ("int32", "float32"), ("float32", "int64")):
        given = operands(name, dtypes, shapes)
        common = np.result_type(*dtypes).name
        with quiet():
            expected = call(*(array.astype(common) for array in given), None)
            for other in takers(expected.dtype)[-2:]:
                for order in ORDERS:
                    out = order(expected.shape, other)
                    call(*given, out)
                    assert_equal(out, expected.astype(other))


@pytest.mark.parametrize("exponents", [(SIZE,), (1,), (), (200, 1), (200, 200)])
def test_power_of_half_knows_one_exponent_for_all(exponents):
    """It is the square root, of -0 and of -infinity, too; one in each row is not."""
    shape = (200, 200) if exponents[-1:] != (SIZE,) else (SIZE,)
    bases = mx.np.full(shape, -np.inf, dtype="float32")
    given = mx.np.full(exponents, 0.5, dtype="float16")
    expected = mx.np.power(bases, given.astype("float32"))
    assert mx.np.isnan(expected).all().item() == (given.size == 1)
    assert_equal(mx.np.power(bases, given), expected)
    out = mx.np.zeros(shape, dtype="float64")
    assert_equal(mx.np.power(bases, given, out=out), expected.astype("float64"))


OVERLAPS = {
    # of an array of float32, an operand and out
    "out is an operand": lambda x: (x[:-1], x[:-1]),
    "out is further on": lambda x: (x[:-1], x[1:]),
    "out is further back": lambda x: (x[1:], x[:-1]),
    "out is reversed": lambda x: (x[:-1], x[:-1][::-1]),
    "out is every other": lambda x: (x[: SIZE // 2], x[: 2 * (SIZE // 2) : 2]),
}


@pytest.mark.parametrize("name", ["add", "power", "clip", "round", "negative", "floor_divide"])
@pytest.mark.parametrize("overlap", OVERLAPS)
def test_out_overlaps_an_operand(name, overlap):
    count, call = caller(name)
    for other in ("float64", "int16", "float16", "float32"):
        memory = operands(name, ["float32"], [(SIZE,)])[0]
        x, out = OVERLAPS[overlap](memory)
        second = operands(name, [other], [x.shape])
        given = [x, *second][:count]
        with quiet():
            result = call(*(array.copy() for array in given), None)
            if result.dtype.kind != "f":
                continue
            expected = result.astype("float32")
            untouched = memory.copy()
            OVERLAPS[overlap](untouched)[1][...] = expected
            call(*given, out)
        assert_equal(memory, untouched)


REINTERPRETED = {
    # of an array of complex64, an operator, its operand and its out
    "of another kind": lambda z: (mx.np.isnan, z.real, z.real.view("int32")),
    "of another size": lambda z: (mx.np.square, z.real, z.view("float64")),
    "a part of each element": lambda z: (mx.np.absolute, z, z.imag),
    "elements of which each is a part": lambda z: (mx.np.negative, z.imag, z),
    "of other positions": lambda z: (mx.np.square, z.view("float32")[:SIZE], z.view("float64")),
}


@pytest.mark.parametrize("case", REINTERPRETED)
def test_out_is_other_numbers_in_the_memory_of_an_operand(case):
    (memory,) = operands("add", ["complex64"])
    copy = memory.copy()
    function, x, out = REINTERPRETED[case](memory)
    _, x_of_copy, out_of_copy = REINTERPRETED[case](copy)
    out_of_copy[...] = function(x_of_copy.copy())
    function(x, out=out)
    assert_equal(memory, copy)


def test_negative_exponents_are_rejected_before_anything_is_written():
    exponents = mx.np.ones(SIZE, dtype="int16")
    exponents[-1] = -1
    for given in (exponents, exponents.astype("int64")):
        out = mx.np.zeros(SIZE, dtype="float64")
        with pytest.raises(ValueError, match="Integers to negative integer powers"):
            mx.np.power(mx.np.full(SIZE, 2, dtype="int64"), given, out=out)
        assert not out.any()


@pytest.mark.unobserved  # of numbers that clip rejects infer tells nothing
def test_limits_are_rejected_before_anything_is_written():
    out = mx.np.zeros(SIZE, dtype="float64")
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
        mx.np.clip(mx.np.ones(SIZE, dtype="int8"), 300, 400, out=out)
    assert not out.any()


BAD_OUT = [
    (
        lambda: mx.np.zeros(SIZE, dtype="int64"),
        TypeError,
        r"Cannot cast output from dtype\('float64'\)",
    ),
    (lambda: mx.np.zeros(SIZE - 1, dtype="float64"), ValueError, "has shape"),
    (lambda: mx.np.broadcast_to(mx.np.zeros(1, dtype="float64"), SIZE), ValueError, "is read-only"),
]


@pytest.mark.parametrize(("make", "kind", "message"), BAD_OUT)
def test_errors_are_those_of_few_elements(make, kind, message):
    x, y = operands("add", ["float32", "float64"])
    for second in (y, 1.0):
        first = x if second is y else y
        with pytest.raises(kind, match=message):
            mx.np.add(first, second, out=make())
