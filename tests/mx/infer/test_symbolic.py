"""What operators say of their outputs where extents are symbolic."""

from __future__ import annotations

from typing import Any

import pytest

import mx
from mx.op import TensorSpec, infer

from .operators import operator, outcome

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


@pytest.mark.parametrize(("name", "shapes", "expected"), SYMBOLIC)
def test_symbolic_extents(name: str, shapes: Any, expected: Any) -> None:
    specs = [TensorSpec(shape, "float32") for shape in shapes]
    (made,) = infer(getattr(mx.np, name), *specs)
    assert tuple(made.shape) == expected
    assert made.dtype == "float32"


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


@pytest.mark.parametrize(("name", "shapes", "attributes", "expected"), JOINED)
def test_symbolic_extents_of_joins(name: str, shapes: Any, attributes: Any, expected: Any) -> None:
    items = [TensorSpec(shape, "float32") for shape in shapes]
    (made,) = infer(operator(name), items, **attributes)
    assert tuple(made.shape) == expected


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


@pytest.mark.parametrize(("name", "shape", "attributes", "expected"), REDUCED)
def test_symbolic_extents_of_reductions(
    name: str, shape: Any, attributes: Any, expected: Any
) -> None:
    (made,) = infer(operator(name), TensorSpec(shape, "float32"), **attributes)
    assert tuple(made.shape) == expected


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
