"""A network that torch has trained, on every way from it to an accelerator: the same accuracy."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
import torch

import mx
from tests.graph.digits import arrays_of, lenet, trained


@pytest.fixture(scope="module")
def digits(tmp_path_factory) -> SimpleNamespace:
    """The network in each form, with images that it has not seen, and what torch says of them."""
    net, images, classes = trained()
    prefix = tmp_path_factory.mktemp("digits") / "lenet"
    mx.model.save_checkpoint(prefix, 6, lenet(), *arrays_of(net))
    example = torch.from_numpy(images)
    graph = mx.importers.torch.load(net, (example[:2],), dynamic={"x": ("n", None, None, None)})
    graph.save(f"{prefix}.onnx")
    scores = net(example).detach().numpy()
    return SimpleNamespace(
        prefix=prefix, graph=graph, images=images, classes=classes, guessed=scores.argmax(1)
    )


def by_module(digits: SimpleNamespace, ctx: mx.Context) -> Any:
    module = mx.mod.Module.load(digits.prefix, 6, context=ctx)
    module.bind([("data", (50, 1, 8, 8))])
    return module.predict(mx.io.NDArrayIter(digits.images, batch_size=50))


def by_graph(graph: mx.graph.Graph, digits: SimpleNamespace, ctx: mx.Context) -> Any:
    is_cpu = ctx == mx.cpu()
    plan = mx.graph.Plan(graph) if is_cpu else mx.graph.PartitionedPlan(graph, ctx, verify=True)
    return plan(digits.images)[0]


def by_torch(digits: SimpleNamespace, ctx: mx.Context) -> Any:
    return by_graph(digits.graph, digits, ctx)


def by_onnx(digits: SimpleNamespace, ctx: mx.Context) -> Any:
    return by_graph(mx.graph.load(f"{digits.prefix}.onnx"), digits, ctx)


def by_symbol(digits: SimpleNamespace, ctx: mx.Context) -> Any:
    symbol, arguments, states = mx.model.load_checkpoint(digits.prefix, 6)
    graph = symbol.to_graph({"data": ("n", 1, 8, 8)}, params={**arguments, **states})
    return by_graph(graph, digits, ctx)


WAYS = [by_module, by_torch, by_onnx, by_symbol]


@pytest.mark.parametrize("where", ["cpu", "refacc"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_same_accuracy(
    digits: SimpleNamespace,
    load_refacc: Callable[..., mx.Context],
    way: Callable[[SimpleNamespace, mx.Context], Any],
    where: str,
) -> None:
    ctx = mx.cpu() if where == "cpu" else load_refacc("digits")
    scores = way(digits, ctx)
    assert scores.ctx == ctx
    guessed = numpy.asarray(scores.as_in_ctx(mx.cpu())).argmax(1)
    numpy.testing.assert_array_equal(guessed, digits.guessed)
    assert (guessed == digits.classes).mean() > 0.9
