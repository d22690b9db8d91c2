"""Any value there and back, against a model that is written in Python."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ffi

from . import model
from .strategies import HASHABLE, keys, values, values_and_rejected

WHERE = "ffi.echo: argument 0 ('value')"
echo = ffi.get_global_func("ffi.echo")
call = ffi.get_global_func("ffi.call")


@given(values())
def test_comes_back(value):
    model.back(value).check(echo(value))


@given(values())
def test_inside_each_container(value):
    expected = model.back(value)
    expected.check(echo((value,))[0])
    expected.check(echo([value])[0])
    expected.check(echo({"key": value})["key"])
    for kind in (ffi.Array, ffi.List):
        expected.check(kind([value])[0])
        expected.check(echo(kind([value]))[0])
    for kind in (ffi.Map, ffi.Dict):
        expected.check(kind(key=value)["key"])


@given(values())
def test_result_of_a_callback(value):
    model.back(value).check(call(lambda: value))


@given(values_and_rejected())
def test_rejections(value):
    try:
        expected = model.back(value)
    except model.Rejection as rejection:
        with pytest.raises(rejection.cls) as caught:
            echo(value)
        assert type(caught.value) is rejection.cls
        where = WHERE + rejection.path()
        if rejection.cls is UnicodeEncodeError:
            assert str(caught.value).endswith(f"surrogates not allowed in {where}")
        else:
            assert str(caught.value).startswith(f"{where} {rejection.text}")
    else:
        expected.check(echo(value))


LEVELS = {
    "list": lambda inner: [inner],
    "tuple": lambda inner: ("text", inner),
    "dict": lambda inner: {"key": inner},
    "two keys": lambda inner: {1: None, 2: inner},
}


@given(
    st.sampled_from([None, "text", [], (), {}, [1], (1, 2), [None], [2**63], range(3)]),
    st.lists(st.sampled_from(list(LEVELS.values())), min_size=61, max_size=66),
)
def test_levels(value, levels):
    for wrap in levels:
        value = wrap(value)
    try:
        expected = model.back(value)
    except model.Rejection as rejection:
        with pytest.raises(rejection.cls, match="nested more than 64 levels"):
            echo(value)
    else:
        expected.check(echo(value))


@given(st.lists(values(), max_size=4))
def test_sequences(items):
    expected = model.back(items)
    for kind in (ffi.Array, ffi.List):
        made = kind(items)
        assert len(made) == len(items) and bool(made) == bool(items)
        read = list(made)
        for item, again in zip(expected.items, read, strict=True):
            item.check(again)
        expected.deep().check(made.to_list())
        assert repr(made) == f"ffi.{kind.__name__}({read!r})"


@given(st.dictionaries(keys(), values(), max_size=4))
def test_mappings(entries):
    expected = model.back(entries)
    for kind in (ffi.Map, ffi.Dict):
        made = kind(entries)
        model.Entries(expected.entries, kind).check(made)
        for (key, _), actual in zip(expected.entries, made, strict=True):
            key.check(actual)
        for (_, value), actual in zip(expected.entries, made.values(), strict=True):
            value.check(actual)
        expected.deep().check(made.to_dict())
        assert repr(made) == f"ffi.{kind.__name__}({dict(made.items())!r})"


@given(st.dictionaries(keys(), values(), max_size=4), keys())
def test_look_up(entries, other):
    """What is in a mapping is found by each of its keys, and by no other one."""
    expected = model.back(entries)
    by_key = {model.identity(key): value for key, value in expected.entries}
    for kind in (ffi.Map, ffi.Dict):
        made = kind(entries)
        for key in made:
            if not is_nan(key):
                assert key in made
                by_key[model.identity(model.back(key))].check(made[key])
        if not is_nan(other):
            as_dict = dict(made.items())
            assert (other in made) == (other in as_dict)
            if other not in made:
                assert made.get(other, "none") == "none"
                with pytest.raises(KeyError):
                    made[other]


def is_nan(key):
    return key != key or (isinstance(key, tuple) and any(map(is_nan, key)))


PLAIN = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False),
        st.text(max_size=5),
        st.binary(max_size=5),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(st.text(max_size=3) | st.integers(0, 9), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize("kind", [ffi.Array, ffi.List])
@given(items=st.lists(PLAIN, max_size=4))
def test_copies_of_sequences(kind, items):
    made = kind(items)
    assert made == items and made == kind(items) and made != [*items, 0]
    check_copies(made)
    assert made.to_list() == items


@pytest.mark.parametrize("kind", [ffi.Map, ffi.Dict])
@given(entries=st.dictionaries(st.text(max_size=3) | st.integers(0, 9), PLAIN, max_size=4))
def test_copies_of_mappings(kind, entries):
    made = kind(entries)
    assert made == entries and made == kind(entries) and made != {**entries, "more": 0}
    check_copies(made)
    assert made.to_dict() == entries


def check_copies(made):
    for again in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(again) is type(made) and again == made and repr(again) == repr(made)


@given(st.lists(keys(), max_size=4))
def test_hashes(items):
    try:
        expected = hash(tuple(ffi.Array(items)))
    except TypeError:
        with pytest.raises(TypeError):
            hash(ffi.Array(items))
    else:
        assert hash(ffi.Array(items)) == expected
    entries = dict.fromkeys(items, 1)
    assert hash(ffi.Map(entries)) == hash(ffi.Map(dict(reversed(entries.items()))))


@given(st.lists(HASHABLE, max_size=6), st.slices(6), st.integers(-8, 8))
def test_indices_and_slices(items, cut, index):
    expected = model.back(items).items
    for kind in (ffi.Array, ffi.List):
        made = kind(items)
        cut_out = made[cut]
        assert type(cut_out) is kind
        for item, actual in zip(expected[cut], cut_out, strict=True):
            item.check(actual)
        if -len(items) <= index < len(items):
            expected[index].check(made[index])
        else:
            with pytest.raises(IndexError):
                made[index]
