"""What operators say of their outputs, against what calls give."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from operator import getitem
from typing import Any

import numpy
import pytest
from numpy.exceptions import AxisError
from numpy.typing import ArrayLike

import ffi
import mx
from mx.op import TensorSpec, infer

DTYPES = ("bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex128")


def elementwise() -> Iterator[tuple[str, Any]]:
    """Operators of one or two arrays and out, which tell."""
    for space in (mx.np, mx.npx):
        for name in space.__all__:
            function = getattr(space, name)
            if not isinstance(function, ffi.Function):
                continue
            if list(inspect.signature(function).parameters) in (["x", "out"], ["x1", "x2", "out"]):
                yield name, function


ELEMENTWISE = dict(elementwise())


def arity(function: Any) -> int:
    return len(inspect.signature(function).parameters) - 1


def operator(name: str) -> Any:
    return getattr(mx.np, name, None) or getattr(mx.npx, name)


def arguments(text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Those of a call; a(...) makes an array of a shape."""

    def take(*args: Any, **attributes: Any) -> Any:
        return args, attributes

    def a(*shape: int, dtype: str = "float32") -> Any:
        return mx.np.ones(shape, dtype=dtype)

    return eval(f"take({text})", {"take": take, "a": a})


def outcome(function: Any, *args: Any, **attributes: Any) -> Any:
    """The shape and type of what a call gives, or the class and text of what it raises."""
    try:
        made = function(*args, **attributes)
    except Exception as error:
        return type(error), str(error)
    made = made[0] if isinstance(made, (list, tuple)) else made
    return tuple(made.shape), made.dtype


def test_there_are_many() -> None:
    assert len(ELEMENTWISE) > 60


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_as_the_call_has_it(name: str) -> None:
    function = ELEMENTWISE[name]
    arrays = [mx.np.ones(shape, dtype=dtype) for dtype in DTYPES for shape in ((2, 3), (3,), (4,))]
    for x in [*arrays, 2, 0.5, [True, False, True]]:
        others = [()] if arity(function) == 1 else [(y,) for y in [*arrays, 2, 2.5, [1, 2, 3]]]
        for other in others:
            args = (x, *other)
            told, given = outcome(infer, function, *args), outcome(function, *args)
            assert told == given, args


# Operators that make arrays: the name and what each call of it is given.
MADE = (
    ("zeros", ((3, 4),), (3,), ([2, 0],), ((),), ((2,), "int8"), (-1,), ((2, -3),), ("x",)),
    ("zeros", ((1,) * 65,), (2**62,), ((2**40, 2**40),), (2.5,), (2, "float8_e4m3fn"), (True,)),
    ("ones", ((3, 4),), (3, "bool"), (-1,), (numpy.array([2, 3], "int8"),), (numpy.array([2, 3]),)),
    ("empty", ((3, 4),), (2, "no_type"), ((0, 2**62, 2**62),)),
    ("full", (3, 7), ((2, 3), 2.5), (3, True), (2, 1j), (2, 2**63), (3, 7, "int8"), (-1, 2)),
    ("full", ((2, 3), [1, 2, 3]), ((2, 3), [1, 2]), (2, numpy.float32(3)), (2, "x"), (2, None)),
    ("eye", (3,), (3, 4), (2, -1), (-1,), (3, None, 2**62, "int8"), ("x",), (2.0,), (2**40,)),
    ("identity", (3,), (-2,), (2, "bool"), (numpy.array(2),), (None,)),
    ("tri", (3,), (3, 4, -1), (-1,), (2, 2, 0, "int8"), (2**40,)),
    ("arange", (5,), (1, 9, 2), (0, 1, 0.25), (9, 2, -2), (0,), (-3,), (2**63, 2**63 + 3)),
    ("arange", (3, None, None, "int8"), (3, None, None, "bool"), (2, None, None, "bool")),
    ("arange", (0, 1, 0), (0, 1, 0.0), (float("nan"),), (float("inf"),), (2**63,), (2**62,)),
    ("arange", (300, 302, None, "int8"), (127, 130, 1, "int8"), (0, 1000, 500, "int8")),
    ("arange", (-1, 3, None, "uint8"), (300, 300, 1, "int8"), (300.5, 302, 1, "int8"), (1e30,)),
    ("arange", (2**63, 2**63 + 3, 1, "int64"), (-5, 2**64 - 1, 2**40), (0, 1, 1e-300), (2**61,)),
    ("arange", ("x",), (3, "x"), (1j,), (mx.np.array(3),), (numpy.int64(5),)),
    ("linspace", (0, 1), (0, 1, 5), (0, 1, 0), (0, 1, -1), (0, 1, 2.5), ("a", 1), (0, 1, 2**62)),
    ("linspace", (0, 1, 5, True, False, "float64"), (0, 1, 5, False, False, "no_type")),
    ("zeros_like", (mx.np.ones((2, 3)),), ([1, 2],), (3.5,), (mx.np.ones(2), "int8"), ("x",)),
    ("ones_like", (numpy.ones((2, 3)),), ([[True]],), (mx.np.ones(2), "no_type"), (None,)),
    ("empty_like", (mx.np.ones((2, 0)),), (3,), (mx.np.ones(2), "complex64")),
    ("full_like", (mx.np.ones((2, 3)), 7), (mx.np.ones(2), [1, 2]), (mx.np.ones(2), [1, 2, 3])),
    ("full_like", ([1, 2], 2.5), (mx.np.ones(2), 1, "int8"), (mx.np.ones(2), mx.np.ones((2, 2)))),
    ("diag", ([1, 2],), ([1, 2], -3), (mx.np.ones((3, 4)), 1), (mx.np.ones((3, 4)), 9), (3,)),
    ("diag", (mx.np.ones((2, 2, 2)),), ([1], 2**63 - 1), ([1], -(2**63)), ([1], 2**40), ("x",)),
    ("tril", (mx.np.ones((3, 4)), 1), ([1, 2, 3],), (mx.np.ones((2, 2, 3)),), (3,), ("x",)),
    ("triu", (mx.np.ones((3, 4)), -1), ([1, 2, 3], 2), (mx.np.ones((0, 3)),), (3,), ([1], None)),
    ("copy", (mx.np.ones((3, 4)).T,), ([1, 2],), (3,), (numpy.float32(3),), ("x",)),
    ("astype", (mx.np.ones((3, 4)), "int8"), ([300], "int8"), (2.5, "bool"), ([1], "no_type")),
    ("array", (mx.np.ones((3, 4)).T,), ([[1, 2.5]],), (3,), (True,), (2j,), (numpy.float32(3),)),
    (
        "array",
        ([300], "int8"),
        (300, "int8"),
        ([1], "no_type"),
        ("x",),
        ([1, "x"],),
        ([[1], [1, 2]],),
    ),
    (
        "array",
        ([mx.np.ones(2), [1, 2]],),
        ([mx.np.ones(2), [1]],),
        ([],),
        ([[], []], "bool"),
        (None,),
    ),
    ("array", ({},), (2**63,), ([1, None],), (mx.np.ones(2), "bfloat16"), (1, "int8", 3)),
    (
        "asarray",
        (mx.np.ones((3, 4)),),
        ([1, 2],),
        (numpy.ones(2, "int8"), "float32"),
        (2.5, "bool"),
    ),
    ("asarray", ("x",), ([1], "no_type"), (mx.np.ones(2), None, "no_such"), ([[2], 1],)),
    ("astype", (mx.np.ones(2), "float32", False), (mx.np.ones(2), None), ("x", "int8")),
)


@pytest.mark.parametrize(("name", "args"), [(name, args) for name, *many in MADE for args in many])
def test_makers_as_the_call_has_it(name: str, args: Any) -> None:
    function = getattr(mx.np, name)
    assert outcome(infer, function, *args) == outcome(function, *args)


def test_the_distance_of_linspace_is_an_output() -> None:
    numbers, distance = infer(mx.np.linspace, 0, 1, 5, retstep=True)
    assert (tuple(numbers.shape), numbers.dtype) == ((5,), "float32")
    assert (tuple(distance.shape), distance.dtype) == ((), "float64")


SYMBOLIC = (
    ("add", (("n", 3), (3,)), ("n", 3)),
    ("add", (("n", 1), ("n", 4)), ("n", 4)),
    ("add", (("n",), ("m",)), ("broadcast(n, m)",)),
    ("multiply", (("n", "m"), ("k", 1, 1)), ("k", "n", "m")),
    ("maximum", (("n",), (7,)), (7,)),
    ("exp", (("n", 2),), ("n", 2)),
    ("add", (("n", 1), (1, "n")), ("n", "n")),
    ("cumsum", (("n", "m"),), ("n*m",)),
    ("cumsum", (("m", "n"),), ("n*m",)),
    ("cumprod", (("n", 3, "n"),), ("3*n*n",)),
    ("cumsum", (("n", 0),), (0,)),
    ("sum", (("n", 3),), ()),
    ("matmul", (("batch", "m", "k"), ("k", "n")), ("batch", "m", "n")),
    ("matmul", (("batch", 1, "m", 3), ("heads", "k", "n")), ("batch", "heads", "m", "n")),
    ("matmul", (("k",), ("batch", "k", "n")), ("batch", "n")),
    ("matmul", (("m", "k"), ("k",)), ("m",)),
    ("dot", (("m", "k"), ("b", "k", "n")), ("m", "b", "n")),
    ("dot", (("m", 3), ("k",)), ("m",)),
    ("dot", (("m",), ()), ("m",)),
    ("inner", (("m", "k"), ("n", "k")), ("m", "n")),
    ("outer", (("m", "k"), ("n",)), ("m*k", "n")),
    ("vdot", (("m", 2), ("n",)), ()),
    ("tensordot", (("m", 2, "k"), (2, "k", "n")), ("m", "n")),
    ("clip", (("n", 2), (1, 2)), ("n", 2)),
    ("where", (("n", 1), ("m",), ()), ("n", "m")),
    ("sort", (("n", 2),), ("n", 2)),
    ("zeros_like", (("n", 3),), ("n", 3)),
    ("ones_like", (("n",),), ("n",)),
    ("empty_like", (("n", "m"),), ("n", "m")),
    ("full_like", (("n", 3), (3,)), ("n", 3)),
    ("full_like", (("n", 3), ("m", 1)), ("n", 3)),
    ("diag", (("n",),), ("n", "n")),
    ("diag", (("n", "n"),), ("n",)),
    ("tril", (("n", 3),), ("n", 3)),
    ("triu", (("n",),), ("n", "n")),
    ("copy", (("n", "m"),), ("n", "m")),
    ("array", (("n", "m"),), ("n", "m")),
    ("asarray", (("n", 3),), ("n", 3)),
)

# Operators of a sequence: shapes of its items, attributes, and the shape of the result.
JOINED = (
    ("concatenate", (("n", 3), ("m", 3)), {}, ("n + m", 3)),
    ("concatenate", (("n", 3), ("n", "k")), {"axis": 1}, ("n", "k + 3")),
    ("concatenate", (("n", 3), (7, 3)), {"axis": -1}, (7, 6)),
    ("concatenate", (("n", 3), (2,)), {"axis": None}, ("3*n + 2",)),
    ("concatenate", (("n",),) * 6, {}, ("6*n",)),
    ("stack", (("n", 3), ("n", 3)), {"axis": 1}, ("n", 2, 3)),
    ("stack", (("n",), (4,)), {}, (2, 4)),
    ("vstack", (("n",), ("m", "n")), {}, ("m + 1", "n")),
    ("hstack", (("n",), ("m",)), {}, ("n + m",)),
    ("hstack", (("k", "n"), ("k", 1)), {}, ("k", "n + 1")),
)

# Calls whose outcome, be it an error, is the one that is told before.
CALLS = {
    "concatenate": (
        *("[a(2, 3), a(4, 3)]", "[a(2, 3), a(4, 3)], 1", "[a(2, 3), a(4)], None", "[]", "a(3, 2)"),
        *("[a(2), a(2, 2)]", "[a(2), [1, 2]]", "[a(1, dtype='int8'), a(2, dtype='uint8')]"),
        *("[a(2)], 1", "[a(), a()]", "5", "a()", "[a(2, dtype='int8'), [2.5]]", "(1, 2)"),
    ),
    "stack": (
        *("[a(2, 3)] * 5", "[a(2, 3)] * 2, -1", "[a(2)], 3", "[a(2), a(3)]", "[1, 2.5]", "a(2, 2)"),
        *("[]", "[a(*[1] * 64)]", "[a(dtype='int16'), 3]"),
    ),
    "vstack": ("[a(3), a(2, 3)]", "[1, 2]", "[a(2), a(3)]", "a(2, 2)", "[]"),
    "hstack": ("[a(3), a(2)]", "[1, 2]", "[a(2, 3), a(2, 1)]", "[a(2, 3), a(1)]", "[]"),
    "matmul": (
        *("a(2, 3), a(3, 4)", "a(3), a(3)", "a(3), a(3, 2)", "a(2, 3), a(2, 3)", "a(2), 1"),
        *("a(5, 1, 2, 3), a(4, 3, 2)", "a(2, 2, 3), a(4, 3, 2)", "a(2, 0), a(0, 3)"),
        *("a(2, 2, dtype='int8'), [[0.5], [1]]", "a(2, 2), a(2, 2), a(2, 2)"),
    ),
    "dot": (
        *("a(2, 3), a(3, 4)", "a(3), a(3)", "a(2, 3), 2", "a(2, 3), a(4)", "a(2, 3), a(5, 3, 2)"),
        "a(2, dtype='bool'), a(2, dtype='bfloat16')",
    ),
    "inner": ("a(2, 3), a(4, 3)", "a(2, 3), a(2)", "2, a(3)"),
    "outer": ("a(2, 3), a(4)", "2, 2.5", "a(2, dtype='int8'), 3"),
    "vdot": ("a(2, 3), a(6)", "a(2), a(3)", "a(2, dtype='complex64'), a(2)"),
    "tensordot": (
        *("a(2, 3), a(2, 3)", "a(2, 3), a(3, 2)", "a(2, 3), a(3, 2), 1", "a(2, 3), a(3, 2), 0"),
        *("a(2, 3), a(3, 2), ([0, 1], [1, 0])", "a(2, 3), a(3, 2), ([0, 0], [1, 1])"),
        *("a(2, 3), a(3, 2), 3", "a(2, 3), a(3, 2), ([0], [1, 0])", "a(2), a(2), (0, 0)"),
        *("a(2), a(2), 'x'", "a(2), a(2), (0, 1)", "a(*[1] * 40), a(*[1] * 40), 0"),
    ),
    "sort": (
        "a(2, 3)",
        "a(2, 3), 0",
        "a(2, 3), None",
        "a(2), 1",
        "a()",
        "a(2), -1, 'odd'",
        "[2, 1]",
    ),
    "argsort": ("a(2, 3)", "a(2, 3), None", "a()", "a(), 1", "a(2), 0, 'stable'", "a(2), 0, 3"),
    "take": (
        *("a(4, 3), [0, 1]", "a(4, 3), [[0], [1]], 0", "a(4, 3), 2, -1", "a(4, 3), [0], 2"),
        *("a(4), [0.5]", "a(4), []", "a(0), [0]", "a(4), [0], 0, None, 'odd'", "a(), 0"),
        *("a(2, 2), a(2, dtype='bool'), 1", "a(2, 2), [0], True", "a(*[1] * 40), a(*[1] * 40)"),
    ),
    "where": (
        *("a(2, dtype='bool'), a(2), a(3, 1)", "a(2), 1, 2.5", "True, a(2, dtype='int8'), 3"),
        *("a(2), a(2)", "a(2), a(3), a(2)", "a(2), a(2, dtype='int16'), [1.5, 2]", "'x', 1, 2"),
    ),
    "clip": (
        *("a(2, 3), 0, 1", "a(2), None, a(3, 1)", "a(2, dtype='uint8'), -1, 300", "a(2)"),
        *("a(2), 0, 1, None, 2", "a(2), 0, max=1", "a(2, dtype='bool'), 0, 1", "5, 0.5, 2"),
        *("a(2, dtype='int8'), 0.5", "a(2, dtype='int8'), [1, 2], 3", "a(2), a(3)", "[1, 2], 1, 2"),
    ),
    "softmax": (
        *("a(2, 3)", "a(2), 1", "a(2, dtype='int8')", "a(2), -1, None, 'float64'", "a(), 0"),
        *("a(2), -1, 0", "a(2), -1, None, 'int8'", "a(2, dtype='complex64')", "[1, 2]"),
        *("a(2), -1, 1e-300", "a(2, dtype='float16')", "[1j], dtype='float32'"),
    ),
    "log_softmax": ("a(2, 3), 0", "0.5", "a(2), -1, 2.0, 'bfloat16'", "a(2), -1, 'x'"),
}

# Operator, shape, attributes, and the shape of the result.
REDUCED = (
    ("sum", ("n", 3), {"axis": 1}, ("n",)),
    ("max", ("n", 3), {"axis": 0, "keepdims": True}, (1, 3)),
    ("mean", ("n", "m", 3), {"axis": (0, -1)}, ("m",)),
    ("argmin", ("n", 3), {"axis": -1}, ("n",)),
    ("std", ("n", 3), {"keepdims": True}, (1, 1)),
    ("cumsum", ("n", 3), {"axis": 0}, ("n", 3)),
    ("round", ("n",), {"decimals": 2}, ("n",)),
    ("sort", ("n", "m"), {"axis": None}, ("n*m",)),
    ("argsort", ("n", 3), {"axis": 0}, ("n", 3)),
    ("take", ("n", 3), {"indices": [[0], [1]], "axis": 0}, (2, 1, 3)),
    ("take", ("n", 3), {"indices": TensorSpec(("n", "m"), "int64"), "axis": 1}, ("n", "n", "m")),
    ("take", ("n", 3), {"indices": 0}, ()),
    ("softmax", ("n", 3), {"axis": 1}, ("n", 3)),
    ("diag", ("n",), {"k": -2}, ("n + 2", "n + 2")),
    ("zeros_like", ("n", 3), {"dtype": "int8"}, ("n", 3)),
    ("astype", ("n", 3), {"dtype": "int8"}, ("n", 3)),
)

# Operator, shape, arguments after the array, and the shapes of the results.
MOVED = (
    ("reshape", ("n", 6), ((-1, 3),), [("2*n", 3)]),
    ("reshape", ("n", 6), ((6, -1),), [(6, "n")]),
    ("reshape", ("n", "m"), (-1,), [("n*m",)]),
    ("reshape", ("n",), ((2, 3),), [(2, 3)]),
    ("ravel", ("n", 2), (), [("2*n",)]),
    ("squeeze", (1, "n", 1), (), [("n",)]),
    ("squeeze", ("n", 3), (0,), [(3,)]),
    ("expand_dims", ("n",), ((0, -1),), [(1, "n", 1)]),
    ("broadcast_to", (1, "n"), ((4, 5),), [(4, 5)]),
    ("transpose", ("n", "m", 2), (), [(2, "m", "n")]),
    ("transpose", ("n", "m", 2), ((1, 2, 0),), [("m", 2, "n")]),
    ("swapaxes", ("n", "m", 2), (0, -1), [(2, "m", "n")]),
    ("moveaxis", ("n", "m", 2), (0, 2), [("m", 2, "n")]),
    ("flip", ("n", 2), (), [("n", 2)]),
    ("real", ("n",), (), [("n",)]),
    ("imag", ("n",), (), [("n",)]),
    ("diagonal", ("n", "n", 3), (), [(3, "n")]),
    ("split", ("n", 4), (2, 1), [("n", 2), ("n", 2)]),
    ("split", ("n",), (2,), [("floor((n)/(2))",)] * 2),
    ("array_split", (7, "n"), ([2, 4],), [(2, "n"), (2, "n"), (3, "n")]),
    ("roll", ("n", 3), (1, 0), [("n", 3)]),
    ("trace", ("n", "m", 3), (), [(3,)]),
    ("repeat", ("n", 3), (2, 0), [("2*n", 3)]),
    ("repeat", ("n", 3), ([1, 2, 3], 1), [("n", 6)]),
    ("tile", ("n", 3), ((2, 1, 2),), [(2, "n", 6)]),
)


# What stands between the brackets behind an array of n by m by 3, and the shape of that.
INDEXED: tuple[tuple[Any, Any], ...] = (
    (0, ("m", 3)),
    ((0, -1), (3,)),
    ((..., 2), ("n", "m")),
    ((None, 0, None), (1, 1, "m", 3)),
    (slice(None), ("n", "m", 3)),
    (slice(2, None), ("max(n - 2, 0)", "m", 3)),
    (slice(-2, None), ("min(n, 2)", "m", 3)),
    (slice(2), ("min(n, 2)", "m", 3)),
    (slice(None, -1), ("max(n - 1, 0)", "m", 3)),
    (slice(None, None, -1), ("n", "m", 3)),
    (slice(None, None, 2), ("floor((n + 1)/(2))", "m", 3)),
    ((..., slice(1), None), ("n", "m", 1, 1)),
    ([0, 1, 0, 1], (4, "m", 3)),
    ((slice(None), [[0], [1]], slice(2)), ("n", 2, 1, 2)),
    (([[0]], slice(None), [1, 2]), (1, 2, "m")),
    (numpy.array([True, False, True]), (2, "m", 3)),
)


@pytest.mark.parametrize(("key", "expected"), INDEXED, ids=str)
def test_symbolic_extents_behind_brackets(key: Any, expected: Any) -> None:
    (made,) = infer(getitem, TensorSpec(("n", "m", 3), "int8"), key)
    assert (tuple(made.shape), made.dtype) == (expected, "int8")


# Keys of an array of 3 by 4: what they come to is told, be it an error.
KEYS = (
    *(0, -3, 3, (1, 2), (1, 4), (), ..., None, (..., None), (None,) * 63, (0, 0, 0), (..., ...)),
    *(slice(1, None), slice(-9, 9, 3), slice(None, None, 0), slice(3, 1), (slice(2), slice(None))),
    *([0, 2], [0, 5], [], [True, False, True], [True], True, False, [[0, 1], [2, 0]], [0.5], "x"),
    *(([0, 1], [1, 2]), ([0, 1], [0, 1, 2]), (slice(None), [3, 3]), ([[0]], None, [1, 2, 3])),
    *(numpy.array(1), numpy.array([1], "uint8"), numpy.array([1.5]), numpy.int8(2), 2.5),
    *(numpy.eye(3, 4, dtype=bool), mx.np.eye(3, 4, dtype="bool"), numpy.ones((4, 3), bool), {}),
)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_as_the_call_has_them(key: Any) -> None:
    x = mx.np.ones((3, 4), dtype="int16")
    told, given = outcome(infer, getitem, x, key), outcome(getitem, x, key)
    # An index in an array is an element, which infer does not look at.
    assert told == given or (key == [0, 5] and given[0] is IndexError)


@pytest.mark.parametrize(("name", "shape", "args", "expected"), MOVED)
def test_symbolic_extents_of_views(name: str, shape: Any, args: Any, expected: Any) -> None:
    made = infer(getattr(mx.np, name), TensorSpec(shape, "float32"), *args)
    assert [tuple(spec.shape) for spec in made] == expected


@pytest.mark.parametrize(("name", "shape", "args", "expected"), MOVED)
def test_views_as_the_call_has_them(name: str, shape: Any, args: Any, expected: Any) -> None:
    function = getattr(mx.np, name)
    shapes = (tuple(6 if isinstance(extent, str) else extent for extent in shape), (), (2, 3))
    for x in [mx.np.ones(shape, dtype="complex64") for shape in shapes]:
        assert outcome(infer, function, x, *args) == outcome(function, x, *args), x.shape


@pytest.mark.parametrize(("name", "shapes", "expected"), SYMBOLIC)
def test_symbolic_extents(name: str, shapes: Any, expected: Any) -> None:
    specs = [TensorSpec(shape, "float32") for shape in shapes]
    (made,) = infer(getattr(mx.np, name), *specs)
    assert tuple(made.shape) == expected
    assert made.dtype == "float32"


@pytest.mark.parametrize(("name", "shape", "attributes", "expected"), REDUCED)
def test_symbolic_extents_of_reductions(
    name: str, shape: Any, attributes: Any, expected: Any
) -> None:
    (made,) = infer(operator(name), TensorSpec(shape, "float32"), **attributes)
    assert tuple(made.shape) == expected


@pytest.mark.parametrize(("name", "shapes", "attributes", "expected"), JOINED)
def test_symbolic_extents_of_joins(name: str, shapes: Any, attributes: Any, expected: Any) -> None:
    items = [TensorSpec(shape, "float32") for shape in shapes]
    (made,) = infer(operator(name), items, **attributes)
    assert tuple(made.shape) == expected


@pytest.mark.parametrize("name", CALLS)
def test_outcomes_of_calls(name: str) -> None:
    for text in CALLS[name]:
        args, attributes = arguments(text)
        told = outcome(infer, operator(name), *args, **attributes)
        assert told == outcome(operator(name), *args, **attributes), text


@pytest.mark.parametrize("number", (numpy.float32(2), numpy.int8(3), numpy.uint64(1), True, 2, 2.5))
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_beside_an_array(number: Any, dtype: str) -> None:
    x = mx.np.ones(2, dtype=dtype)
    for function in (mx.np.add, mx.np.divide, mx.np.arctan2, mx.np.less):
        assert outcome(infer, function, x, number) == outcome(function, x, number)


BAD = (
    (
        lambda: infer(mx.np.add, TensorSpec((2,), "float32")),
        TypeError,
        "missing a required argument: 'x2'",
    ),
    (
        lambda: infer(mx.np.add, TensorSpec((2,), "int8"), TensorSpec(("n", 3), "int8")),
        ValueError,
        r"_npi.add: operands could not be broadcast together with shapes \(2,\) \(n,3\)",
    ),
    (lambda: infer(mx.np.invert, TensorSpec(("n",), "float32")), TypeError, "_npi.invert: not"),
    (lambda: infer(mx.np.add, "x", 1), TypeError, r"argument 0 \('x1'\) expected an array"),
    (lambda: infer(mx.np), TypeError, "infer: expected an operator, got module"),
    (
        lambda: infer(ffi.get_global_func("_npi.setitem"), 1, 1, 1),
        NotImplementedError,
        "_npi.setitem: it is no operator",
    ),
    (lambda: infer(getitem, 1), TypeError, "getitem: expected 2 arguments, got 1"),
    (
        lambda: infer(getitem, mx.np.ones(2), (TensorSpec((2,), "bool"), None)),
        NotImplementedError,
        r"_npi.getitem: argument 1 \('key'\) has a TensorSpec: what .* or a mask selects",
    ),
    (
        lambda: infer(getitem, TensorSpec(("n", 2), "int8"), (0, 2)),
        IndexError,
        "index 2 is out of bounds for axis 1 with size 2",
    ),
    (lambda: TensorSpec((-1,), "float32"), ValueError, "an extent is -1"),
    (lambda: TensorSpec(("",), "float32"), ValueError, "'' is no symbolic extent: expected a name"),
    (lambda: TensorSpec(("3",), "float32"), ValueError, "no digit first"),
    (lambda: TensorSpec(("a\0b",), "float32"), ValueError, "is no symbolic extent"),
    (lambda: infer(mx.np.sum, TensorSpec(("n",), "int8"), axis=1), AxisError, "axis 1 is out of"),
    (lambda: infer(mx.np.max, TensorSpec((0, 2), "int8")), ValueError, "zero-size array"),
    (
        lambda: infer(mx.np.full_like, TensorSpec((2, "n"), "int8"), TensorSpec((3, "n"), "int8")),
        ValueError,
        r"could not broadcast input array from shape \(3,n\) into shape \(2,n\)",
    ),
    (lambda: mx.np.zeros_like(TensorSpec((2,), "int8")), TypeError, "expected an array"),
    (lambda: TensorSpec((1,) * 65, "float32"), ValueError, "0 to 64 dimensions, got 65"),
    (lambda: TensorSpec((1,), "no_type"), TypeError, "no_type"),
    (
        lambda: infer(mx.np.matmul, TensorSpec(("n", 3), "int8"), TensorSpec((4, "n"), "int8")),
        ValueError,
        r"size 4 is different from 3",
    ),
    (
        lambda: infer(mx.np.concatenate, TensorSpec(("n", 3), "int8")),
        ValueError,
        r"argument 0 \('seq'\) has n items; how many arrays it is has to be known",
    ),
    (
        lambda: infer(mx.np.where, TensorSpec((), "bool")),
        ValueError,
        "_npi.where: Calling nonzero on 0d arrays is not allowed",
    ),
)


@pytest.mark.parametrize(("call", "kind", "text"), BAD)
def test_what_is_wrong(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def infer_parts(a: Any, b: Any, count: Any, name: str) -> Any:
    if count < 1:
        raise AxisError(f"no {name} of {count}")
    return [a] * count if b is None else b


@pytest.fixture
def parts() -> Iterator[Any]:
    @mx.op.register("_npi.parts_of_tests", infer=infer_parts)
    def parts(
        a: mx.np.ndarray, b: ArrayLike | None = None, count: int = 1, *, name: str = "x"
    ) -> Any:
        """Gives a several times, or b."""
        return [a] * count if b is None else b

    yield parts
    ffi.remove_global_func("_npi.parts_of_tests")


def shapes(specs: Any) -> list[tuple[Any, ...]]:
    return [tuple(spec.shape) for spec in specs]


def test_an_operator_of_python_tells_what_it_gives(parts: Any) -> None:
    spec = TensorSpec(("n", 3), "int8")
    for function in (parts, vars(mx.np)["parts_of_tests"]):
        assert shapes(infer(function, spec)) == [("n", 3)]
        assert shapes(infer(function, spec, count=5)) == [("n", 3)] * 5
        assert shapes(infer(function, 2, mx.np.ones((4, 2)))) == [(4, 2)]
        assert infer(function, mx.np.ones(2, "int8"))[0].dtype == "int8"
        assert [made.shape for made in function(mx.np.ones(2), count=2)] == [(2,), (2,)]
    assert inspect.signature(parts).parameters["count"].default == 1
    assert parts.__doc__.startswith("Gives a several times")


@pytest.fixture
def joined() -> Iterator[Any]:
    def infer_joined(weight: Any, arrays: Any, scale: Any) -> Any:
        assert isinstance(arrays, tuple)
        rest = list(weight.shape[1:])
        extents = [array.shape[0] for array in arrays]
        if not arrays or any(list(array.shape[1:]) != rest for array in arrays):
            raise ValueError(f"{len(arrays)} arrays do not fit {list(weight.shape)}")
        return TensorSpec((sum(extents), *rest), "float32")

    @mx.op.register("_npi.joined_of_tests", infer=infer_joined)
    def joined(weight: ArrayLike, arrays: Sequence[ArrayLike], scale: int = 1) -> Any:
        """Joins arrays, and multiplies them."""
        return mx.np.concatenate(arrays) * mx.np.array(weight) * scale

    yield joined
    ffi.remove_global_func("_npi.joined_of_tests")


def test_an_operator_of_python_takes_several_arrays(joined: Any) -> None:
    weight, arrays = mx.np.ones((1, 3)), [mx.np.ones((2, 3)), mx.np.ones((4, 3))]
    assert [param.role for param in joined.info.params] == ["array", "arrays", "attribute"]
    for given in (arrays, tuple(arrays)):
        assert joined(weight, given, 2).tolist() == [[2.0] * 3] * 6
        assert shapes(infer(joined, weight, given)) == [(6, 3)]
    assert shapes(infer(joined, weight, mx.np.ones((5, 1, 3)))) == [(5, 3)]
    spec = TensorSpec((2, "n"), "float32")
    assert shapes(infer(joined, spec, [spec] * 3)) == [(6, "n")]
    assert mx.op.cost(joined, TensorSpec((2, 3), "float32"), arrays).bytes == 4 * (6 + 18 + 18)


@pytest.mark.parametrize("arrays", [(), [mx.np.ones((2, 2))], 1, None, "x"])
def test_what_is_wrong_with_several_arrays(joined: Any, arrays: Any) -> None:
    weight = mx.np.ones((1, 3))
    told, given = outcome(infer, joined, weight, arrays), outcome(joined, weight, arrays)
    assert told == given
    assert isinstance(told[0], type) and issubclass(told[0], Exception)


@pytest.mark.parametrize("args", [(1, None, 0), (1, None, -2), ("x",), ({},), (1, 2, "many"), ()])
def test_an_operator_of_python_raises_what_its_infer_raises(parts: Any, args: Any) -> None:
    told, given = outcome(infer, parts, *args), outcome(parts, *args)
    assert told[0] is given[0]
    assert args == () or told == given


@pytest.mark.parametrize(
    ("infer_result", "kind", "text"),
    [
        (3, TypeError, "infer has to give a TensorSpec, or a sequence of them, and gave int"),
        ([None], TypeError, "_npi.wrong: infer has to give .* gave None"),
    ],
)
def test_what_is_wrong_with_infer(infer_result: Any, kind: type[Exception], text: str) -> None:
    wrong = mx.op.register("_npi.wrong", infer=lambda x: infer_result)(lambda x: x)
    try:
        for call in (wrong, lambda x: infer(wrong, x)):
            with pytest.raises(kind, match=text):
                call(1)
    finally:
        ffi.remove_global_func("_npi.wrong")


def test_what_is_no_function_for_an_operator() -> None:
    for function in (print, lambda *args: args):
        with pytest.raises(TypeError, match="_npi.wrong: an operator"):
            mx.op.register("_npi.wrong", infer=lambda *args: args)(function)
    register = mx.op.register("_npi.add", infer=lambda x: x)
    with pytest.raises(ValueError, match="_npi.add"):
        register(lambda x: x)


@pytest.mark.parametrize(
    ("function", "args", "bytes_moved", "operations"),
    [
        (mx.np.matmul, (("n", 3), (3, 4)), "28*n + 48", "24*n"),
        (mx.np.matmul, ((2, 5, 3), (3, 4)), 4 * (30 + 12 + 40), 2 * 40 * 3),
        (mx.np.dot, ((5,), (5,)), 4 * 11, 10),
        (mx.np.tensordot, ((2, 3, 4), (3, 2, 5), ((1, 0), (0, 1))), 4 * (24 + 30 + 20), 2 * 6 * 20),
        (mx.np.inner, ((5, 3), (2, 3)), 4 * (15 + 6 + 10), 2 * 3 * 10),
        (mx.np.outer, ((5,), (3,)), 4 * (8 + 15), 15),
        (mx.np.vdot, ((5,), (5,)), 4 * 11, 10),
        (mx.np.add, ((5, 1), (3,)), 4 * (5 + 3 + 15), 15),
        (mx.np.sum, ((5, "m"),), "20*m + 4", "5*m"),
        (mx.np.reshape, ((6,), (2, 3)), 48, 0),
        (mx.np.split, ((6,), 3), 48, 0),
        (getitem, ((6, "n"), 0), "28*n", 0),
        (getitem, ((6, "n"), [0, 1]), "32*n", "2*n"),
        (mx.np.array, ((6,),), 48, 6),
    ],
)
def test_cost(function: Any, args: Any, bytes_moved: Any, operations: Any) -> None:
    one = (mx.np.reshape, mx.np.split, mx.np.sum, mx.np.array, getitem)
    count = 1 if function in one else 2
    specs = [TensorSpec(shape, "float32") for shape in args[:count]]
    cost = mx.op.cost(function, *specs, *args[count:])
    assert (cost.bytes, cost.operations) == (bytes_moved, operations)


def test_a_call_that_is_wrong_has_no_cost() -> None:
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        mx.op.cost(mx.np.matmul, TensorSpec((2, 3), "int8"), TensorSpec((2, 3), "int8"))
    with pytest.raises(TypeError, match="cost: expected an operator, got int"):
        mx.op.cost(3)
