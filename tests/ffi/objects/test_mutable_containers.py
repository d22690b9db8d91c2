"""List and Dict, against Python's own: the same operations leave the same and raise the same."""

import copy
import gc
import pickle
from collections.abc import MutableMapping, MutableSequence

import numpy
import pytest

import ffi

START = [3, "one", None, 2.5, (1, 2), b"raw"]
ENTRIES = {"b": 1, "a": "x", 3: None, (1, 2): "pair", 2.5: b"raw", None: 0}


def outcome(action, container):
    """What an action returns or raises, and what it leaves."""
    try:
        result = action(container)
    except Exception as error:
        result = type(error)
    left = list(container.items()) if isinstance(container, (dict, ffi.Dict)) else list(container)
    return result if not isinstance(result, (ffi.List, ffi.Dict)) else "itself", left


def assign(container, index, value):
    container[index] = value


def remove(container, index):
    del container[index]


LIST_ACTIONS = {
    "append": lambda x: x.append("new"),
    "insert": lambda x: x.insert(1, "new"),
    "insert at the front": lambda x: x.insert(-100, "new"),
    "insert behind": lambda x: x.insert(100, "new"),
    "extend": lambda x: x.extend([1, "two"]),
    "extend by itself": lambda x: x.extend(x),
    "extend by an iterator": lambda x: x.extend(iter("ab")),
    "pop": lambda x: x.pop(),
    "pop first": lambda x: x.pop(0),
    "pop beyond": lambda x: x.pop(100),
    "remove": lambda x: x.remove("one"),
    "remove what is not there": lambda x: x.remove("two"),
    "clear": lambda x: x.clear(),
    "reverse": lambda x: x.reverse(),
    "index": lambda x: x.index(2.5),
    "count": lambda x: x.count(None),
    "contains": lambda x: ("one" in x, "two" in x),
    "set": lambda x: assign(x, 1, "new"),
    "set last": lambda x: assign(x, -1, "new"),
    "set beyond": lambda x: assign(x, 6, "new"),
    "set by text": lambda x: assign(x, "a", "new"),
    "set slice": lambda x: assign(x, slice(1, 3), [7, 8, 9]),
    "set empty slice": lambda x: assign(x, slice(4, 1), [7]),
    "set all": lambda x: assign(x, slice(None), []),
    "set steps": lambda x: assign(x, slice(None, None, 2), [7, 8, 9]),
    "set steps, too few": lambda x: assign(x, slice(None, None, 2), [7]),
    "delete": lambda x: remove(x, 2),
    "delete beyond": lambda x: remove(x, -7),
    "delete slice": lambda x: remove(x, slice(1, 4)),
    "delete steps": lambda x: remove(x, slice(None, None, -2)),
    "read beyond": lambda x: x[6],
    "read far beyond": lambda x: x[2**80],
    "read by float": lambda x: x[1.0],
    "slice": lambda x: list(x[4:0:-2]),
    "length": len,
    "sort": lambda x: x.sort(key=str, reverse=True),
    "sort what has no order": lambda x: x.sort(),
    "grow": lambda x: [x.append(i) for i in range(100)],
    "append in a loop": lambda x: [x.append(0) for _ in x if len(x) < 20],
    "unpack": lambda x: (lambda first, *rest: rest)(*x),
}

DICT_ACTIONS = {
    "set": lambda x: assign(x, "new", 1),
    "replace": lambda x: assign(x, "b", 2),
    "replace by an equal key": lambda x: assign(x, 3.0, "three"),
    "unhashable": lambda x: assign(x, [1], 2),
    "delete": lambda x: remove(x, "a"),
    "delete a tuple": lambda x: remove(x, (1, 2)),
    "delete what is not there": lambda x: remove(x, "c"),
    "get": lambda x: (x["a"], x[(1, 2)], x[3.0], x.get("c"), x.get("c", 5)),
    "get what is not there": lambda x: x["c"],
    "surrogates": lambda x: x.get("\ud800"),
    "large": lambda x: x.get(2**80),
    "contains": lambda x: ("a" in x, "c" in x, None in x, [1] in list(x)),
    "pop": lambda x: x.pop("b"),
    "pop a default": lambda x: x.pop("c", "none"),
    "popitem": lambda x: x.popitem(),
    "clear": lambda x: x.clear(),
    "clear and set": lambda x: (x.clear(), assign(x, "a", 1)),
    "update": lambda x: x.update({"a": 5, "z": 6}, q=7),
    "setdefault": lambda x: (x.setdefault("a", 5), x.setdefault("n", 6)),
    "keys": lambda x: list(x.keys()),
    "values": lambda x: list(x.values()),
    "items": lambda x: list(x.items()),
    "set operations": lambda x: sorted(map(str, x.keys() & {"a", "b", "zz"})),
    "length": len,
    "grow and shrink": lambda x: (
        [assign(x, i, str(i)) for i in range(200)],
        [remove(x, i) for i in range(0, 200, 2)],
        [x[i] for i in range(1, 200, 2) if i != 3],
    )[2],
    "change while iterating": lambda x: [assign(x, f"new {key}", 1) for key in x],
    "popitem from nothing": lambda x: (x.clear(), x.popitem()),
}


@pytest.mark.parametrize("action", LIST_ACTIONS.values(), ids=LIST_ACTIONS.keys())
def test_list(action):
    assert outcome(action, ffi.List(START)) == outcome(action, list(START))


@pytest.mark.parametrize("action", DICT_ACTIONS.values(), ids=DICT_ACTIONS.keys())
def test_dict(action):
    assert outcome(action, ffi.Dict(ENTRIES)) == outcome(action, dict(ENTRIES))


def test_they_are_what_they_look_like():
    assert issubclass(ffi.List, MutableSequence) and issubclass(ffi.Dict, MutableMapping)
    for unhashable in (ffi.List(), ffi.Dict()):
        with pytest.raises(TypeError, match="unhashable"):
            hash(unhashable)
    assert hash(ffi.Map({"a": 1, "b": 2})) == hash(ffi.Map({"b": 2, "a": 1}))


@pytest.mark.parametrize("left", [list, tuple, ffi.Array, ffi.List])
@pytest.mark.parametrize("right", [ffi.Array, ffi.List])
def test_sequences_are_equal_across_kinds(left, right):
    assert left([1, "a"]) == right([1, "a"]) and right([1, "a"]) == left([1, "a"])
    assert left([1, "a"]) != right([1, "b"]) and left([1]) != right([1, 2])
    assert left([1]) != right([{}]) and right([]) != {}


@pytest.mark.parametrize("left", [dict, ffi.Map, ffi.Dict])
@pytest.mark.parametrize("right", [ffi.Map, ffi.Dict])
def test_mappings_are_equal_across_kinds(left, right):
    assert left({"a": 1, "b": [2]}) == right({"b": [2], "a": 1})
    assert left({"a": 1}) != right({"a": 2}) and left({"a": 1}) != right({"b": 1})
    assert left({"a": None}) != right({"b": None}) and right({}) != []


NESTED = {"a": [1, (2, [3]), {"b": [None, "é"]}], "e": [], 4: {}}


@pytest.mark.parametrize("kind", [ffi.Map, ffi.Dict])
def test_converts_back_in_one_call(kind):
    back = kind(NESTED).to_dict()
    assert back == NESTED
    assert type(back["a"]) is list and type(back["a"][1][1]) is list
    assert type(back["a"][2]) is dict and type(back["a"][2]["b"]) is list


@pytest.mark.parametrize("kind", [ffi.Array, ffi.List])
def test_sequences_convert_back_in_one_call(kind, echo):
    back = kind([NESTED, kind([kind([1])]), ffi.List([ffi.Dict(a=1)])]).to_list()
    assert back == [NESTED, [[1]], [{"a": 1}]] and type(back[1][0]) is list
    assert kind([]).to_list() == []


def test_what_contains_itself():
    items, entries = ffi.List([1]), ffi.Dict()
    items.append(items)
    entries["self"] = entries
    entries["items"] = items
    assert items[1] is items and entries["self"] is entries
    assert repr(items) == "ffi.List([1, ...])"
    assert repr(entries) == "ffi.Dict({'self': ..., 'items': ffi.List([1, ...])})"
    for convert in (items.to_list, entries.to_dict):
        with pytest.raises(ValueError, match="contains itself"):
            convert()
    items.clear()
    entries.clear()


def test_changes_are_seen_by_all(echo, call):
    items, entries = ffi.List(), ffi.Dict()
    holder = ffi.Array([items, entries])
    call(lambda x: x.append("from a callback"), items)
    call(lambda x: x.update(key="from a callback"), entries)
    assert list(holder[0]) == ["from a callback"] and echo(items) is items
    assert dict(holder[1]) == {"key": "from a callback"} and holder[1] is entries
    items.append(entries)
    assert holder[0][1] is entries


@pytest.mark.parametrize(
    ("make", "rejection"),
    [
        (lambda: ffi.List([object()]), "ffi.List: argument 0 ('items') item 0 has unsupported"),
        (lambda: ffi.List().append(object()), "ffi.List.append: argument 0 ('value') has unsup"),
        (lambda: ffi.Dict({"a": object()}), "ffi.Dict: argument 0 ('items') value has unsupported"),
        (lambda: ffi.Array([1]).__init__([2]), "a Array is made once"),
        (lambda: ffi.List(3), "not iterable"),
        (lambda: ffi.Map(3), "not iterable"),
        (lambda: ffi.Array("ab", "c"), "argument"),
        (lambda: ffi.List().insert("a", 2), "ffi.List.insert: argument 0 ('index') expected int"),
        (lambda: ffi.List().insert(0, set()), "ffi.List.insert: argument 1 ('value') has unsup"),
        (lambda: ffi.List().extend(3), "ffi.List.extend: argument 0 ('values') expected an iter"),
        (lambda: ffi.List().extend([1, set()]), "ffi.List.extend: argument 0 ('values') item 1"),
        (lambda: ffi.List([1]).pop("a"), "ffi.List.pop: argument 0 ('index') expected int"),
        (lambda: ffi.List([1]).index(1, "a"), "ffi.List.index: argument 1 ('start') expected int"),
        (lambda: ffi.Array([1]).index(1, 0, "a"), "ffi.Array.index: argument 2 ('stop') expected"),
        (lambda: assign(ffi.List([1]), 0, set()), "ffi.List.__setitem__: argument 1 ('value')"),
        (lambda: assign(ffi.List([1]), slice(1), 3), "ffi.List.__setitem__: argument 1 ('value')"),
        (lambda: assign(ffi.List([1]), "a", 3), "ffi.List: indices are integers or slices"),
        (lambda: ffi.Array([1])["a"], "ffi.Array: indices are integers or slices, not str"),
        (lambda: assign(ffi.Dict(), "a", set()), "ffi.Dict.__setitem__: argument 1 ('value')"),
        (lambda: ffi.Dict().update(a=set()), "ffi.Dict.__setitem__: argument 1 ('value')"),
        (lambda: ffi.Dict()[[]], "unhashable type: 'list'"),
        (lambda: ffi.Array([1]) + "text", "unsupported operand"),
        (lambda: ffi.List([1]) + 1, "unsupported operand"),
    ],
)
def test_rejections(make, rejection):
    with pytest.raises(TypeError) as caught:
        make()
    assert rejection in str(caught.value)


@pytest.mark.parametrize(
    ("action", "cls", "message"),
    [
        (lambda: ffi.List().pop(), IndexError, "ffi.List.pop: index -1 is out of range"),
        (lambda: ffi.List([1])[3], IndexError, "ffi.List: index 3 is out of range"),
        (lambda: ffi.Array([1])[2**80], IndexError, "ffi.Array: index"),
        (lambda: ffi.List().remove(1), ValueError, "ffi.List.remove: 1 is not in the List"),
        (lambda: ffi.Array().index(1), ValueError, "ffi.Array.index: 1 is not in the Array"),
        (lambda: assign(ffi.List("abc"), slice(None, None, 2), [1]), ValueError,
         "ffi.List.__setitem__: attempt to assign 1 values to a slice of 2"),
        (lambda: ffi.Dict().popitem(), KeyError, "ffi.Dict.popitem: the Dict is empty"),
    ],
)  # fmt: skip
def test_what_is_not_there(action, cls, message):
    with pytest.raises(cls) as caught:
        action()
    assert message in str(caught.value)


def test_keys_are_compared_where_their_hashes_are_equal():
    """As a dict does: what NumPy makes of == may be no truth value."""
    mapping = ffi.Map({(): "tuple", "float32": "text"})
    assert numpy.bool_(False) not in mapping
    assert numpy.dtype("float32") not in mapping


@pytest.mark.parametrize("kind", [ffi.Array, ffi.List, ffi.Map, ffi.Dict])
def test_an_instance_without_an_object(kind):
    empty = kind.__new__(kind)
    for read in (len, list, lambda x: x[0]):
        with pytest.raises(ValueError, match="holds no"):
            read(empty)


def test_an_iterator_of_a_mapping_notices_changes():
    entries = ffi.Dict(a=1, b=2)
    walk = iter(entries.items())
    next(walk)
    entries["c"] = 3
    with pytest.raises(RuntimeError, match="changed size during iteration"):
        next(walk)


def test_elements_that_change_their_list_when_they_go():
    items = ffi.List()

    class Late:
        def __del__(self):
            items.append("late")

    items.append(ffi.opaque(Late()))
    items.append(1)
    gc.collect()
    items.clear()
    assert list(items) == ["late"]
    items[0] = ffi.opaque(Late())
    items[0] = "new"
    assert list(items) == ["new", "late"]
    items[:] = [ffi.opaque(Late())] * 2
    items[0:2] = [1, 2, 3]
    assert list(items) == [1, 2, 3, "late"]


@pytest.mark.parametrize("make", [lambda: ffi.List([1, [2]]), lambda: ffi.Dict(a=1, b=[2])])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(
    pickle.dumps(x)), lambda x: x.copy()])  # fmt: skip
def test_copies(make, again):
    made = make()
    copied = again(made)
    assert copied == made and type(copied) is type(made) and not copied.same_as(made)


@pytest.mark.parametrize(
    "action",
    [
        lambda: ffi.List(START).extend(["more", [1]]),
        lambda: ffi.List(START).__setitem__(slice(1, 3), ["a", "b", "c"]),
        lambda: ffi.List(["a", "b"]).pop(0),
        lambda: ffi.Dict(ENTRIES).update(a="new", c="more"),
        lambda: ffi.Dict(ENTRIES).pop("a"),
        lambda: ffi.Map(NESTED).to_dict(),
        lambda: ffi.List([NESTED]).to_list(),
        lambda: list(ffi.Map(NESTED).items()),
        lambda: ffi.Array(START)[::2],
        lambda: ffi.Map(ENTRIES)[(1, 2)],
    ],
    ids=["extend", "slice", "pop", "update", "pop key", "to_dict", "to_list", "items", "take",
         "find"],
)  # fmt: skip
def test_nothing_leaks(action, assert_flat):
    assert_flat(action)
