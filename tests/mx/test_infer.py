"""What operators say of their outputs, against what calls give."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from numpy.exceptions import AxisError

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


ELEMENTWISE = {name: function for name, function in elementwise() if name != "matmul"}


def arity(function: Any) -> int:
    return len(inspect.signature(function).parameters) - 1


def outcome(function: Any, *args: Any) -> Any:
    """The shape and type of what a call gives, or the class and text of what it raises."""
    try:
        made = function(*args)
    except Exception as error:
        return type(error), str(error)
    made = made[0] if isinstance(made, list) else made
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
)

# Operator, shape, attributes, and the shape of the result.
REDUCED = (
    ("sum", ("n", 3), {"axis": 1}, ("n",)),
    ("max", ("n", 3), {"axis": 0, "keepdims": True}, (1, 3)),
    ("mean", ("n", "m", 3), {"axis": (0, -1)}, ("m",)),
    ("argmin", ("n", 3), {"axis": -1}, ("n",)),
    ("std", ("n", 3), {"keepdims": True}, (1, 1)),
    ("cumsum", ("n", 3), {"axis": 0}, ("n", 3)),
    ("round", ("n",), {"decimals": 2}, ("n",)),
)


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
    (made,) = infer(getattr(mx.np, name), TensorSpec(shape, "float32"), **attributes)
    assert tuple(made.shape) == expected


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
    (lambda: infer(mx.np.array, 1), NotImplementedError, "_npi.array: it is no operator"),
    (lambda: TensorSpec((-1,), "float32"), ValueError, "an extent is -1"),
    (lambda: TensorSpec(("",), "float32"), ValueError, "'' is no name of a symbolic extent"),
    (lambda: TensorSpec(("n*m",), "float32"), ValueError, "expected letters, digits and _"),
    (lambda: TensorSpec(("3",), "float32"), ValueError, "no digit first"),
    (lambda: TensorSpec(("a\0b",), "float32"), ValueError, "no name of a symbolic extent"),
    (lambda: infer(mx.np.sum, TensorSpec(("n",), "int8"), axis=1), AxisError, "axis 1 is out of"),
    (lambda: infer(mx.np.max, TensorSpec((0, 2), "int8")), ValueError, "zero-size array"),
    (lambda: TensorSpec((1,) * 65, "float32"), ValueError, "0 to 64 dimensions, got 65"),
    (lambda: TensorSpec((1,), "no_type"), TypeError, "no_type"),
)


@pytest.mark.parametrize(("call", "kind", "text"), BAD)
def test_what_is_wrong(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
