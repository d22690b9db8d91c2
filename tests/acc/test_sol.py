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
