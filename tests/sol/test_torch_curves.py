"""Losses of trainings over 300 steps are those of torch, and what they have made deploys."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

from mx import sol
from tests.sol.deploy.loaded import Library

pytestmark = pytest.mark.usefixtures("one_thread")
STEPS = 300
Batches = Iterator[tuple[torch.Tensor, torch.Tensor]]
TEXT = "a model that was trained here is the model that is deployed there, and it is small. " * 4


def digits(*shape: int) -> Batches:
    pixels, classes = load_digits(return_X_y=True)
    images = torch.tensor(pixels / 16, dtype=torch.float32).reshape(-1, *shape)
    labels = torch.tensor(classes)
    for step in range(STEPS):
        chosen = torch.arange(step * 16, step * 16 + 16) % len(labels)
        yield images[chosen], labels[chosen]


def mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 10)
    )


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 8, 3, padding=1, groups=2), nn.SiLU(), nn.AvgPool2d(2), nn.Flatten(),
        nn.Linear(32, 10),
    )  # fmt: skip


class Transformer(nn.Module):
    """Predicts the next character."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(32, 16), nn.Parameter(torch.randn(12, 16) / 8)
        self.block = nn.TransformerEncoderLayer(16, 2, 32, dropout=0, batch_first=True)
        self.head = nn.Linear(16, 32)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(12))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.block(self.tokens(x) + self.positions, self.mask, is_causal=True)
        return self.head(hidden).transpose(1, 2)


def text() -> Batches:
    codes = torch.tensor([ord(letter) % 32 for letter in TEXT])
    windows = codes.unfold(0, 13, 1)
    for step in range(STEPS):
        chosen = windows[torch.arange(step * 4, step * 4 + 4) % len(windows)]
        yield chosen[:, :-1], chosen[:, 1:]


class Recurrent(nn.Module):
    """Tells whether a sequence of numbers has a positive sum."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(2, 8, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0][:, -1]).squeeze(1)


def sequences() -> Batches:
    for _ in range(STEPS):
        x = torch.randn(8, 6, 2)
        yield x, (x.sum((1, 2)) > 0).float()


def sgd(parameters) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=1e-4)


def adam(parameters) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=3e-3)


def adagrad(parameters) -> torch.optim.Optimizer:
    return torch.optim.Adagrad(parameters, lr=0.05)


def by_autograd(model, loss, optimizer, x) -> Callable:
    return torch_step(sol.optimize(model, x), loss, optimizer)


def torch_step(model, loss, optimizer) -> Callable:
    def step(x, target):
        optimizer.zero_grad()
        value = loss(model(x), target)
        value.backward()
        optimizer.step()
        return value.detach()

    return step


# Model, data, loss, optimizer, and whether loss and optimizer are in the plan, too.
TRAININGS = {
    "digits": (mlp, lambda: digits(64), F.cross_entropy, sgd, False),
    "images": (cnn, lambda: digits(1, 8, 8), F.cross_entropy, sgd, True),
    "text": (Transformer, text, F.cross_entropy, adam, True),
    "sequences": (Recurrent, sequences, F.binary_cross_entropy_with_logits, adagrad, False),
}


@pytest.mark.parametrize("name", TRAININGS)
def test_losses_are_those_of_torch(name: str, tmp_path: Path) -> None:
    make, batches, loss, optimizer_of, fused = TRAININGS[name]
    torch.manual_seed(0)
    model = make()
    other = copy.deepcopy(model)
    data = list(batches())
    optimizer = optimizer_of(model.parameters())
    if fused:
        step = sol.training_step(model, loss, optimizer)
    else:
        step = by_autograd(model, loss, optimizer, data[0][0])
    expected = torch_step(other, loss, optimizer_of(other.parameters()))
    curves = torch.tensor([[float(one(x, y)) for one in (step, expected)] for x, y in data])
    found, wanted = curves.T
    torch.testing.assert_close(found[:20], wanted[:20], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found, wanted, rtol=0.05, atol=0.02)
    assert wanted[-20:].mean() < 0.7 * wanted[:20].mean()
    if fused:
        assert step.fused == ("forward", "loss", "backward", "optimizer")
    check_deployed(model.eval(), data[0][0].contiguous(), tmp_path)


def check_deployed(model: nn.Module, x: torch.Tensor, folder: Path) -> None:
    with torch.no_grad():
        wanted = model(x).numpy()
    made = sol.deploy(sol.optimize(model, x), path=folder, lib_name="trained")
    found = numpy.zeros(wanted.shape, "float32")
    assert Library(made.files[0]).call([x.numpy(), found]) == 0
    numpy.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-4)
