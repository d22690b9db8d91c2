"""`sol.config["keep_nan"]`: NaN goes where torch has it go."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from mx import sol


@pytest.fixture(autouse=True)
def keep_nan():
    sol.config["keep_nan"] = True
    yield
    del sol.config["keep_nan"]


def convolved(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), *layers)


MODULES = {
    "relu": nn.ReLU,
    "clip": lambda: convolved(nn.ReLU6()),
    "depthwise": lambda: nn.Sequential(nn.Conv2d(8, 8, 3, groups=8), nn.ReLU6()),
    "largest": lambda: nn.MaxPool2d(2),
    "behind a convolution": lambda: convolved(nn.ReLU(), nn.MaxPool2d(2)),
    "largest of all": lambda: nn.AdaptiveMaxPool2d(1),
    "softmax": lambda: nn.Softmax(1),
    "log softmax": lambda: nn.LogSoftmax(-1),
}


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_as_in_torch(module) -> None:
    torch.manual_seed(0)
    model, x = module().eval(), torch.randn(2, 8, 8, 8)
    x.view(-1)[[3, 50, 333]] = math.nan
    x.view(-1)[[70, 401]] = -math.inf
    x[1, 5] = -math.inf
    with torch.no_grad():
        expected, found = model(x), sol.optimize(model, x)(x)
    assert expected.isnan().any()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


def test_in_training() -> None:
    torch.manual_seed(0)
    model, x = convolved(nn.ReLU6(), nn.MaxPool2d(2)), torch.randn(2, 8, 8, 8)
    x[0, 0, 0, 0] = math.nan
    expected = model(x)
    found = sol.optimize(model, x)(x)
    assert expected.isnan().any()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
