"""Trains a network to read digits, by torch and by sol, and compares.

`python examples/train.py [EPOCHS]` prints the losses and accuracies of three ways to train the same
network: torch, `sol.optimize` with a loop of torch's, and `sol.training_step`. It needs
`pip install mxffi[graph] torch scikit-learn`.
"""

import copy
import sys
import time

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

from mx import sol

BATCH = 32


class Digits(nn.Module):
    """Two convolutions with batch norms, dropout and a linear layer, for images of 8x8."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU())
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(128, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = F.max_pool2d(self.first(x), 2)
        hidden = F.max_pool2d(self.second(hidden), 2)
        return self.head(self.drop(hidden.flatten(1)))


def loop(model, optimizer):
    """A step as it is written for torch."""

    def step(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def main(epochs: int) -> None:
    pixels, classes = load_digits(return_X_y=True)
    images = torch.tensor(pixels / 16, dtype=torch.float32).reshape(-1, 1, 8, 8)
    labels = torch.tensor(classes)
    batches = [slice(i, i + BATCH) for i in range(0, 1500 - BATCH, BATCH)]
    torch.manual_seed(0)
    original = Digits()
    for way in ("torch", "sol.optimize", "sol.training_step"):
        model = copy.deepcopy(original)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
        if way == "torch":
            step = loop(model, optimizer)
        elif way == "sol.optimize":
            step = loop(sol.optimize(model, images[:BATCH]), optimizer)
        else:
            step = sol.training_step(model, F.cross_entropy, optimizer)
        step(images[:BATCH], labels[:BATCH])  # plans are made here
        begin = time.perf_counter()
        for _ in range(epochs):
            losses = [step(images[one], labels[one]) for one in batches]
        seconds = time.perf_counter() - begin
        model.eval()
        with torch.no_grad():
            right = (model(images[1500:]).argmax(1) == labels[1500:]).float().mean()
        print(
            f"{way:<18} loss {torch.stack(losses).mean():.3f}  accuracy {right:.1%}"
            f"  {1e6 * seconds / (epochs * len(batches)):.0f} us a step"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
