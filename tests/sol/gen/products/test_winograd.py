"""Convolutions by Winograd's F(2 x 2, 3 x 3) against ONNX's reference in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy
import pytest

from mx.sol.backends.gen import GenKernel, Spec, Target
from mx.sol.backends.gen.products import Step
from mx.sol.backends.gen.products._inputs import Positions, operands_of
from mx.sol.backends.gen.products._window import window_of
from mx.sol.backends.gen.products._winograd import WinogradConvolution, is_faster, takes
from mx.sol.backends.gen.products.channels_last import READS_FIRST, convolution_last

from .running import TARGETS, Case, Table

random = numpy.random.default_rng(0)
LAST = (0, 2, 3, 1)


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype(numpy.float32)


def _case(n: int, channels: int, high: int, wide: int, results: int, pads: Sequence[int]) -> Case:
    inputs = (_of(n, channels, high, wide), _of(results, channels, 3, 3), _of(results))
    return Case("Conv", inputs, (1,), {"pads": list(pads)})


SAME = (1, 1, 1, 1)
CASES = {
    "even": _case(1, 16, 8, 8, 32, SAME),
    "odd": _case(1, 16, 7, 9, 32, SAME),
    "odd_rows": _case(2, 16, 5, 8, 16, SAME),
    "inside": _case(1, 20, 11, 10, 24, (0, 0, 0, 0)),
    "before": _case(1, 16, 6, 7, 16, (1, 0, 0, 1)),
    "behind": _case(1, 16, 6, 7, 16, (0, 2, 1, 0)),
    "beyond": _case(1, 8, 4, 3, 16, (3, 4, 2, 5)),
    "one_tile": _case(1, 16, 2, 2, 16, SAME),
    "one_result": _case(1, 16, 3, 3, 16, (0, 0, 0, 0)),
    "one_row": _case(1, 16, 1, 9, 16, SAME),
    "one_column": _case(3, 16, 9, 1, 16, SAME),
    "one_channel": _case(1, 1, 6, 6, 1, SAME),
    "few": _case(1, 3, 6, 6, 5, SAME),
    "no_whole_vectors": _case(1, 37, 9, 10, 21, SAME),
    "ragged_panels": _case(1, 19, 6, 6, 150, SAME),
    "batch": _case(5, 16, 7, 6, 16, SAME),
    "several_sums": _case(1, 130, 6, 6, 16, SAME),
    "many_weights": _case(1, 140, 14, 14, 130, SAME),
    "more_weights": _case(2, 150, 13, 14, 120, SAME),
}


def _maker(
    x: Sequence[int], w: numpy.ndarray, attributes: dict[str, object], steps: Sequence[Step]
) -> Callable[[Target], GenKernel]:
    """A kernel of an input (N, C, H, W), of a shape that the rule may be against."""
    window, (n, results, *spatial) = window_of(Spec(tuple(x), "float32"), w.shape, attributes)
    output = Spec((n, *spatial, results), "float32")
    positions = Positions((0, 1), 2 + sum(len(step.extras) for step in steps))
    operands = operands_of(steps, 2, output, -1, 3)

    def make(target: Target) -> GenKernel:
        given = (target, window, w, output, tuple(steps), operands, positions)
        return WinogradConvolution(*given).kernel()

    return make


def _case_maker(case: Case) -> Callable[[Target], GenKernel]:
    x, w, bias = (one for one in case.inputs if one is not None)
    steps = (Step.binary("Add", Spec(bias.shape, "float32")),)
    return _maker(x.shape, w, dict(case.attributes), steps)


# A residual sum, activations with and without numbers of their own, and scales.
ENDS = {
    "relu": (Step("Relu"),),
    "residual": (Step.binary("Add", Spec((2, 7, 5, 21), "float32")), Step("Relu")),
    "clip": (Step("LeakyRelu", attributes={"alpha": 0.5}), Step("Sigmoid")),
    "scales": (
        Step.binary("Mul", Spec((1, 1, 1, 21), "float32")),
        Step.binary("Sub", Spec((1,), "float32"), swapped=True),
    ),
}
ENDED = {"x": _of(2, 18, 7, 5), "w": _of(21, 18, 3, 3)}


def _ended(steps: Sequence[Step]) -> Callable[[Target], GenKernel]:
    return _maker(ENDED["x"].shape, ENDED["w"], {"pads": list(SAME)}, steps)


TABLE = Table(
    {
        **{name: _case_maker(case) for name, case in CASES.items()},
        **{f"end_{name}": _ended(steps) for name, steps in ENDS.items()},
    }
)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_convolutions(target: str, name: str) -> None:
    case = CASES[name]
    x, w, bias = (one for one in case.inputs if one is not None)
    (expected,) = case.expected()
    (got,) = TABLE.run(target, name, (x.transpose(LAST), w, bias))
    bound = 2e-6 * numpy.sqrt(9 * w.shape[1])
    numpy.testing.assert_allclose(got, expected.transpose(LAST), rtol=0, atol=bound)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ENDS)
def test_epilogue(target: str, name: str) -> None:
    x, w, steps = ENDED["x"], ENDED["w"], ENDS[name]
    others = [_of(*extra.spec.shape) for step in steps for extra in step.extras]
    (got,) = TABLE.run(target, f"end_{name}", (x.transpose(LAST), w, *others))
    (plain,) = Case("Conv", (x, w), (1,), {"pads": list(SAME)}).expected()
    y = plain.transpose(LAST)
    expected = {
        "relu": lambda: numpy.maximum(y, 0),
        "residual": lambda: numpy.maximum(y + others[0], 0),
        "clip": lambda: 1 / (1 + numpy.exp(-numpy.where(y < 0, y / 2, y))),
        "scales": lambda: others[1] - y * others[0],
    }[name]()
    numpy.testing.assert_allclose(got, expected, rtol=1e-5, atol=5e-5)


@pytest.mark.parametrize("channels", [64, 256, 512])
def test_error_is_that_of_float32(channels: int) -> None:
    """Sums of many channels are as exact as those of few."""
    x, w = numpy.maximum(_of(1, channels, 8, 8), 0), _of(16, channels, 3, 3)
    case = Case("Conv", (x, w), (1,), {"pads": list(SAME)})
    table = Table({"only": _maker(x.shape, w, dict(case.attributes), ())})
    (got,) = table.run(TARGETS[-1], "only", (x.transpose(LAST), w))
    (expected,) = case.expected()
    error = got - expected.transpose(LAST)
    assert numpy.sqrt(numpy.mean(error**2)) < 4e-7 * numpy.sqrt(numpy.mean(expected**2))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("value", [numpy.nan, numpy.inf])
def test_keeps_nan_and_infinity_in_their_windows(target: str, value: float) -> None:
    """Where an infinity is read, results are no numbers: NaN instead of infinities."""
    case = CASES["even"]
    x, w, bias = (one for one in case.inputs if one is not None)
    (plain,) = TABLE.run(target, "even", (x.transpose(LAST), w, bias))
    for row, column in [(2, 5), (3, 4), (0, 0), (7, 7)]:
        changed = x.copy()
        changed[0, 3, row, column] = value
        (got,) = TABLE.run(target, "even", (changed.transpose(LAST), w, bias))
        (expected,) = Case("Conv", (changed, w, bias), (1,), case.attributes).expected()
        finite = numpy.isfinite(expected.transpose(LAST))
        numpy.testing.assert_array_equal(numpy.isfinite(got), finite)
        numpy.testing.assert_array_equal(got[finite], plain[finite])


DENSE = {"pads": list(SAME)}
RULE = [
    # input (N, C, H, W), weights, attributes, whether the rule takes it on avx512
    ((1, 64, 56, 56), (64, 64, 3, 3), DENSE, True),
    ((1, 256, 14, 14), (256, 256, 3, 3), DENSE, True),
    ((1, 16, 128, 128), (16, 16, 3, 3), DENSE, True),
    ((16, 512, 7, 7), (512, 512, 3, 3), DENSE, True),
    ((1, 512, 7, 7), (512, 512, 3, 3), DENSE, False),  # reads weights for a few tiles
    ((1, 64, 1, 1), (64, 64, 3, 3), DENSE, False),  # three of four results of a tile are none
    ((1, 3, 224, 224), (64, 3, 3, 3), DENSE, False),  # few channels
    ((1, 64, 56, 56), (2, 64, 3, 3), DENSE, False),
    ((1, 64, 56, 56), (64, 64, 3, 3), {**DENSE, "strides": [2, 2]}, False),
    ((1, 64, 56, 56), (64, 64, 3, 3), {**DENSE, "strides": [1, 2]}, False),
    ((1, 64, 56, 56), (64, 64, 3, 3), {"dilations": [2, 2]}, False),
    ((1, 64, 56, 56), (64, 32, 3, 3), {**DENSE, "group": 2}, False),
    ((1, 64, 56, 56), (64, 64, 5, 5), {"pads": [2, 2, 2, 2]}, False),
    ((1, 64, 56, 56), (64, 64, 1, 3), {}, False),
    ((1, 64, 56, 56), (64, 64, 1, 1), {}, False),
]


@pytest.mark.parametrize(("x", "w", "attributes", "wanted"), RULE)
def test_rule(x, w, attributes, wanted: bool) -> None:
    window, _ = window_of(Spec(x, "float32"), w, attributes)
    assert is_faster(window, Target.named("avx512")) == wanted
    assert takes(window) or not wanted


@pytest.mark.parametrize(
    ("shape", "attributes", "name"),
    [
        ((1, 14, 14, 32), {}, "winograd"),
        ((1, 14, 14, 32), {"strides": [2, 2]}, "conv"),
        ((1, 32, 14, 14), {READS_FIRST: 1}, "conv"),
        ((0, 14, 14, 32), {}, "conv"),
    ],
)
@pytest.mark.parametrize("target", ["avx512", "avx2", "neon", "c"])
def test_kernels_by_name(target: str, shape, attributes, name: str) -> None:
    w = _of(32, 32, 3, 3)
    specs = [Spec(shape, "float32"), Spec(w.shape, "float32")]
    kernel = convolution_last(Target.named(target), specs, attributes, {1: w})
    assert kernel.name == name
