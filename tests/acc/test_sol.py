"""Optimized models that an accelerator executes."""

from __future__ import annotations

import numpy
import pytest
import torch

from mx import sol
from tests.graph.build import graph_of

TEXT = "g (float[N,4] x) => (float[N,4] y) { h = Abs(x) y = Erf(h) }"


@pytest.fixture
def ctx(load_refacc):
    before = sol.device.get()
    yield load_refacc("sun")
    sol.device.set(before)


def test_graphs(ctx) -> None:
    x = numpy.linspace(-2, 1, 8, dtype="float32").reshape(2, 4)
    expected = sol.optimize(graph_of(TEXT))(x)
    fast = sol.optimize(graph_of(TEXT), device=ctx)
    numpy.testing.assert_allclose(fast(x), expected, rtol=1e-6)
    numpy.testing.assert_allclose(fast(x[:1]), expected[:1], rtol=1e-6)
    sol.device.set("sun", 0)
    assert sol.device.get() == ctx and repr(sol.device) == "sol.device: sun(0)"
    assert sol.optimize(graph_of(TEXT)).compiled.context == ctx


def test_modules_of_torch(ctx) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU()).eval()
    x = torch.randn(2, 4)
    fast = sol.optimize(model, x, device=("sun", 0))
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(fast(x), model(x))
            model[0].weight.mul_(2)


@pytest.mark.parametrize("updates", ["1", "0"])
def test_weights_that_are_trained(load_refacc, updates) -> None:
    """Only what has changed goes to the models that are there."""
    ctx = load_refacc("sun", UPDATES=updates)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 2)
    )
    x = torch.randn(3, 4)
    fast = sol.optimize(model.eval(), x, device=ctx, vdims=[True])
    other = {name: one + 1 for name, one in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    steps = [
        lambda: model.load_state_dict(other),
        torch.no_grad()(lambda: model[3].bias.fill_(7)),
        lambda: model[1].running_mean.fill_(2),
        lambda: (model(x).sum().backward(), optimizer.step()),
        lambda: model.load_state_dict(other),
    ]
    with torch.no_grad():
        torch.testing.assert_close(fast(x), model(x))
    for step in steps:
        step()
        for rows in (3, 5):
            given = x[:1].repeat(rows, 1)
            with torch.no_grad():
                torch.testing.assert_close(fast(given), model(given))
    state = ctx.configure()
    expected = ("2", "9") if updates == "1" else ("11", "0")
    assert (state["compiled"], state["updated"]) == expected
