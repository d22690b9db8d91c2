"""The commonest calls that give views are answered at once; by name, they go the way of all."""

import weakref

import numpy
import pytest

import ffi
import mx
from ffi._backend import core

# A call that is observed goes the way of all, of which the other tests compare each with infer.
pytestmark = pytest.mark.unobserved

np = mx.np
BASE = np.arange(24, dtype="int16").reshape((2, 3, 4))
ARRAYS = {
    "three axes": BASE,
    "two axes": BASE[0],
    "one axis": BASE[0, 0],
    "no axes": np.array(7, dtype="float32"),
    "unit axes": BASE[:1, :, None, :1],
    "steps": BASE[:, ::-2, 1::2],
    "reversed": BASE.T,
    "read-only": np.broadcast_to(BASE[0], (5, 3, 4)),
    "nothing": np.zeros((0, 3)),
    "nothing in steps": np.zeros((4, 0, 3))[::2].T,
}
# The same call by position, as a method and by name.
CALLS = {
    "transpose": [np.transpose, lambda a: a.transpose(), lambda a: np.transpose(a=a)],
    "axes": [
        lambda a: np.transpose(a, (1, 0, -1)),
        lambda a: a.transpose(1, 0, -1),
        lambda a: a.transpose((1, 0, -1)),
        lambda a: np.transpose(a, axes=(1, 0, -1)),
    ],
    "repeated axes": [
        lambda a: np.transpose(a, (0, 0)),
        lambda a: a.transpose(0, 0),
        lambda a: np.transpose(a, axes=(0, 0)),
    ],
    "swapaxes": [
        lambda a: np.swapaxes(a, 0, -1),
        lambda a: a.swapaxes(0, -1),
        lambda a: np.swapaxes(a, axis1=0, axis2=-1),
    ],
    "mT": [lambda a: a.mT, lambda a: np.swapaxes(a, axis1=-1, axis2=-2)],
    "squeeze": [np.squeeze, lambda a: a.squeeze(), lambda a: np.squeeze(a=a)],
    "ravel": [np.ravel, lambda a: a.ravel(), lambda a: np.ravel(a=a)],
    "reshape": [
        lambda a: np.reshape(a, (-1, 2)),
        lambda a: a.reshape(-1, 2),
        lambda a: a.reshape((-1, 2)),
        lambda a: np.reshape(a, shape=(-1, 2)),
    ],
    "reshape to one axis": [
        lambda a: np.reshape(a, -1),
        lambda a: a.reshape(-1),
        lambda a: np.reshape(a, shape=-1),
    ],
    "reshape to another size": [
        lambda a: np.reshape(a, (5, 5)),
        lambda a: a.reshape(5, 5),
        lambda a: np.reshape(a, shape=(5, 5)),
    ],
    "an extent beyond 64 bits": [
        lambda a: np.reshape(a, (2, 2**64)),
        lambda a: a.reshape(2, 2**64),
        lambda a: np.reshape(a, shape=(2, 2**64)),
    ],
    "two unknown extents": [
        lambda a: np.reshape(a, (-1, -1)),
        lambda a: a.reshape(-1, -1),
        lambda a: np.reshape(a, shape=(-1, -1)),
    ],
    "expand_dims": [lambda a: np.expand_dims(a, -2), lambda a: np.expand_dims(a, axis=-2)],
    "diagonal": [np.diagonal, lambda a: a.diagonal(), lambda a: np.diagonal(a=a)],
    "view": [lambda a: a.view(), lambda a: a.view(dtype=None)],
    "rows": [lambda a: list(a), lambda a: [a[i] for i in range(len(a))]],
}


def outcome(call, array):
    """What a call gives, or the class of what it raises; AxisError is a ValueError, too."""
    try:
        made = call(array)
    except (ValueError, IndexError, TypeError, OverflowError) as error:
        return ValueError if isinstance(error, ValueError) else type(error)
    many = made if isinstance(made, list) else [made]
    return [
        (
            view.shape,
            view.strides,
            view.flags.writeable,
            view.tolist(),
            np.may_share_memory(view, array),
        )
        for view in many
    ]


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("name", CALLS)
def test_the_quick_way_gives_the_same(name, array):
    *quick, general = CALLS[name]
    for call in quick:
        assert outcome(call, ARRAYS[array]) == outcome(general, ARRAYS[array])


# An index and a value, stored into arrays of each type by NumPy as well.
STORED = [
    (0, 1),
    (-1, -1),
    (2, 300),
    (1, 2.5),
    (3, 2**40),
    (4, 1),
    (-5, 1),
    (0, 1e300),
    (0, float("nan")),
]


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "bool"]
)
@pytest.mark.parametrize("step", [1, -1])
def test_one_number_is_stored_as_numpy_does(dtype, step):
    ours, theirs = np.zeros(8, dtype=dtype)[::2][::step], numpy.zeros(8, dtype)[::2][::step]
    for index, value in STORED:
        caught = []
        for array in (ours, theirs):
            try:
                with numpy.errstate(all="ignore"):
                    array[index] = value
                caught.append(None)
            except (IndexError, OverflowError, ValueError) as error:
                caught.append(type(error))
        assert caught[0] is caught[1], (index, value)
        numpy.testing.assert_array_equal(ours, theirs, err_msg=str((index, value)))


def test_a_read_only_array_keeps_its_elements():
    array = np.arange(4).view()[:]
    fixed = np.broadcast_to(array, (4,))
    with pytest.raises(ValueError, match="read-only"):
        fixed[0] = 5


def test_a_trace_has_the_calls():
    with ffi.trace() as trace:
        np.transpose(BASE)
        BASE.reshape(-1)
    names = [call.name for call in trace.calls if call.name.startswith("_npi.")]
    assert names == ["_npi.transpose", "_npi.reshape"]


def test_rows_come_one_by_one():
    rows = iter(BASE)
    next(rows)[0, 0] = 100
    assert BASE[0, 0, 0] == 100
    BASE[0, 0, 0] = 0
    assert [row.shape for row in rows] == [(3, 4)]
    assert next(rows, None) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda nothing: np.swapaxes(nothing, 0, 1),
        lambda nothing: np.transpose(nothing),
        lambda nothing: nothing.reshape(2),
        lambda nothing: nothing[0],
        lambda nothing: list(nothing),
        lambda nothing: next(type(iter(BASE))()),
    ],
)
def test_what_holds_no_array_is_an_error(call):
    with pytest.raises((ValueError, TypeError)):
        call(np.ndarray.__new__(np.ndarray))


# Ways to have a view of the second row of an array, of which nothing but the view is left.
LAST_VIEWS = {
    "a row": lambda a: a[1],
    "of a view": lambda a: a[1:][0],
    "of a view of a view": lambda a: a[:, ::-1][:, ::-1].T.T[1],
    "by iteration": lambda a: list(a)[1],
    "of a view that is not plain": lambda a: np.broadcast_to(a, (2, *a.shape))[0][1],
}
# What has the view when its last name in Python goes.
HOLDERS = {
    "a list of C++": lambda view: (ffi.List([view]), lambda held: held[0]),
    "a tensor of DLPack": lambda view: (numpy.from_dlpack(view), np.asarray),
    "NumPy": lambda view: (numpy.asarray(view), np.asarray),
    "Python": lambda view: (view, lambda held: held),
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("last_view", LAST_VIEWS.values(), ids=LAST_VIEWS)
def test_view_keeps_memory(last_view, holder):
    def made():
        array = np.arange(12, dtype="float32", ctx="cpu").reshape((3, 4)) + 1
        held, back = holder(last_view(array))
        del array
        return held, back

    held, back = made()
    others = [np.full((3, 4), -1, dtype="float32") for _ in range(100)]
    for _ in range(2):
        numpy.testing.assert_array_equal(numpy.asarray(back(held)), [5, 6, 7, 8])
    del others


def test_memory_of_views_goes_with_the_last():
    array = np.zeros((1000, 1000))
    gone = weakref.ref(array)
    views = [array[i] for i in range(3)] + [array[0][1:], array.T]
    kept = ffi.List([views[3]])
    del array
    views.clear()
    assert gone() is None
    assert float(kept[0][0]) == 0


def test_array_keeps_what_views_rely_on():
    array = np.full((3, 4), 5)
    for target in (array, array[1]):
        with pytest.raises(TypeError, match="a ndarray that has an array keeps it"):
            core.adopt(target, np.ones(3))
    assert array[1].tolist() == [5] * 4
