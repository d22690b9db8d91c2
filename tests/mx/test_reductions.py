"""Reductions along every combination of axes."""

import numpy as np
import pytest

import mx
from mx.op import TensorSpec, infer

from .compare import BFLOAT16, DTYPES, assert_same, assert_same_error, quiet, sample

SHAPE = (2, 3, 4)
AXES = [None, 0, 1, -1, (0,), (0, 2), (2, 1), (0, 1, 2), ()]
LAYOUTS = [lambda x: x, lambda x: x.T, lambda x: x[::-1, :, ::2], lambda x: x[:, ::-3]]
REDUCTIONS = ["sum", "prod", "mean", "max", "min", "all", "any"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(name, axis, keepdims, dtype):
    array = sample(SHAPE, dtype)
    with quiet():
        expected = getattr(np, name)(array, axis=axis, keepdims=keepdims)
    exact = name not in {"sum", "prod", "mean"}
    assert_same(
        getattr(mx.np, name)(mx.np.array(array), axis=axis, keepdims=keepdims), expected, exact
    )
    method = getattr(mx.np.array(array), name)
    assert_same(method(axis=axis, keepdims=keepdims), expected, exact)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_position(name, axis, keepdims, dtype):
    array = sample(SHAPE, dtype)
    expected = getattr(np, name)(array, axis=axis, keepdims=keepdims)
    assert_same(getattr(mx.np, name)(array, axis=axis, keepdims=keepdims), expected)


@pytest.mark.parametrize("name", [*REDUCTIONS, "argmax", "argmin"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_nan_wins(name, axis):
    array = np.array([[1.0, np.nan, 3.0], [np.nan, 5.0, -1.0]])
    assert_same(getattr(mx.np, name)(array, axis=axis), getattr(np, name)(array, axis=axis))


# Rows and columns about as many as a register, a step and a tile of a loop have.
LONG_SHAPES = [(1, 9), (2, 5), (3, 64), (4, 17), (9, 1100), (37, 33), (300, 7), (2, 40, 300)]
LONG_LAYOUTS = [lambda x: x, lambda x: x[..., ::2], lambda x: x.T, lambda x: x[::-1]]


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
@pytest.mark.parametrize("name", ["prod", "mean", "std"])
def test_columns_of_long_rows(name, dtype):
    random = np.random.default_rng(0)
    for shape in (*LONG_SHAPES, (11, 2300), (1000, 130)):
        array = random.integers(1, 3 if shape[0] < 50 else 2, shape).astype(dtype)
        for layout in LONG_LAYOUTS:
            laid_out, ours = layout(array), layout(mx.np.array(array))
            with quiet():
                expected = getattr(np, name)(laid_out, 0)
            result = getattr(mx.np, name)(ours, 0).asnumpy()
            np.testing.assert_allclose(result, expected, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sum", "max", "min", "all", "any", "argmax", "argmin", "cumsum"])
def test_long_rows_and_columns(name, dtype):
    random = np.random.default_rng(0)
    for shape in LONG_SHAPES:
        for most in (2, 100):
            array = random.integers(0, most, shape).astype(dtype)
            if name == "all":
                array[array == 0] = random.integers(0, 20) != 0
            if array.dtype.kind in "fc" and most == 100:
                array[random.uniform(size=shape) < 0.01] = np.nan
            for layout in LONG_LAYOUTS:
                laid_out, ours = layout(array), layout(mx.np.array(array))
                for axis in (None, *range(array.ndim)):
                    with quiet():
                        expected = getattr(np, name)(laid_out, axis)
                    exact = name not in {"sum", "cumsum"}
                    assert_same(getattr(mx.np, name)(ours, axis), expected, exact)


# Of more memory than caches hold, where rows are asked for ahead; one is short of rows for that.
FAR_SHAPES = [(131, 4100), (3, 130_000), (1001, 520), (2, 67, 4100)]
FAR_NAMES = ["max", "min", "sum", "mean", "std", "all", "argmax", "cumsum"]
FAR_LAYOUTS = [
    lambda x: x,
    lambda x: x[..., ::2],
    lambda x: x[::-1, ..., ::-2],
    lambda x: x[..., :130],
    lambda x: x[..., 5::41],
    lambda x: x[:, ::-1],
    lambda x: x.T,
]


@pytest.mark.parametrize("shape", FAR_SHAPES)
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_rows_that_are_far_apart(dtype, shape):
    """With the extremes of integers, NaN, infinities and zeros of both signs among them."""
    random = np.random.default_rng(0)
    array = random.integers(-100, 100, shape).astype(dtype)
    if dtype == "int64":
        rare = [np.iinfo(dtype).min, np.iinfo(dtype).max, 2**53 + 1]
    else:
        rare = [np.nan, -0.0, 0.0, np.inf]
    is_rare = random.uniform(size=shape) < 1e-4
    array[is_rare] = random.choice(np.array(rare, dtype), is_rare.sum())
    # Where integers are added as floats, large ones of both signs would leave what is rounded.
    moments = {"mean": array.clip(-100), "std": array.clip(-100)} if dtype == "int64" else {}
    ours = {name: mx.np.array(moments.get(name, array)) for name in FAR_NAMES}
    for layout in FAR_LAYOUTS:
        for axis in (0, *(((0, 1), 1) if len(shape) == 3 else ())):
            for name in FAR_NAMES:
                if isinstance(axis, tuple) and name in {"argmax", "cumsum"}:
                    continue
                with quiet():
                    expected = getattr(np, name)(layout(moments.get(name, array)), axis)
                result = getattr(mx.np, name)(layout(ours[name]), axis)
                assert result.dtype == expected.dtype
                if name in {"sum", "mean", "std", "cumsum"} and result.dtype.kind == "f":
                    rtol = 1e-4 if dtype == "float32" else 1e-11
                    np.testing.assert_allclose(result.asnumpy(), expected, rtol, rtol * 1000)
                else:
                    np.testing.assert_array_equal(result.asnumpy(), expected)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name[0] != "c"])
def test_positions_in_lines(dtype):
    """The first of the extremes wherever it is in a line, and the first NaN before it."""
    for length in (*range(1, 70), 255, 256, 257, 5000, 20_000):
        array = np.arange(length).astype(dtype) % 2
        for at in {0, length // 3, length // 2, length - 1}:
            for value in (7, -7, np.nan) if array.dtype.kind == "f" else (7,):
                line = array * 2
                line[at:] = np.where(np.arange(length - at) % 5 == 0, value, line[at:])
                line = line.astype(dtype)
                ours = mx.np.array(line)
                for name in ("argmax", "argmin", "max", "min"):
                    expected = getattr(np, name)(line)
                    assert_same(getattr(mx.np, name)(ours), expected)


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name[0] != "c"])
def test_positions_in_rows_that_lie_apart(dtype):
    """Short rows, which are brought together first, and longer ones; of floats some have NaN."""
    random = np.random.default_rng(0)
    for length in (5, 17, 64, 128, 129):
        array = random.integers(0, 9, (2, 4, 2 * length)).astype(dtype)
        if array.dtype.kind == "f":
            array[1, ::2, length::3] = np.nan
        for view in (lambda x: x[..., ::2], lambda x: x[..., ::-2], lambda x: x[:, 1:3, 1::2]):
            for axis in (-1, 2, 1):
                for name in ("argmax", "argmin"):
                    expected = getattr(np, name)(view(array), axis)
                    assert_same(getattr(mx.np, name)(view(mx.np.array(array)), axis), expected)
                    found = getattr(mx.np, name)(view(mx.np.array(array)), axis, keepdims=True)
                    assert_same(found, np.expand_dims(expected, axis))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (0, 0), (2, 0, 0)])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", [*REDUCTIONS, "argmax", "argmin"])
def test_nothing_to_reduce(name, axis, shape):
    array = np.zeros(shape)
    function, oracle = getattr(mx.np, name), getattr(np, name)
    with quiet():
        try:
            expected = oracle(array, axis=axis)
        except ValueError:
            assert_same_error(lambda: function(array, axis=axis), lambda: oracle(array, axis=axis))
        else:
            assert_same(function(array, axis=axis), expected)


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
@pytest.mark.parametrize("target", ["float32", "float64", "int64", "complex128"])
@pytest.mark.parametrize("source", ["int8", "float16", "float32", "float64"])
def test_dtype_of_the_result(name, source, target):
    array = sample(SHAPE, source)
    expected = getattr(np, name)(array, axis=1, dtype=target)
    assert_same(getattr(mx.np, name)(array, axis=1, dtype=target), expected, exact=False)


@pytest.mark.parametrize("target", ["float32", "float64", "int64", "complex64", "complex128"])
@pytest.mark.parametrize("source", ["bool", "uint8", "int32", "float16", "float32", "complex64"])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "cumsum", "cumprod", "trace"])
def test_a_wider_out_is_computed_in(name, source, target):
    """The source's own type would lose the 1 beside a number that is as large as it has bits."""
    large = 2**11 if source == "float16" else 2**24
    values = np.array([[3, large, 0], [1, 1, 5], [0, 2, 1 - large]])
    array = np.concatenate([values.astype(source)] * 2, axis=1)
    given = {} if name == "trace" else {"axis": 0}
    with quiet():
        result = getattr(np, name)(array, **given)
        if not np.can_cast(result.dtype, target, "same_kind"):
            with pytest.raises(TypeError, match=f"'out'.: Cannot cast output .* to .*{target}"):
                getattr(mx.np, name)(array, **given, out=mx.np.empty(result.shape, dtype=target))
            return
        out = np.empty(result.shape, target)
        getattr(np, name)(array, **given, out=out)
    ours = mx.np.empty(result.shape, dtype=target)
    assert getattr(mx.np, name)(array, **given, out=ours) is ours
    (told,) = infer(getattr(mx.np, name), array, **given, out=TensorSpec(result.shape, target))
    assert (told.shape, told.dtype) == (ours.shape, ours.dtype)
    is_narrower = np.promote_types(result.dtype, target) != target
    assert_same(ours, out, exact=not is_narrower and name != "mean")


def test_out_of_a_type_does_not_decide_where_one_is_asked_for():
    out = mx.np.empty((), dtype="float64")
    mx.np.sum([1.0, 2.0**24, -(2.0**24)], dtype="float32", out=out)
    assert out == np.sum(np.array([1, 2.0**24, -(2.0**24)], "float32"))


@pytest.mark.parametrize("target", ["bool", "int8", "uint8", "int32", "uint32", "float16"])
@pytest.mark.parametrize("source", ["bool", "int8", "uint8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("shape", [(4, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize("name", ["sum", "prod", "trace"])
def test_a_dtype_narrower_than_that_of_the_total(name, shape, source, target):
    array = sample(shape, source)
    given = {"dtype": target} if name == "trace" else {"dtype": target, "axis": 1}
    with quiet():
        expected = getattr(np, name)(array, **given)
    assert_same(getattr(mx.np, name)(mx.np.array(array), **given), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2), (1, 2), ()])
@pytest.mark.parametrize("source", ["bool", "uint8", "int16", "int64", "float16", "complex64"])
@pytest.mark.parametrize("name", ["mean", "var", "sum"])
def test_converted_elements(name, source, axis, layout):
    array = sample((5, 300, 7), source)
    dtype = "complex128" if source == "complex64" else "float64"
    expected = getattr(np, name)(layout(array), axis=axis, dtype=dtype)
    if name == "var":
        expected = expected.real
    for given in (layout(mx.np.array(array)), layout(array)):
        found = getattr(mx.np, name)(given, axis=axis, dtype=dtype)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_cumsum(axis, dtype):
    array = sample(SHAPE, dtype)
    assert_same(mx.np.cumsum(array, axis=axis), np.cumsum(array, axis=axis), exact=False)


@pytest.mark.parametrize("layout", [*LAYOUTS, lambda x: np.broadcast_to(x[:, :1], x.shape)])
@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize(
    ("source", "dtype", "target"),
    [
        ("bool", None, "int8"),
        ("int16", None, "int32"),
        ("float64", None, "float16"),
        ("float32", "float64", "float32"),
        ("float32", "float16", "float32"),
        ("complex64", "complex128", "complex64"),
    ],
)
@pytest.mark.parametrize("shape", [(), (1,), (4, 0, 2), (5, 1, 1), (40, 300, 5)])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans_into_out_of_another_type(name, shape, source, dtype, target, axis, layout):
    """They convert what they compute in blocks: as if it was converted as a whole."""
    array = sample(shape, source)
    if len(shape) == 3:
        array = layout(array)
    elif axis:
        return
    given = {"axis": axis, "dtype": dtype}
    with quiet():
        expected = getattr(mx.np, name)(array, **given)
        out = mx.np.empty(expected.shape, dtype=target)
        assert getattr(mx.np, name)(array, **given, out=out) is out
        np.testing.assert_array_equal(out.asnumpy(), expected.astype(target).asnumpy())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("axis", [None, 0, (0, 2)])
@pytest.mark.parametrize("name", ["var", "std"])
def test_moments(name, axis, ddof, dtype):
    array = sample(SHAPE, dtype)
    expected = getattr(np, name)(array, axis=axis, ddof=ddof)
    assert_same(getattr(mx.np.array(array), name)(axis=axis, ddof=ddof), expected, exact=False)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("source", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (2,), SHAPE])
@pytest.mark.parametrize("name", ["var", "std"])
def test_moments_of_complex_numbers_with_a_real_dtype(name, shape, source, dtype):
    array = sample(shape, source)
    axis = -1 if shape else None
    with quiet():
        expected = getattr(np, name)(array, axis=axis, dtype=dtype)
    found = getattr(mx.np.array(array), name)(axis=axis, dtype=dtype)
    assert_same(found, expected, exact=False)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ["sum", "max", "mean"])
def test_layouts(name, axis, layout):
    array = layout(sample((4, 5, 6), "float64"))
    assert_same(getattr(mx.np, name)(array, axis=axis), getattr(np, name)(array, axis=axis), False)


def test_long_sums_are_as_exact_as_numpys():
    ones = np.full(1 << 20, 0.1, dtype="float32")
    np.testing.assert_allclose(
        mx.np.sum(ones).item(), (1 << 20) * float(np.float32(0.1)), rtol=1e-5
    )
    np.testing.assert_allclose(mx.np.mean(ones).item(), float(np.float32(0.1)), rtol=1e-5)


def test_bfloat16():
    array = mx.np.full((100,), 1, dtype="bfloat16")
    assert_same(array.sum(), np.array(100, BFLOAT16))
    assert_same(array.mean(), np.array(1, BFLOAT16))
    assert_same(array.max(), np.array(1, BFLOAT16))


@pytest.mark.parametrize(
    ("name", "axis"),
    [("sum", 3), ("max", -4), ("mean", (0, 3)), ("argmax", 5), ("sum", (1, 1)), ("sum", (0, -3))],
)
def test_wrong_axes(name, axis):
    array = np.zeros(SHAPE)
    assert_same_error(
        lambda: getattr(mx.np, name)(array, axis=axis),
        lambda: getattr(np, name)(array, axis=axis),
    )


def test_an_axis_error_is_numpys():
    with pytest.raises(np.exceptions.AxisError, match=r"axis 3 is out of bounds .* dimension 2"):
        mx.np.sum(mx.np.zeros((2, 2)), axis=3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8"])
@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_rows_of_every_other_element_of_any_width(name, dtype):
    random = np.random.default_rng(0)
    for width in range(4, 70):
        rows = random.integers(0, 100, (9, 2 * width)).astype(dtype)
        if dtype.startswith("float"):
            rows[width % 9, 2 * (width // 2)] = np.nan
        expected = getattr(np, name)(rows[:, ::2], 0)
        found = getattr(mx.np, name)(mx.np.array(rows)[:, ::2], 0)
        np.testing.assert_array_equal(found.asnumpy(), expected)
