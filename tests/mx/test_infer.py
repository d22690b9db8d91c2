"""What operators say of their outputs, against what calls give."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

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
)


@pytest.mark.parametrize(("name", "shapes", "expected"), SYMBOLIC)
def test_symbolic_extents(name: str, shapes: Any, expected: Any) -> None:
    specs = [TensorSpec(shape, "float32") for shape in shapes]
    (made,) = infer(getattr(mx.np, name), *specs)
    assert tuple(made.shape) == expected
    assert made.dtype == "float32"


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
    (lambda: TensorSpec(("",), "float32"), ValueError, "no name"),
    (lambda: TensorSpec((1,) * 65, "float32"), ValueError, "0 to 64 dimensions, got 65"),
    (lambda: TensorSpec((1,), "no_type"), TypeError, "no_type"),
)


@pytest.mark.parametrize(("call", "kind", "text"), BAD)
def test_what_is_wrong(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
