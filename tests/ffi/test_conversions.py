"""Values there and back: the type that reaches C++, and the value that returns."""

import gc
import weakref

import numpy
import pytest

import ffi

from .plain import plain
from .values import BUFFERS, GRID, SAME, VALUES, DoNothing, Text

each_value = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
each_shallow_value = pytest.mark.parametrize(
    ("value"), [pytest.param(v, id=name) for name, v in VALUES.items() if "64 " not in name]
)


def expected_back(value, api):
    return plain(value.make(api) if value.back is SAME else value.back)


@each_value
def test_type_that_reaches_cpp(value, api):
    assert api.get_global("testing.type_code")(value.make(api)) == value.kind


@each_value
def test_value_that_comes_back(value, api, echo):
    assert plain(echo(value.make(api))) == expected_back(value, api)


@each_shallow_value
def test_value_inside_a_tuple(value, api, echo):
    (back,) = echo((value.make(api),))
    assert plain(back) == expected_back(value, api)


@each_shallow_value
def test_value_inside_a_dict(value, api, echo):
    assert plain(echo({"key": value.make(api)})["key"]) == expected_back(value, api)


@each_shallow_value
def test_result_of_a_callback(value, api, call):
    assert plain(call(lambda: value.make(api))) == expected_back(value, api)


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (1, 1),
        (True, True),
        (2**64 - 1, 2**64 - 1),
        ("a\0b", "a\0b"),
        (b"\0", b"\0"),
        ((1, 2), (1, 2)),
        ([1, 2], [1, 2]),
        ([1, ["a"]], [1, ["a"]]),
        (("a", None), ("a", None)),
        ({"a": [1], 2: "b"}, {"a": [1], 2: "b"}),
        (numpy.float32, numpy.dtype("float32")),
        (ffi.cpu(1), ffi.cpu(1)),
        (GRID[:, ::2], GRID[:, ::2]),
    ],
    ids=repr,
)
def test_argument_of_a_callback(value, seen, call):
    arguments = []
    call(arguments.append, value)
    assert plain(arguments[0]) == plain(seen)


@pytest.mark.parametrize(("borrowed", "elements"), BUFFERS.values(), ids=BUFFERS.keys())
def test_elements_of_a_buffer(borrowed, elements):
    array = numpy.asarray(ffi.convert(borrowed))
    assert array.dtype == elements.dtype
    numpy.testing.assert_array_equal(array, elements)


@pytest.mark.parametrize("make", [list, dict], ids=["Array", "Map"])
def test_object_keeps_its_identity(make, echo):
    value = ffi.convert(make())
    assert echo(value).same_as(value)
    assert not echo(value).same_as(ffi.convert(make()))
    assert not value.same_as(1)


def test_function_keeps_its_identity(echo):
    assert echo(echo) == echo
    assert echo(echo).same_as(echo)
    assert hash(echo(echo)) == hash(echo)
    assert echo != ffi.get_global_func("testing.nop")
    assert echo != 1


def test_callable_comes_back_as_itself_for_a_call(echo):
    assert echo(lambda x: x + 1)(2) == 3


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (len, ffi.Function),
        ([1], ffi.Array),
        ({"a": 1}, ffi.Map),
        (numpy.ones(2), ffi.NDArray),
        ((1, 2), tuple),
        ("a", str),
        (float, numpy.dtype),
        (None, type(None)),
    ],
    ids=repr,
)
def test_convert(value, kind):
    converted = ffi.convert(value)
    assert isinstance(converted, kind)
    if isinstance(converted, ffi.ObjectBase):
        assert ffi.convert(converted) is converted


def test_converted_callable_has_a_description():
    def scale(x, factor=2):
        return x * factor

    converted = ffi.convert(scale)
    assert converted(factor=3, x=2) == 6
    assert converted(4) == 8


def test_argument_that_changes_while_it_is_converted(echo):
    class Shrinks:
        def __index__(self):
            del items[1:]
            return 1

    items = [Shrinks(), "a", "b" * 100]
    assert list(echo(items))[:1] == [1]


def test_python_object_lives_as_long_as_cpp_holds_it(echo):
    function = DoNothing()
    alive = weakref.ref(function)
    held = echo([function])
    del function
    gc.collect()
    assert alive() is not None
    del held
    assert alive() is None


@pytest.mark.parametrize("make", [lambda: ffi.convert(DoNothing())])
@pytest.mark.parametrize("copied", ["copy", "deepcopy", "pickle"])
def test_objects_are_not_copied_by_address(copied, make):
    import copy
    import pickle

    action = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": pickle.dumps}[copied]
    with pytest.raises(TypeError, match="cannot pickle"):
        action(make())


def test_object_that_holds_nothing(echo):
    with pytest.raises((ValueError, TypeError)):
        echo(ffi.ObjectBase.__new__(ffi.ObjectBase))


@pytest.mark.parametrize("letter", ["a", "\0", "\x7f", "\x80", "é", "字", "𝄞"], ids=ascii)
@pytest.mark.parametrize("size", [*range(1, 18), 200])
def test_texts_of_every_length_with_a_letter_anywhere(letter, size, echo, call):
    """They are looked at eight bytes at a time: no letter slips through at a border."""
    for before in range(size):
        text = "x" * before + letter + "x" * (size - before - 1)
        assert echo(text) == text
        assert call(lambda: text) == text  # noqa: B023
        assert echo((text,)) == (text,)


def test_a_text_is_told_from_those_beside_it(register):
    """What comes back may be the very argument, but only the one that has this text."""
    last = register("tests.last", lambda *texts: texts[-1])
    assert last("abc", "abd") == "abd"
    assert last(1, None, Text("abc"), "ab", "abc") == "abc"
    assert type(last(Text("abc"), Text("abc"))) is str
