"""Generated code without measurements: for what is expected to take much less by it."""

from __future__ import annotations

import copy
import dataclasses
import warnings

import numpy
import pytest
import torch
from torch import nn

from mx import sol
from mx.graph.lowering._rates import Extents
from mx.sol.backends.gen import Target
from mx.sol.backends.gen._kernel import Spec
from mx.sol.backends.gen.products import channels_last, matmul


def model(channels: int, window: int = 3, stride: int = 1, groups: int = 1) -> nn.Module:
    """Of two convolutions, as the first one brings images to the order that others read."""
    last = nn.Conv2d(channels, channels, window, stride, padding=window // 2, groups=groups)
    return nn.Sequential(nn.Conv2d(3, channels, 1), nn.ReLU(), last, nn.ReLU()).eval()


def implementation(fast: nn.Module) -> str:
    """What computes the last convolution."""
    names = [one.implementation for one in sol.report(fast).steps]
    return [name for name in names if not name.startswith("onednn.reorder")][-1]


VECTORS = Target.host().name in ("avx2", "avx512")
# Where all convolutions but those of some groups are generated.
ALL = "gen" if Target.host().name == "avx2" else "onednn"
CASES = {
    "large": (model(64), 56, "gen:winograd"),
    "few operations": (model(64), 3, "onednn"),
    "few channels": (model(8), 192, ALL),
    "windows of 5 x 5": (model(64, window=5), 56, ALL),
    "every other window": (model(64, stride=2), 112, ALL),
    "windows of one element": (model(64, window=1), 56, "gen:conv" if VECTORS else "onednn"),
    "every other element": (model(64, window=1, stride=2), 112, ALL),
    "each channel": (model(64, groups=64), 56, "gen:depthwise" if VECTORS else "onednn"),
    "every other window of each channel": (
        model(64, stride=2, groups=64),
        112,
        "gen:depthwise" if VECTORS else "onednn",
    ),
    "pairs of channels": (model(64, groups=32), 56, "onednn"),
}


@pytest.mark.parametrize("name", CASES)
def test_convolutions(name) -> None:
    module, size, expected = CASES[name]
    x = torch.rand(1, 3, size, size)
    fast = sol.optimize(module, x)
    with torch.inference_mode():
        numpy.testing.assert_allclose(fast(x), module(x), atol=1e-5)
    assert implementation(fast).startswith(expected)


class Means(nn.Module):
    """A convolution, and reductions of its images."""

    def __init__(self, reduce: str, keep: bool, axes: tuple[int, ...]) -> None:
        super().__init__()
        self.last = model(16)
        self.reduce, self.keep, self.axes = reduce, keep, axes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        reduced = getattr(torch, self.reduce)(self.last(x), self.axes, keepdim=self.keep)
        return reduced * 2


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    ("reduce", "axes", "size", "stays"),
    [
        ("mean", (2, 3), (65, 60), True),
        ("mean", (-1, -2), (65, 60), True),
        ("mean", (3, 2), (33, 1), True),
        ("sum", (2, 3), (1, 65), True),
        ("amax", (2, 3), (65, 60), True),
        ("amin", (-2, 3), (17, 9), True),
        ("mean", (2,), (17, 9), False),
        ("mean", (1,), (17, 9), False),
        ("mean", (1, 2, 3), (17, 9), False),
        ("mean", (0, 2, 3), (17, 9), False),
    ],
)
def test_reductions_of_images(reduce, axes, size, stays, keep) -> None:
    """To channels they read images in the order in which convolutions give them, and their errors
    are those of short sums."""
    torch.manual_seed(0)  # sums that are nearly 0 have larger errors
    module, x = Means(reduce, keep, axes).eval(), torch.rand(2, 3, *size)
    fast = sol.optimize(module, x)
    with torch.inference_mode():
        expected = copy.deepcopy(module).double()(x.double())
        found = fast(x).double()
    # Those of single elements, and of sums of a few, are the convolution's.
    least = 1e-8 if reduce == "mean" else 1e-6
    numpy.testing.assert_allclose(found, expected, rtol=1e-6, atol=least)
    if not stays:
        return
    names = [one.implementation for one in sol.report(fast).steps]
    behind = names[max(i for i, one in enumerate(names) if "conv" in one) + 1 :]
    assert not any("reorder" in one for one in behind), names


PRODUCTS = {
    "some rows": (nn.Linear(1024, 1024), (32, 1024), ["avx2", "avx512"]),
    "of a batch": (nn.Linear(1024, 1024), (2, 16, 1024), ["avx2", "avx512"]),
    "a few rows": (nn.Linear(2048, 2048), (4, 2048), ["avx2", "avx512"]),
    "one row": (nn.Linear(2048, 1003), (1, 2048), ["avx2", "avx512"]),
    "many rows": (nn.Linear(1024, 1024), (512, 1024), []),
    "few operations": (nn.Linear(900, 900), (1, 900), []),
    "few weights": (nn.Linear(512, 512), (128, 512), []),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name) -> None:
    module, shape, targets = PRODUCTS[name]
    x = torch.rand(shape)
    fast = sol.optimize(module.eval(), x)
    with torch.inference_mode():
        numpy.testing.assert_allclose(fast(x), module(x), atol=1e-5)
    implementations = [one.implementation for one in sol.report(fast).steps]
    is_generated = any(one.startswith("gen:") for one in implementations)
    assert is_generated is (Target.host().name in targets), implementations


@pytest.mark.parametrize(
    ("change", "targets"),
    [
        ({}, "avx2 avx512"),
        ({"rows": 128}, "avx2 avx512"),
        ({"rows": 129}, "avx2"),
        ({"rows": 256}, "avx2"),
        ({"rows": 1}, "avx2 avx512"),
        ({"rows": 257}, ""),
        ({"rows": 0}, ""),
        ({"dtype": "float64"}, ""),
        ({"is_constant": False}, ""),
        ({"count": 2}, ""),
        ({"terms": 400}, ""),
    ],
)
@pytest.mark.parametrize("target", ["avx2", "avx512", "neon", "c"])
def test_what_products_save(target, change, targets) -> None:
    extents = Extents("float32", 1, 8, 1024, 1024, True)
    found = matmul.saves(dataclasses.replace(extents, **change), Target.named(target))
    assert (found > 0) is (target in targets.split())


WINDOW = {"kernel_shape": [1, 1], "strides": [1, 1], "group": 1}
EACH = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "group": 512}


@pytest.mark.parametrize(
    ("x", "weight", "attributes", "targets"),
    [
        ((1, 512, 14, 14), (512, 512, 1, 1), WINDOW, "avx2 avx512"),
        ((1, 512, 14, 14), (8, 512, 1, 1), WINDOW, "avx2 avx512"),
        ((1, 512, 14, 14), (512, 512, 1, 1), {**WINDOW, "strides": [2, 2]}, "avx2 avx512"),
        ((1, 512, 14, 14), (256, 512, 1, 1), {**WINDOW, "strides": [2, 2]}, "avx2"),
        ((1, 512, 14, 14), (512, 256, 1, 1), {**WINDOW, "group": 2}, ""),
        ((1, 512, 14, 14), (512, 512, 1, 1), {**WINDOW, "pads": [1, 1, 1, 1]}, "avx2"),
        ((1, 512, 1, 1), (512, 512, 1, 1), WINDOW, ""),
        ((2, 512, 1, 1), (512, 512, 1, 1), WINDOW, "avx2 avx512"),
        ((1, 512, 14, 14), (512, 1, 3, 3), EACH, "avx2 avx512"),
        ((1, 512, 14, 14), (512, 1, 3, 3), {**EACH, "strides": [2, 2]}, "avx2 avx512"),
        ((1, 512, 14, 14), (512, 2, 3, 3), {**EACH, "group": 256}, ""),
        ((1, 512, 14, 14), (512, 512, 5, 5), {"kernel_shape": [5, 5], "pads": [2] * 4}, "avx2"),
        ((1, 3, 224, 224), (64, 3, 7, 7), {"strides": [2, 2]}, "avx2 avx512"),
        ((1, 64, 56, 56), (3, 64, 3, 3), {"pads": [1] * 4}, ""),
        ((0, 512, 14, 14), (512, 512, 1, 1), WINDOW, ""),
        ((1, 512, 14), (512, 512, 1), {"kernel_shape": [1]}, ""),
    ],
)
@pytest.mark.parametrize("target", ["avx2", "avx512", "neon", "c"])
def test_what_convolutions_save(target, x, weight, attributes, targets) -> None:
    images, weights = Spec(x, "float32"), Spec(weight, "float32")
    found = channels_last.saves(images, weights, attributes, Target.named(target))
    assert (found > 0) is (target in targets.split())


@pytest.mark.skipif(not VECTORS, reason="the backends of libraries have all of it there")
@pytest.mark.parametrize(
    ("module", "shape", "copies"),
    [
        (nn.Linear(2048, 2048).eval(), (8, 2048), 1),
        (model(256, window=1), (1, 3, 56, 56), 1),
        (model(512, groups=512), (1, 3, 28, 28), 1),
        (model(64), (1, 3, 56, 56), 16 / 9),
    ],
    ids=["product", "windows of one element", "each channel", "winograd"],
)
def test_weights_that_are_packed_are_there_once(module, shape, copies) -> None:
    """As they are they stay the module's, and the plan has none of its own."""
    fast = sol.optimize(module, torch.rand(shape))
    assert implementation(fast).startswith("gen:")
    size = sum(4 * one.numel() for one in module.parameters())
    assert sol.memory(fast).parameters == pytest.approx(copies * size, rel=0.1)


@pytest.mark.parametrize("jit", [None, "none"])
def test_without_a_compiler(monkeypatch, jit) -> None:
    """A machine without one has nothing to be told; who names one that is not there has."""
    module, x = CASES["large"][0], torch.rand(1, 3, 56, 56)
    monkeypatch.setenv("MXNET_CACHE", "0")
    monkeypatch.setattr("mx.sol.backends.gen._link._told.is_set", lambda: False)
    if jit:
        monkeypatch.setenv("MXNET_SOL_JIT", jit)
    else:
        monkeypatch.setattr("mx.sol.tuning._choices.jits.found", lambda: [])
    fast = sol.optimize(module, x)
    with torch.inference_mode(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        numpy.testing.assert_allclose(fast(x), module(x), atol=1e-5)
    assert implementation(fast).startswith("onednn")
    assert ["executed without generated code" in str(one.message) for one in told] == [True] * bool(
        jit
    )


def test_in_two_bytes() -> None:
    """What is asked for is computed so: by oneDNN, which has kernels of bfloat16."""
    module, x = CASES["large"][0], torch.rand(1, 3, 56, 56)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sol.SolWarning)  # of processors without such instructions
        fast = sol.optimize(module, x, precision="bf16")
        with torch.inference_mode():
            numpy.testing.assert_allclose(fast(x), module(x), atol=0.1)
