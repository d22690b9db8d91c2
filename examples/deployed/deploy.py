"""Writes a classifier of 28x28 images as C: python deploy.py KIND FOLDER [TARGET].

KIND is "source", "static", "shared" or "wheel". The weights are random: load your own.
"""

import sys

import torch
from torch import nn

from mx import sol


def classifier() -> nn.Module:
    """Two convolutions and a matrix: 28x28 pixels to scores of ten digits."""
    torch.manual_seed(1)
    return nn.Sequential(
        *(nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(144, 10)),
    ).eval()


def main(kind: str, folder: str, target: str | None = None) -> None:
    """Optimizes the classifier, and deploys it."""
    fast = sol.optimize(classifier(), torch.zeros(1, 1, 28, 28))
    names = {"lib_name": "digits", "func_name": "digits"}
    print(sol.deploy(fast, kind, path=folder, **names, target=target))


if __name__ == "__main__":
    main(*sys.argv[1:])
