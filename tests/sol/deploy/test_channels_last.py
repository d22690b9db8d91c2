"""Graphs whose tensors have their channels last between convolutions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from benchmarks.models._builder import Builder
from mx import sol
from mx.graph import Graph
from mx.sol.backends.gen import Target
from mx.sol.backends.gen._reads import read_inputs
from mx.sol.deployments._lower import lower
from tests.graph.build import graph_of

from .loaded import Library

SHAPE = (1, 6, 9, 10)
WEIGHTS = ", ".join(str(n % 7 / 7) for n in range(96))
PADS = [1, 1, 1, 1]


def _with(*lines: Callable[[Builder, object], object]) -> Graph:
    """A convolution to 16 channels, then nodes of which each gets what the one before gives."""
    b = Builder("graph")
    x = b.conv(b.input("data", ("N", *SHAPE[1:])), "first", (6, 16), 3, bias=True, pads=PADS)
    for line in lines:
        x = line(b, x)
    return b.finish(output=x)


def _conv(b: Builder, x: object, **options: object) -> object:
    return b.conv(x, f"conv{len(list(b.graph))}", (16, 16), 3, bias=True, pads=PADS, **options)


def _residual(b: Builder, x: object) -> object:
    return b.op("Relu", b.op("Add", _conv(b, x), x))


def _excited(b: Builder, x: object) -> object:
    mean = b.op("GlobalAveragePool", x)
    return b.op("Mul", b.op("Sigmoid", b.conv(mean, "excitation", (16, 16), 1, bias=True)), x)


def _mean(b: Builder, x: object) -> object:
    return b.op("ReduceMean", x, b.ints(2, -1), keepdims=1)


def _joined(b: Builder, x: object) -> object:
    return b.op("Concat", x, b.op("Neg", x), axis=1)


def _joined_rows(b: Builder, x: object) -> object:
    return b.op("Concat", x, x, axis=2)


def _scaled(b: Builder, x: object) -> object:
    return b.op("PRelu", x, b.random("slope", (16, 1, 1), 0.5))


def _of_pixels(b: Builder, x: object) -> object:
    return b.op("Add", b.op("Neg", x), b.random("pixels", (1, 1, *SHAPE[2:]), 0.5))


def _up(b: Builder, x: object) -> object:
    return b.op("ConvTranspose", x, b.random("upwards", (16, 5, 2, 2), 0.2), strides=[2, 2])


def _op(name: str, **attributes: object) -> Callable[[Builder, object], object]:
    return lambda b, x: b.op(name, x, **attributes)


WINDOW = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
# The nodes behind a convolution, and how many copies in another order of elements there may be.
CASES: dict[str, tuple[list[Callable[[Builder, object], object]], int]] = {
    "alone": ([], 1),
    "residual": ([_residual, _residual], 1),
    "depthwise": ([lambda b, x: _conv(b, x, group=16)], 1),
    "groups": ([lambda b, x: _conv(b, x, group=2), _op("Relu")], 1),
    "excited": ([_excited], 1),
    "mean": ([_mean], 0),
    "flat": ([_op("GlobalAveragePool"), _op("Flatten", axis=1)], 0),
    "max_pool": ([_op("MaxPool", **WINDOW), _conv], 1),
    "average_pool": ([_op("AveragePool", **WINDOW), _conv], 1),
    "average_pool_with_pads": ([_op("AveragePool", **WINDOW, count_include_pad=1), _conv], 1),
    "max_pool_dilations": ([_op("MaxPool", kernel_shape=[2, 2], dilations=[2, 3]), _conv], 1),
    "joined": ([_joined], 1),
    "joined_rows": ([_joined_rows], 1),
    "scaled": ([_scaled], 1),
    "of_pixels": ([_of_pixels], 1),
    "up": ([_up], 1),
    "softmax": ([_op("Softmax", axis=1)], 1),
    "transposed": ([_op("Transpose", perm=[0, 2, 3, 1])], 2),
    "reduced": ([_op("ReduceMax", keepdims=0)], 1),
}


@pytest.mark.parametrize("name", CASES)
def test_copies(name: str) -> None:
    nodes, most = CASES[name]
    graph = _with(*nodes)
    graph.infer({"data": SHAPE})
    program = lower(graph, Target.named("avx512"))
    made = [call for call in program.calls if "transpose_" in call.kernel.symbol]
    assert len([call for call in made if "conv_transpose" not in call.kernel.symbol]) <= most


def test_values(tmp_path: Path) -> None:
    """All graphs as one, compiled once."""
    random = numpy.random.default_rng(0)
    x = random.standard_normal(SHAPE).astype("float32")
    b = Builder("graph")
    first = b.conv(b.input("data", SHAPE), "first", (6, 16), 3, bias=True, pads=PADS)
    outputs = {}
    for name, (nodes, _) in CASES.items():
        value = b.op("Relu", first)
        for node in nodes:
            value = node(b, value)
        outputs[name] = value
    graph = b.finish(**outputs)
    expected = sol.optimize(graph, x)(x)
    made = sol.deploy(graph, path=tmp_path)
    results = [numpy.full(one.shape, 7, one.dtype) for one in expected]
    assert Library(made.files[0]).call([x, *results]) == 0
    for name, came, wanted in zip(outputs, results, expected, strict=True):
        numpy.testing.assert_allclose(came, wanted, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("target", ["avx512", "avx2", "neon", "c"])
def test_winograd(target: str) -> None:
    graph = _with(_residual, lambda b, x: _conv(b, x, strides=[2, 2]))
    graph.infer({"data": SHAPE})
    kernels = [call.kernel for call in lower(graph, Target.named(target)).calls]
    kernels = [kernel for kernel in kernels if "transpose" not in kernel.name]
    assert [kernel.name for kernel in kernels] == ["conv", "winograd", "conv"]
    # The image, which is added, too, the bias and transformed weights; not those of the model.
    assert read_inputs(kernels[1]) == {0, 2, 3}


BRANCH = """
g (float[1,6,4,4] x, bool[1] where) => (float[1,16,4,4] y) {
  h = Conv(x, w)
  y = If<then_branch = a () => (float[1,16,4,4] s) { s = Softmax<axis = 1>(h) },
         else_branch = b () => (float[1,16,4,4] t) { t = Softmax<axis = 2>(h) }>(where)
}
"""


@pytest.mark.parametrize("where", [True, False])
def test_branches(tmp_path: Path, where: bool) -> None:
    """What one branch needs in another order is there for the other one, too."""
    graph = graph_of(BRANCH.replace("{\n", "<float[16,6,1,1] w = {" + WEIGHTS + "}> {\n", 1))
    x, chosen = numpy.ones((1, 6, 4, 4), "float32"), numpy.array([where])
    expected = sol.optimize(graph, x, chosen)(x, chosen)
    made = sol.deploy(graph, path=tmp_path, target="c")
    result = numpy.full(expected.shape, 7, "float32")
    assert Library(made.files[0]).call([x, chosen, result]) == 0
    numpy.testing.assert_allclose(result, expected, rtol=1e-5)
