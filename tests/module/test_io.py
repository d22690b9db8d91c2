"""Iterators of batches, and arrays by MXNet's older names."""

import numpy
import pytest

import mx

X = numpy.arange(14, dtype="float32").reshape(7, 2)
Y = numpy.arange(7, dtype="int64")


def rows(iterator):
    return [(numpy.asarray(batch.data[0])[:, 0].tolist(), batch.pad) for batch in iterator]


@pytest.mark.parametrize(
    ("handle", "expected"),
    [
        ("pad", [([0, 2, 4], 0), ([6, 8, 10], 0), ([12, 0, 2], 2)]),
        ("discard", [([0, 2, 4], 0), ([6, 8, 10], 0)]),
        ("roll_over", [([0, 2, 4], 0), ([6, 8, 10], 0)]),
    ],
)
def test_last_batch(handle, expected):
    iterator = mx.io.NDArrayIter(X, Y, batch_size=3, last_batch_handle=handle)
    assert rows(iterator) == expected
    assert rows(iterator) == []
    iterator.reset()
    first = [12, 0, 2] if handle == "roll_over" else [0, 2, 4]
    assert rows(iterator)[0] == (first, 0)
    if handle == "roll_over":
        iterator.hard_reset()
        assert rows(iterator)[0] == ([0, 2, 4], 0)


@pytest.mark.parametrize(
    ("data", "label", "names"),
    [
        (X, Y, ["data", "softmax_label"]),
        ([X], None, ["data"]),
        ([X, X], None, ["_0_data", "_1_data"]),
        ({"a": X, "b": mx.np.array(X)}, {"c": Y}, ["a", "b", "c"]),
    ],
)
def test_what_batches_are_of(data, label, names):
    iterator = mx.io.NDArrayIter(data, label, batch_size=2)
    described = [*iterator.provide_data, *iterator.provide_label]
    assert [item.name for item in described] == names
    assert described[0] == (names[0], (2, 2))
    assert described[0] == mx.io.DataDesc(names[0], (2, 2))
    batch = next(iterator)
    arrays = [*batch.data, *batch.label]
    assert [(tuple(a.shape), str(a.dtype)) for a in arrays] == [
        (item.shape, item.dtype) for item in described
    ]


def test_shuffled_rows_are_all_there():
    iterator = mx.io.NDArrayIter(X, Y, batch_size=7, shuffle=True)
    for _ in range(3):
        batch = next(iterator)
        assert sorted(batch.label[0].tolist()) == Y.tolist()
        numpy.testing.assert_array_equal(batch.data[0][:, 0], batch.label[0] * 2)
        iterator.reset()


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"data": X, "label": Y[:3]}, ValueError, "different numbers of rows"),
        ({"data": X, "batch_size": 0}, ValueError, "expected 1 to 7"),
        ({"data": X, "batch_size": 8}, ValueError, "expected 1 to 7"),
        ({"data": X, "last_batch_handle": "drop"}, ValueError, "pad, discard, roll_over"),
        ({"data": None}, ValueError, "at least one array"),
        ({"data": 5.0}, ValueError, "'data' has no rows"),
    ],
)
def test_what_iterators_reject(arguments, error, text):
    with pytest.raises(error, match=text):
        mx.io.NDArrayIter(**arguments)


def test_batches_reject_what_is_no_list():
    with pytest.raises(TypeError, match="expected a list of arrays, got ndarray"):
        mx.io.DataBatch(X)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: mx.nd.array([1, 2]), numpy.array([1, 2], "float32")),
        (lambda: mx.nd.array(numpy.array([1.5])), numpy.array([1.5], "float32")),
        (lambda: mx.nd.array(mx.np.array([1], dtype="int8")), numpy.array([1], "int8")),
        (lambda: mx.nd.array([1], dtype="int32"), numpy.array([1], "int32")),
        (lambda: mx.nd.zeros((2, 1)), numpy.zeros((2, 1), "float32")),
        (lambda: mx.nd.ones(2, dtype="int8"), numpy.ones(2, "int8")),
        (lambda: mx.nd.full((2,), 7), numpy.full(2, 7, "float32")),
        (lambda: mx.nd.arange(3), numpy.arange(3, dtype="float32")),
        (lambda: mx.nd.arange(1, 3, 0.5), numpy.arange(1, 3, 0.5, dtype="float32")),
        (lambda: mx.nd.concat(mx.nd.zeros((1, 1)), mx.nd.ones((1, 2))), [[0, 1, 1]]),
        (lambda: mx.nd.stack(mx.nd.zeros(1), mx.nd.ones(1)), [[0], [1]]),
    ],
)
def test_arrays_by_their_older_names(made, expected):
    got = made()
    assert str(got.dtype) == str(numpy.asarray(expected, getattr(expected, "dtype", "f4")).dtype)
    numpy.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "data", [{"a": mx.np.ones((2, 3)), "b": mx.np.arange(3)}, [mx.np.ones(2), mx.np.zeros((1, 2))]]
)
def test_files_of_arrays(data, tmp_path):
    mx.nd.save(tmp_path / "arrays", data)
    loaded = mx.nd.load(tmp_path / "arrays")
    assert type(loaded) is type(data)
    pairs = (
        [(loaded[name], data[name]) for name in data]
        if isinstance(data, dict)
        else zip(loaded, data, strict=True)
    )
    for got, expected in pairs:
        numpy.testing.assert_array_equal(got, expected)
