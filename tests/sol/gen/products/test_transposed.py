"""Transposed convolutions against torch's in float64."""

from __future__ import annotations

import numpy
import pytest
import torch

from mx.sol.backends.gen import Declined, Spec, Target, emit
from mx.sol.backends.gen.products import Step
from mx.sol.backends.gen.products.transposed import transposed_convolution

from .running import TARGETS, Case, Table

random = numpy.random.default_rng(0)


def _of(*shape: int) -> numpy.ndarray:
    return random.standard_normal(shape).astype(numpy.float32)


# Shapes of the input and the weights, stride, dilation, pad, output padding, groups.
PLAIN = {
    "usual": ((2, 6, 5, 7), (6, 4, 3, 3), 2, 1, 1, 1, 1),
    "groups": ((1, 6, 5, 4), (6, 3, 2, 3), 3, 1, 0, 0, 2),
    "dilations": ((1, 3, 9, 8), (3, 5, 3, 3), 1, 2, 1, 0, 1),
    "pads": ((1, 4, 6, 6), (4, 2, 4, 4), 2, 1, 3, 0, 1),
    "large": ((1, 350, 6, 5), (350, 21, 2, 2), 2, 1, 0, 0, 1),
    "line": ((2, 3, 17), (3, 4, 4), 2, 1, 1, 0, 1),
}
CASES = {
    name: Case(
        "ConvTranspose",
        (_of(*x), _of(*w), _of(w[1] * groups)),
        (1,),
        {
            "strides": [stride] * (len(x) - 2),
            "dilations": [dilation] * (len(x) - 2),
            "pads": [pad] * 2 * (len(x) - 2),
            "output_padding": [more] * (len(x) - 2),
            "group": groups,
        },
    )
    for name, (x, w, stride, dilation, pad, more, groups) in PLAIN.items()
}
CASES["same"] = Case(
    "ConvTranspose",
    (_of(1, 2, 4, 5), _of(2, 3, 3, 3)),
    (1,),
    {"auto_pad": "SAME_UPPER", "strides": [2, 3]},
)
CASES["shape"] = Case(
    "ConvTranspose",
    (_of(1, 2, 4, 5), _of(2, 3, 3, 3)),
    (1,),
    {"output_shape": [8, 11], "strides": [2, 2]},
)
TABLE = Table({name: case.kernel for name, case in CASES.items()})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PLAIN)
def test_transposed_convolutions(target: str, name: str) -> None:
    case = CASES[name]
    x, w, bias = (torch.tensor(array).double() for array in case.inputs if array is not None)
    _, _, stride, dilation, pad, more, groups = PLAIN[name]
    function = torch.nn.functional.conv_transpose1d if x.dim() == 3 else None
    function = function or torch.nn.functional.conv_transpose2d
    expected = function(x, w, bias, stride, pad, more, groups, dilation)
    (got,) = TABLE.run(target, name, case.inputs)
    assert got.shape == tuple(expected.shape)
    numpy.testing.assert_allclose(got, expected.numpy(), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "high", "wide"), [("same", 0, 0), ("shape", 1, 0)])
def test_shapes_that_are_asked_for(target: str, name: str, high: int, wide: int) -> None:
    case = CASES[name]
    x, w = (torch.tensor(array).double() for array in case.inputs if array is not None)
    strides = case.attributes["strides"]
    whole = torch.nn.functional.conv_transpose2d(x, w, None, strides).numpy()
    (got,) = TABLE.run(target, name, case.inputs)
    expected = whole[:, :, high : high + got.shape[2], wide : wide + got.shape[3]]
    numpy.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("shapes", "known", "reason"),
    [
        ([(1, 3, 5, 5), (3, 4, 3, 3)], False, "no constant"),
        ([(1, 3, 5, 5, 5), (3, 4, 3, 3, 3)], True, "spatial dimensions"),
        ([(1, 3, 5, 5), (4, 2, 3, 3)], True, "3 channels"),
    ],
)
def test_declines(shapes, known: bool, reason: str) -> None:
    given = {1: numpy.zeros(shapes[1], numpy.float32)} if known else {}
    specs = [Spec(shape, "float32") for shape in shapes]
    with pytest.raises(Declined, match=reason):
        emit(Target.named("c"), "ConvTranspose", specs, {}, given)


def test_declines_one_operand_for_each_pixel() -> None:
    specs = [Spec((2, 3, 7), "float32"), Spec((3, 4, 2), "float32")]
    step = Step.binary("Add", Spec((1, 1, 8), "float32"))
    with pytest.raises(Declined, match="operand of shape"):
        transposed_convolution(Target.named("c"), specs, {}, {1: _of(3, 4, 2)}, (step,))
