"""The operators that are tried: a table, and what makes its rows into calls of the library."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ffi
import mx
from ffi.data_type import bfloat16

from .plugin import Array

# How far a result may be from the CPU's, in parts of it.
TOLERANCES = {"bfloat16": 3e-2, "float16": 4e-3, "float32": 1e-5, "float64": 1e-12}
TOLERANCES |= {"complex64": TOLERANCES["float32"], "complex128": TOLERANCES["float64"]}


@dataclass(frozen=True)
class Case:
    """One call of an operator: its arguments are arrays of NumPy and values."""

    name: str
    geometry: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any] = field(default_factory=dict)
    # Sums of many terms are judged by the size of the terms.
    is_sum: bool = False

    @property
    def text(self) -> str:
        arrays = [item for item in _flat(self.arguments) if isinstance(item, np.ndarray)]
        types = "+".join(dict.fromkeys(array.dtype.name for array in arrays))
        options = "".join(f", {key}={value}" for key, value in self.keywords.items())
        return f"{self.name} {types} {self.geometry}{options}"


def _flat(arguments: Sequence[Any]) -> Iterator[Any]:
    for item in arguments:
        if isinstance(item, list):
            yield from item
        else:
            yield item


@dataclass(frozen=True)
class Call:
    """A case as the library is asked for it."""

    inputs: dict[str, Array]
    attributes: dict[str, str]


def _json(value: Any) -> str:
    """An attribute's value."""
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        value = np.dtype(value).name
    return json.dumps(value)


def _operator(name: str) -> ffi.Function:
    """The operator that libraries know by that name."""
    of_numpy = ffi.get_global_func(f"_npi.{name}", allow_missing=True)
    return of_numpy or ffi.get_global_func(f"_npx.{name}")


def call_of(case: Case) -> Call:
    """The inputs and attributes of a case, in the order of the operator's parameters."""
    bound = inspect.signature(_operator(case.name)).bind(*case.arguments, **case.keywords)
    bound.apply_defaults()
    inputs: dict[str, Array] = {}
    attributes: dict[str, str] = {}
    for name, value in bound.arguments.items():
        if name in ("out", "ctx"):
            continue
        if isinstance(value, (np.ndarray, np.generic)):
            inputs[name] = np.asarray(value)
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            inputs |= {f"{name}[{number}]": item for number, item in enumerate(value)}
        else:
            attributes[name] = _json(value)
    return Call(inputs, attributes)


def _on_cpu(value: Any) -> Any:
    if isinstance(value, list):
        return [_on_cpu(item) for item in value]
    return mx.np.array(value) if isinstance(value, np.ndarray) else value


def expected_of(case: Case) -> list[Array]:
    """What the CPU makes of a case. Raises whatever the operator raises."""
    made = _operator(case.name)(*map(_on_cpu, case.arguments), **case.keywords)
    results = made if isinstance(made, tuple) else (made,)
    return [np.array(item, order="C") for item in results]


def _magnitude(case: Case) -> float:
    """The largest result if nothing cancelled out, which is what sums are as exact as."""
    arguments = [abs(item) if isinstance(item, np.ndarray) else item for item in case.arguments]
    try:
        (made, *_) = expected_of(Case(case.name, case.geometry, tuple(arguments), case.keywords))
    except Exception:
        return 1.0
    made = _widened(made)
    finite = np.abs(made[np.isfinite(made)])
    return float(finite.max()) if finite.size else 1.0


def _widened(array: Array) -> Array:
    """In a type that NumPy computes with itself."""
    return array.astype("float32") if array.dtype.name == "bfloat16" else array


def difference(case: Case, came: Array, expected: Array, factor: float) -> str | None:
    """What is wrong with a result; None if nothing is."""
    tolerance = TOLERANCES.get(expected.dtype.name)
    if expected.dtype == bool:
        # NumPy takes bools of other bytes than 0 and 1 for equal.
        came, expected = came.view("uint8"), expected.view("uint8")
    if tolerance is None:
        wrong = came != expected
    else:
        came, expected = _widened(came), _widened(expected)
        relative = factor * tolerance
        wrong = ~np.isclose(came, expected, rtol=relative, atol=relative, equal_nan=True)
        if case.is_sum and wrong.any():
            absolute = relative * _magnitude(case)
            wrong = ~np.isclose(came, expected, rtol=relative, atol=absolute, equal_nan=True)
    if not wrong.any():
        return None
    first = tuple(int(place[0]) for place in np.nonzero(np.atleast_1d(wrong)))
    one, other = np.atleast_1d(came)[first], np.atleast_1d(expected)[first]
    count = f"{int(wrong.sum())} of {expected.size} elements differ"
    return f"{count}; {one} instead of {other} at {list(first)}"


# ---- elements ----


def _numbers(shape: tuple[int, ...], dtype: str, low: float, high: float) -> Array:
    size = math.prod(shape)
    values: Array = np.linspace(low, high, max(size, 2))[:size]
    # Neighbours are no neighbours any more, and each run has the same.
    values = np.random.default_rng(size).permutation(values)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return (values > (low + high) / 2).reshape(shape)
    if kind == "u":
        values = np.abs(values)
    if kind == "c":
        values = values + 1j * values[::-1]
    return np.asarray(values, dtype).reshape(shape)


Maker = Callable[[tuple[int, ...], str], Array]


def _between(low: float, high: float) -> Maker:
    return lambda shape, dtype: _numbers(shape, dtype, low, high)


REAL = _between(-3.2, 4.1)
POSITIVE = _between(0.3, 5.0)
UNIT = _between(-0.9, 0.9)
ABOVE_ONE = _between(1.2, 6.0)
WHOLE = _between(-20, 30)
SHIFTS = _between(0, 6)

# ---- the table ----

UNARY: dict[str, Maker] = {
    **dict.fromkeys(["absolute", "arctan", "ceil", "conjugate", "cos", "cosh", "exp"], REAL),
    **dict.fromkeys(["exp2", "expm1", "floor", "isfinite", "isinf", "isnan"], REAL),
    **dict.fromkeys(["logical_not", "negative", "positive", "relu", "rint", "sigmoid"], REAL),
    **dict.fromkeys(["sign", "sin", "sinh", "softsign", "square", "tan", "tanh", "trunc"], REAL),
    **dict.fromkeys(["copy", "real", "imag", "cbrt", "arcsinh", "invert", "zeros_like"], REAL),
    **dict.fromkeys(["log", "log10", "log1p", "log2", "sqrt", "reciprocal"], POSITIVE),
    **dict.fromkeys(["arccos", "arcsin", "arctanh"], UNIT),
    "arccosh": ABOVE_ONE,
}
BINARY: dict[str, tuple[Maker, Maker]] = {
    **dict.fromkeys(["add", "subtract", "multiply", "maximum", "minimum"], (REAL, WHOLE)),
    **dict.fromkeys(["fmax", "fmin", "arctan2", "hypot", "copysign"], (REAL, WHOLE)),
    **dict.fromkeys(["equal", "not_equal", "less", "less_equal"], (REAL, REAL)),
    **dict.fromkeys(["greater", "greater_equal", "logaddexp"], (REAL, REAL)),
    **dict.fromkeys(["logical_and", "logical_or", "logical_xor"], (REAL, REAL)),
    **dict.fromkeys(["divide", "floor_divide", "remainder"], (WHOLE, POSITIVE)),
    "power": (POSITIVE, UNIT),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], (WHOLE, WHOLE)),
    **dict.fromkeys(["left_shift", "right_shift"], (WHOLE, SHIFTS)),
}


def _why_no_bfloat16() -> str:
    try:
        bfloat16()
    except ImportError as error:
        return str(error)
    return ""


NO_BFLOAT16 = _why_no_bfloat16()
BFLOAT16 = [] if NO_BFLOAT16 else ["bfloat16"]
DTYPES = ["float32", "float64", "float16", *BFLOAT16, "int32", "uint8", "bool"]
MORE_DTYPES = ["int8", "int16", "int64", "uint16", "uint32", "uint64", "complex64"]
FEW_SHAPES: list[tuple[int, ...]] = [(3, 5)]
SHAPES: list[tuple[int, ...]] = [(), (7,), (2, 3, 4), (0,), (3, 0), (1, 1, 6), (33, 31), (5000,)]
QUICK_DTYPES = ["float32", "int32"]
# Whose every geometry is tried; of the others, a few.
THOROUGH = {"negative", "exp", "add", "maximum", "less"}

VIEWS: dict[str, Callable[[Array], Array]] = {
    ".T": lambda a: a.T,
    "[::2]": lambda a: a[::2],
    "[::-1]": lambda a: a[::-1],
    "[:, 1:4]": lambda a: a[:, 1:4],
    "[..., ::-2]": lambda a: a[..., ::-2],
    "[:1] repeated": lambda a: np.broadcast_to(a[:1], a.shape),
}
PAIRS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    *(((3, 5), (5,)), ((3, 1), (1, 5)), ((), (3, 5)), ((3, 5), ()), ((0, 5), (1, 5))),
    *(((2, 3, 4), (3, 1)), ((1,), (0,)), ((4, 1, 3), (2, 1))),
]
MIXED = [("float32", "float64"), ("int32", "float32"), ("uint8", "int8"), ("bool", "int32")]
MIXED += [("float16", "float32"), ("int64", "uint64")]
MIXED += [pair for name in BFLOAT16 for pair in ((name, "float32"), ("int32", name))]
SCALARS: list[Any] = [2, 2.5, True, float("inf"), float("nan"), -3]
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 3e4])

AXES: list[Any] = [None, 0, -1, (0, 2)]
REDUCTIONS = ["sum", "mean", "prod", "max", "min", "all", "any", "std", "var"]
ARGUMENTS = ["argmax", "argmin"]
PRODUCTS: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = [
    *(("matmul", (2, 3), (3, 4)), ("matmul", (5, 2, 3), (5, 3, 4)), ("matmul", (2, 3), (4, 3, 5))),
    *(("matmul", (3,), (3, 4)), ("matmul", (2, 3), (3,)), ("matmul", (3,), (3,))),
    *(("matmul", (64, 65), (65, 66)), ("matmul", (2, 0), (0, 3)), ("matmul", (0, 3), (3, 4))),
    *(
        ("matmul", (1, 7), (7, 1)),
        ("dot", (2, 3), (3, 4)),
        ("dot", (3,), (3,)),
        ("dot", (), (2, 3)),
    ),
    *(("inner", (2, 3), (4, 3)), ("outer", (3,), (4,)), ("vdot", (2, 3), (2, 3))),
]


def _dtypes(thorough: bool, every: bool) -> list[str]:
    return DTYPES + (MORE_DTYPES if every else []) if thorough else QUICK_DTYPES


def _unary(thorough: bool) -> Iterator[Case]:
    for name, make in UNARY.items():
        every = name in THOROUGH
        for dtype in _dtypes(thorough, every):
            for shape in FEW_SHAPES + (SHAPES if every else SHAPES[:3] if thorough else []):
                yield Case(name, str(shape), (make(shape, dtype),))
            if every or (thorough and dtype == "float32"):
                for view, cut in VIEWS.items():
                    yield Case(name, f"(4, 6){view}", (cut(make((4, 6), dtype)),))
        if make is REAL:
            for dtype in ("float32", "float64", *(BFLOAT16 if thorough else ())):
                yield Case(name, "NaN, infinity and zeros", (SPECIAL.astype(dtype),))


def _binary(thorough: bool) -> Iterator[Case]:
    for name, (first, second) in BINARY.items():
        every = name in THOROUGH
        for dtype in _dtypes(thorough, every):
            for shape in FEW_SHAPES + (SHAPES if every else []):
                yield Case(name, str(shape), (first(shape, dtype), second(shape, dtype)))
        if not (thorough or every):
            continue
        for shape, other_shape in PAIRS:
            pair = (first(shape, "float32"), second(other_shape, "float32"))
            yield Case(name, f"{shape} and {other_shape}", pair)
        for one, other in MIXED:
            yield Case(name, "(3, 5)", (first((3, 5), one), second((3, 5), other)))
        for dtype in ("float32", "int32"):
            for scalar in SCALARS:
                array = first((3, 5), dtype)
                yield Case(name, f"(3, 5) and {scalar}", (array, scalar))
                yield Case(
                    name, f"{scalar} and (3, 5)", (scalar, np.abs(array) + array.dtype.type(1))
                )
        for view, cut in VIEWS.items():
            a, b = first((4, 6), "float32"), second((4, 6), "float32")
            yield Case(name, f"(4, 6){view} twice", (cut(a), cut(b)))
            yield Case(name, f"(4, 6){view} and row-major", (cut(a), np.array(cut(b))))
        for dtype in ("float32", "float64"):
            special = SPECIAL.astype(dtype)
            yield Case(name, "NaN, infinity and zeros", (special, special[::-1].copy()))
        if name in ("floor_divide", "remainder", "divide"):
            for dtype in ("int32", "uint8", "float32"):
                zero = np.zeros(4, dtype)
                yield Case(name, "zero divisors", (WHOLE((4,), dtype), zero))


def _reductions(thorough: bool) -> Iterator[Case]:
    for name in REDUCTIONS + ARGUMENTS:
        axes = [axis for axis in AXES if name in REDUCTIONS or not isinstance(axis, tuple)]
        for dtype in _dtypes(thorough, False):
            array = UNIT((3, 4, 5), dtype) if name == "prod" else WHOLE((3, 4, 5), dtype)
            for axis in axes:
                for keep in (False, True):
                    options = {"axis": axis, "keepdims": keep}
                    yield Case(name, "(3, 4, 5)", (array,), options, is_sum=True)
            yield Case(name, "(3, 4, 5).T", (array.T,), {"axis": 0}, is_sum=True)
        long = UNIT((4096,), "float32")
        yield Case(name, "(4096,)", (long + np.float32(name == "prod"),), is_sum=True)
        yield Case(name, "()", (WHOLE((), "float32"),), is_sum=True)
        yield Case(name, "(0, 3)", (WHOLE((0, 3), "float32"),), {"axis": 0}, is_sum=True)
        yield Case(name, "NaN, infinity and zeros", (SPECIAL.astype("float32"),), is_sum=True)
    for dtype in ("float32", "int32"):
        for axis in (None, 0, 1):
            array = WHOLE((4, 5), dtype)
            yield Case("cumsum", "(4, 5)", (array,), {"axis": axis}, is_sum=True)
            yield Case("cumprod", "(4, 5)", (UNIT((4, 5), dtype),), {"axis": axis}, is_sum=True)
            yield Case("sort", "(4, 5)", (array,), {"axis": axis})
    yield Case("sum", "(3, 4)", (WHOLE((3, 4), "float32"),), {"dtype": "float64"}, is_sum=True)


def _softmaxes(thorough: bool) -> Iterator[Case]:
    for name in ("softmax", "log_softmax"):
        for dtype in _dtypes(thorough, False):
            array = REAL((3, 4, 5), dtype)
            for axis in (0, 1, -1):
                yield Case(name, "(3, 4, 5)", (array,), {"axis": axis})
            yield Case(name, "(3, 4, 5).T", (array.T,), {"axis": 0})
            yield Case(name, "(3, 4, 5)", (array,), {"temperature": 0.5})
            for other in ("float32", "float64", "float16", *BFLOAT16):
                yield Case(name, "(3, 4, 5)", (array,), {"dtype": other})
        shapes: list[tuple[int, ...]] = [(), (1,), (0,), (0, 3), (3, 0), (4096,), (2, 20000)]
        for shape in shapes:
            yield Case(name, str(shape), (REAL(shape, "float32"),))
        for shape in ((300, 70), (20000, 2), (2, 9, 30), (3, 40, 500)):
            yield Case(name, str(shape), (REAL(shape, "float32"),), {"axis": -2})
        for view, cut in VIEWS.items():
            for axis in (0, 1):
                yield Case(name, f"(4, 6){view}", (cut(REAL((4, 6), "float32")),), {"axis": axis})
        for temperature in (-1.5, 1e-3, 4):
            options = {"axis": 0, "temperature": temperature}
            yield Case(name, "(4, 6)", (REAL((4, 6), "float32"),), options)
        for dtype in ("float32", "float64"):
            lines = np.stack([SPECIAL, np.where(SPECIAL < np.inf, SPECIAL, 0), -np.abs(SPECIAL)])
            ends = [np.full(8, -np.inf), np.arange(8.0), [-np.inf] * 4 + [3e4, 1, -3e4, 0]]
            several = np.concatenate([lines, ends]).astype(dtype)
            yield Case(name, "NaN, infinity and zeros", (several,))
            yield Case(name, "NaN, infinity and zeros", (several.T.copy(),), {"axis": 0})


def _products(thorough: bool) -> Iterator[Case]:
    for name, shape, other_shape in PRODUCTS:
        for dtype in ("float32", "float64", "float16", *BFLOAT16, "int32", "complex64"):
            pair = (UNIT(shape, dtype), REAL(other_shape, dtype))
            yield Case(name, f"{shape} and {other_shape}", pair, is_sum=True)
    for dtype in ("float32", "float64"):
        a, b = REAL((6, 5), dtype), UNIT((7, 5), dtype)
        yield Case("matmul", "(6, 5) and (7, 5).T", (a, b.T), is_sum=True)
        yield Case("matmul", "(5, 6).T and (7, 5).T", (np.array(a.T).T, b.T), is_sum=True)
        yield Case("matmul", "(6, 5)[::-1] and (7, 5).T", (a[::-1], b.T), is_sum=True)
        yield Case("matmul", "(6, 5)[::2] and (7, 5)[::3].T", (a[::2], b[::3].T), is_sum=True)
    a, b = REAL((2, 3, 4), "float32"), REAL((3, 4, 5), "float32")
    for axes in (2, 1, 0, ((1, 2), (0, 1))):
        other = b if axes in (2, 0) or isinstance(axes, tuple) else REAL((4, 5), "float32")
        yield Case(
            "tensordot", f"{a.shape} and {other.shape}", (a, other), {"axes": axes}, is_sum=True
        )


def _shapes(thorough: bool) -> Iterator[Case]:
    for dtype in ("float32", "int64", "bool"):
        a, b = WHOLE((4, 6), dtype), REAL((4, 6), dtype)
        c, flags = WHOLE((2, 3, 4), dtype), WHOLE((4, 6), "bool")
        rows: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
            ("reshape", (a,), {"shape": (3, 8)}),
            ("reshape", (a.T,), {"shape": (24,)}),
            ("transpose", (c,), {"axes": (2, 0, 1)}),
            ("expand_dims", (a,), {"axis": 1}),
            ("squeeze", (a[None],), {"axis": 0}),
            ("swapaxes", (c,), {"axis1": 0, "axis2": 2}),
            ("moveaxis", (c,), {"source": 0, "destination": -1}),
            ("ravel", (a.T,), {}),
            ("flatten", (a.T,), {}),
            ("concatenate", ([a, b],), {"axis": 0}),
            ("concatenate", ([a, b[:, :2], a[:, :0]],), {"axis": 1}),
            ("concatenate", ([a, b],), {"axis": None}),
            ("stack", ([a, b, a],), {"axis": 1}),
            ("vstack", ([a, b],), {}),
            ("hstack", ([a, b],), {}),
            ("split", (a,), {"indices_or_sections": 2, "axis": 1}),
            ("split", (a,), {"indices_or_sections": (1, 3), "axis": 0}),
            ("flip", (a,), {"axis": 1}),
            ("flip", (c,), {"axis": None}),
            ("roll", (a,), {"shift": 2, "axis": 1}),
            ("roll", (a,), {"shift": -3}),
            ("tile", (a,), {"reps": (2, 3)}),
            ("repeat", (a,), {"repeats": 2, "axis": 0}),
            ("broadcast_to", (a[:1],), {"shape": (3, 4, 6)}),
            ("where", (flags, a, b), {}),
            ("where", (flags, a, 2), {}),
            ("where", (flags[:1], a, b[:, :1]), {}),
            ("take", (a, np.array([3, 0, -1])), {"axis": 0}),
            ("take", (a, np.array([[9, 0], [-7, 2]])), {"axis": 1, "mode": "clip"}),
            ("take", (a, np.array([9, 0, -7])), {"axis": 1, "mode": "wrap"}),
            ("clip", (a,), {"a_min": -2, "a_max": 7}),
            ("clip", (a,), {"a_min": None, "a_max": 3}),
            ("clip", (a, b), {"a_max": 5}),
            ("tril", (a,), {"k": 1}),
            ("triu", (a,), {"k": -1}),
            ("diag", (a[0],), {}),
            ("diagonal", (c,), {"axis1": 1, "axis2": 2}),
            ("trace", (a,), {}),
            ("round", (b,), {"decimals": 1}),
            ("full_like", (a,), {"fill_value": 3}),
            ("ones_like", (a,), {}),
        ]
        for name, arguments, keywords in rows:
            shapes = [str(one.shape) for one in _flat(arguments) if isinstance(one, np.ndarray)]
            yield Case(name, " and ".join(shapes), arguments, keywords)
    for one in DTYPES:
        for other in ("float32", "float64", "float16", *BFLOAT16, "int32", "int8", "bool"):
            yield Case("astype", "(3, 5)", (POSITIVE((3, 5), one),), {"dtype": other})


def _creation(thorough: bool) -> Iterator[Case]:
    for dtype in ("float32", "int32"):
        for name in ("zeros", "ones"):
            for shape in ((), (3, 4), (0, 2)):
                yield Case(name, "", (), {"shape": shape, "dtype": dtype})
        yield Case("full", "", (), {"shape": (2, 3), "fill_value": 7, "dtype": dtype})
        yield Case("arange", "", (), {"start": 1, "stop": 9, "step": 2, "dtype": dtype})
        yield Case("eye", "", (), {"N": 3, "M": 4, "k": 1, "dtype": dtype})
    yield Case("linspace", "", (), {"start": 0, "stop": 1, "num": 7, "dtype": "float64"})


def odd_bools() -> Iterator[Case]:
    """True as another byte than 1, in operators that do more than to copy it."""
    odd = np.array([0, 1, 2, 128, 255, 0], "uint8").view("bool").reshape(2, 3)
    plain = np.array([0, 1, 0, 1, 1, 1], "bool").reshape(2, 3)
    x, y = POSITIVE((2, 3), "float32"), POSITIVE((2, 3), "float32") + 7
    for name in ("logical_not", "invert", "sum", "any", "all", "max"):
        yield Case(name, "(2, 3)", (odd,))
    for name in ("add", "multiply", "equal", "less", "logical_and", "logical_xor", "maximum"):
        yield Case(name, "(2, 3)", (odd, plain))
        yield Case(name, "(2, 3)", (odd, x))
    yield Case("astype", "(2, 3)", (odd,), {"dtype": "float32"})
    yield Case("where", "(2, 3)", (odd, x, y))


SECTIONS: dict[str, Callable[[bool], Iterator[Case]]] = {
    "unary": _unary,
    "binary": _binary,
    "reductions": _reductions,
    "softmax": _softmaxes,
    "products": _products,
    "shapes": _shapes,
    "creation": _creation,
}
