"""Each pass on each of the modules of the benchmarks, in small sizes, and each precision."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest
import torch
from torch import nn

import mx
from benchmarks.models import modules
from mx import sol
from mx.graph import Plan
from mx.graph._layout import keep_layouts_of_graph

pytestmark = pytest.mark.usefixtures("one_thread")

Args = tuple[torch.Tensor, ...]


def image(size: int, channels: int = 3) -> Callable[[], Args]:
    return lambda: (torch.randn(2, channels, size, size),)


def words(several: int = 1) -> Callable[[], Args]:
    return lambda: (torch.randint(0, 90, (2, 9)), *[torch.ones(2, 9, dtype=torch.int64)] * several)


ZOO: dict[str, tuple[Callable[[], nn.Module], Callable[[], Args]]] = {
    "lenet": (modules.lenet, image(28, 1)),
    "resnet50": (modules.resnet50, image(32)),
    "mobilenet_v2": (modules.mobilenet_v2, image(32)),
    "efficientnet": (modules.efficientnet, image(32)),
    "bert": (lambda: modules.Bert(2, 64, 2), words(2)),
    "gpt2": (lambda: modules.Decoder(90, 2, 128), words(0)),
    "lstm": (lambda: modules.Lstm(16), lambda: (torch.randn(2, 5, 64),)),
    "mlp": (modules.mlp, lambda: (torch.randn(2, 784),)),
    "unet": (lambda: modules.UNet(4, 2), image(16)),
}
# Kernels of 8 bits are compiled for each layer, and EfficientNet has those of these two.
PRECISE = [name for name in ZOO if name not in ("resnet50", "mobilenet_v2")]
# By how much answers may differ, as a part of the largest.
PRECISIONS = {"int8": 0.2, "bf16": 0.05}


def made(name: str) -> tuple[nn.Module, Args, numpy.ndarray]:
    torch.manual_seed(0)
    make, arguments = ZOO[name]
    module, args = make().eval(), arguments()
    with torch.no_grad():
        return module, args, module(*args).numpy()


def close(found: numpy.ndarray, wanted: numpy.ndarray, part: float, what: str) -> None:
    numpy.testing.assert_allclose(
        found, wanted, rtol=0, atol=part * abs(wanted).max(), err_msg=what, strict=True
    )


@pytest.mark.parametrize("name", ZOO)
def test_each_pass(name: str) -> None:
    module, args, wanted = made(name)
    graph = mx.importers.torch.load(module, args)
    specs, given = graph.outputs, [array.numpy() for array in args]
    for one in sol.passes.enabled:
        changed = graph.copy()
        mx.graph.passes.run(changed, [one.name])
        assert changed.outputs == specs, one.name
        (found,) = Plan(changed, optimize=False)(*given)
        close(found.asnumpy(), wanted, 1e-4, one.name)
    keep_layouts_of_graph(graph.model.graph)  # as without the pass that chooses them
    (found,) = Plan(graph)(*given)
    close(found.asnumpy(), wanted, 1e-4, "without layout")


@pytest.mark.filterwarnings("ignore:.*computes in float32:mx.sol.SolWarning")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", PRECISE)
def test_each_precision(name: str, precision: str) -> None:
    module, args, wanted = made(name)
    fast = sol.optimize(module, *args, precision=precision)
    with torch.no_grad():
        close(fast(*args).numpy(), wanted, PRECISIONS[precision], precision)
