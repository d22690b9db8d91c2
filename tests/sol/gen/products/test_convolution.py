"""Convolutions against ONNX's reference in float64."""

from __future__ import annotations

import numpy
import pytest

from mx.sol.backends.gen import Declined, Spec, Target, emit
from mx.sol.backends.gen.products import Step
from mx.sol.backends.gen.products.convolution import convolution

from .running import TARGETS, Case, Table

random = numpy.random.default_rng(0)


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype(numpy.float32)


def _case(x: tuple[int, ...], w: tuple[int, ...], bias: bool = True, **attributes) -> Case:
    inputs = (_of(*x), _of(*w), *((_of(w[0]),) if bias else ()))
    return Case("Conv", inputs, (1,), attributes)


CASES = {
    "lenet_1": _case((1, 1, 28, 28), (6, 1, 5, 5), pads=[2, 2, 2, 2]),
    "lenet_2": _case((1, 6, 14, 14), (16, 6, 5, 5), bias=False),
    "strides": _case((2, 3, 17, 19), (8, 3, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1]),
    "one_by_one": _case((1, 16, 9, 9), (40, 16, 1, 1)),
    "one_by_one_strides": _case((2, 16, 15, 13), (20, 16, 1, 1), strides=[2, 3]),
    "dilations": _case((1, 8, 20, 21), (12, 4, 3, 3), group=2, dilations=[2, 3], pads=[2, 3, 2, 3]),
    "blocks": _case((1, 80, 7, 7), (33, 80, 3, 3), pads=[1, 1, 1, 1]),
    "pads": _case((1, 3, 5, 5), (4, 3, 2, 2), strides=[3, 2], dilations=[2, 1], pads=[3, 0, 1, 2]),
    "pads_beyond": _case((1, 2, 2, 3), (3, 2, 1, 1), pads=[2, 3, 1, 4]),
    "pads_beyond_a_tap": _case((1, 2, 4, 1), (3, 2, 2, 5), pads=[0, 3, 0, 3], strides=[1, 3]),
    "same_upper": _case((1, 2, 7, 8), (3, 2, 4, 3), auto_pad="SAME_UPPER", strides=[2, 3]),
    "same_lower": _case((1, 2, 7, 8), (3, 2, 4, 2), auto_pad="SAME_LOWER"),
    "inside": _case((1, 30, 30, 7), (9, 30, 3, 3)),
    "column": _case((3, 5, 6, 1), (7, 5, 3, 1), pads=[1, 0, 1, 0]),
    "line": _case((2, 4, 33), (6, 4, 5), pads=[2, 1], strides=[2]),
    "depthwise": _case((2, 12, 14, 14), (12, 1, 3, 3), group=12, pads=[1, 1, 1, 1]),
    "depthwise_strides": _case(
        (1, 9, 28, 27), (9, 1, 3, 3), group=9, strides=[2, 2], pads=[1, 1, 1, 1]
    ),
    "depthwise_five": _case(
        (1, 5, 13, 40), (5, 1, 5, 5), group=5, strides=[2, 1], pads=[2, 2, 2, 2]
    ),
    "depthwise_inside": _case((1, 5, 9, 20), (5, 1, 3, 3), group=5, bias=False),
    "depthwise_dilations": _case(
        (1, 3, 11, 10), (3, 1, 3, 2), group=3, dilations=[2, 3], pads=[0, 1, 1, 2]
    ),
    "multiplied": _case((1, 8, 10, 10), (16, 1, 3, 3), group=8, pads=[1, 1, 1, 1]),
    "no_images": _case((0, 3, 5, 5), (4, 3, 3, 3)),
    "no_results": _case((1, 3, 5, 5), (0, 3, 3, 3)),
}

FINISH = (
    Step.binary("Add", Spec((1, 9, 6, 6), "float32")),
    Step("LeakyRelu", attributes={"alpha": 0.5}),
    Step.binary("Mul", Spec((9, 1, 1), "float32")),
)


def _ended(group: int):
    def make(target: Target):
        specs = [Spec((1, 9, 6, 6), "float32"), Spec(WEIGHTS[group].shape, "float32")]
        attributes = {"group": group, "pads": [1, 1, 1, 1]}
        return convolution(target, specs, attributes, {1: WEIGHTS[group]}, FINISH)

    return make


def _ended_line(target: Target):
    specs = [Spec((2, 4, 9), "float32"), Spec(LINE.shape, "float32")]
    finish = [Step.binary("Add", Spec(shape, "float32")) for shape in ((2, 5, 8), (5, 1))]
    return convolution(target, specs, {}, {1: LINE}, finish)


LINE = _of(5, 4, 2)
WEIGHTS = {1: _of(9, 9, 3, 3), 9: _of(9, 1, 3, 3)}
TABLE = Table(
    {
        **{name: case.kernel for name, case in CASES.items()},
        "dense_epilogue": _ended(1),
        "depthwise_epilogue": _ended(9),
        "line_epilogue": _ended_line,
    }
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_convolutions(target: str, name: str) -> None:
    case = CASES[name]
    (got,) = TABLE.run(target, name, case.inputs)
    if name.startswith("no_"):
        assert got.size == 0
        return
    (expected,) = case.expected()
    assert got.shape == expected.shape
    numpy.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "group"), [("dense_epilogue", 1), ("depthwise_epilogue", 9)])
def test_epilogue(target: str, name: str, group: int) -> None:
    x, other, scale = _of(1, 9, 6, 6), _of(1, 9, 6, 6), _of(9, 1, 1)
    (got,) = TABLE.run(target, name, (x, WEIGHTS[group], other, scale))
    plain = Case("Conv", (x, WEIGHTS[group]), (1,), {"group": group, "pads": [1, 1, 1, 1]})
    (expected,) = plain.expected()
    expected = expected + other
    expected = numpy.where(expected < 0, expected / 2, expected) * scale
    numpy.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_epilogue_of_one_axis(target: str) -> None:
    x, other, row = _of(2, 4, 9), _of(2, 5, 8), _of(5, 1)
    (got,) = TABLE.run(target, "line_epilogue", (x, LINE, other, row))
    (expected,) = Case("Conv", (x, LINE), (1,)).expected()
    numpy.testing.assert_allclose(got, expected + other + row, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["lenet_1", "depthwise"])
@pytest.mark.parametrize("value", [numpy.nan, numpy.inf])
def test_keeps_nan_and_infinity_in_their_windows(target: str, name: str, value: float) -> None:
    case = CASES[name]
    x, *others = case.inputs
    assert x is not None
    changed = x.copy()
    changed[0, 0, 7, 9] = value
    (got,) = TABLE.run(target, name, (changed, *others))
    (plain,) = TABLE.run(target, name, case.inputs)
    (expected,) = Case("Conv", (changed, *others), (1,), case.attributes).expected()
    finite = numpy.isfinite(expected)
    numpy.testing.assert_array_equal(numpy.isfinite(got), finite)
    numpy.testing.assert_array_equal(got[finite], plain[finite])


@pytest.mark.parametrize(
    ("shapes", "known", "attributes", "reason"),
    [
        ([(1, 3, 5, 5), (4, 3, 3, 3)], False, {}, "no constant"),
        ([(1, 3, 5, 5, 5), (4, 3, 3, 3, 3)], True, {}, "spatial dimensions"),
        ([(1, 3, 5, 5), (4, 2, 3, 3)], True, {}, "3 channels"),
        ([(1, 3, 2, 2), (4, 3, 3, 3)], True, {}, "a window of 3 in 2"),
        ([(1, 3, 5, 5), (4, 3, 3, 3)], True, {"kernel_shape": [2, 2]}, "kernel_shape"),
        ([(1, 3, 5, 5), (4, 3, 3, 3)], True, {"pads": [-1, 0, 0, 0]}, "none below zero"),
    ],
)
def test_declines(shapes, known: bool, attributes, reason: str) -> None:
    specs = [Spec(shape, "float32") for shape in shapes]
    given = {1: numpy.zeros(shapes[1], numpy.float32)} if known else {}
    with pytest.raises(Declined, match=reason):
        emit(Target.named("c"), "Conv", specs, attributes, given)


def test_declines_one_operand_for_each_pixel() -> None:
    specs = [Spec((2, 3, 9), "float32"), Spec((4, 3, 2), "float32")]
    step = Step.binary("Add", Spec((1, 1, 8), "float32"))
    with pytest.raises(Declined, match="operand of shape"):
        convolution(Target.named("c"), specs, {}, {1: _of(4, 3, 2)}, (step,))
