"""Operators that onnx's reference implementations lack, or give something else for."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import onnx
import pytest
from onnx.reference.ops import load_op

import mx
from mx.graph import Plan
from mx.graph._errors import GraphError
from mx.graph._reference import OPERATORS
from mx.graph.lowering.onednn._backend import ONEDNN
from mx.graph.lowering.operators._backend import OPERATORS as OURS
from tests.graph.build import graph_of

RANDOM = numpy.random.default_rng(5)


def run(text: str, **inputs: numpy.ndarray[Any, Any]) -> list[numpy.ndarray[Any, Any]]:
    """The outputs of a plan."""
    outputs = Plan(graph_of(text)).run({key: mx.np.array(one) for key, one in inputs.items()})
    return [one.asnumpy() for one in outputs]


def test_every_operator_has_an_implementation() -> None:
    ours = OURS.rules.keys() | ONEDNN.rules.keys() | {one.__name__ for one in OPERATORS}
    missing = []
    for schema in onnx.defs.get_all_schemas():
        is_function = schema.has_function or schema.has_context_dependent_function
        if schema.domain or schema.deprecated or is_function or schema.name in ours:
            continue
        try:
            load_op("", schema.name, schema.since_version)
        except Exception:  # of another type for each reason
            missing.append(schema.name)
    assert missing == []


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 2, 5, 3), (2, 1, 2, 3, 4)], ids=str)
def test_global_lp_pool(shape: tuple[int, ...], p: int) -> None:
    x = RANDOM.standard_normal(shape, "float32")
    dims = ", ".join(map(str, shape))
    (got,) = run(f"g (float[{dims}] x) => (float y) {{ y = GlobalLpPool <p = {p}> (x) }}", x=x)
    axes = tuple(range(2, len(shape)))
    expected = (abs(x) ** p).sum(axis=axes, keepdims=True) ** (1 / p)
    numpy.testing.assert_allclose(got, expected, rtol=1e-6)


# Shapes of indices, and axes of 3 x 4 elements: no more of the former along the other axis.
SHAPES = [(3, 4), (2, 4), (3, 2), (2, 3), (1, 1), (0, 2), (5, 4), (3, 7)]
GATHERED = [
    (shape, axis)
    for shape in SHAPES
    for axis in (0, 1, -1, -2)
    if shape[1 - axis % 2] <= (3, 4)[1 - axis % 2]
]


@pytest.mark.parametrize(("shape", "axis"), GATHERED, ids=str)
def test_gather_elements_of_computed_indices(shape: tuple[int, int], axis: int) -> None:
    """Of which there may be fewer than elements along other axes, and more along this one."""
    x = RANDOM.standard_normal((3, 4), "float32")
    indices = RANDOM.integers(-x.shape[axis], x.shape[axis], shape)
    text = (
        f"g (float[3, 4] x, int64[a, b] i) => (float y) {{ y = GatherElements<axis={axis}>(x, i) }}"
    )
    (got,) = run(text, x=x, i=indices)
    rows, columns = numpy.indices(shape)
    expected = x[(indices, columns) if axis % 2 == 0 else (rows, indices)]
    numpy.testing.assert_array_equal(got, expected)


REDUCTIONS = {"none": None, "add": numpy.add, "mul": numpy.multiply, "max": numpy.maximum}
REDUCTIONS |= {"min": numpy.minimum}


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_elements_of_computed_indices(reduction: str, axis: int) -> None:
    """Several of which are the same; NaN is what comes of it, whatever it is reduced with."""
    x = RANDOM.standard_normal((3, 4), "float32")
    updates = RANDOM.standard_normal((2, 3), "float32")
    updates[0, 0] = numpy.nan
    indices = numpy.array([[0, 1, -1], [0, 1, 1]])
    (got,) = run(
        f"""g (float[3, 4] x, int64[2, 3] i, float[2, 3] u) => (float y) {{
            y = ScatterElements<axis={axis}, reduction="{reduction}">(x, i, u)
        }}""",
        x=x, i=indices, u=updates,
    )  # fmt: skip
    expected = x.copy()
    for at in numpy.ndindex(2, 3):
        where = list(at)
        where[axis] = indices[at]
        function = REDUCTIONS[reduction]
        old = expected[tuple(where)]
        expected[tuple(where)] = updates[at] if function is None else function(old, updates[at])
    numpy.testing.assert_allclose(got, expected, rtol=1e-6)


# Corners of regions, before they are scaled: within the image, of one element, beyond it.
ROIS = [
    [0, 0, 0, 7, 9],
    [1, 2, 3, 2, 3],
    [0, 4, 4, 30, 6],
    [1, -6, -8, 3, 4],
    [0, 40, 40, 50, 50],
    [1, 5, 1, 3, 0],
    [0, 2.5, 0.5, 6.5, 4.5],
]


def pooled(x: Any, rois: Any, parts: tuple[int, int], scale: float) -> Any:
    """Element by element."""
    made = numpy.zeros((len(rois), x.shape[1], *parts), x.dtype)
    for r, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (
            math.copysign(math.floor(abs(one * scale) + 0.5), one) for one in corners
        )
        begins, sizes = (top, left), (max(bottom - top + 1, 1), max(right - left + 1, 1))
        for channel, *part in itertools.product(range(x.shape[1]), *map(range, parts)):
            found = [
                x[int(image), channel, row, column]
                for row, column in itertools.product(range(x.shape[2]), range(x.shape[3]))
                if all(
                    math.floor(part[a] * sizes[a] / parts[a])
                    <= at - begins[a]
                    < math.ceil((part[a] + 1) * sizes[a] / parts[a])
                    for a, at in enumerate((row, column))
                )
            ]
            made[(r, channel, *part)] = max(found, default=0)
    return made


@pytest.mark.parametrize("dtype", ["float", "double"])
@pytest.mark.parametrize("scale", [1.0, 0.5])
@pytest.mark.parametrize("parts", [(1, 1), (2, 2), (3, 4)], ids=str)
def test_max_roi_pool(parts: tuple[int, int], scale: float, dtype: str) -> None:
    x = RANDOM.standard_normal((2, 3, 8, 10)).astype("float32" if dtype == "float" else "float64")
    rois = numpy.array(ROIS, x.dtype)
    given = f"pooled_shape = {list(parts)}, spatial_scale = {scale}"
    text = f"({dtype}[2, 3, 8, 10] x, {dtype}[{len(ROIS)}, 5] r) => ({dtype} y)"
    (got,) = run(f"g {text} {{ y = MaxRoiPool <{given}> (x, r) }}", x=x, r=rois)
    numpy.testing.assert_array_equal(got, pooled(x, rois, parts, scale))


@pytest.mark.parametrize(
    "roi, text",
    [
        ([2, 0, 0, 1, 1], "input 'rois': expected an image of 0 to 1, got 2"),
        ([0.5, 0, 0, 1, 1], "input 'rois': expected an image of 0 to 1, got 0.5"),
        ([0, math.nan, 0, 1, 1], "input 'rois': expected finite corners, got"),
        ([0, 0, 0, math.inf, 1], "input 'rois': expected finite corners, got"),
    ],
)
def test_regions_that_cannot_be(roi: list[float], text: str) -> None:
    x, rois = numpy.zeros((2, 1, 4, 4), "float32"), numpy.array([roi], "float32")
    with pytest.raises(GraphError, match=text):
        run(
            "g (float[2, 1, 4, 4] x, float[1, 5] r) => (float y) "
            "{ y = MaxRoiPool <pooled_shape = [2, 2]> (x, r) }",
            x=x,
            r=rois,
        )


@pytest.mark.parametrize("dtype", [6, 7], ids=["int32", "int64"])
def test_multinomial(dtype: int) -> None:
    weights = numpy.array([[1, 2, 3, 0, 4], [5, 0, 0, 0, 5]], "float32")
    with numpy.errstate(divide="ignore"):
        logits = numpy.log(weights)  # minus infinity for what is never drawn
    count = 4000
    text = f"""g (float[2, 5] x) => (int{32 if dtype == 6 else 64}[2, {count}] y) {{
        y = Multinomial <sample_size = {count}, seed = 7.0, dtype = {dtype}> (x) }}"""
    (got,) = run(text, x=logits)
    (again,) = run(text, x=logits)
    numpy.testing.assert_array_equal(got, again)
    assert got.dtype == ("int32" if dtype == 6 else "int64") and got.shape == (2, count)
    for row, shares in zip(got, weights / weights.sum(axis=1, keepdims=True), strict=True):
        spread = numpy.sqrt(count * shares * (1 - shares))
        found = numpy.bincount(row, minlength=5)
        assert (abs(found - count * shares) <= 5 * spread).all(), found


# Tensors, and the axis along which parts of them are compared.
TENSORS = {
    "flat": (numpy.array([2, 1, 1, 3, 4, 3], "float32"), None),
    "flattened": (numpy.array([[1, 3], [2, 3]], "float32"), None),
    "rows": (numpy.array([[2, 3, 4], [1, 0, 0], [2, 3, 4], [1, 0, 0]], "float32"), 0),
    "columns": (numpy.array([[3, 1, 3], [2, 1, 2], [0, 0, 0], [5, 4, 5]], "float32"), 1),
    "last axis": (RANDOM.integers(0, 2, (3, 2, 9)).astype("float32"), -1),
    "all the same": (numpy.ones((3, 3), "float32"), 1),
}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("is_sorted", [0, 1])
@pytest.mark.parametrize("x, axis", TENSORS.values(), ids=TENSORS)
def test_unique(x: Any, axis: int | None, is_sorted: int, count: int) -> None:
    parts = [*x.reshape(-1)] if axis is None else [*numpy.moveaxis(x, axis, 0)]
    keys = [tuple(numpy.ravel(part)) for part in parts]
    unique = list(dict.fromkeys(keys))
    if is_sorted:
        unique.sort()
    first = [keys.index(one) for one in unique]
    values = numpy.stack([parts[i] for i in first], 0 if axis is None else axis)
    expected = [values, first, [unique.index(one) for one in keys], [*map(keys.count, unique)]]
    given = f"sorted = {is_sorted}" + ("" if axis is None else f", axis = {axis}")
    names = ["y", "first", "inverse", "counts"][:count]
    outputs = ", ".join(["float y", *(f"int64 {name}" for name in names[1:])])
    dims = ", ".join(map(str, x.shape))
    text = f"g (float[{dims}] x) => ({outputs}) {{ {', '.join(names)} = Unique <{given}> (x) }}"
    got = run(text, x=x)
    assert len(got) == count
    for one, other in zip(got, expected, strict=False):
        numpy.testing.assert_array_equal(one, other)
