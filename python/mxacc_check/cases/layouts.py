"""Large and odd shapes, many axes, permuted and negative ones, and outputs of other strides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..plugin import Array
from .case import Case, shapes_of
from .elements import POSITIVE, REAL, UNIT, WHOLE
from .elementwise import BINARY, THOROUGH, UNARY
from .reductions import ARGUMENTS, REDUCTIONS

# Beyond what 16 bits count, and no multiple of anything.
LONG = 70001
WIDE = (257, 263)
# Sums are tried with all of the tables; these are enough of the others where there is little time.
FEW_REDUCTIONS = ["sum", "mean", "max"]

OF_INTEGERS = {"invert", "left_shift", "right_shift"}
OF_INTEGERS |= {"bitwise_and", "bitwise_or", "bitwise_xor"}

Row = tuple[str, tuple[Any, ...], dict[str, Any]]


def _types(name: str, dtypes: tuple[str, ...]) -> tuple[str, ...]:
    """Of these, those of an operator; one where it is not tried thoroughly."""
    if name in OF_INTEGERS:
        return ("int32",)
    return dtypes if name in THOROUGH else dtypes[:1]


def _cases(rows: list[Row], is_sum: bool = False) -> Iterator[Case]:
    for name, arguments, keywords in rows:
        yield Case(name, shapes_of(arguments), arguments, keywords, is_sum=is_sum)


# ---- sizes ----


def sizes(thorough: bool) -> Iterator[Case]:
    dtypes = ("float32", "float16", "int32") if thorough else ("float32",)
    for name, make in UNARY.items():
        if thorough or name in THOROUGH:
            for dtype in _types(name, dtypes):
                yield from _cases([(name, (make((LONG,), dtype),), {})])
    for name, (first, second) in BINARY.items():
        if not (thorough or name in THOROUGH):
            continue
        for dtype in _types(name, dtypes):
            yield from _cases([(name, (first((LONG,), dtype), second((LONG,), dtype)), {})])
        if name in THOROUGH:
            wide, row = first(WIDE, "float32"), second(WIDE[1:], "float32")
            yield from _cases([(name, (wide, row), {}), (name, (wide.T, row[:, None]), {})])
    yield from _large_sums(thorough)
    yield from _large_products(thorough)
    large = WHOLE(WIDE, "float32")
    yield from _cases(
        [
            ("transpose", (large,), {}),
            ("ravel", (large.T,), {}),
            ("concatenate", ([large, large[:1]],), {"axis": 0}),
            ("concatenate", ([large, large[:, :3]],), {"axis": 1}),
            ("take", (REAL((LONG,), "float32"), np.arange(LONG)[::-7].copy()), {"mode": "clip"}),
            ("where", (large > 3, large, large + 1), {}),
            ("astype", (WHOLE((LONG,), "int32"),), {"dtype": "float32"}),
            ("softmax", (REAL((3, LONG), "float32"),), {"axis": 0}),
        ]
    )


def _large_sums(thorough: bool) -> Iterator[Case]:
    long = POSITIVE((LONG,), "float32")
    rows, columns = UNIT((3, LONG), "float32"), UNIT((LONG, 3), "float32")
    # The product of so many numbers is as wrong as there are many.
    names = [name for name in REDUCTIONS + ARGUMENTS if name != "prod"]
    for name in names if thorough else FEW_REDUCTIONS:
        given: list[Row] = [
            (name, (long,), {}),
            (name, (rows,), {"axis": 1}),
            (name, (rows,), {"axis": 0}),
            (name, (columns,), {"axis": 0}),
            (name, (columns,), {"axis": 1}),
            (name, (np.ascontiguousarray(long[::-1])[::-1],), {}),
        ]
        yield from _cases(given, is_sum=True)
    yield from _cases([("sum", (WHOLE((LONG,), "int32"),), {})])
    yield from _cases([("cumsum", (UNIT((LONG,), "float32"),), {})], is_sum=True)


LARGE_PRODUCTS = [
    *(((5, 1500), (1500, 7)), ((1, 2049), (2049, 1)), ((130, 70), (70, 129)), ((200, 3), (3, 300))),
    *(((3, 65), (65, 64)), ((2, 33), (33, 257)), ((1100,), (1100, 3)), ((3, 1100), (1100,))),
]


def _large_products(thorough: bool) -> Iterator[Case]:
    for dtype in ("float32", "float64", "int32") if thorough else ("float32",):
        for shape, other_shape in LARGE_PRODUCTS:
            pair = (WHOLE(shape, dtype), REAL(other_shape, dtype))
            rows: list[Row] = [("matmul", pair, {}), ("dot", pair, {})]
            yield from _cases(rows if thorough else rows[:1], is_sum=True)
    pair = (REAL((3000,), "float32"), WHOLE((3000,), "float32"))
    yield from _cases([(name, pair, {}) for name in ("dot", "inner", "vdot")], is_sum=True)


# ---- axes ----

FIVE = (2, 3, 1, 4, 3)
MANY_AXES: list[tuple[int, ...]] = [FIVE, (2, 1, 2, 2, 1, 3), (2,) * 8, (1, 2) * 5]
ORDER = (4, 2, 0, 3, 1)


def _orders(array: Array) -> Iterator[tuple[str, Array]]:
    """Views of an array of five axes."""
    yield "", array
    yield f".transpose{ORDER}", array.transpose(ORDER)
    yield ".T", array.T
    yield "[::-1, :, :, ::2, ::-1]", array[::-1, :, :, ::2, ::-1]


def axes(thorough: bool) -> Iterator[Case]:
    for name, make in UNARY.items():
        if thorough or name in THOROUGH:
            for shape in MANY_AXES if name in THOROUGH else MANY_AXES[:1]:
                yield Case(name, str(shape), (make(shape, _types(name, ("float32",))[0]),))
        if name in THOROUGH:
            for view, array in _orders(make(FIVE, "float32")):
                yield Case(name, f"{FIVE}{view}", (array,))
    for name, (first, second) in BINARY.items():
        if not (thorough or name in THOROUGH):
            continue
        (dtype,) = _types(name, ("float32",))
        a, b = first(FIVE, dtype), second((3, 4, 1, 3), dtype)
        yield Case(name, f"{FIVE} and (3, 4, 1, 3)", (a, b))
        if name in THOROUGH:
            c = second(FIVE[::-1], "float32").T
            yield Case(name, f"{FIVE} and another order", (a, c))
            for view, array in _orders(a):
                yield Case(name, f"{FIVE}{view} twice", (array, array))
    yield from _sums_of_many_axes(thorough)
    yield from _products_of_many_axes(thorough)
    yield from _moves_of_many_axes()


AXES_OF_FOUR: list[Any] = [(0, 1, 2), (1, 2, 3), (0, 1, 3), (-1, -3), (3, 0), (-4, 2), -3]
AXES_OF_FOUR += [(0, 1, 2, 3)]
AXES_OF_FIVE: list[Any] = [(0, 2, 4), (1, 3), (-5, -2), (0, 1, 2, 3, 4), -2]


def _sums_of_many_axes(thorough: bool) -> Iterator[Case]:
    four, five = WHOLE((2, 3, 4, 5), "float32"), REAL(FIVE, "float32")
    for name in REDUCTIONS if thorough else FEW_REDUCTIONS:
        for axis in AXES_OF_FOUR:
            for keep in (False, True) if thorough else (False,):
                options = {"axis": axis, "keepdims": keep}
                yield Case(name, str(four.shape), (four,), options, is_sum=True)
        for axis in AXES_OF_FIVE:
            for view, array in _orders(five):
                yield Case(name, f"{FIVE}{view}", (array,), {"axis": axis}, is_sum=True)
    for name in ARGUMENTS:
        for axis in (-1, -3, 1):
            yield Case(name, str(four.shape), (four,), {"axis": axis})


BATCHES = [
    *(((1, 3, 4), (1, 4, 5)), ((1, 3, 4), (5, 4, 6)), ((5, 3, 4), (1, 4, 6))),
    *(((2, 1, 3, 4), (5, 4, 6)), ((2, 5, 3, 4), (2, 5, 4, 6)), ((2, 5, 3, 4), (1, 1, 4, 6))),
    *(((7, 3, 4), (4,)), ((4,), (7, 4, 3)), ((0, 3, 4), (0, 4, 2)), ((5, 1, 4), (5, 4, 1))),
    *(((7, 3, 4), (4, 6)), ((3, 4), (7, 4, 6)), ((1, 1, 4), (1, 4, 1))),
]
DOTS = [
    *(((2, 3, 4), (5, 4, 6)), ((4,), (5, 4, 6)), ((2, 3, 4), (4,)), ((2, 3, 4), (4, 6))),
    *(((3, 4), (5, 4, 6)), ((3, 4), (2, 5, 4, 6)), ((2, 3, 1), (5, 1, 6))),
]
CONTRACTIONS: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
    ((3, 4, 5), (4, 3, 2), ((1, 0), (0, 1))),
    ((3, 4, 5), (4, 3, 2), ((0, 1), (1, 0))),
    ((2, 3, 4, 5), (5, 3, 6), ((3, 1), (0, 1))),
    ((2, 3, 4, 5), (5, 3, 6), ((1, 3), (1, 0))),
    ((2, 3, 4), (4, 5), ((-1,), (0,))),
    ((2, 3, 4), (5, 4, 3), ((-1, -2), (-2, -1))),
    ((4, 3), (4, 3), ((1, 0), (1, 0))),
    ((2, 3, 4, 5), (4, 5, 2, 3), ((2, 0, 3), (0, 2, 1))),
    ((2, 3), (4, 5), 0),
]


def _products_of_many_axes(thorough: bool) -> Iterator[Case]:
    for dtype in ("float32", "int32") if thorough else ("float32",):
        for shape, other in BATCHES:
            pair = (WHOLE(shape, dtype), REAL(other, dtype))
            yield Case("matmul", f"{shape} and {other}", pair, is_sum=True)
        for shape, other in DOTS:
            pair = (WHOLE(shape, dtype), REAL(other, dtype))
            yield Case("dot", f"{shape} and {other}", pair, is_sum=True)
        for shape, other, over in CONTRACTIONS:
            pair = (WHOLE(shape, dtype), REAL(other, dtype))
            yield Case("tensordot", f"{shape} and {other}", pair, {"axes": over}, is_sum=True)
    a, b = WHOLE((4, 3, 5), "float32"), REAL((6, 5, 4), "float32")
    views: list[Row] = [
        ("matmul", (a, b.transpose(2, 1, 0)), {}),
        ("matmul", (a.transpose(0, 2, 1), a), {}),
        ("matmul", (a[:, ::-1], a.transpose(0, 2, 1)[..., ::2]), {}),
        ("tensordot", (a, b.T), {"axes": ((2, 0), (1, 0))}),
        ("inner", (a, b.transpose(0, 2, 1)), {}),
        ("dot", (a, b), {}),
    ]
    yield from _cases(views, is_sum=True)


def _moves_of_many_axes() -> Iterator[Case]:
    a = WHOLE(FIVE, "float32")
    rows: list[Row] = [
        ("transpose", (a,), {"axes": ORDER}),
        ("transpose", (a,), {"axes": (-1, 0, -3, 1, 3)}),
        ("transpose", (a.transpose(ORDER),), {}),
        ("concatenate", ([a, a[..., :1]],), {"axis": -1}),
        ("concatenate", ([a.transpose(ORDER)] * 3,), {"axis": 1}),
        ("stack", ([a, a + 1],), {"axis": -2}),
        ("flip", (a,), {"axis": (0, 3)}),
        ("expand_dims", (a,), {"axis": -1}),
        ("squeeze", (a,), {"axis": -3}),
        ("swapaxes", (a,), {"axis1": -1, "axis2": 0}),
        ("moveaxis", (a,), {"source": (0, 1), "destination": (-1, -2)}),
        ("ravel", (a.transpose(ORDER),), {}),
        ("reshape", (a.transpose(ORDER),), {"shape": (6, 12)}),
        ("broadcast_to", (a,), {"shape": (2, 3, 5, 4, 3)}),
        ("where", (a > 3, a, a[:1]), {}),
        ("take", (a, np.array([[1, 0], [2, 2]])), {"axis": -4}),
        ("softmax", (a,), {"axis": -2}),
        ("softmax", (a.transpose(ORDER),), {"axis": 1}),
    ]
    yield from _cases(rows)


# ---- outputs ----


def outputs(thorough: bool) -> Iterator[Case]:
    """Outputs that are not row-major, as users give them by `out`."""
    a, b = REAL((4, 6), "float32"), WHOLE((4, 6), "float32")
    c = REAL((2, 3, 4), "float32")
    sums: list[Row] = [
        *((name, (c,), {"axis": 1}) for name in (REDUCTIONS if thorough else FEW_REDUCTIONS)),
        ("matmul", (a, b.T), {}),
        ("matmul", (c, c.transpose(0, 2, 1)), {}),
        ("dot", (a, b.T), {}),
        ("tensordot", (c, c), {"axes": ((0, 2), (0, 2))}),
        ("cumsum", (a,), {"axis": 0}),
    ]
    rows: list[Row] = [
        *((name, (a, b), {}) for name in ("add", "multiply", "maximum", "less")),
        *((name, (a,), {}) for name in ("negative", "exp", "isnan")),
        ("add", (a, b[:1]), {}),
        ("add", (a, 2), {}),
        ("softmax", (a,), {"axis": 0}),
        ("astype", (a,), {"dtype": "int32"}),
        ("where", (a > 0, a, b), {}),
        ("concatenate", ([a, b],), {"axis": 0}),
        ("stack", ([a, b],), {"axis": 1}),
        ("clip", (a,), {"a_min": -1, "a_max": 2}),
        ("full_like", (a,), {"fill_value": 3}),
    ]
    for layout in (".T", "[..., ::2]", "[::-1]"):
        for is_sum, some in ((True, sums), (False, rows)):
            yield from (replace(case, layout=layout) for case in _cases(some, is_sum))
