"""What is said of a value that a C++ type does not take: where in it, and what is there instead."""

from pathlib import Path

import numpy
import pytest

import ffi
from tests.native import compile_file


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inside")
    source = Path(__file__).parent / "argument_ops.cc"
    return ffi.load_library(compile_file(folder, "inside", source, "-O0"))


X = "argument 0 ('x')"
INT8 = "int (int8)"
LARGE = 2**63 + 1

# A function, what it is given, and what is said after its name.
REJECTED = {
    "item": ("floats", [1.0, "a", 2.0], f"{X} expected list of float, got list: item 1 is str"),
    "item of a tuple": (
        "floats",
        (1, None),
        f"{X} expected list of float, got tuple: item 1 is None",
    ),
    "item of an Array": (
        "floats",
        ffi.Array([b"a"]),
        f"{X} expected list of float, got Array: item 0 is bytes",
    ),
    "no list": ("floats", 1, f"{X} expected list of float, got int"),
    "item of an item": (
        "nested",
        [["a"], ["b", 3]],
        f"{X} expected list of list of str, got list: item 1 item 1 is int",
    ),
    "no list in a list": (
        "nested",
        [["a"], "b"],
        f"{X} expected list of list of str, got list: item 1 is str",
    ),
    "item out of range": (
        "bytes",
        [1, 300],
        f"{X} expected list of {INT8}, got list: item 1 is 300",
    ),
    "item of a shape": (
        "shape",
        (1, 2.5),
        f"{X} expected tuple of int, got tuple: item 1 is float",
    ),
    "key": (
        "table",
        {"a": [1], 2: [3]},
        f"{X} expected dict of str to list of int, got dict: key of entry 1 is int",
    ),
    "value": (
        "table",
        ffi.Map({"a": [1], "b": [2, "c"]}),
        f"{X} expected dict of str to list of int, got Map: value of entry 1 item 1 is str",
    ),
    "of an optional": (
        "maybe",
        [1.0, "a"],
        f"{X} expected list of float or None, got list: item 1 is str",
    ),
    "float out of range": ("float", 1e300, f"{X} expected float, got 1e+300"),
    "negative float out of range": ("float", -3.5e38, f"{X} expected float, got -3.5e+38"),
    "float in a list": (
        "maybe",
        [1e39],
        f"{X} expected list of float or None, got list: item 0 is 1e+39",
    ),
    "result": ("half", lambda x: "a", "<lambda>: result expected float, got str"),
    "item of a result": (
        "values",
        lambda: [1.0, "a"],
        "<lambda>: result expected list of float, got Array: item 1 is str",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_is_wrong_is_named(name, inside):
    function, given, text = REJECTED[name]
    with pytest.raises((TypeError, OverflowError)) as caught:
        ffi.get_global_func(f"inside.{function}")(given)
    prefix = f"inside.{function}: " if text.startswith("argument") else ""
    assert str(caught.value) == prefix + text
    assert isinstance(caught.value, OverflowError) == ("out of range" in name or "e+39" in text)


def test_floats_are_rounded_and_not_made_infinite(inside):
    single, double = (ffi.get_global_func(f"inside.{name}") for name in ("float", "double"))
    largest = float(numpy.finfo("float32").max)
    halfway = (largest + 2.0**128) / 2
    for given in (0.1, largest, -largest, numpy.nextafter(halfway, 0.0).item(), float("inf")):
        assert single(given) == numpy.float32(given)
    with pytest.raises(OverflowError):
        single(halfway)
    assert numpy.isnan(single(float("nan")))
    assert double(LARGE) == float(LARGE)
    assert double(1e308) == 1e308


def test_an_exception_that_says_nothing(inside):
    with pytest.raises(RuntimeError, match=r"a C\+\+ exception whose what\(\) is NULL"):
        ffi.get_global_func("inside.silent")()


METHODS = {
    "type": (
        (1.5, "a"),
        {},
        "inside.Scale.apply: argument 1 ('times') expected int (int32), got str",
    ),
    "first": (("a", 1), {}, "inside.Scale.apply: argument 0 ('x') expected float, got str"),
    "unsupported": ((object(), 1), {}, "inside.Scale.apply: argument 0 ('x') has unsupported type"),
    "missing": ((1.5,), {}, "inside.Scale.apply: missing argument 1 ('times')"),
    "twice": ((1.5, 2), {"x": 3}, "inside.Scale.apply: argument 0 ('x') was given by position and"),
}


@pytest.mark.parametrize("name", METHODS)
def test_arguments_of_methods_are_counted_as_they_are_given(name, inside):
    args, kwargs, text = METHODS[name]
    scale = ffi.get_class("inside.Scale")(2.0)
    assert scale.apply(1.5, 2) == 6
    with pytest.raises(TypeError) as caught:
        scale.apply(*args, **kwargs)
    assert str(caught.value).startswith(text)


def test_all_further_arguments_are_given_by_position(inside):
    rest = ffi.get_global_func("inside.rest")
    assert rest(1, 2, 3) == 3
    with pytest.raises(TypeError) as caught:
        rest(1, rest=2)
    assert str(caught.value) == (
        "inside.rest: takes 'rest' by position only: "
        "as many arguments as there are, after all others"
    )


SELF = {
    "missing": ((1,), "missing argument 1 ('x')"),
    "too many": ((1, 2, 3), "expected 2 arguments, got 3"),
    "unsupported": ((object(), 1), "argument 0 ('self') has unsupported type object"),
}


@pytest.mark.parametrize(("arguments", "message"), SELF.values(), ids=SELF)
def test_self_of_a_function_that_is_no_method_is_an_argument(register, arguments, message):
    function = register("tests.no_method", lambda self, x: None)
    with pytest.raises(TypeError) as error:
        function(*arguments)
    assert str(error.value).startswith(f"tests.no_method: {message}")
