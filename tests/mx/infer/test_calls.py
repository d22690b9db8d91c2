"""What operators say of their outputs, against what calls give."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import mx
from mx.op import infer

from .operators import ELEMENTWISE, arguments, arity, operator, outcome

DTYPES = ("bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex128")


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
