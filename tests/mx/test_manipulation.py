"""Shapes, joins and axes."""

import numpy as np
import pytest

import mx

from .compare import DTYPES, assert_same, assert_same_error, sample

# Function, shape of the array, further arguments; NumPy says what comes out, or which error.
CASES = [
    ("reshape", (2, 3, 4), ((6, 4),)),
    ("reshape", (2, 3, 4), (-1,)),
    ("reshape", (2, 3, 4), ((4, -1, 2),)),
    ("reshape", (), ((1, 1),)),
    ("reshape", (0, 3), ((3, 0),)),
    ("reshape", (2, 3), ((4, 2),)),
    ("reshape", (2, 3), ((-1, -1),)),
    ("reshape", (2, 3), ((4, -1),)),
    ("reshape", (0, 3), ((0, -1),)),
    ("transpose", (2, 3, 4), ()),
    ("transpose", (2, 3, 4), ((1, 0, 2),)),
    ("transpose", (2, 3, 4), ((-1, 0, 1),)),
    ("transpose", (2, 3), ((0, 0),)),
    ("transpose", (2, 3), ((0,),)),
    ("transpose", (2, 3), ((0, 2),)),
    ("swapaxes", (2, 3, 4), (0, -1)),
    ("swapaxes", (2, 3, 4), (0, 3)),
    ("moveaxis", (2, 3, 4), (0, -1)),
    ("moveaxis", (2, 3, 4), ((0, 1), (-1, 0))),
    ("squeeze", (1, 3, 1), ()),
    ("squeeze", (1, 3, 1), (0,)),
    ("squeeze", (1, 3, 1), ((0, -1),)),
    ("squeeze", (1, 3, 1), (1,)),
    ("squeeze", (1, 3, 1), (3,)),
    ("expand_dims", (2, 3), (0,)),
    ("expand_dims", (2, 3), (-1,)),
    ("expand_dims", (2, 3), ((0, 3),)),
    ("expand_dims", (2, 3), (4,)),
    ("broadcast_to", (3,), ((2, 3),)),
    ("broadcast_to", (2, 1), ((4, 2, 5),)),
    ("broadcast_to", (), ((2, 2),)),
    ("broadcast_to", (3,), ((2, 4),)),
    ("broadcast_to", (3, 1), ((3,),)),
    ("ravel", (2, 3), ()),
    ("flip", (2, 3), ()),
    ("flip", (2, 3), (1,)),
    ("roll", (2, 3), (1,)),
    ("roll", (2, 3), (-1, 1)),
    ("repeat", (2, 3), (2,)),
    ("repeat", (2, 3), (2, 1)),
    ("repeat", (3, 4), ([1, 0, 2], 0)),
    ("repeat", (3, 4, 2), ([0, 3, 1, 2], 1)),
    ("repeat", (3, 4), (0, 1)),
    ("repeat", (3, 0), (2, 0)),
    ("repeat", (), (3,)),
    ("repeat", (3, 4), ([1, 2], 0)),
    ("repeat", (3,), ([1, -1, 2],)),
    ("tile", (2, 3), (2,)),
    ("tile", (2, 3), ((2, 1, 2),)),
    ("tril", (3, 4), ()),
    ("triu", (3, 4), (1,)),
    ("cumsum", (2, 3), ()),
    ("cumsum", (2, 3), (1,)),
    ("sort", (4, 3), ()),
    ("sort", (4, 3), (0,)),
    ("argsort", (5,), ()),
    ("unique", (4, 3), ()),
    ("diag", (3, 4), ()),
    ("diag", (3,), (1,)),
    ("diag", (2, 3, 4), ()),
    ("take", (4, 3), ([0, -1, 2],)),
    ("take", (4, 3), ([[0, 1], [2, 0]], 1)),
    ("take", (4, 3), ([7], 0)),
]


def check(name, arguments):
    function, oracle = getattr(mx.np, name), getattr(np, name)
    given = [convert(argument) for argument in arguments]
    try:
        expected = oracle(*arguments)
    except (ValueError, TypeError, IndexError):
        assert_same_error(lambda: function(*given), lambda: oracle(*arguments))
    else:
        assert_same(function(*given), expected)


def convert(argument):
    """NumPy's arrays, also in a sequence, as mx's."""
    if isinstance(argument, np.ndarray):
        return mx.np.array(argument)
    if isinstance(argument, (list, tuple)):
        return type(argument)(map(convert, argument))
    return argument


@pytest.mark.parametrize(("name", "shape", "arguments"), CASES)
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128"])
def test_function(name, shape, arguments, dtype):
    check(name, [sample(shape, dtype), *arguments])


@pytest.mark.parametrize("name", ["reshape", "transpose", "squeeze", "ravel"])
def test_methods_take_both_forms(name):
    array = sample((1, 2, 6), "float64")
    given = mx.np.array(array)
    forms = {
        "reshape": [(3, 4), ((3, 4),), ([3, 4],), (-1,), (12,), ((-1, 2),)],
        "transpose": [(), (2, 0, 1), ((2, 0, 1),), (None,), ([2, 0, 1],)],
        "squeeze": [(), (0,)],
        "ravel": [()],
    }
    for arguments in forms[name]:
        expected = getattr(array, name)(*arguments)
        assert_same(getattr(given, name)(*arguments), expected)


VIEWS = [
    ("reshape", ((4, 3),)),
    ("reshape", ((2, 2, 3),)),
    ("transpose", ()),
    ("swapaxes", (0, 1)),
    ("expand_dims", (1,)),
    ("squeeze", ()),
    ("broadcast_to", ((2, 3, 4),)),
]


@pytest.mark.parametrize(("name", "arguments"), VIEWS)
def test_views_share_memory(name, arguments):
    array = mx.np.zeros((3, 4))
    result = getattr(mx.np, name)(array, *arguments)
    assert mx.np.shares_memory(result, array)
    array[0, 0] = 5
    assert result.asnumpy().ravel()[0] == 5


def test_a_reshape_that_cannot_be_a_view_copies():
    array = mx.np.array(np.arange(6).reshape(2, 3))
    result = array.T.reshape(-1)
    assert_same(result, np.arange(6).reshape(2, 3).T.reshape(-1))
    assert not mx.np.shares_memory(result, array)


def test_a_view_keeps_the_memory_alive():
    view = mx.np.arange(6, dtype="int64").reshape(2, 3)[1]
    mx.np.full((6,), 9, dtype="int64")
    assert view.tolist() == [3, 4, 5]


JOINS = [
    ("concatenate", [(2, 3), (4, 3)], ()),
    ("concatenate", [(2, 3), (2, 1)], (1,)),
    ("concatenate", [(2, 3), (2, 1)], (-1,)),
    ("concatenate", [(2, 3), (2, 1)], (None,)),
    ("concatenate", [(0,), (3,)], ()),
    ("concatenate", [(2, 3)], ()),
    ("concatenate", [(2, 3), (2, 2)], ()),
    ("concatenate", [(2, 3), (3,)], ()),
    ("concatenate", [(2, 3), (2, 3)], (2,)),
    ("concatenate", [(), ()], ()),
    ("concatenate", [], ()),
    ("stack", [(2, 3), (2, 3)], ()),
    ("stack", [(2, 3), (2, 3)], (1,)),
    ("stack", [(2, 3), (2, 3)], (-1,)),
    ("stack", [(), ()], ()),
    ("stack", [(2,), (3,)], ()),
    ("stack", [(2,), (2,)], (2,)),
    ("stack", [], ()),
    ("vstack", [(3,), (2, 3)], ()),
    ("hstack", [(2, 3), (2, 1)], ()),
]


@pytest.mark.parametrize("container", [list, tuple])
@pytest.mark.parametrize(("name", "shapes", "arguments"), JOINS)
def test_joins(name, shapes, arguments, container):
    parts = [sample(shape, "float64", seed) for seed, shape in enumerate(shapes)]
    check(name, [container(parts), *arguments])


@pytest.mark.parametrize("second", DTYPES)
@pytest.mark.parametrize("first", DTYPES)
@pytest.mark.parametrize("name", ["concatenate", "stack"])
def test_joins_promote(name, first, second):
    parts = [sample((3,), first), sample((3,), second, 1)]
    check(name, [parts])


@pytest.mark.parametrize("name", ["split", "array_split"])
@pytest.mark.parametrize(
    ("sections", "axis"), [(2, 0), (3, 1), ([1, 3], 0), ((2,), 1), (1, 0), (5, 0), ([9], 0)]
)
def test_splits(name, sections, axis):
    array = sample((4, 6), "float64")
    try:
        expected = getattr(np, name)(array, sections, axis)
    except ValueError:
        with pytest.raises(ValueError):
            getattr(mx.np, name)(array, sections, axis)
    else:
        result = getattr(mx.np, name)(array, sections, axis)
        assert len(result) == len(expected)
        for part, oracle in zip(result, expected, strict=True):
            assert_same(part, oracle)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("counts", "axis"), [(3, None), (2, 1), ([2, 0, 1, 3], 2), ([1, 3, 2], 1)])
def test_repeat_of_views(counts, axis, dtype):
    array = sample((4, 3, 2), dtype)
    for view in (lambda x: x.T, lambda x: x.T[::-1, :, ::-1]):
        expected = np.repeat(view(array), counts, axis)
        assert_same(mx.np.repeat(view(mx.np.array(array)), counts, axis), expected)


@pytest.mark.parametrize("length", [5, 40, 300])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[::-1], lambda x: x[::2]])
def test_order_of_bools_of_any_byte(view, length):
    bytes_ = np.resize(np.array([0, 255, 1, 128, 2, 0, 3, 0], "uint8"), length)
    true = view(bytes_ != 0)
    for odd in (view(mx.np.array(bytes_).view("bool")), view(bytes_.view("bool"))):
        assert_same(mx.np.sort(odd), np.sort(true))
        assert_same(mx.np.argsort(odd), np.argsort(true, kind="stable"))
        assert_same(mx.np.unique(odd), np.unique(true))
        assert_same(mx.np.sort(mx.np.reshape(odd, (1, -1)), axis=0), true[None])


@pytest.mark.parametrize("dtype", DTYPES)
def test_nonzero_and_argsort(dtype):
    array = np.array([[0, 2, 0], [3, 0, 1]]).astype(dtype)
    for found, oracle in zip(mx.np.array(array).nonzero(), array.nonzero(), strict=True):
        assert_same(found, oracle)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize(
    "dtypes",
    [
        ("uint16", "int16", "complex64"),
        ("uint8", "int8", "float16"),
        ("uint64", "int64", "float32"),
        ("bool", "int8", "uint8"),
    ],
)
@pytest.mark.parametrize("name", ["concatenate", "stack", "clip"])
def test_the_type_of_three_does_not_depend_on_their_order(name, dtypes, order):
    arrays = [np.ones(2, dtypes[i]) for i in order]
    given = [mx.np.array(array) for array in arrays]
    if name == "clip":
        assert_same(mx.np.clip(*given), np.clip(*arrays))
    else:
        assert_same(getattr(mx.np, name)(given), getattr(np, name)(arrays))


@pytest.mark.parametrize(
    "view",
    [
        *(
            lambda a: a[:1],
            lambda a: a[:, :2],
            lambda a: a.T,
            lambda a: a[::-1],
            lambda a: a[:, :1],
        ),
        *(lambda a: a[::2, :1], lambda a: a[0, ::2], lambda a: a[:, ::3], lambda a: a[1:, :0]),
    ],
)
def test_ravel_is_a_view_where_that_of_numpy_is(view):
    arrays = np.zeros((3, 4)), mx.np.zeros((3, 4), dtype="float64")
    flat = [side.ravel(view(array)) for side, array in zip((np, mx.np), arrays, strict=True)]
    for array in arrays:
        array[...] = 1
    assert_same(flat[1], flat[0])
    assert not flat[0].size or flat[1].strides == flat[0].strides


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.ones(6, dtype="float64").reshape((4, -1)),
        lambda m: m.ones(4, dtype="float64").reshape((-1, 3)),
        lambda m: m.ones(4, dtype="float64").reshape((3,)),
        lambda m: m.reshape(m.ones(12, dtype="float64"), (m.array(2), 6)),
        lambda m: m.zeros((m.array(2), 2), dtype="float64"),
        lambda m: m.expand_dims(m.ones(3, dtype="float64"), (m.array(0),)),
        lambda m: m.split(m.ones(6, dtype="float64"), [m.array(2)])[0],
        lambda m: m.zeros((3, 0), dtype="int8").view("int64"),
        lambda m: m.roll(m.ones((2, 3), dtype="float64"), (), 0),
        lambda m: m.roll(m.ones((2, 3), dtype="float64"), 1, ()),
        lambda m: m.roll(m.ones((2, 3), dtype="float64"), (), 2),
        lambda m: m.roll(m.ones((2, 3), dtype="float64"), (1, 2), (0, 1, 0)),
        lambda m: m.full_like([1, 300], 1, dtype="int8"),
        lambda m: m.full_like([1j], 1, dtype="float64"),
        lambda m: m.trace(m.ones((2, 3, 4), dtype="int8"), 1, 0, 2),
        lambda m: m.trace(m.ones((2, 3), dtype="float64"), -1, dtype="int32"),
        lambda m: m.trace(m.ones(2)),
    ],
)
def test_rare_arguments_as_numpy_takes_them(call):
    try:
        expected = call(np)
    except Exception as error:
        with pytest.raises(type(error)):
            call(mx.np)
    else:
        assert_same(call(mx.np), expected)


def test_reshape_tells_the_shape_that_was_given():
    with pytest.raises(ValueError, match=r"array of size 6 into shape \(4,newaxis\)"):
        mx.np.ones(6).reshape((4, -1))
    with pytest.raises(ValueError, match=r"array of size 4 into shape \(3,\)"):
        mx.np.ones(4).reshape(3)
