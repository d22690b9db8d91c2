"""The modules of torch of this folder with labels and losses, to be trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from .modules import MODULES


def _classes(scores: torch.Tensor) -> torch.Tensor:
    """Labels for scores whose classes are axis 1."""
    return torch.randint(0, scores.shape[1], (scores.shape[0], *scores.shape[2:]))


def _cross_entropy(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores, labels)


def _first_token(states: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Of a classifier that reads two numbers of the first token."""
    return F.cross_entropy(states[:, 0, :2], labels)


def _next_token(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten())


@dataclass(frozen=True)
class Trained:
    """A model with the arguments for a batch of so many, and its loss for labels."""

    make: Callable[[], nn.Module]
    example: Callable[[int], tuple[torch.Tensor, ...]]
    labels: Callable[[torch.Tensor], torch.Tensor]
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = _cross_entropy


def _of(name: str, **more: Any) -> Trained:
    make, example = MODULES[name]
    return Trained(make, example, **{"labels": _classes, **more})


TRAINED: dict[str, Trained] = {
    "resnet50": _of("resnet50"),
    "mobilenet_v2": _of("mobilenet_v2"),
    "efficientnet": _of("efficientnet"),
    "bert": _of(
        "bert", labels=lambda states: torch.randint(0, 2, states.shape[:1]), loss=_first_token
    ),
    "gpt2": _of(
        "gpt2",
        labels=lambda scores: torch.randint(0, scores.shape[2], scores.shape[:2]),
        loss=_next_token,
    ),
    "lstm": _of("lstm"),
    "mlp": _of("mlp"),
    "unet": _of("unet"),
}
