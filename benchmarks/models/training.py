"""Models of torch that are trained: those of this folder with losses, and three of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from .modules import MODULES


class SqueezeExcite(nn.Module):
    """A factor for each channel, from the means of all."""

    def __init__(self, channels: int, middle: int) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, middle, 1), nn.Conv2d(middle, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.up(F.silu(self.down(mean))))


class MobileBlock(nn.Module):
    """An inverted residual block with a factor for each channel, as EfficientNet has them."""

    def __init__(self, inside: int, outside: int, size: int, stride: int, wider: int) -> None:
        super().__init__()
        middle = inside * wider
        parts: list[nn.Module] = []
        if wider != 1:
            parts += [nn.Conv2d(inside, middle, 1, bias=False), nn.BatchNorm2d(middle), nn.SiLU()]
        depthwise = nn.Conv2d(middle, middle, size, stride, size // 2, groups=middle, bias=False)
        parts += [depthwise, nn.BatchNorm2d(middle), nn.SiLU()]
        parts += [SqueezeExcite(middle, max(inside // 4, 1))]
        parts += [nn.Conv2d(middle, outside, 1, bias=False), nn.BatchNorm2d(outside)]
        self.body = nn.Sequential(*parts)
        self.keeps = stride == 1 and inside == outside

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x) if self.keeps else self.body(x)


def efficientnet() -> nn.Module:
    """As EfficientNet-B0, without dropping paths."""
    parts: list[nn.Module] = [nn.Conv2d(3, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.SiLU()]
    inside = 32
    for wider, outside, count, stride, size in (
        (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
        (6, 192, 4, 2, 5), (6, 320, 1, 1, 3),
    ):  # fmt: skip
        for index in range(count):
            parts.append(MobileBlock(inside, outside, size, 1 if index else stride, wider))
            inside = outside
    parts += [nn.Conv2d(inside, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.SiLU()]
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000))


class DecoderLayer(nn.Module):
    """A layer of a decoder, with normalization in front of its parts, as GPT-2 has them."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.all, self.output = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.wide, self.narrow = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, length, hidden = x.shape
        parts = (
            part.view(n, length, self.heads, hidden // self.heads).transpose(1, 2)
            for part in self.all(self.norm1(x)).split(hidden, 2)
        )
        y = F.scaled_dot_product_attention(*parts, is_causal=True)
        x = x + self.output(y.transpose(1, 2).reshape(n, length, hidden))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh"))


class Decoder(nn.Module):
    """A language model as the small GPT-2, whose last product is that of the embedding."""

    def __init__(self, words: int = 50257, layers: int = 12, hidden: int = 768) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(words, hidden), nn.Embedding(1024, hidden)
        self.layers = nn.ModuleList(DecoderLayer(hidden, hidden // 64) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) + self.positions.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return F.linear(self.norm(x), self.words.weight)


def mlp() -> nn.Module:
    """784 numbers, three layers of 2,048, ten classes."""
    return nn.Sequential(
        nn.Linear(784, 2048), nn.ReLU(), nn.Linear(2048, 2048), nn.ReLU(), nn.Linear(2048, 2048),
        nn.ReLU(), nn.Linear(2048, 10),
    )  # fmt: skip


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
    "efficientnet": Trained(
        efficientnet, lambda batch: (torch.randn(batch, 3, 224, 224),), _classes
    ),
    "bert": _of(
        "bert", labels=lambda states: torch.randint(0, 2, states.shape[:1]), loss=_first_token
    ),
    "gpt2": Trained(
        Decoder,
        lambda batch: (torch.randint(0, 50257, (batch, 128)),),
        lambda scores: torch.randint(0, scores.shape[2], scores.shape[:2]),
        _next_token,
    ),
    "lstm": _of("lstm"),
    "mlp": Trained(mlp, lambda batch: (torch.randn(batch, 784),), _classes),
    "unet": _of("unet"),
}
