"""Each pass on each of the modules of the benchmarks, in small sizes and written in more nodes than
they need, and each precision."""

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

from .written_out import WRITTEN_OUT, Writer

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


# Passes that find something where a model is written out for them.
OF_IMAGES = "dropout constants identities algebra transposes pads batch_norm scales common layout"
OF_IMAGES += " unused"
OF_TEXTS = "dropout einsum constants identities algebra transposes common normalizations"
OF_TEXTS += " activations attention unused"
FOUND = {
    "lenet": OF_IMAGES.replace("batch_norm ", ""),
    "resnet50": OF_IMAGES,
    "mobilenet_v2": OF_IMAGES,
    "efficientnet": f"{OF_IMAGES} activations",
    "bert": OF_TEXTS,
    "gpt2": OF_TEXTS,
    "lstm": "dropout sequences constants identities common",
    "mlp": "dropout identities algebra transposes scales common unused",
    "unet": OF_IMAGES.replace("constants", "sequences"),
}


@pytest.mark.parametrize("name", ZOO)
def test_each_pass(name: str) -> None:
    module, args, wanted = made(name)
    graph = mx.importers.torch.load(module, args)
    graph.infer()
    specs, given = graph.outputs, [array.numpy() for array in args]
    acted = set()
    for one in sol.passes.enabled:
        changed = graph.copy()
        if one.name in WRITTEN_OUT:
            WRITTEN_OUT[one.name](Writer(changed))
        before = nodes_of(changed)
        mx.graph.passes.run(changed, [one.name])
        assert changed.outputs == specs, one.name
        if nodes_of(changed) == before:
            continue
        acted.add(one.name)
        (found,) = Plan(changed, optimize=False)(*given)
        close(found.asnumpy(), wanted, 1e-4, one.name)
    assert acted == {*FOUND[name].split()}
    keep_layouts_of_graph(graph.model.graph)  # as without the pass that chooses them
    (found,) = Plan(graph)(*given)
    close(found.asnumpy(), wanted, 1e-4, "without layout")


def nodes_of(graph: mx.graph.Graph) -> list[object]:
    """The nodes of a graph, to be compared."""
    return [
        (
            node.op_type,
            *(value and value.name for value in node.inputs),
            str(node.attributes),
            dict(node.metadata_props),
        )
        for node in graph.model.graph
    ]


def test_every_pass_finds_something() -> None:
    assert {*" ".join(FOUND.values()).split()} == {one.name for one in sol.passes.enabled}


@pytest.mark.filterwarnings("ignore:.*computes in float32:mx.sol.SolWarning")
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", PRECISE)
def test_each_precision(name: str, precision: str) -> None:
    module, args, wanted = made(name)
    fast = sol.optimize(module, *args, precision=precision)
    with torch.no_grad():
        close(fast(*args).numpy(), wanted, PRECISIONS[precision], precision)
