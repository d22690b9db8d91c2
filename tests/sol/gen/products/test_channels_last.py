"""Convolutions of tensors whose channels are last, against ONNX's reference in float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

from mx.sol.backends.gen import Declined, GenKernel, Spec, Target
from mx.sol.backends.gen.products import Step
from mx.sol.backends.gen.products.channels_last import READS_FIRST, convolution_last
from mx.sol.backends.gen.products.transposed_last import transposed_convolution_last

from .running import TARGETS, Case, Table

random = numpy.random.default_rng(0)
LAST = (0, 2, 3, 1)


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype(numpy.float32)


def _case(x: tuple[int, ...], w: tuple[int, ...], bias: bool = True, **attributes) -> Case:
    inputs = (_of(*x), _of(*w), *((_of(w[0]),) if bias else ()))
    return Case("Conv", inputs, (1,), attributes)


CASES = {
    "plain": _case((1, 16, 9, 9), (40, 16, 1, 1)),
    "strides_of_one": _case((2, 16, 15, 13), (20, 16, 1, 1), strides=[2, 3]),
    "window": _case((2, 5, 9, 21), (33, 5, 3, 3), pads=[1, 1, 1, 1]),
    "window_strides": _case((1, 3, 17, 20), (18, 3, 5, 5), strides=[2, 2], pads=[2, 2, 2, 2]),
    "inside": _case((1, 30, 30, 7), (9, 30, 3, 3), bias=False),
    "dilations": _case((1, 4, 20, 11), (17, 4, 3, 3), dilations=[2, 3], pads=[2, 3, 2, 3]),
    "pads_beyond": _case((1, 2, 2, 3), (3, 2, 1, 1), pads=[2, 3, 1, 4]),
    "many": _case((1, 80, 7, 7), (70, 80, 3, 3), pads=[1, 1, 1, 1]),
    "large": _case((1, 24, 40, 30), (32, 24, 3, 3), pads=[1, 1, 1, 1]),
}
DEPTHWISE = {
    "depthwise": _case((2, 32, 14, 14), (32, 1, 3, 3), group=32, pads=[1, 1, 1, 1]),
    "depthwise_strides": _case(
        (1, 21, 15, 28), (21, 1, 5, 5), group=21, strides=[2, 2], pads=[2, 2, 2, 2]
    ),
    "depthwise_dilations": _case(
        (1, 3, 11, 30), (3, 1, 3, 2), group=3, dilations=[2, 3], pads=[0, 1, 1, 2], bias=False
    ),
    "depthwise_beyond": _case((1, 4, 3, 2), (4, 1, 2, 2), group=4, pads=[3, 3, 3, 3]),
}


TRANSPOSED = {
    "transposed": ((2, 12, 5, 17), (12, 20, 2, 2), [2, 2]),
    "transposed_strides": ((1, 3, 4, 3), (3, 5, 3, 2), [3, 2]),
}


def _transposed(name: str) -> Case:
    x, w, strides = TRANSPOSED[name]
    inputs = (_of(*x), _of(*w), _of(w[1]))
    return Case("ConvTranspose", inputs, (1,), {"strides": strides})


UPWARDS = {name: _transposed(name) for name in TRANSPOSED}


def _upwards(case: Case) -> Callable[[Target], GenKernel]:
    x, w, bias = (one for one in case.inputs if one is not None)
    specs = [
        Spec(x.transpose(LAST).shape, "float32"),
        *(Spec(one.shape, "float32") for one in (w, bias)),
    ]
    return lambda target: transposed_convolution_last(target, specs, dict(case.attributes), {1: w})


def _maker(case: Case, reads_first: bool) -> Callable[[Target], GenKernel]:
    x, w, *bias = (one for one in case.inputs if one is not None)
    shape = x.shape if reads_first else x.transpose(LAST).shape
    attributes = {**case.attributes, READS_FIRST: int(reads_first)}
    specs = [Spec(shape, "float32"), *(Spec(one.shape, "float32") for one in (w, *bias))]
    return lambda target: convolution_last(target, specs, attributes, {1: w})


FINISH = (
    Step.binary("Add", Spec((1, 6, 6, 20), "float32")),
    Step("LeakyRelu", attributes={"alpha": 0.5}),
    Step.binary("Mul", Spec((1, 1, 1, 20), "float32")),
)
ENDED = {
    "ended_product": _of(20, 20, 1, 1),
    "ended_window": _of(20, 20, 3, 3),
    "ended_depthwise": _of(20, 1, 3, 3),
}


def _attributes(w: numpy.ndarray) -> dict[str, object]:
    return {"group": 20 // w.shape[1], "pads": [w.shape[2] // 2] * 4}


def _ended(w: numpy.ndarray) -> Callable[[Target], GenKernel]:
    specs = [Spec((1, 6, 6, 20), "float32"), Spec(w.shape, "float32")]
    return lambda target: convolution_last(target, specs, _attributes(w), {1: w}, FINISH)


TABLE = Table(
    {
        **{name: _maker(case, False) for name, case in (CASES | DEPTHWISE).items()},
        **{f"{name}_reads_first": _maker(case, True) for name, case in CASES.items()},
        **{name: _upwards(case) for name, case in UPWARDS.items()},
        **{name: _ended(w) for name, w in ENDED.items()},
    }
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", [*CASES, *DEPTHWISE, *UPWARDS])
def test_convolutions(target: str, name: str) -> None:
    case = (CASES | DEPTHWISE | UPWARDS)[name]
    x, *others = (one for one in case.inputs if one is not None)
    (expected,) = case.expected()
    (got,) = TABLE.run(target, name, (x.transpose(LAST), *others))
    numpy.testing.assert_allclose(got, expected.transpose(LAST), rtol=1e-5, atol=1e-4)
    if name in CASES:
        (again,) = TABLE.run(target, f"{name}_reads_first", (x, *others))
        numpy.testing.assert_allclose(again, expected.transpose(LAST), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ENDED)
def test_epilogue(target: str, name: str) -> None:
    w = ENDED[name]
    x, other, scale = _of(1, 20, 6, 6), _of(1, 6, 6, 20), _of(1, 1, 1, 20)
    (got,) = TABLE.run(target, name, (x.transpose(LAST), w, other, scale))
    (expected,) = Case("Conv", (x, w), (1,), _attributes(w)).expected()
    expected = expected.transpose(LAST) + other
    expected = numpy.where(expected < 0, expected / 2, expected) * scale
    numpy.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["window", "depthwise"])
@pytest.mark.parametrize("value", [numpy.nan, numpy.inf])
def test_keeps_nan_and_infinity_in_their_windows(target: str, name: str, value: float) -> None:
    case = (CASES | DEPTHWISE)[name]
    x, *others = (one for one in case.inputs if one is not None)
    changed = x.copy()
    changed[0, 0, 7, 9] = value
    (got,) = TABLE.run(target, name, (changed.transpose(LAST), *others))
    (plain,) = TABLE.run(target, name, (x.transpose(LAST), *others))
    (expected,) = Case("Conv", (changed, *others), (1,), case.attributes).expected()
    finite = numpy.isfinite(expected.transpose(LAST))
    numpy.testing.assert_array_equal(numpy.isfinite(got), finite)
    numpy.testing.assert_array_equal(got[finite], plain[finite])


@pytest.mark.parametrize(
    ("shapes", "known", "attributes", "reason"),
    [
        ([(1, 5, 5, 3), (4, 3, 3, 3)], False, {}, "no constant"),
        ([(1, 5, 3), (4, 3, 3)], True, {}, "only 2 spatial dimensions"),
        ([(1, 5, 5, 4), (4, 2, 3, 3)], True, {"group": 2}, "groups of channels"),
    ],
)
def test_declines(shapes, known: bool, attributes, reason: str) -> None:
    specs = [Spec(shape, "float32") for shape in shapes]
    given = {1: numpy.zeros(shapes[1], numpy.float32)} if known else {}
    with pytest.raises(Declined, match=reason):
        convolution_last(Target.named("c"), specs, attributes, given)


@pytest.mark.parametrize(
    ("x", "w", "attributes", "reason"),
    [
        ((1, 5, 5, 4), (4, 4, 2, 2), {}, "taps that overlap"),
        (
            (1, 5, 5, 4),
            (4, 4, 2, 2),
            {"strides": [2, 2], "pads": [1, 0, 0, 0]},
            "taps that overlap",
        ),
        ((1, 5, 5, 4), (4, 2, 2, 2), {"strides": [2, 2], "group": 2}, "groups"),
        ((1, 5, 5, 4), (3, 4, 2, 2), {"strides": [2, 2]}, "weights of shape"),
    ],
)
def test_declines_transposed(x, w, attributes, reason: str) -> None:
    specs = [Spec(x, "float32"), Spec(w, "float32")]
    with pytest.raises(Declined, match=reason):
        transposed_convolution_last(Target.named("c"), specs, attributes, {1: _of(*w)})
