"""Enums that C++ registered: as arguments, as results, as Python classes."""

import copy
import enum
import pickle

import pytest

import ffi

Mode = ffi.get_enum("testing.Mode")
Color = ffi.get_enum("testing.Color")
MODE = ffi.get_global_func("testing.mode")


def test_class():
    assert issubclass(Mode, enum.IntEnum)
    assert {name: member.value for name, member in Mode.__members__.items()} == {
        "FAST": 1,
        "EXACT": 2,
        "SLOW": -3,
    }
    assert (Mode.__name__, Mode.__module__) == ("Mode", "testing")
    assert Mode.__doc__ == "How a result is rounded."
    assert Mode.FAST.__doc__ == "To the next number below."
    assert ffi.get_enum("testing.Mode") is Mode
    assert {"testing.Color", "testing.Mode"} <= set(ffi.list_enum_names())


@pytest.mark.parametrize("given", [Mode.SLOW, "SLOW", -3], ids=repr)
def test_argument(given):
    assert MODE(given) is Mode.SLOW
    assert MODE(mode=given) is Mode.SLOW


def test_default():
    assert MODE() is Mode.EXACT
    assert MODE.info.params[0].default is Mode.EXACT
    assert MODE.info.params[0].type == "testing.Mode | Literal['FAST', 'EXACT', 'SLOW'] | int"
    assert MODE.info.returns == "testing.Mode"


NAMES = "its members are 'FAST', 'EXACT', 'SLOW'"
EXPECTED = "expected testing.Mode (one of 'FAST', 'EXACT', 'SLOW'), got"


@pytest.mark.parametrize(
    ("given", "cls", "message"),
    [
        ("fast", ValueError, f": testing.Mode has no member 'fast'; {NAMES}"),
        (0, ValueError, f": testing.Mode has no member with the value 0; {NAMES}"),
        (1.0, TypeError, f" {EXPECTED} float"),
        (True, TypeError, f" {EXPECTED} bool"),
        (None, TypeError, f" {EXPECTED} None"),
        (Color.GREEN, TypeError, f" {EXPECTED} testing.Color"),
        (2**63, TypeError, f" {EXPECTED} int"),
    ],
    ids=repr,
)
def test_rejection(given, cls, message):
    with pytest.raises(cls) as caught:
        MODE(given)
    assert str(caught.value) == f"testing.mode: argument 0 ('mode'){message}"


@pytest.mark.parametrize(
    "value",
    [Mode.FAST, (Mode.FAST, 1), [Mode.SLOW], {Mode.FAST: Mode.EXACT}],
    ids=["member", "tuple", "list", "dict"],
)
def test_members_come_back(echo, value):
    back = echo(value)
    if isinstance(value, dict):
        assert back[1] is Mode.EXACT and back[Mode.FAST] is Mode.EXACT
    elif isinstance(value, list):
        assert back[0] is value[0]
    else:
        assert repr(back) == repr(value)


def test_lists_of_members():
    modes = ffi.get_global_func("testing.modes")
    assert list(modes(["FAST", 2, Mode.SLOW])) == [Mode.FAST, Mode.EXACT, Mode.SLOW]
    with pytest.raises(ValueError, match="no member 'x'"):
        modes(["FAST", "x"])


def test_callbacks_see_members(call):
    assert call(lambda mode: (mode is Mode.FAST, mode), Mode.FAST) == (True, Mode.FAST)


def test_a_member_is_an_integer():
    assert ffi.get_global_func("testing.total")(Mode.FAST, Mode.EXACT) == 3


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_are_the_member(again):
    assert again(Mode.FAST) is Mode.FAST


@pytest.mark.parametrize(
    ("name", "cls", "message"),
    [
        ("testing.Nothing", KeyError, "no enum is registered as 'testing.Nothing'"),
        (1, TypeError, "get_enum: argument 0 ('name') expected str, got int"),
    ],
)
def test_no_such_enum(name, cls, message):
    with pytest.raises(cls) as caught:
        ffi.get_enum(name)
    assert caught.value.args[0] == message


def test_value_without_a_member():
    """C++ may make values of an enum that have no name."""
    from ffi.enums import member

    index = Mode.__ffi_enum__
    assert member(index, 99) == 99
