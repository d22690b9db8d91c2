"""Descriptions: derived types, overloads, keyword-only parameters, as calls and help have them."""

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy
import numpy.typing
import pytest

import ffi
import ffi.typing

OVERLOADED = ffi.get_global_func("testing.overloaded")
KEYWORD_ONLY = ffi.get_global_func("testing.keyword_only")
FAST = ffi.get_enum("testing.Mode").FAST


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        (
            "testing.typed",
            "(shape: Sequence[int], names: Mapping[int, str], scale: float = 1.0, "
            "mode: str = 'fast', dtype: DTypeLike | None = None) -> tuple[Any, ...]",
        ),
        ("testing.total", "(first: int, *others: int) -> int"),
        (
            "testing.keyword_only",
            "(a: int, *rest: int, scale: int = 2, offset: int | None = None) -> tuple[Any, ...]",
        ),
        ("testing.overloaded", "(*args, **kwargs)"),
    ],
)
def test_derived_signature(name, signature):
    assert str(inspect.signature(ffi.get_global_func(name))) == signature


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "result"),
    [
        ("testing.typed", ((2, 3), {}), {}, ((2, 3), 0, 1.0, "fast", False)),
        ("testing.typed", ((), {1: "a"}), {"dtype": "int8"}, ((), 1, 1.0, "fast", True)),
        ("testing.typed", ([4], {}, 2), {"mode": "x"}, ((4,), 0, 2.0, "x", False)),
        ("testing.total", (1,), {}, 1),
        ("testing.total", (1, 2, 3), {}, 6),
    ],
    ids=repr,
)
def test_derived_parameters(name, args, kwargs, result):
    assert ffi.get_global_func(name)(*args, **kwargs) == result


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("testing.roles", ["array", "attribute"]),
        ("testing.arrays", ["array"] * 4),
        ("testing.sequence", ["arrays"]),
        ("testing.typed", ["attribute"] * 5),
    ],
)
def test_roles_of_types(name, roles):
    assert [param.role for param in ffi.get_global_func(name).info.params] == roles


@pytest.mark.parametrize(
    ("name", "args", "result"),
    [
        # The text of a type says nothing: "ArrayLike" stands in that of the second.
        ("testing.roles", (numpy.int8(1), numpy.int8(2)), ("ndarray", "int")),
        (
            "testing.arrays",
            (*map(numpy.int8, range(3)), *map(numpy.float16, range(70))),
            ("int8",) * 3 + ("float16",) * 70,
        ),
        ("testing.arrays", (numpy.bool_(1), None, "text"), ("bool",)),
    ],
    ids=("text", "further", "others"),
)
def test_scalars_are_arrays_by_role(name, args, result):
    assert ffi.get_global_func(name)(*args) == result


@pytest.mark.parametrize(
    ("annotation", "role"),
    [
        (numpy.ndarray, "array"),
        (numpy.typing.NDArray[numpy.int8], "array"),
        (numpy.typing.ArrayLike, "array"),
        (numpy.typing.ArrayLike | None, "array"),
        (ffi.typing.ArrayLike, "array"),
        (None | ffi.NDArray, "array"),
        (Annotated[int | numpy.ndarray, "why"], "array"),
        ("numpy.ndarray | None", "array"),
        (Sequence[numpy.ndarray], "arrays"),
        (list[numpy.typing.ArrayLike], "arrays"),
        (tuple[ffi.typing.ArrayLike, ...] | None, "arrays"),
        ("Sequence[ffi.NDArray]", "arrays"),
        ("'ArrayLike'", "attribute"),
        ("NotAnArrayLike", "attribute"),
        (Mapping[str, numpy.ndarray], "attribute"),
        (tuple[int, numpy.ndarray], "attribute"),
        (Sequence, "attribute"),
        (numpy.float32, "attribute"),
        (str | bytes | complex, "attribute"),
        (numpy.typing.DTypeLike, "attribute"),
        (Any, "attribute"),
        (None, "attribute"),
    ],
    ids=str,
)
def test_annotations_tell_roles(annotation, role):
    def body(a):
        return type(a).__name__

    body.__annotations__["a"] = annotation
    ffi.register_func("tests.of_role", body)
    function = ffi.get_global_func("tests.of_role")
    ffi.remove_global_func("tests.of_role")
    assert function.info.params[0].role == role
    assert function(numpy.float32(2)) == ("ndarray" if role == "array" else "float")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "testing.total: missing argument 0 ('first')"),
        ((1, 2, "3"), "testing.total: argument 2 ('others') expected int, got str"),
    ],
    ids=repr,
)
def test_derived_rejection(args, message):
    with pytest.raises(TypeError) as caught:
        ffi.get_global_func("testing.total")(*args)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("args", "kwargs", "result"),
    [
        ((1,), {}, (1, 2, None)),
        ((1,), {"scale": 5}, (1, 5, None)),
        ((1,), {"offset": 5}, (1, 2, 5)),
        ((), {"offset": 5, "a": 1, "scale": 3}, (1, 3, 5)),
        ((1, 7, 8), {}, (1, 2, None, 7, 8)),
        ((1, 7, 8), {"offset": 3}, (1, 2, 3, 7, 8)),
        (tuple(range(40)), {"scale": 3}, (0, 3, None, *range(1, 40))),
    ],
    ids=repr,
)
def test_keyword_only(args, kwargs, result):
    assert KEYWORD_ONLY(*args, **kwargs) == result


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {"scale": 1}, "missing argument 0 ('a')"),
        ((1,), {"a": 1}, "argument 0 ('a') was given by position and by keyword"),
        (
            (1,),
            {"rest": 1},
            "takes 'rest' by position only: as many arguments as there are, after all others",
        ),
    ],
    ids=repr,
)
def test_keyword_only_rejection(args, kwargs, message):
    with pytest.raises(TypeError) as caught:
        KEYWORD_ONLY(*args, **kwargs)
    assert str(caught.value) == f"testing.keyword_only: {message}"


@pytest.mark.parametrize(
    ("args", "kwargs", "result"),
    [
        ((1,), {}, "int 2"),
        ((1, 5), {}, "int 6"),
        ((1,), {"b": 5}, "int 6"),
        ((), {"b": 5, "a": 2}, "int 7"),
        ((1.5,), {}, "float 1"),
        ((), {"x": 1}, "float 1"),
        ((True,), {}, "int 2"),
        (("a",), {}, "str a"),
        (("a", "-", "b", "c"), {}, "str a-b-c"),
        (("FAST",), {}, "str FAST"),
        (([1, 2.5],), {}, "floats 2"),
        (((),), {}, "floats 0"),
        ((FAST,), {}, "mode 0"),
        ((FAST, True), {}, "mode 1"),
        (("FAST",), {"flag": True}, "mode 1"),
        ((), {"mode": 1}, "mode 0"),
    ],
    ids=repr,
)
def test_overloads(args, kwargs, result):
    assert OVERLOADED(*args, **kwargs) == result


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 2.0**63])
def test_a_float_that_does_not_fit(value):
    with pytest.raises(OverflowError, match="does not fit into an int64"):
        OVERLOADED(value)
    with pytest.raises(OverflowError, match="does not fit into an int64"):
        len(ffi.get_class("testing.Account")(value))


@pytest.mark.parametrize("name", ["testing.overloaded", "testing.total", "testing.Counter.add"])
def test_a_sum_that_does_not_fit(name):
    if name == "testing.Counter.add":
        function = ffi.get_class("testing.Counter")(2**63 - 1).add
    else:
        function = functools.partial(ffi.get_global_func(name), 2**63 - 1)
    with pytest.raises(OverflowError, match=r"9223372036854775807 \+ 1 does not fit"):
        function(1)


@pytest.mark.parametrize(
    ("args", "kwargs", "given", "reasons"),
    [
        ((), {}, "()", ["argument 0 ('a') is missing", "argument 0 ('x') is missing"]),
        ((None,), {}, "(None)", ["argument 0 ('a') expected int, got None"]),
        ((1, "x"), {}, "(int, str)", ["argument 1 ('b') expected int, got str"]),
        ((1,), {"c": 2.0}, "(int, c=float)", ["has no parameter 'c'"]),
        ((1,), {"a": 2}, "(int, a=int)", ["'a') was given by position and by keyword"]),
        ((1, 2, 3), {}, "(int, int, int)", ["takes at most 2 arguments"]),
        ((7, True, 1), {"é": 1}, "(int, bool, int, é=int)", ["takes at most 1 arguments"]),
    ],
    ids=repr,
)
def test_overloads_rejection(args, kwargs, given, reasons):
    with pytest.raises(TypeError) as caught:
        OVERLOADED(*args, **kwargs)
    head, *candidates = str(caught.value).splitlines()
    assert head == f"testing.overloaded: no overload takes {given}"
    assert len(candidates) == 5
    assert candidates[0].startswith("    (a: int, b: int = 1) -> str: ")
    assert all(any(reason in line for line in candidates) for reason in reasons)


def test_argument_of_an_overloaded_function_that_cannot_cross():
    with pytest.raises(TypeError, match=r"testing\.overloaded: argument 1 has unsupported type"):
        OVERLOADED(1, b=object())


def test_help_of_overloads():
    lines = OVERLOADED.__doc__.splitlines()
    assert lines[0] == "Returns the text of which overload was called, and with what."
    assert "overloaded(a: int, b: int = 1) -> str" in lines
    assert "    Adds integers." in lines
    assert [str(way.signature()) for way in OVERLOADED.info.overloads[:2]] == [
        "(a: int, b: int = 1) -> str",
        "(x: float) -> str",
    ]
    assert OVERLOADED.info == ffi.get_global_func("testing.overloaded").info


def google(a: int, *rest: "float", scale: "int | None" = None, name="x") -> None:
    """Does something.

    In detail: twice.

    Args:
        a: The first.
            It has two lines.
        *rest: The others.
        scale (int): By name.

    Returns:
        Nothing.
    """
    return a, rest, scale, name


def numpy_style(a: list[int], b: ffi.NDArray) -> dict[str, int]:
    """Does something.

    Parameters
    ----------
    a, b : list
        Both.

        Of them.

    Returns
    -------
    dict
        A dict.
    """


@pytest.mark.parametrize(
    ("function", "signature", "docs", "doc"),
    [
        (
            google,
            "(a: int, *rest: float, scale: int | None = None, name='x') -> None",
            {
                "a": "The first.\nIt has two lines.",
                "rest": "The others.",
                "scale": "By name.",
                "name": "",
            },
            "Does something.\n\nIn detail: twice.\n\nReturns:\n    Nothing.",
        ),
        (
            numpy_style,
            f"(a: list[int], b: {ffi.NDArray.__module__}.NDArray) -> dict[str, int]",
            {"a": "Both.\n\nOf them.", "b": "Both.\n\nOf them."},
            "Does something.\n\nReturns\n-------\ndict\n    A dict.",
        ),
    ],
    ids=["google", "numpy"],
)
def test_python_function(register, function, signature, docs, doc):
    registered = register("tests.described", function)
    assert str(inspect.signature(registered)) == signature
    assert {param.name: param.doc for param in registered.info.params} == docs
    assert registered.info.doc == doc
    assert registered.__doc__.count("Returns") == 1


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((1,), {}), ((1, 2.0, 3.0), {}), ((1, 2.0), {"name": "y"}), ((), {"scale": 3, "a": 1})],
    ids=repr,
)
def test_python_function_with_keyword_only_parameters(register, call, args, kwargs):
    registered = register("tests.google", google)
    assert registered(*args, **kwargs) == google(*args, **kwargs)
    assert call(registered, 1, None, "z", 2.0) == (1, (2.0,), None, "z")


def only_by_name(a, *, b=1):
    return a, b


def test_argument_by_position_for_one_taken_by_name(register):
    registered = register("tests.by_name", only_by_name)
    assert registered(1, b=2) == (1, 2)
    with pytest.raises(TypeError) as caught:
        registered(1, 2)
    expected = "tests.by_name: takes at most 1 arguments by position, got 2"
    assert str(caught.value) == expected
