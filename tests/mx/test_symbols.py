"""Operators inferred with symbols: with numbers for the symbols that is what calls give."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from operator import getitem
from typing import Any

import numpy
import pytest

import mx
from mx.op import TensorSpec, infer

from .infer.operators import ELEMENTWISE, arity, operator

# What the symbols are in turn: some of one element, and some of none.
NUMBERS = ({"n": 4, "m": 6}, {"n": 1, "m": 6}, {"n": 6, "m": 2}, {"n": 2, "m": 2}, {"n": 0, "m": 2})

# Take one sequence of arrays.
JOINS = ("concatenate", "stack", "vstack", "hstack")
OF_INTEGERS = ("bitwise_", "invert", "left_shift", "right_shift")
REDUCTIONS = (
    *("sum", "prod", "max", "min", "mean", "std", "var", "argmax", "argmin", "all", "any"),
    *("cumsum", "cumprod"),
)
AXES: tuple[dict[str, Any], ...] = ({}, {"axis": 0}, {"axis": -1}, {"axis": 1})
KEPT: tuple[dict[str, Any], ...] = ({"axis": 1, "keepdims": True}, {"keepdims": True})

# Operators, the shapes of their arrays, and attributes.
PRODUCTS: tuple[Any, ...] = (
    ("matmul", (("n", "m"), ("m", 3)), {}),
    ("matmul", (("m",), (5, "m", "n")), {}),
    ("matmul", (("n", 1, "m", 3), ("m", 3, "n")), {}),
    ("dot", (("n", "m"), ("m", 3)), {}),
    ("dot", (("n", "m"), ()), {}),
    ("inner", (("n", "m"), (3, "m")), {}),
    ("outer", (("n", "m"), ("m",)), {}),
    ("vdot", (("n", "m"), ("m", "n")), {}),
    ("tensordot", (("n", "m", 2), ("m", 2, 3)), {}),
    ("tensordot", (("n", "m"), ("m", "n")), {"axes": ([0, 1], [1, 0])}),
    ("tensordot", (("n",), ("m",)), {"axes": 0}),
)
VIEWS: tuple[Any, ...] = (
    ("reshape", ("n", 6), {"shape": (-1, 3)}),
    ("reshape", ("n", "m", 2), {"shape": (-1,)}),
    ("reshape", ("n", "m", 2), {"shape": (2, -1)}),
    ("ravel", ("n", "m"), {}),
    ("squeeze", (1, "n", 1, "m"), {"axis": (0, 2)}),
    ("expand_dims", ("n", "m"), {"axis": (0, -1)}),
    ("transpose", ("n", "m", 2), {}),
    ("transpose", ("n", "m", 2), {"axes": (1, 2, 0)}),
    ("swapaxes", ("n", "m", 2), {"axis1": 0, "axis2": 2}),
    ("moveaxis", ("n", "m", 2), {"source": 0, "destination": 2}),
    ("flip", ("n", "m"), {}),
    ("real", ("n", "m"), {}),
    ("imag", ("n", "m"), {}),
    ("broadcast_to", ("n", "m"), {"shape": (3, 4, 6)}),
    *(("diagonal", shape, {"offset": k}) for shape in (("n", "m"), (3, "n")) for k in range(-7, 8)),
    *(("diagonal", ("n", 3, "n"), {"offset": k, "axis1": 2, "axis2": 0}) for k in (-1, 0, 2)),
    *(("diag", ("n", "m"), {"k": k}) for k in (-(2**63), -2, 0, 1, 2**63 - 1)),
    *(("trace", ("n", "m", 3), {"offset": k}) for k in (-2, 0, 5)),
    *(("split", ("n", "m"), {"indices_or_sections": k, "axis": 1}) for k in (1, 2)),
    *(("array_split", ("n", "m"), {"indices_or_sections": k}) for k in (1, 2, 3, 5)),
    *(
        (name, ("n", "m"), {"indices_or_sections": at})
        for name in ("split", "array_split")
        for at in ([], [2], [0, 3], [3, 1], [2, -1], [-1, 2], [-3, -1], [-1, -3], [9, -9, 1])
    ),
    ("array_split", ("n",), {"indices_or_sections": [-(2**63), 2**63 - 1, 1]}),
)
OTHERS: tuple[Any, ...] = (
    ("clip", (("n", 1), ("m",), ()), {}),
    ("where", (("n", 1), ("m",), ()), {}),
    ("concatenate", (("n", "m"), (3, "m")), {}),
    ("concatenate", (("n", "m"), (3, "m")), {"axis": None}),
    ("stack", (("n", "m"),) * 2, {"axis": 1}),
    ("vstack", (("m",), ("n", "m")), {}),
    ("hstack", (("n",), ("m",)), {}),
    ("sort", (("n", "m"),), {"axis": None}),
    ("argsort", (("n", "m"),), {}),
    ("repeat", (("n", "m"),), {"repeats": 3, "axis": 1}),
    ("repeat", (("n", "m"),), {"repeats": 3}),
    ("tile", (("n", "m"),), {"reps": (2, 1, 3)}),
    ("roll", (("n", "m"),), {"shift": 1}),
    ("zeros_like", (("n", "m"),), {}),
    ("tril", (("n", "m"),), {}),
    ("triu", (("n",),), {}),
    ("diag", (("n",),), {"k": -2}),
    ("softmax", (("n", "m"),), {}),
    ("round", (("n", "m"),), {}),
    ("array", (("n", "m"),), {}),
    ("asarray", (("n", "m"),), {"dtype": "int8"}),
    ("getitem", (("n", "m"),), {"key": 0}),
    ("getitem", (("n", "m"),), {"key": (..., None, -1)}),
    ("getitem", (("n", "m", 3),), {"key": (slice(1, None), slice(None, -1, 2))}),
    ("getitem", (("n", "m", 3),), {"key": (slice(None, None, -1), [1, 1, 0], slice(-2, None))}),
    ("getitem", (("n", 2, "m"),), {"key": ([[0], [0]], slice(1), [0, 0, -1])}),
    ("getitem", (("n", 3, "m"),), {"key": (slice(None), numpy.array([True, False, True]))}),
)
PAIRS = ((("n", "m"), ("m",)), (("n", 1), ("m",)), (("n",), ("m",)), (("n", "m"), ("n", "m")))


def rows() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """The operator, the shapes of its arrays and its attributes, of every call."""
    for name, function in ELEMENTWISE.items():
        for pair in PAIRS if name != "matmul" else ():
            yield name, pair[: arity(function)], {}
    for name in REDUCTIONS:
        options = AXES if name.startswith("cum") else AXES + KEPT
        yield from ((name, (("n", "m"),), option) for option in options)
    yield from PRODUCTS
    yield from ((name, (shape,), attributes) for name, shape, attributes in VIEWS)
    yield from OTHERS


ROWS = list(rows())


def broadcast(a: int, b: int) -> int:
    if a != b and 1 not in (a, b):
        raise ValueError(f"{a} and {b} do not broadcast")
    return b if a == 1 else a


def value(extent: int | str, numbers: dict[str, int]) -> int:
    """An extent with numbers in place of its symbols."""
    if isinstance(extent, int):
        return extent
    functions = {"floor": math.floor, "broadcast": broadcast, "min": min, "max": max}
    return int(eval(extent, {**functions, **numbers}))


def substituted(spec: Any, numbers: dict[str, int]) -> Any:
    return TensorSpec([value(extent, numbers) for extent in spec.shape], spec.dtype)


def arguments(name: str, arrays: list[Any], attributes: dict[str, Any]) -> tuple[Any, Any, Any]:
    """What is called, with which arguments."""
    if name == "getitem":
        return getitem, (*arrays, attributes["key"]), {}
    return operator(name), [arrays] if name in JOINS else arrays, attributes


def told(name: str, specs: list[Any], attributes: dict[str, Any]) -> list[Any]:
    """What infer tells of a call."""
    function, args, keywords = arguments(name, specs, attributes)
    return list(infer(function, *args, **keywords))


def called(name: str, arrays: list[Any], attributes: dict[str, Any]) -> list[Any]:
    """The specs of what a call gives."""
    function, args, keywords = arguments(name, arrays, attributes)
    given = function(*args, **keywords)
    many = given if isinstance(given, (list, tuple)) else [given]
    return [TensorSpec(array.shape, array.dtype) for array in many]


def of_type(shapes: Any, dtype: str) -> list[Any]:
    return [TensorSpec(shape, dtype) for shape in shapes]


@pytest.mark.parametrize(("name", "shapes", "attributes"), ROWS)
def test_with_numbers_for_symbols(name: str, shapes: Any, attributes: dict[str, Any]) -> None:
    dtype = "int8" if name.startswith(OF_INTEGERS) else "float32"
    specs = of_type(shapes, dtype)
    symbolic = told(name, specs, attributes)
    compared = 0
    for numbers in NUMBERS:
        known = [substituted(spec, numbers) for spec in specs]
        arrays = [mx.np.ones(spec.shape, dtype=dtype) for spec in known]
        try:
            given = called(name, arrays, attributes)
        except (IndexError, ValueError):
            continue  # not with these numbers
        assert [substituted(spec, numbers) for spec in symbolic] == given
        assert told(name, known, attributes) == given
        compared += 1
    assert compared > 0


BOUNDS = (None, -(2**63), -6, -2, -1, 0, 1, 3, 7, 2**63 - 1)


@pytest.mark.parametrize("step", (None, 1, 3, -1, -2, 10**6, -(10**6)))
def test_slices_with_numbers_for_symbols(step: int | None) -> None:
    spec = TensorSpec(("n",), "int8")
    for start, stop in itertools.product(BOUNDS, BOUNDS):
        key = slice(start, stop, step)
        (made,) = infer(getitem, spec, key)
        for n in range(7):
            expected = len(range(*key.indices(n)))
            assert value(made.shape[0], {"n": n}) == expected, (key, made.shape, n)


# Texts of one extent.
EQUAL = (
    ("2*n + 1", "1 + n + n"),
    ("n*m", "m*n"),
    ("n", " n "),
    ("2*n*n - 3*m + 4", "-3*m+2*n*n+4"),
    ("floor((n)/(2))", "floor((n) / (2))"),
    ("floor((n + 3)/(2))", "floor((n + 1)/(2)) + 1"),
    ("floor((2*n + 5)/(2))", "n + 2"),
    ("floor((n*m)/(m))", "n"),
    ("min(n, 4)", "min(4, n)"),
    ("min(n, n + 2)", "n"),
    ("max(n + 1, 0)", "n + 1"),
    ("max(n - 2, 0)", "max(-2 + n, 0)"),
    ("broadcast(n, m)", "broadcast(m, n)"),
    ("broadcast(n, 1)", "n"),
    ("min(max(n - 1, 0), floor((m)/(3)))", "min(floor((m)/(3)), max(n - 1, 0))"),
)


@pytest.mark.parametrize("texts", EQUAL)
def test_texts_of_one_extent(texts: tuple[str, str]) -> None:
    first, second = (TensorSpec((text, 3), "int8") for text in texts)
    assert first == second and hash(first) == hash(second)
    assert first.shape == second.shape
    assert TensorSpec(first.shape, "int8") == first


@pytest.mark.parametrize(("name", "shapes", "attributes"), ROWS[-len(VIEWS) - len(OTHERS) :])
def test_what_infer_tells_is_a_shape_again(name: str, shapes: Any, attributes: Any) -> None:
    for spec in told(name, of_type(shapes, "float32"), attributes):
        assert TensorSpec(spec.shape, spec.dtype) == spec


NO_EXTENT = (
    *("", " ", "3", "n - n", "2n", "n+", "+n", "n n", "n*", "(n)", "n/2", "floor(n/2)", "min(n)"),
    *("max(n, 1)", "sin(n)", "floor((n)/(2)", "n)", "n**2", "n.m", "n\0", "n,m", "-3"),
    *("n + 99999999999999999999", "floor((n)/(0))", "floor((" * 200 + "n", "n - n - 1"),
)


@pytest.mark.parametrize("text", NO_EXTENT)
def test_what_is_no_extent(text: str) -> None:
    with pytest.raises(ValueError, match="is no symbolic extent|divided by 0|an axis of -"):
        TensorSpec((text,), "int8")


def test_specs_are_compared() -> None:
    spec = TensorSpec(("n", 3), "int8")
    for other in (
        TensorSpec(("n", 3), "uint8"),
        TensorSpec(("m", 3), "int8"),
        TensorSpec((), "int8"),
    ):
        assert spec != other
    assert len({spec, TensorSpec(("n", 3), "int8"), TensorSpec(("n",), "int8")}) == 2
    assert spec != 3 and spec is not None and (spec == "n") is False


def test_indices_of_a_condition() -> None:
    counts = []
    for condition in (TensorSpec(("n", 3), "bool"), TensorSpec((2, 3), "float32")):
        rows, columns = infer(mx.np.where, condition)
        assert rows == columns and rows.dtype == "int64"
        counts += rows.shape
    # Of two conditions nothing is known to be equal.
    assert len(set(counts)) == 2
    (one,) = infer(mx.np.where, TensorSpec(("n",), "bool"), 1, TensorSpec(("n",), "float32"))
    assert one == TensorSpec(("n",), "float32")


def test_no_expression_is_kept_twice() -> None:
    for _ in range(2):
        told = [
            infer(mx.np.array_split, TensorSpec(("rows",), "int8"), 7),
            infer(mx.np.diagonal, TensorSpec(("rows", "columns"), "int8")),
        ]
        assert told[0] == infer(mx.np.array_split, TensorSpec(("rows",), "int8"), 7)
        assert told[1] == infer(mx.np.diagonal, TensorSpec(("rows", "columns"), "int8"))


# Calls with out= and ctx=: what infer tells is what the call does, be it an error.
X = mx.np.ones((2, 3))
PLACED = (
    *((mx.np.add, (X, 1), {"out": mx.np.ones(shape)}) for shape in ((2, 3), (3,), (2, 3, 1), ())),
    *((mx.np.add, (X, 1), {"out": mx.np.ones((2, 3), dtype=t)}) for t in ("int8", "float64")),
    *((mx.np.add, (X, 1), {"out": out}) for out in (3, "x", numpy.ones((2, 3)), [1])),
    pytest.param(
        *(mx.np.add, (X, 1), {"out": mx.np.broadcast_to(X, (2, 3))}), marks=pytest.mark.host_memory
    ),
    (mx.np.sum, (X, 0), {"out": mx.np.ones(3, dtype="float16")}),
    (mx.np.sum, (X, 0), {"out": mx.np.ones(2)}),
    (mx.np.argmax, (X, 0), {"out": mx.np.ones(3, dtype="int32")}),
    (mx.np.argmax, (X, 0), {"out": mx.np.ones(3)}),
    (mx.np.cumsum, (X,), {"out": mx.np.ones(6, dtype="int8")}),
    (mx.np.zeros, (2,), {"ctx": "gpu(9)"}),
    (mx.np.zeros, (2,), {"ctx": 3}),
    (mx.np.full, (2, 3), {"ctx": "none"}),
    (mx.np.full, (2, float("nan"), "int8"), {}),
    (mx.np.full, (numpy.array([2]), float("nan"), "int8"), {}),
    (mx.np.full, (numpy.array([2]), 1j, "int8"), {}),
    (mx.np.add, (mx.np.ones(2, dtype="int8"), 300), {}),
    (mx.np.less, (mx.np.ones(2, dtype="int8"), 300), {}),
    (mx.np.less, (mx.np.ones(2, dtype="int8"), 300), {"out": mx.np.ones(2, dtype="bool")}),
    (mx.np.where, (mx.np.ones(2), 300, mx.np.ones(2, dtype="int8")), {}),
)


@pytest.mark.parametrize(("function", "args", "attributes"), PLACED)
def test_out_and_context_as_the_call_has_them(function: Any, args: Any, attributes: Any) -> None:
    def outcome(function: Any, *args: Any) -> Any:
        try:
            given = function(*args, **attributes)
        except Exception as error:
            return type(error), str(error)
        many = given if isinstance(given, list) else [given]
        return [(tuple(one.shape), one.dtype) for one in many]

    assert outcome(infer, function, *args) == outcome(function, *args)


OUT = (
    (("n", 3), ("n", 3), "float32", None),
    (("n", 3), (2, 3), "float64", None),
    (("n", 3), (2, 4), "float32", "has shape .2, 4., but the result has shape .n, 3."),
    ((2, 3), ("n", 3), "float32", None),
    ((2, 3), ("n", 4), "float32", "has shape .n, 4., but the result has shape .2, 3."),
    ((2, 3), ("n",), "float32", "has shape"),
    ((2, 3), (2, 3), "int8", "Cannot cast output"),
)


@pytest.mark.parametrize(("shape", "out", "dtype", "text"), OUT)
def test_the_spec_of_out(shape: Any, out: Any, dtype: str, text: str | None) -> None:
    given = TensorSpec(out, dtype)
    call = [mx.np.exp, TensorSpec(shape, "float32"), given]
    if text is None:
        assert infer(*call) == [given]
    else:
        with pytest.raises((ValueError, TypeError), match=text):
            infer(*call)


def test_memory_for_many_outputs_is_asked_for_before() -> None:
    with pytest.raises((MemoryError, ValueError)):
        infer(mx.np.array_split, TensorSpec((10,), "int8"), 2**31 - 1)
