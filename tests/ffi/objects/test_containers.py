"""Array and Map: what a Python user expects of a sequence and a mapping."""

import pickle
from collections.abc import Mapping, Sequence

import pytest

import ffi

ITEMS = [1, "two", None, (3, 4), [5], {"six": 6}]
ENTRIES = {"b": 1, "a": [2], 3: "c", (1, 2): "pair", 1.5: "half", None: 0, 1j: "i", 2j: "ii"}


@pytest.fixture
def array():
    return ffi.Array(ITEMS)


@pytest.fixture
def mapping():
    return ffi.Map(ENTRIES)


@pytest.mark.parametrize("items", [[], [1], ITEMS, ["a"] * 100], ids=len)
def test_array_is_a_sequence(items):
    array = ffi.Array(items)
    assert isinstance(array, Sequence)
    assert len(array) == len(items)
    assert list(array) == items
    assert bool(array) == bool(items)
    assert list(reversed(array)) == items[::-1]
    assert array == items
    assert array == tuple(items)
    assert array == ffi.Array(items)
    assert array != [*items, 0]
    assert array != "text"


@pytest.mark.parametrize("index", [*range(-6, 6), True])
def test_array_item(array, index):
    assert array[index] == ITEMS[index]


@pytest.mark.parametrize(
    "cut", [slice(None), slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, 12)], ids=str
)
def test_array_slice(array, cut):
    assert isinstance(array[cut], ffi.Array)
    assert array[cut] == ITEMS[cut]


@pytest.mark.parametrize(
    ("start", "step", "count", "cls"),
    [
        (0, 1, 7, IndexError),
        (-1, 1, 1, IndexError),
        (1, 2**63 - 1, 2, IndexError),
        (5, -(2**63), 2, IndexError),
        (0, 0, 2**62, ValueError),
    ],
)
def test_a_slice_of_c_callers_is_checked(array, start, step, count, cls):
    with pytest.raises(cls, match="ffi.SeqSlice"):
        ffi.get_global_func("ffi.SeqSlice")(array, start, step, count)


@pytest.mark.parametrize(
    ("index", "cls"), [(6, IndexError), (-7, IndexError), ("a", TypeError), (1.0, TypeError)]
)
def test_array_rejects_an_index(array, index, cls):
    with pytest.raises(cls):
        array[index]


@pytest.mark.parametrize(
    "change", ["array[0] = 1", "del array[0]", "array.append(1)", "array.extra = 1"]
)
def test_array_is_immutable(array, change):
    with pytest.raises((TypeError, AttributeError)):
        exec(change, {"array": array})


def test_array_methods(array):
    assert array.index("two") == 1
    assert array.count(None) == 1
    assert "two" in array and "three" not in array


def test_array_hash_and_repr():
    assert hash(ffi.Array([1, "a"])) == hash(ffi.Array([1, "a"]))
    assert len({ffi.Array([1]), ffi.Array([1])}) == 1
    assert repr(ffi.Array([1, "a"])) == "ffi.Array([1, 'a'])"
    with pytest.raises(TypeError, match="unhashable"):
        hash(ffi.Array([ffi.List()]))


@pytest.mark.parametrize("items", [(), (1, 2), "ab", iter([1]), {"k": 1}, range(3)], ids=repr)
def test_array_of_any_iterable(items):
    expected = list(items) if not hasattr(items, "__next__") else [1]
    assert list(ffi.Array(items)) == expected


def test_array_shows_the_same_object_each_time(array):
    assert array[4].same_as(array[4])


@pytest.mark.parametrize("make", [lambda: ffi.Array(ITEMS[:4]), lambda: ffi.Map({"a": 1, 2: "b"})])
def test_pickle(make):
    assert pickle.loads(pickle.dumps(make())) == make()


def test_map_is_a_mapping(mapping):
    assert isinstance(mapping, Mapping)
    assert len(mapping) == len(ENTRIES)
    assert list(mapping) == list(ENTRIES)
    assert list(mapping.values()) == list(ENTRIES.values())
    assert list(mapping.items()) == list(ENTRIES.items())
    assert mapping == ENTRIES
    assert dict(mapping) == ENTRIES
    assert mapping != {**ENTRIES, "more": 1}


@pytest.mark.parametrize("key", ENTRIES, ids=repr)
def test_map_item(mapping, key):
    assert mapping[key] == ENTRIES[key]
    assert key in mapping


@pytest.mark.parametrize("key", ["c", 4, (2, 1), "", object(), 3j, ()], ids=repr)
def test_map_without_a_key(mapping, key):
    assert key not in mapping
    assert mapping.get(key, "default") == "default"
    with pytest.raises(KeyError):
        mapping[key]


def test_map_finds_equal_keys_as_a_dict_does():
    mapping = ffi.Map({1: "one"})
    assert mapping[1.0] == mapping[True] == "one"


def test_large_map():
    entries = {f"key {i}": i for i in range(1000)}
    mapping = ffi.Map(entries)
    assert mapping == entries
    assert mapping["key 999"] == 999
    assert list(mapping)[:3] == ["key 0", "key 1", "key 2"]


@pytest.mark.parametrize("change", ["mapping['a'] = 1", "del mapping['a']", "mapping.extra = 1"])
def test_map_is_immutable(mapping, change):
    with pytest.raises((TypeError, AttributeError)):
        exec(change, {"mapping": mapping})


def test_map_repr():
    assert repr(ffi.Map({"a": [1]})) == "ffi.Map({'a': ffi.Array([1])})"
    assert repr(ffi.Map()) == "ffi.Map({})"
