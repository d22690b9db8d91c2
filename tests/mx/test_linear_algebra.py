"""dot, matmul and tensordot in every form NumPy takes."""

import numpy as np
import pytest

import mx

from .compare import BFLOAT16, DTYPES, assert_same, assert_same_error, sample

PAIRS = {
    "dot": [
        *(((), ()), ((), (3,)), ((2, 3), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2))),
        *(((2, 3), (3, 4)), ((2, 3, 4), (4,)), ((2, 3, 4), (5, 4, 2)), ((0, 3), (3, 2))),
        *(((2, 0), (0, 3)), ((0,), (0,)), ((2, 3), (2, 3)), ((3,), (4,)), ((2, 3, 4), (4, 2, 4))),
    ],
    "matmul": [
        *(((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4))),
        *(
            ((2, 3), (5, 3, 4)),
            ((5, 2, 3), (5, 3, 4)),
            ((5, 1, 2, 3), (6, 3, 4)),
            ((3,), (5, 3, 2)),
        ),
        *(((5, 2, 3), (3,)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 1))),
        *(((), (3,)), ((3,), ()), ((2, 3), (2, 3)), ((2, 2, 3), (3, 3, 2)), ((3,), (2,))),
    ],
}
CASES = [(name, *shapes) for name, pairs in PAIRS.items() for shapes in pairs]


def check(function, oracle, *arguments):
    try:
        expected = oracle(*arguments)
    except (ValueError, TypeError, IndexError):
        assert_same_error(lambda: function(*arguments), lambda: oracle(*arguments))
    else:
        assert_same(function(*arguments), expected, exact=False)


@pytest.mark.parametrize(("name", "left", "right"), CASES)
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex64", "bool"])
def test_products(name, left, right, dtype):
    check(getattr(mx.np, name), getattr(np, name), sample(left, dtype), sample(right, dtype, 1))


@pytest.mark.parametrize("right", DTYPES)
@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("name", ["dot", "matmul"])
def test_promotion(name, left, right):
    arguments = sample((2, 3), left), sample((3, 2), right, 1)
    check(getattr(mx.np, name), getattr(np, name), *arguments)


LAYOUTS = {
    "transposed": lambda x: np.ascontiguousarray(x.T).T,
    "reversed": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "wide rows": lambda x: np.concatenate([x, x], 1)[:, : x.shape[1]],
    "every other": lambda x: np.repeat(np.repeat(x, 2, 0), 2, 1)[::2, ::2],
    "broadcast": lambda x: np.broadcast_to(x[:1], x.shape),
}


@pytest.mark.parametrize("second", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("first", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_layouts(first, second, dtype):
    arguments = first(sample((5, 7), dtype)), second(sample((7, 4), dtype, 1))
    assert_same(mx.np.matmul(*arguments), np.matmul(*arguments), exact=False)
    assert_same(mx.np.dot(*arguments), np.dot(*arguments), exact=False)
    assert_same(mx.np.tensordot(*arguments, 1), np.tensordot(*arguments, 1), exact=False)


TENSORDOT = [
    ((2, 3, 4), (3, 4, 5), 2),
    ((2, 3, 4), (4, 5), 1),
    ((2, 3), (4,), 0),
    ((2, 3), (2, 3), 2),
    ((3, 4, 5), (4, 3, 2), ((1, 0), (0, 1))),
    ((3, 4, 5), (4, 3, 2), ([1, 0], [0, 1])),
    ((3, 4, 5), (4, 3, 2), [[1, 0], [0, 1]]),
    ((3, 4, 5), (4, 3, 2), (1, 0)),
    ((3, 4, 5), (4, 3, 2), ((1,), (0,))),
    ((3, 4, 5), (4, 3, 5), ((-1,), (-1,))),
    ((3, 4, 5), (5, 4, 3), ((0, 1, 2), (2, 1, 0))),
    ((3, 4, 5), (2, 2), ((), ())),
    ((3, 0, 5), (0, 2), ((1,), (0,))),
    ((), (), 0),
    ((3, 4), (4, 3), 3),
    ((3, 4), (3, 4), 1),
    ((3, 4), (4, 3), ((0, 1), (1,))),
    ((3, 4), (4, 3), ((5,), (0,))),
    ((3, 4), (4, 3), -1),
]


@pytest.mark.parametrize(("left", "right", "axes"), TENSORDOT)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex64"])
def test_tensordot(left, right, axes, dtype):
    arguments = sample(left, dtype), sample(right, dtype, 1)
    try:
        expected = np.tensordot(*arguments, axes=axes)
    except (ValueError, IndexError):
        with pytest.raises((ValueError, IndexError)):
            mx.np.tensordot(*map(mx.np.array, arguments), axes=axes)
    else:
        assert_same(mx.np.tensordot(*map(mx.np.array, arguments), axes=axes), expected, exact=False)
        assert_same(mx.np.tensordot(*arguments, axes), expected, exact=False)


@pytest.mark.parametrize("name", ["inner", "outer", "vdot"])
@pytest.mark.parametrize("shapes", [((3,), (3,)), ((2, 3), (2, 3)), ((3,), (2,)), ((), ())])
@pytest.mark.parametrize("dtype", ["float64", "int32", "complex128"])
def test_other_products(name, shapes, dtype):
    arguments = [sample(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    check(getattr(mx.np, name), getattr(np, name), *arguments)


def test_default_axes_of_tensordot():
    arguments = sample((2, 3, 4), "float64"), sample((3, 4, 2), "float64", 1)
    assert_same(mx.np.tensordot(*arguments), np.tensordot(*arguments), exact=False)


@pytest.mark.parametrize("size", [64, 257])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_large(size, dtype):
    generator = np.random.default_rng(0)
    left, right = (generator.standard_normal((size, size)).astype(dtype) for _ in range(2))
    tolerance = (
        {"rtol": 1e-3, "atol": 1e-3} if dtype in ("float32", "complex64") else {"rtol": 1e-9}
    )
    np.testing.assert_allclose(mx.np.matmul(left, right).asnumpy(), left @ right, **tolerance)


# Of the last ones a result that is written past the caches, and one whose rows are no whole lines.
FEW_TERMS = [(128, 1, 128), (122, 5, 150), (2, 32, 8200), (1100, 31, 16)]
FEW_TERMS += [(1025, 3, 1040), (1025, 3, 1030)]


@pytest.mark.parametrize("shape", FEW_TERMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_large_of_few_terms(shape, layout):
    rows, terms, columns = shape
    generator = np.random.default_rng(0)
    left = LAYOUTS[layout](generator.standard_normal((rows, terms)).astype("float32"))
    right = generator.standard_normal((terms, columns)).astype("float32")
    for other in (right, LAYOUTS["wide rows"](right)):
        made = mx.np.matmul(left, other).asnumpy()
        np.testing.assert_allclose(made, left @ right, rtol=1e-4, atol=1e-4)


STEPS = [(1, 1), (2, 2), (1, -1), (3, 1)]


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_sums_of_many_products_of_integers(dtype, steps):
    """They wrap; elements that lie apart are brought together a part at a time."""
    random = np.random.default_rng(0)
    info = np.iinfo(dtype)
    for size in (1, 65, 1024, 2100, 4100, 8201):
        x, y = (random.integers(info.min, info.max, 3 * size, dtype, True) for _ in range(2))
        x, y = x[:: steps[0]][:size], y[:: steps[1]][:size]
        assert_same(mx.np.dot(x, y), np.dot(x, y))
        rows = np.stack([x, y, x])
        assert_same(mx.np.matmul(rows, y), np.matmul(rows, y))
        assert_same(mx.np.matmul(y, rows.T), np.matmul(y, rows.T))


@pytest.mark.parametrize("steps", [*STEPS, (-2, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_sums_of_many_products(dtype, steps):
    random = np.random.default_rng(0)
    for size in (1, 7, 65, 1031, 8201, 40_003):
        x, y = (random.standard_normal(3 * size).astype(dtype) for _ in range(2))
        x, y = x[:: steps[0]][:size], y[:: steps[1]][:size]
        expected = np.dot(x.astype("complex128"), y.astype("complex128"))
        error = abs(mx.np.dot(x, y).item() - expected)
        assert error <= np.finfo(dtype).eps * np.sum(np.abs(x * y))


def test_method_and_half_precision():
    left, right = sample((2, 3), "float64"), sample((3, 2), "float64", 1)
    assert_same(mx.np.array(left).dot(mx.np.array(right)), left.dot(right), exact=False)
    for dtype in ("float16", BFLOAT16):
        halves = [mx.np.array(x).astype(dtype) for x in (left, right)]
        wide = halves[0].asnumpy().astype("float32") @ halves[1].asnumpy().astype("float32")
        assert_same(mx.np.matmul(*halves), wide.astype(dtype))


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name[0] in "biu"])
def test_outer_of_integers(dtype):
    """Of few elements and of so many that threads share the rows, which wrap."""
    for m, n in ((2, 33), (300, 5), (130, 301)):
        a, b = (np.arange(2 * size).astype(dtype) for size in (m, n))
        for step in (1, 2, -1):
            left, right = a[::step][:m], b[::-step][:n]
            expected = np.outer(left, right)
            ours = mx.np.array(a)[::step][:m], mx.np.array(b)[::-step][:n]
            assert_same(mx.np.outer(*ours), expected)
            assert_same(mx.np.matmul(ours[0][:, None], ours[1][None]), expected)
