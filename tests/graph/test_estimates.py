"""What backends expect layers to take: the order follows it, and it is told."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import mx
from mx.graph import Plan
from mx.graph.lowering import BACKENDS, BLAS, ONEDNN, OPERATORS, Backend, Chooser, Layer
from mx.graph.lowering._constant import Constant
from mx.graph.lowering._value import Declined, Followers, Value
from mx.graph.lowering.onednn import _across

from .build import graph_of


def backend(name: str, estimate: float | None, declines: bool = False) -> Backend:
    """A backend that doubles, and says how long that takes it; None for one that says nothing."""

    def double(to, x):
        if declines:
            raise Declined("not today")
        return to.call(mx.np.add, x, x)

    made = Backend(name)
    made.rule("Abs")(double)
    if estimate is not None:
        made.cost("Abs")(lambda layer: estimate * layer.inputs[0].size)
    return made


# The estimates of backends a, b and c of the fixed order, and the order that a layer has.
ORDERS = {
    "none": ((None, None, None), "abc"),
    "one": ((None, 1.0, None), "abc"),
    "as they are": ((1.0, 2.0, 3.0), "abc"),
    "another one": ((2.0, 1.0, 3.0), "bac"),
    "the last one": ((3.0, 2.0, 1.0), "cba"),
    "noise": ((1.0, 0.9, 0.85), "abc"),
    "clear of one alone": ((1.0, 0.85, 0.75), "bca"),
    "around one without": ((2.0, None, 1.0), "cba"),
}


@pytest.mark.parametrize(("estimates", "order"), ORDERS.values(), ids=ORDERS)
def test_order(estimates, order):
    backends = [backend(name, one) for name, one in zip("abc", estimates, strict=True)]
    x = Value((4,), "float32")
    layer = Layer("n", 0, "Abs", 13, (x,), {}, 1, Followers())
    assert "".join(one.name for one in Chooser(backends).order(layer)) == order
    other = Layer("n", 0, "Neg", 13, (x,), {}, 1, Followers())
    assert "".join(one.name for one in Chooser(backends).order(other)) == "abc"
    told = {name: 4 * one for name, one in zip("abc", estimates, strict=True) if one is not None}
    assert Chooser(backends).estimates(layer) == (told if len(told) > 1 else {})
    assert Chooser(backends).estimates(other) == {}
    with pytest.raises(FrozenInstanceError):
        layer.name = "another one"


# Backends, which of them executes the node, and what is told of it.
TOLD = {
    "the fixed order": ([("a", 1.0), ("b", 2.0)], "a", "estimated: a 3 us, b 6 us"),
    "a faster one": ([("a", 2.0), ("b", 1.0)], "b", "estimated: a 6 us, b 3 us"),
    "no estimates": ([("a", None), ("b", None)], "a", ""),
    "one that declines": (
        [("a", 2.0), ("b", 1.0, True)],
        "a",
        "estimated: a 6 us, b 3 us; b: not today",
    ),
}


@pytest.mark.parametrize(("backends", "chosen", "why"), TOLD.values(), ids=TOLD)
def test_what_is_told(backends, chosen, why):
    chooser = Chooser([backend(*one) for one in backends])
    plan = Plan(graph_of("g (float[3] x) => (float[3] y) { [n] y = Abs(x) }"), chooser=chooser)
    np.testing.assert_array_equal(plan(np.ones(3, "float32"))[0].asnumpy(), [2, 2, 2])
    (row,) = plan.explain()
    assert (row.where, row.why) == (chosen, why)
    (step,) = plan.steps()
    assert step.reasons == (("b: not today",) if len(backends[1]) > 2 else ())
    expected = {one[0]: one[1] for one in backends}[chosen]
    assert step.estimate == (None if expected is None else 3 * expected)


def layer_of(operator: str, *shapes, dtype="float32", **attributes) -> Layer:
    values = [Value(tuple(shape), dtype) for shape in shapes]
    return Layer("n", 0, operator, 13, tuple(values), attributes, 1, Followers())


# Two layers, of which the second one takes longer.
LONGER = {
    "rows": (("MatMul", (64, 256), (256, 256)), ("MatMul", (128, 256), (256, 256))),
    "terms": (("MatMul", (64, 256), (256, 256)), ("MatMul", (64, 512), (512, 256))),
    "batch": (("MatMul", (2, 64, 64), (2, 64, 64)), ("MatMul", (4, 64, 64), (4, 64, 64))),
    "rows of a batch": (("MatMul", (2, 64, 64), (64, 64)), ("MatMul", (4, 64, 64), (64, 64))),
    "a row": (("MatMul", (1, 256), (256, 256)), ("MatMul", (1, 512), (512, 256))),
    "columns": (("Gemm", (64, 256), (256, 256)), ("Gemm", (64, 256), (256, 512))),
    "images": (("Conv", (1, 16, 9, 9), (8, 16, 1, 1)), ("Conv", (2, 16, 9, 9), (8, 16, 1, 1))),
}


@pytest.mark.parametrize(("one", "other"), LONGER.values(), ids=LONGER)
def test_more_work_takes_longer(one, other):
    for chosen in (ONEDNN, BLAS, OPERATORS):
        short, long = chosen.estimate(layer_of(*one)), chosen.estimate(layer_of(*other))
        if short is not None:
            assert 0 < short < long


def test_products_that_are_alike():
    turned = [
        layer_of("Gemm", (64, 256), (256, 128)),
        layer_of("Gemm", (256, 64), (256, 128), transA=1),
        layer_of("Gemm", (64, 256), (128, 256), transB=1),
        layer_of("MatMul", (64, 256), (256, 128)),
        layer_of("MatMul", (4, 16, 256), (256, 128)),
    ]
    assert len({BLAS.estimate(one) for one in turned}) == 1
    # Operators add in a step of their own.
    with_row = layer_of("Gemm", (64, 256), (256, 128), (128,))
    assert OPERATORS.estimate(with_row) > BLAS.estimate(with_row) == BLAS.estimate(turned[0])
    assert BLAS.estimate(layer_of("MatMul", (64, 64), (64, 64), dtype="float64")) is not None


# Factors that are no constants, attributes, and the levels of processors at which oneDNN may read
# one of them across.
ACROSS = {
    "large": ((64, 1000), (1000, 2100), {}, {"avx512"}),
    "batch": ((4, 16, 1000), (1000, 2100), {}, {"avx512"}),
    "few rows": ((8, 1024), (1024, 3072), {}, set()),
    "power of two": ((64, 1024), (1024, 2048), {}, {"avx2"}),
    "turned": ((64, 1000), (3072, 1000), {"transB": 1}, set()),
    "small": ((64, 100), (100, 2100), {}, set()),
    "rows of whole pages": ((64, 512), (512, 3072), {}, {"avx2", "avx512"}),
    "as many elements in other rows": ((64, 512), (512, 3000), {}, set()),
    "many rows": ((1024, 64), (64, 1024), {}, set()),
    "the other one": ((512, 1024), (512, 64), {"transA": 1}, {"avx2"}),
    "the other one, of many columns": ((512, 1024), (512, 800), {"transA": 1}, set()),
}


@pytest.mark.parametrize("level", ["avx2", "avx512"])
@pytest.mark.parametrize(("a", "b", "attributes", "levels"), ACROSS.values(), ids=ACROSS)
def test_matrices_that_are_read_across(a, b, attributes, levels, level, monkeypatch):
    monkeypatch.setattr(_across, "_cpu_level", lambda: level)
    layer = layer_of("Gemm" if attributes else "MatMul", a, b, **attributes)
    order = [one.name for one in Chooser(BACKENDS).order(layer)]
    assert order == (["blas", "mx", "onednn"] if level in levels else ["onednn", "blas", "mx"])


# A constant as the second factor, whether it is given as (columns, terms), and the levels at which
# oneDNN may read it across.
CONSTANTS = {
    "rows that collide": ((64, 1000), (1000, 2048), False, {"avx2"}),
    "turned": ((64, 1000), (2048, 1000), True, {"avx2"}),
    "others": ((64, 1000), (1000, 2100), False, set()),
    "others, turned": ((64, 1024), (2100, 1024), True, set()),
}


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize(("a", "b", "turned", "levels"), CONSTANTS.values(), ids=CONSTANTS)
def test_constants_that_are_read_across(a, b, turned, levels, level, monkeypatch):
    monkeypatch.setattr(_across, "_cpu_level", lambda: level)
    layer = layer_of("Gemm", a, transB=int(turned))
    weight = Value(b, "float32", known=Constant(np.zeros(b, "float32")))
    layer = replace(layer, inputs=(*layer.inputs, weight))
    first = next(iter(Chooser(BACKENDS).order(layer)))
    assert first.name == ("blas" if level in levels else "onednn")


# A row, or several, times a constant matrix, and whether BLAS reads that faster than oneDNN.
ROWS = {
    "a row": ((1, 2048), (2048, 1024), True),
    "two rows": ((2, 2048), (2048, 1024), False),
    "rows of a batch": ((2, 1, 2048), (2048, 1024), False),
    "a matrix in the third cache": ((1, 512), (512, 512), False),
}


@pytest.mark.parametrize(("a", "b", "is_blas"), ROWS.values(), ids=ROWS)
def test_rows_times_weights(a, b, is_blas):
    weight = Value(b, "float32", known=Constant(np.zeros(b, "float32")))
    layer = layer_of("MatMul", a)
    layer = replace(layer, inputs=(*layer.inputs, weight))
    for fixed in (True, False):  # plans for other shapes would have it packed besides
        first = next(iter(Chooser(BACKENDS).order(replace(layer, has_one_shape=fixed))))
        assert first.name == ("blas" if is_blas and fixed else "onednn")


# What nothing is estimated of.
UNKNOWN = {
    "another operator": ("Exp", (4, 4)),
    "vector": ("MatMul", (4, 4), (4,)),
    "windows": ("Conv", (1, 3, 9, 9), (4, 3, 3, 3)),
    "one dimension": ("Gemm", (4,), (4, 4)),
    "one input": ("MatMul", (4, 4)),
}


@pytest.mark.parametrize("given", UNKNOWN.values(), ids=UNKNOWN)
def test_no_estimate(given):
    assert all(one.estimate(layer_of(*given)) is None for one in BACKENDS)
    assert ONEDNN.estimate(layer_of("MatMul", (4, 4), (4, 4), dtype="float64")) is None
